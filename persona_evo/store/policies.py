"""Policy files: a tree policy with everything that is known about its origin.

A policy is searched for in this order: as a path, in `./policies/<game>/`, and among those that ship with the project.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persona_evo import limits
from persona_evo.agents.skill import skill_from_dict
from persona_evo.arguments import checked_fields
from persona_evo.errors import FormulaError, Place, PolicyError, SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.games import registry
from persona_evo.games.core import Game
from persona_evo.jobs import files, json_text, schema
from persona_evo.limits import is_finite, is_label
from persona_evo.personas.lists import FIELDS, OpenList, how_many, readable
from persona_evo.search.tree_policy import MOVE_VARIABLES, SEARCH_VARIABLES, TreePolicy, plan_variables, variables
from persona_evo.words import counted

SCHEMA = 1
"""The version of policy files."""

KINDS = ("formula", "ucb1", "lists")
_EVOLVED = (
    *("game", "game_version", "persona", "utility", "priority", "kind", "formula", "simplified", "c", "seed"),
    *("budget", "search", "agent", "skill", "evolution"),
)
"""Attributes of a policy that its digest covers, beside its open lists."""

_LOG = logging.getLogger(__name__)


@checked_fields()
@dataclass(frozen=True)
class Policy:
    """A tree policy and its origin.

    Attributes:
        name: the name used in commands and in its file.
        game: the game's name.
        game_version: the version of the rules that it was made for, 0 if that does not matter.
        kind: "formula", "ucb1", or "lists" for a planner's open lists.
        persona: the persona that it was made for, "" for anyone.
        utility: the text of that persona's utility.
        priority: the persona's priority metric.
        formula: the formula as it was found; "" for UCB1, and for lists without an own score.
        simplified: a shorter formula that plays alike, "" if there is none.
        lists: the open lists of the kind "lists", which replace the planner's defaults and the persona's.
        simplification: what was done and checked, or why the raw formula is kept.
        words: what the formula seeks, avoids and saves, one line each.
        comparison: the comparison with others, as `evolve.rivals.RivalComparison.to_dict` returns it.
        unfinished: the steps that the evolution had no time for: "comparison", "tuning", "simplification".
        c: the constant of UCB1.
        metrics: symbol -> meaning for the symbols in `best`.
        levels: the names of the levels that it was trained on.
        fitness: the mean utility in each of these levels.
        mean: the mean utility in all of them.
        seed: the seed of the evolution.
        budget, search, evolution: the settings of the playthroughs and of the evolution.
        agent: in two-player games the agent that it was evolved in, as `agents.agent.Agent.to_dict` returns it.
        skill: in play from move to move the skill that it was evolved for, as `agents.skill.skill_to_dict` returns it.
        connected: how the rollouts of a connected game were ordered, as `games.core.Outside.ordering` returns it: they
            went to the end (`max_decisions` at most) by the rule `rollout`, `slots` of them at once, from nodes of
            depth `horizon` at most; `constant` says where UCB1's constant stood. Empty for other games.
        run: the name of the run folder and its facts.
        versions: the versions of the programs that made it.
        notes: notes for readers.
        source: the publication or program that it was taken from.
        file: the file that it was read from; this is not written.
        digest: a digest of what the evolution found, as stored in its file; "" if there is none, and until it is
            written.
    """

    name: str
    game: str
    kind: str = "formula"
    game_version: int = 0
    persona: str = ""
    utility: str = ""
    priority: str = ""
    formula: str = ""
    simplified: str = ""
    simplification: str = ""
    words: tuple[str, ...] = ()
    comparison: Mapping[str, Any] = field(default_factory=dict)
    unfinished: tuple[str, ...] = ()
    lists: tuple[OpenList, ...] = ()
    c: float = math.sqrt(2)
    metrics: Mapping[str, str] = field(default_factory=dict)
    levels: tuple[str, ...] = ()
    fitness: Mapping[str, float] = field(default_factory=dict)
    mean: float | None = None
    seed: int | None = None
    budget: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, Any] = field(default_factory=dict)
    agent: Mapping[str, Any] = field(default_factory=dict)
    skill: Mapping[str, Any] = field(default_factory=dict)
    connected: Mapping[str, Any] = field(default_factory=dict)
    evolution: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: str = ""
    source: str = ""
    digest: str = field(default="", compare=False)
    file: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for text in (self.name, self.game, self.persona, self.priority):
            limits.label(text, "a policy, its game, persona or metric")

    @property
    def best(self) -> str:
        """The formula to play with: the simplified one if there is one (it was verified), else the raw one."""
        return self.simplified or self.formula

    @property
    def text(self) -> str:
        """The policy on one readable line."""
        if self.kind == "ucb1":
            return "UCB1"
        return f"lists {'; '.join(one.text for one in self.lists)}" if self.lists else self.best

    @property
    def edited(self) -> bool:
        """Whether its file was edited after the evolution; False if the file has no digest."""
        return self.digest not in ("", self._evolved())

    def _evolved(self) -> str:
        """Return a digest of what an evolution found and how: the same for the same values."""
        values = {key: getattr(self, key) for key in _EVOLVED}
        if self.connected:
            values["connected"] = self.connected
        plain = {**values, "lists": [one.to_dict() for one in self.lists]}
        text = json.dumps(json.loads(json_text.dump(plain)), sort_keys=True)
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()

    def tree_policy(self, game: Game) -> TreePolicy:
        """Return the tree policy for a search. A warning is logged if the file was edited.

        Raises:
            PolicyError: it belongs to another game.
            FormulaError: the game does not have all symbols.
        """
        if self.game != game.name:
            raise foreign(self, game.name)
        if self.edited:
            _LOG.warning("%s has been edited since it was evolved", self.file or self.name)
        if self.kind == "ucb1":
            return TreePolicy.ucb1(self.c)
        place = Place(self.file or self.name)
        own = TreePolicy.of(self.best, game, self.name, place) if self.best else TreePolicy(self.name)
        for one in self.lists:
            parse(one.score.text, readable(game.symbols), place=place)
        return dataclasses.replace(own, lists=self.lists)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values in the order of the file."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name != "file"}
        if self.kind != "ucb1":
            del values["c"]
        values["lists"] = [one.to_dict() for one in self.lists]
        values["digest"] = self.digest or (self._evolved() if self.run else "")
        for name in ("agent", "skill", "connected", "lists", "words", "comparison", "unfinished", "digest"):
            if not values[name]:
                del values[name]
        return {"schema": SCHEMA, **{k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}}

    def to_text(self) -> str:
        """Return the text of the policy file."""
        return json_text.dump(self.to_dict())


def write(policy: Policy, path: Path) -> Path:
    """Write a policy file atomically. Missing folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write_atomically(path, policy.to_text())
    return path


