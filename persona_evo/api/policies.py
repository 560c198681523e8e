"""What can be done with tree policies: describe, simplify, export and install them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo.arguments import checked
from persona_evo.errors import Place, PolicyError, RunError
from persona_evo.evolve.explanation import meanings, of_policy
from persona_evo.evolve.rivals import of_policy as comparison_of
from persona_evo.evolve.setting import in_words
from persona_evo.formula import parse
from persona_evo.formula.export import export
from persona_evo.games import registry, trust
from persona_evo.games.core import Game
from persona_evo.jobs.lock import Lock
from persona_evo.names import is_name
from persona_evo.search.settings import PRESETS, SearchSettings
from persona_evo.search.tree_policy import UCB1_FORMULA
from persona_evo.store import policies, policy_library, runs
from persona_evo.store.policies import Policy
from persona_evo.words import counted, enumerated, listed

_NAMED = 12
"""The largest number of training levels that are all named."""


@dataclass(frozen=True)
class PolicyDescription:
    """A description of a policy.

    Attributes:
        facts: where the policy comes from and how it plays, by name; without empty ones.
        words: what it seeks, avoids and saves, one line each.
        meanings: what the symbols of its formulas mean.
        comparison: how it compares with other policies, one line each; empty if it was not compared.
    """

    facts: Sequence[tuple[str, str]]
    words: Sequence[str]
    meanings: Mapping[str, str]
    comparison: Sequence[str]


def found_policy(policy: str | Path, game: str | Game | None = None) -> tuple[Policy, Game]:
    """Find a policy, and its game.

    Args:
        policy: its name, its file, or the folder of a run.
        game: the game; None for that of the run or file, or for the default one if the policy is named otherwise.

    Raises:
        PolicyError: there is no such policy, its file is damaged, or its game is not known.
        RunError: the run that the file belongs to is damaged, or its game has changed.
    """
    file = policy_library.file_of(policy)
    of = _game(game, registry.DEFAULT if file is None or game is not None else _game_named_by(file))
    return policy_library.load(policy, of.name), of


def _game_named_by(file: Path) -> str:
    """Return what finds the game of a policy's file: what its run recorded, or the name in the file."""
    named = policies.read(file).game
    if (file.parent / runs.CONFIG).is_file():
        config = runs.config_reader(file.parent)
        try:
            trust.check(config)
        except RunError as e:
            hint = "read the game's file first; --game FILE accepts it"
            raise RunError(e.what, place=e.place, found=e.found, expected=e.expected, hint=hint) from e
        return registry.again(config.text_of("game"), None, str(file.parent))
    if named not in registry.names():
        raise PolicyError(
            "the file does not say where the game of this policy is",
            place=Place(str(file)),
            found=named,
            hint="add --game FILE.toml (or FILE.py:GAME), the file of that game",
        )
    return named


def _game(game: str | Game | None, otherwise: str) -> Game:
    return game if isinstance(game, Game) else registry.get(game or otherwise)


_SHIPPED = re.compile(r"the shipped policy (\S+)")
"""How an evolution names the policy that shipped when it ended."""


@checked
def describe_policy(policy: str | Path | Policy, game: str | Game | None = None) -> PolicyDescription:
    """Describe a policy.

    Args:
        policy: the policy, its name, its file, or the folder of a run.
        game: the game; None for the policy's own (see `found_policy`).

    Raises:
        PolicyError: there is no such policy, or its file is damaged.
    """
    chosen, of = (policy, _game(game, policy.game)) if isinstance(policy, Policy) else found_policy(policy, game)
    formulas = [*([parse(chosen.best)] if chosen.best else []), *(one.score for one in chosen.lists)]
    return PolicyDescription(
        [(label, text) for label, text in _facts(chosen) if text],
        of_policy(chosen, of),
        meanings(formulas, of) if formulas else {},
        [
            re.sub(r"the shipped policy (\S+)", r"the policy \1 that shipped at the time", line)
            for line in comparison_lines(chosen)
        ],
    )


def comparison_lines(policy: Policy) -> Sequence[str]:
    """Return how a policy compares with others, one line each; nothing if it was not compared.

    Raises:
        PolicyError: the comparison in the policy's file is damaged.
    """
    found = comparison_of(policy)
    return found.lines() if found else ()


@checked
def simplify_policy(policy: str | Path, game: str | Game | None = None) -> tuple[Policy, Path]:
    """Simplify the formula of a policy, for as long as it takes, and write its file again.

    Args:
        policy: the file, or the folder of a run.
        game: the game; None for the policy's own.

    Returns:
        The simplified policy, and its file.

    Raises:
        PolicyError: there is no such file, it is damaged, or the policy has no formula.
        RunError: the folder of the run is damaged or in use.
    """
    from persona_evo.evolve.simplification import simplify_policy as simplified  # loads the engine

    file = policy_library.file_of(policy)
    if file is None:
        raise PolicyError(
            "only a policy in a file of its own can be simplified",
            found=str(policy),
            expected="a policy file, or the folder of a run",
        )
    found, of = found_policy(policy, game)
    if found.kind == "ucb1":
        raise PolicyError("this policy has no formula", place=Place(str(file)), found=found.kind)
    with Lock(file.parent) if (file.parent / runs.CONFIG).is_file() else contextlib.nullcontext():
        done = simplified(found, of)
        policies.write(dataclasses.replace(done, file="", digest=found.digest if found.edited else ""), file)
    return done, file


