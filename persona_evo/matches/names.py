"""Turns what a user types into agents.

| typed | agent |
|---|---|
| `uct_walls` | an agent of the game's own file of agents |
| `my.toml#name` | an agent of another file of agents |
| `my_policy.json` | the agent that a tree policy was evolved in, with that policy; or a policy's name or run folder |
| `bot.py` | an external program (`persona_evo.agents.program`) |
| `bot=my/agent.py` | the same, under the name `bot` |
| `uct_walls:C=0.5,rollout=20` | the same agent with other constants, search settings, budget or variant |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from persona_evo import limits
from persona_evo.agents.agent import Agent, check
from persona_evo.agents.agent_files import EVOLVER, agent_from, load_agents, load_league
from persona_evo.agents.duel import League
from persona_evo.agents.program import is_file
from persona_evo.errors import InputError, Place, PolicyError, SettingsError, unknown
from persona_evo.games.core import Game
from persona_evo.jobs.windows import split_at_colon
from persona_evo.search.settings import SearchSettings
from persona_evo.store import policy_library, runs

SEARCH = {f.name for f in fields(SearchSettings)}
FORMS = "FILE.toml#NAME, a policy's name or file, or FILE.py"
"""Ways to specify an agent besides its name."""

BUILT_IN = "FILE.toml#NAME, or a policy's name or file"
"""Ways to specify an agent that cannot be a program."""

OWN = ("seconds", "iterations", "variant", "answer", "policy", "utility")


def agents(game: Game, typed: Sequence[str], forms: str = FORMS) -> list[Agent]:
    """Return the agents that words stand for; their names are distinct.

    Args:
        forms: the ways to specify an agent, for messages.

    Raises:
        SettingsError, FormulaError: there is no such agent, or two have the same name.
    """
    found = [agent(game, word, forms) for word in typed]
    names = [a.name for a in found]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise SettingsError(
            "two agents have the same name", found=twice, hint=f"give one of them another name: other={twice}"
        )
    return found


def agent(game: Game, word: str, forms: str = FORMS) -> Agent:
    """Return the agent that a word stands for (see the module's table)."""
    label, mark, rest = word.partition("=")
    if mark and label.replace("_", "").replace("-", "").isalnum() and ":" not in label:
        return replace(_of(game, rest, forms), name=label)
    return _of(game, word, forms)


def _of(game: Game, word: str, forms: str) -> Agent:
    base, changes = split_at_colon(word)
    if not base.strip():
        raise SettingsError("an agent without a name", found=word or "nothing", expected=_expected(game, forms))
    if word.endswith(".py"):
        path = Path(word)
        is_file(path, word)
        found = Agent(path.stem, "program", f"the program {path.name}", program=str(path.resolve()))
        check(found, game)
        return found
    file, mark, name = base.rpartition("#")
    chosen = _known(game, file, name, bool(mark), forms)
    shown = word if name in (chosen.name, "") or mark else f"{chosen.name}:{changes}"
    return _changed(chosen, changes, shown, game) if changes else chosen


def _expected(game: Game, forms: str) -> str:
    """List the agents that can be named."""
    own = [
        *(load_agents(Path(game.agents), game) if game.agents else {}),
        *(p.name for p in policy_library.available(game.name)),
    ]
    return f"one of {', '.join(sorted(own))}; {forms}" if own else forms


def _known(game: Game, file: str, name: str, in_file: bool, forms: str) -> Agent:
    if not in_file and (name.endswith(".json") or (Path(name) / runs.CONFIG).is_file()):
        return _policy(game, policy_library.file_of(name) or name, Path(name).stem)
    own = [p.name for p in policy_library.available(game.name)] if not in_file else []
    if not in_file and not game.agents and name not in own:
        raise SettingsError(f"{game.name} has no agents of its own", found=name, expected=forms)
    known = load_agents(Path(file if in_file else game.agents), game) if in_file or game.agents else {}
    if name in known:
        return known[name]
    if in_file and not known:
        raise SettingsError("the file has no agents", place=Place(file), expected="a table [NAME] for each agent")
    if name in own:
        return _policy(game, name, name)
    expected, hint = unknown(name, {*known, *own})
    if name.endswith(".toml") and Path(name).is_file():
        raise SettingsError(
            "a file of agents needs the name of one of them",
            found=name,
            expected=f"{name}#NAME",
            hint="NAME is one of its tables",
        )
    raise SettingsError("no such agent", found=name, expected=f"{expected}; {forms}", hint=hint)


def _policy(game: Game, name: str | Path, label: str) -> Agent:
    """Return the agent in which a policy was evolved, or the game's template, with this policy."""
    policy = policy_library.find(name, game.name)
    if policy.kind == "lists":
        raise PolicyError(
            "open lists plan whole levels, and an agent plays move by move",
            place=Place(policy.file or str(name)),
            found=policy.name,
            expected="a policy of the kind formula or ucb1",
        )
    try:
        template = agent_from(dict(policy.agent), game) if policy.agent else evolver(game)
        found = replace(
            template,
            name=label,
            about=f"policy {policy.name} ({policy.persona or 'anyone'})",
            policy=policy.best if policy.kind == "formula" else f"ucb1:{policy.c!r}",
        )
        check(found, game)
    except InputError as e:
        raise e.moved(Place(policy.file or str(name)), f"its agent: {e.what}", PolicyError) from e
    return found


def evolver(game: Game, utility: str = "") -> Agent:
    """Return the template of evolved agents: the game's, or one with random rollouts that are scored by `utility`.

    Raises:
        SettingsError: the game has no template and there is no utility.
    """
    known = load_agents(Path(game.agents), game) if game.agents else {}
    if EVOLVER in known:
        return known[EVOLVER]
    if not utility:
        raise SettingsError(f"{game.name} has no template of evolved agents", expected=f"an agent called {EVOLVER}")
    return Agent(
        EVOLVER, "search", "random games, UCB1", utility, search={"rollout": 2_000, "value": "mean"}, iterations=200
    )


def league(game: Game, utility: str, template: str = "", opponents: Sequence[str] = ()) -> League:
    """Create the league for an evolution or a playtest in which agents play move by move.

    Args:
        utility: the persona's utility, for games without a template.
        template: a word for a template other than the game's.
        opponents: words for the opponents in a two-player game; by default those that the game names, or else its
            random player and the template itself.

    Raises:
        SettingsError, FormulaError: there is no such agent, two have the same name, or one cannot be in a league.
    """
    own = agent(game, template, BUILT_IN) if template else evolver(game, utility)
    if game.players == 1:
        found = League(own, tuple(agents(game, opponents, BUILT_IN)))
        found.check(game)
        return found
    words = opponents or (load_league(Path(game.agents)) if game.agents else [])
    others = agents(game, words, BUILT_IN) if words else [Agent("random", "random"), own]
    found = League(own, tuple(others))
    found.check(game)
    return found


def _changed(agent: Agent, changes: str, word: str, game: Game) -> Agent:
    """Return the agent with some values changed, named `word`."""
    constants, search, own = dict(agent.constants), dict(agent.search), {}
    for part in changes.split(","):
        key, mark, text = (p.strip() for p in part.partition("="))
        value = _value(text)
        if not mark or not (text or key == "variant"):
            raise SettingsError("a change to an agent cannot be read", found=part, expected="NAME=VALUE", hint=word)
        if key in constants:
            if isinstance(value, str):
                raise SettingsError(f"constant {key} of {agent.name} must be a number", found=text, expected="a number")
            constants[key] = value
        elif key in OWN:
            own[key] = value
        elif key in SEARCH:
            search[key] = value
        else:
            expected, hint = unknown(key, {*constants, *SEARCH, *OWN})
            raise SettingsError(
                f"agent {agent.name} has no field of this name", found=key, expected=expected, hint=hint
            )
    for key in ("seconds", "iterations"):
        value = limits.integral(own.get(key, 1))
        if isinstance(value, str) or (key == "iterations" and not isinstance(value, int)):
            expected = f"a {'whole ' if key == 'iterations' else ''}number"
            raise SettingsError(f"{key} of {agent.name} must be a number", found=str(value), expected=expected)
    found = replace(agent, name=word, constants=constants, search=search, **own)
    check(found, game)
    return found


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