def read(path: Path) -> Policy:
    """Read a policy from its file.

    Raises:
        PolicyError: the file is missing or damaged, or has an invalid value (with JSON path, line and column).
    """
    data, text = schema.read(path, PolicyError)
    return from_dict(data, text, str(path))


def from_dict(data: dict[str, Any], text: str, source: str) -> Policy:
    """Make a policy from the object in its file.

    Args:
        text: the text of the object, for positions in messages.
        source: the name of the file.

    Raises:
        PolicyError: as `read`.
    """
    data = schema.migrate(data, text, source, PolicyError, SCHEMA, {})
    r = schema.Reader(data, text, source, PolicyError)
    names = [f.name for f in dataclasses.fields(Policy) if f.name != "file"]
    r.only(["schema", *names])
    for key in ("name", "game", "persona", "priority"):
        if not is_label(r.text_of(key, "")):
            raise r.fail("is not on one line", key, found=data[key], expected="a name without control characters")
    policy = Policy(
        name=r.text_of("name"),
        game=r.text_of("game"),
        kind=r.text_of("kind"),
        game_version=r.whole("game_version", 0),
        persona=r.text_of("persona", ""),
        utility=r.text_of("utility", ""),
        priority=r.text_of("priority", ""),
        formula=r.text_of("formula", ""),
        simplified=r.text_of("simplified", ""),
        simplification=r.text_of("simplification", ""),
        words=tuple(r.texts("words", [])),
        comparison=dict(r.object("comparison", {}).data),
        unfinished=tuple(r.texts("unfinished", [])),
        lists=lists_at(r, _game(r.text_of("game"))),
        c=r.number("c", math.sqrt(2)),
        metrics=r.words("metrics", {}),
        levels=tuple(r.texts("levels", [])),
        fitness=r.numbers("fitness", {}),
        mean=None if data.get("mean") is None else r.number("mean"),
        seed=None if data.get("seed") is None else r.whole("seed"),
        budget=dict(r.object("budget", {}).data),
        search=dict(r.object("search", {}).data),
        agent=dict(r.object("agent", {}).data),
        skill=dict(r.object("skill", {}).data),
        connected=dict(r.object("connected", {}).data),
        evolution=dict(r.object("evolution", {}).data),
        run=dict(r.object("run", {}).data),
        versions=r.words("versions", {}),
        notes=r.text_of("notes", ""),
        source=r.text_of("source", ""),
        digest=r.text_of("digest", ""),
        file=source,
    )
    _check(policy, r)
    return policy


def lists_at(r: schema.Reader, game: Game | None) -> tuple[OpenList, ...]:
    """Return the open lists of an object that may have some.

    Args:
        game: the game whose metrics the scores may read, None if it is not known.

    Raises:
        InputError: the lists are invalid (with JSON path, line and column); of the kind that the reader raises.
    """
    if "lists" not in r.data:
        return ()
    rows = r.items("lists")
    expected = how_many(len(rows))
    if expected is not None:
        raise r.fail(
            "the number of open lists is out of range", "lists", said=counted(len(rows), "list"), expected=expected
        )
    return tuple(_list(row, None if game is None else readable(game.symbols)) for row in rows)