@checked
def export_policy(policy: Policy, to: str = "text", name: str = "score", *, raw: bool = False) -> str:
    """Return the formula of a policy in another language.

    Args:
        policy: the policy.
        to: "text", "latex", "python", "numpy" or "csharp"; "json" for the whole policy.
        name: the name of the function.
        raw: whether to take the formula as it was evolved, not the simplified one.

    Raises:
        PolicyError: the policy consists of open lists, which are not one formula.
    """
    if to == "json":
        return json.dumps(policy.to_dict(), indent=2, ensure_ascii=False)
    if policy.kind == "lists":
        raise PolicyError(
            "open lists are not a single formula",
            place=Place(policy.file or policy.name),
            found=counted(len(policy.lists), "list"),
            expected="a policy of the kind formula or ucb1",
            hint="--to json writes them; formula export writes one score at a time",
        )
    text = policy.formula if raw else policy.best
    if policy.kind == "ucb1":
        text = UCB1_FORMULA.replace("1.4142135623730951", repr(policy.c))
    about = f"tree policy {policy.name} for {policy.game}" + (f", persona {policy.persona}." if policy.persona else ".")
    return export(parse(text), to, name, about)


@checked
def install_policy(policy: Policy, name: str = "", *, force: bool = False) -> Path:
    """Copy a policy into the folder `policies`, where it is found by name; return its new file.

    Args:
        policy: the policy.
        name: the name to find it by; "" for that of its persona.
        force: whether to overwrite another policy of this name.

    Raises:
        PolicyError: the name is not one, or a policy of this name exists already.
    """
    name = name or policy.persona or policy.name
    if not is_name(name, digits=True, more="."):
        raise PolicyError(
            "not a name for a policy", found=repr(name), expected="letters of any script, digits, _ . and -"
        )
    target = Path(policy_library.FOLDER) / policy.game / f"{name}.json"
    if target.exists() and not force:
        raise PolicyError(
            "a policy of this name already exists", place=Place(str(target)), hint="--force overwrites it"
        )
    policies.write(dataclasses.replace(policy, name=name), target)
    return target


def _trained_on(levels: Sequence[str]) -> str:
    if len(levels) <= _NAMED:
        return ", ".join(levels)
    return f"{counted(len(levels), 'level')}: {', '.join(levels[:3])}, ..."


def _of_run(run: Mapping[str, Any]) -> str:
    """Return the name of a run and what it did, as far as the policy's file says it."""
    did = [counted(run[key], thing) for key, thing in _DID.items() if key in run]
    born = [f"the policy is from generation {run['born'] + 1:,}"] if "born" in run else []
    against = [f"opponents {enumerated(run['opponents'])}"] if run.get("opponents") else []
    parts = [str(run["name"])] if run.get("name") else []
    return ", ".join([*parts, *did, *born, *against])


_DID = {"generations": "generation", "evaluations": "evaluated formula"}
"""What a run counts, in words."""


def _of_search(search: Mapping[str, Any]) -> str:
    """Return the preset of a search and the settings that differ from it."""
    name = search.get("preset")
    usual = SearchSettings.preset(name).to_dict() if name in PRESETS else {}
    return listed({k: v for k, v in search.items() if k == "preset" or usual.get(k) != v})


def _facts(policy: Policy) -> list[tuple[str, str]]:
    run = policy.run
    evolution = policy.evolution
    return [
        ("policy", policy.name),
        ("game", policy.game + (f", rules version {policy.game_version}" if policy.game_version else "")),
        ("persona", policy.persona),
        ("utility", policy.utility),
        ("priority", policy.priority),
        (
            "formula" if policy.kind != "lists" else "own score",
            f"mean + {policy.c:.6g} sqrt(ln P / N)" if policy.kind == "ucb1" else policy.formula,
        ),
        ("simplified", policy.simplified),
        ("", policy.simplification),
        *((f"list {number}", one.text) for number, one in enumerate(policy.lists, 1)),
        ("mean utility", "" if policy.mean is None else f"{policy.mean:.4f}"),
        ("trained on", _trained_on(policy.levels)),
        ("evolved by", f"preset {evolution['preset']}, seed {policy.seed}" if evolution.get("preset") else ""),
        ("run", _of_run(run)),
        ("evolved for", in_words({"budget": policy.budget, "skill": policy.skill}) if policy.skill else ""),
        ("search", "" if policy.skill else _of_search(policy.search)),
        ("rollouts", listed(policy.connected)),
        ("budget", ", ".join(f"{v:g} {k}" for k, v in policy.budget.items() if v is not None and not policy.skill)),
        ("versions", ", ".join(f"{k} {v}" for k, v in policy.versions.items())),
        ("notes", policy.notes),
        ("source", policy.source),
        ("file", policy.file),
        ("edited", "since it was evolved: its formula, lists or settings have changed" if policy.edited else ""),
    ]