def _list(row: schema.Reader, symbols: tuple[str, ...] | None) -> OpenList:
    row.only(FIELDS)
    found = OpenList(_formula(row, "score", row.text_of("score"), symbols))
    for name in ("weight", "novel"):
        if name in row.data:
            try:
                found = dataclasses.replace(found, **{name: row.data[name]})
            except SettingsError as e:
                raise row.fail(e.what, name, found=row.data[name], expected=e.expected or "") from e
    return found


def _formula(r: schema.Reader, key: str, text: str, symbols: tuple[str, ...] | None) -> Formula:
    try:
        return parse(text, symbols)
    except FormulaError as e:
        raise r.fail(
            f"not a formula: {e.what}" + (f" (column {e.place.column} of it)" if e.place else ""),
            key,
            found=e.found or text,
            expected=e.expected or "",
            hint=e.hint or "",
        ) from e


def _game(name: str) -> Game | None:
    return registry.get(name) if name in registry.names() else None


def _check(policy: Policy, r: schema.Reader) -> None:
    if not policy.name:
        raise r.fail("is empty", "name", found="", expected="a name")
    if policy.skill:
        r.made("skill", skill_from_dict)
    _check_origin(r)
    if policy.kind not in KINDS:
        expected, hint = unknown(policy.kind, KINDS)
        raise r.fail("no such kind of policy", "kind", found=policy.kind, expected=expected, hint=hint)
    if policy.kind != "lists" and policy.lists:
        raise r.fail(
            f"policies of the kind {policy.kind!r} do not have open lists",
            "lists",
            said=counted(len(policy.lists), "list"),
            expected='"kind": "lists"',
        )
    if policy.kind == "lists" and not policy.lists:
        raise r.fail("'lists' is missing", expected='"lists": [{"score": "UTILITY - 0.001 * D", "novel": true}]')
    if policy.kind == "ucb1":
        if not (is_finite(policy.c) and policy.c >= 0):
            raise r.fail("is out of range", "c", found=policy.c, expected="a finite number of at least 0")
        if policy.formula:
            raise r.fail("UCB1 has no formula", "formula", found=policy.formula, expected='""')
        return
    game = _game(policy.game)
    known = None if game is None else (*variables(game), *plan_variables(game))
    if not policy.formula and (policy.kind == "formula" or policy.simplified):
        raise r.fail("is empty", "formula", found="", expected="a formula")
    for key in ("formula", "simplified", "utility"):
        text = getattr(policy, key)
        if text:
            read = _formula(r, key, text, known)
            if policy.kind == "lists" and key != "utility":
                _check_own(read, r, key, game)


def _check_origin(r: schema.Reader) -> None:
    """Check that the facts about the evolution have the types that this program writes."""
    budget = r.object("budget", {})
    for key in budget.data:
        budget.get(key, (int, float, type(None)), "a number, or null")
    r.object("evolution", {}).text_of("preset", "")
    connected = r.object("connected", {})
    for key in ("rollout", "policy", "constant", "scores"):
        connected.text_of(key, "")
    for key in ("slots", "horizon", "max_decisions"):
        connected.whole(key, 1)
    run = r.object("run", {})
    for key in ("generations", "evaluations", "trials", "finalists", "born"):
        run.whole(key, 0)
    for key in ("fitness_in_run", "training", "validation"):
        run.number(key, 0.0)
    run.text_of("name", "")
    run.texts("opponents", [])
    run.numbers("priority", {})
    if "as_evolved" in run.data:
        run.object("as_evolved").text_of("lists")


def _check_own(formula: Formula, r: schema.Reader, key: str, game: Game | None) -> None:
    """Check that the own score of lists never changes."""
    still = {"D"} if game is not None and not formula.symbols.isdisjoint(plan_variables(game)) else set[str]()
    changing = [symbol for symbol in (*SEARCH_VARIABLES, *MOVE_VARIABLES) if symbol in formula.symbols - still]
    if changing:
        raise r.fail(
            f"the policy's own score cannot use {' and '.join(changing)}",
            key,
            said=formula.text,
            expected="a formula over the game's metrics",
            hint="states wait in the lists in the order of scores, which must not change during the search",
        )


def foreign(policy: Policy, game: str) -> PolicyError:
    return PolicyError(
        f"policy {policy.name!r} belongs to another game",
        place=_place(policy.file, "game"),
        found=policy.game,
        expected=game,
        hint=f"add --game {policy.game}" if policy.game in registry.names() else "add --game and the file of that game",
    )


def _place(file: str, key: str) -> Place | None:
    """Return the place of a key in a policy's file, None without a file."""
    if not file:
        return None
    try:
        return json_text.locate(Path(file).read_text(encoding="utf-8"), (key,), file)
    except (OSError, ValueError):  # it has gone since it was read
        return Place(file)
