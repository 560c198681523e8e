"""Agents: what plays one side of a game, as data.

| kind | plays |
|---|---|
| random | moves of the game's own random player (variant `random`), else uniform ones |
| greedy | the move after which `utility` is highest, of equal ones any; with `seconds`, the best looked at by then |
| search | the best move of a tree search (`search.actor`) |
| flat | in single-player games, the first move of the best of random lines, `search.horizon` moves long (`lookahead`) |
| program | what a program of others answers (`persona_evo.agents.program`) |

A TOML file of agents has a table for each. The one called `evolver` is the template of agents whose tree policy is
evolved, and `league`, above all tables, names whom these play against unless something else is said. Next to the fields
of `Agent` a table may have `constants`: names and numbers that stand for them in formulas, so that `NAME:C=0.5` names
the same agent with another number. In a single-player game an agent may be without `utility`: it then plays for the
utility of the persona.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from persona_evo.compiling.arrays import WordRow
from persona_evo.errors import FormulaError, InputError, Place, SettingsError, unknown
from persona_evo.formula import PRIMITIVES, Formula, parse
from persona_evo.games import textfile
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.games.tomlplaces import Places
from persona_evo.search.actor import CHOICES, Actor
from persona_evo.search.lookahead import Allowance, Lookahead
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy, check_moves, variables
from persona_evo.seeds import stream
from persona_evo.words import counted

KINDS = ("random", "greedy", "search", "flat", "program")
THINKING = ("greedy", "search", "flat")
"""Kinds that have a utility and a budget."""
MOST_BYTES = 2**20
EVOLVER, LEAGUE = "evolver", "league"
"""Names in a file of agents that mean something (see the module)."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TEXT, _TABLE = 'a text in quotes, such as {} = "{}"', "a table, such as {} = {{ {} }}"
_FIELDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "kind": (str, _TEXT.format("kind", "search")),
    "about": (str, _TEXT.format("about", "what it does")),
    "utility": (str, _TEXT.format("utility", "WIN - LOSS")),
    "policy": (str, _TEXT.format("policy", "ucb1:0.5")),
    "answer": (str, _TEXT.format("answer", "visits")),
    "variant": (str, _TEXT.format("variant", "random")),
    "constants": (dict, _TABLE.format("constants", "C = 0.5")),
    "search": (dict, _TABLE.format("search", "rollout = 20")),
    "seconds": ((int, float), "a number, such as seconds = 1.5"),
    "iterations": (int, "a whole number, such as iterations = 500"),
}
"""Of each field what it may be, for the program and in words."""

Field = tuple[str, ...]
"""What leads to a value in an agent's table."""


@dataclass(frozen=True)
class Agent:
    """One agent.

    name: what tables call it. utility: formula over the metrics as the mover sees them. policy: "ucb1", "ucb1:C" or a
    formula. answer: which child of the root is played, see `Actor`. variant: of the rules, for the search.
    constants: name -> number in the formulas. search: fields of `SearchSettings`. seconds, iterations: budget of a
    move; whichever is given, both where both are. program: a file.
    """

    name: str
    kind: str
    about: str = ""
    utility: str = ""
    policy: str = "ucb1"
    answer: str = "visits"
    variant: str = ""
    constants: Mapping[str, float] = field(default_factory=dict)
    search: Mapping[str, object] = field(default_factory=dict)
    seconds: float | None = None
    iterations: int | None = None
    program: str = ""

    def to_dict(self) -> dict[str, object]:
        """As plain values."""
        return {k: dict(v) if isinstance(v, Mapping) else v for k, v in asdict(self).items()}

    @property
    def budget(self) -> Budget:
        """Of one move."""
        return Budget(self.iterations if self.iterations or self.seconds else 1_000, self.seconds)

    @property
    def reproducible(self) -> bool:
        """Whether the same seed gives the same moves on every machine."""
        return self.kind == "random" or (self.kind != "program" and self.seconds is None)

    def with_budget(self, iterations: int | None, seconds: float | None) -> Agent:
        """The same with another budget, where it has one and another is given."""
        if self.kind not in THINKING or (iterations is None and seconds is None):
            return self
        return replace(self, iterations=iterations, seconds=seconds)

    def formula(self, text: str, symbols: tuple[str, ...]) -> Formula:
        """A formula of this agent with its constants put in.

        Raises:
            FormulaError: it is none over these symbols and the constants; the column is that in `text`.
        """
        read = parse(text, (*symbols, *self.constants), place=Place(f"a formula of {self.name}", 1, 1))
        put_in: dict[float | str, float] = {name: float(value) for name, value in self.constants.items()}
        return Formula(tuple(put_in.get(token, token) for token in read.tokens))


def load_agents(path: Path, game: Game) -> dict[str, Agent]:
    """The agents of a TOML file, each checked against the game.

    Raises:
        SettingsError: not such a file, with its place.
        FormulaError: a formula that the game cannot read.
    """
    data, places = _read(path)
    return {name: _checked(name, value, game, places) for name, value in data.items() if name != LEAGUE}


def load_league(path: Path) -> list[str]:
    """The words that a file of agents has for whom evolved agents play against; none where it does not say.

    Raises:
        SettingsError: not such a file, with its place.
    """
    data, places = _read(path)
    words = data.get(LEAGUE, [])
    what, said = "the league is not a list of agents", 'a list of names, such as ["random", "uct"]'
    if not isinstance(words, list):
        raise SettingsError(what, place=places.value(LEAGUE), found=textfile.shown(words), expected=said)
    for i, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise SettingsError(what, place=places.value(LEAGUE, i), found=textfile.shown(word), expected=said)
    return list(words)


def agent_from(values: object, game: Game) -> Agent:
    """The inverse of `Agent.to_dict`.

    Raises:
        SettingsError, FormulaError: not such values, or the agent cannot play the game.
    """
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        raise SettingsError("not an agent", found=str(values)[:80], expected="an object with the fields of an agent")
    given = {k: v for k, v in values.items() if k not in ("name", "place") and v is not None and v != ""}
    found = _checked("agent", given, game, None)
    return replace(found, name=values["name"])


def _read(path: Path) -> tuple[dict[str, object], Places]:
    text = textfile.read_text(path, MOST_BYTES, SettingsError)
    data = textfile.toml(text, str(path), SettingsError, "each agent is a table: [name], then kind = ...")
    return data, Places(text, str(path))


def _checked(name: str, data: object, game: Game, places: Places | None) -> Agent:
    """The agent that a table describes. places: of its file, None for values that come from none."""

    def at(*path: str) -> Place | None:
        return None if places is None else places.value(name, *path)

    def key_of(*path: str) -> Place | None:
        return None if places is None else places.key(name, *path)

    if not isinstance(data, dict) or not _NAME.fullmatch(name):
        raise SettingsError(
            "not an agent",
            place=key_of(),
            found=name[:80],
            expected="a table [NAME] with its fields",
            hint="a NAME consists of letters, digits and _ and begins with a letter",
        )
    for key, value in data.items():
        if key not in _FIELDS:
            expected, hint = unknown(key, _FIELDS)
            raise SettingsError(
                f"agent {name} has no such field", place=key_of(key), found=key, expected=expected, hint=hint
            )
        kinds, words = _FIELDS[key]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise SettingsError(
                f"agent {name}: {key} is of the wrong kind",
                place=at(key),
                found=textfile.shown(value),
                expected=words,
                hint=_quotes(kinds, value),
            )
    constants = data.get("constants", {})
    for key, value in constants.items():
        fresh = _NAME.fullmatch(key) and key not in variables(game, moves=True) and key not in PRIMITIVES
        if not fresh or type(value) not in (int, float) or not math.isfinite(value):
            raise SettingsError(
                f"agent {name}: a constant needs a new name and a finite number",
                place=at("constants", key),
                found=f"{key} = {textfile.shown(value)}",
                expected="a name that formulas do not use yet, and a number such as 0.5",
            )
    make: Callable[..., Agent] = Agent
    agent = make(name, **{"kind": "search", **data})
    for path, look in _looks(agent, game):
        try:
            look()
        except FormulaError as e:
            if places is not None:
                places.formula(data[path[0]], (*_symbols(path[0], game), *constants), name, *path)
            raise FormulaError(
                f"agent {name}: {e.what}", place=at(*path), found=e.found, expected=e.expected, hint=e.hint
            ) from e
        except InputError as e:
            raise SettingsError(
                f"agent {name}: {e.what}", place=at(*path), found=e.found, expected=e.expected, hint=e.hint
            ) from e
    return agent


def _quotes(kinds: type | tuple[type, ...], value: object) -> str:
    """What to do about a value of the wrong kind."""
    if kinds is str:
        return "texts stand in quotes"
    return "numbers stand without quotes" if isinstance(value, str) and kinds is not dict else "write it like this"


def check(agent: Agent, game: Game) -> None:
    """See that an agent can play a game.

    Raises:
        SettingsError, FormulaError: what is wrong with it.
    """
    for _, look in _looks(agent, game):
        look()


def _looks(agent: Agent, game: Game) -> Iterator[tuple[Field, Callable[[], object]]]:
    """What there is to look at, field by field; each raises what is wrong there."""
    kind = agent.kind
    yield ("kind",), partial(_kind, agent, game)
    if kind in THINKING and (agent.utility or game.players > 1):
        yield ("utility",), partial(_utility, agent, game)
    if kind in ("search", "flat"):
        for key, value in agent.search.items():
            yield ("search", key), partial(SearchSettings.from_dict, {key: value})
    if kind == "flat":
        yield ("search",), partial(_lines, agent)
    if kind == "search":
        yield ("variant",), partial(game.rules_for, (), agent.variant)
        yield ("search", "variant"), partial(game.rules_for, (), str(agent.search.get("variant", "")))
        yield ("policy",), partial(policy_of, agent, game)
        yield ("answer",), partial(_answer, agent, game)
        for key in ("policy", "answer"):
            yield (key,), partial(_moves, agent, game, key)
    if kind != "program":
        yield ("iterations",), partial(Budget, 1 if agent.iterations is None else agent.iterations)
        yield ("seconds",), partial(Budget, 1, agent.seconds)


def _symbols(key: str, game: Game) -> tuple[str, ...]:
    """What the formula of a field may read."""
    return game.symbols if key == "utility" else variables(game, moves=True)


def _kind(agent: Agent, game: Game) -> None:
    if agent.kind not in KINDS:
        expected, hint = unknown(agent.kind, KINDS)
        raise SettingsError("no such kind of agent", found=agent.kind, expected=expected, hint=hint)
    if agent.kind == "program" and not game.programs:
        raise SettingsError(
            f"{game.name} has no form of its states that programs can be given",
            found=agent.program or agent.kind,
            expected="another kind, such as search",
        )
    if agent.kind == "flat" and game.players != 1:
        raise SettingsError(
            "flat search is for single-player games",
            found=counted(game.players, "player"),
            expected="another kind, such as search",
        )


def _utility(agent: Agent, game: Game) -> Formula:
    if not agent.utility:
        raise SettingsError(
            "the agent has no utility", expected="a formula over the game's metrics", hint="add a line  utility = ..."
        )
    return agent.formula(agent.utility, game.symbols)


def _lines(agent: Agent) -> None:
    if not SearchSettings.from_dict(agent.search).horizon:
        raise SettingsError(
            "the agent does not say how many moves it looks ahead", expected="search = { horizon = ... }"
        )


def _moves(agent: Agent, game: Game, key: str) -> None:
    """AN and AR are read only where the search keeps them."""
    formula = policy_of(agent, game).formula if key == "policy" else _answer(agent, game)
    if isinstance(formula, Formula):
        check_moves(game, agent.variant or str(agent.search.get("variant", "")), formula.symbols)


def policy_of(agent: Agent, game: Game) -> TreePolicy:
    """The tree policy of an agent that searches."""
    name, _, c = agent.policy.partition(":")
    if name.strip() == "ucb1":
        try:
            return TreePolicy.ucb1(float(c)) if c else TreePolicy.ucb1()
        except ValueError as e:
            raise SettingsError("UCB1's constant cannot be read", found=c, expected="a number, as in ucb1:0.5") from e
    return TreePolicy.of(agent.formula(agent.policy, variables(game, moves=True)), game, agent.name, moves=True)


def _answer(agent: Agent, game: Game) -> str | Formula:
    return agent.answer if agent.answer in CHOICES else agent.formula(agent.answer, variables(game, moves=True))


class Mind:
    """An agent of this process in one game: asked for moves, told of all that were made.

    thought: iterations, nodes, breadth and depth of the last search, all 0 where there was none.
    """

    def __init__(self, agent: Agent, game: Game, level: Level, seed: int) -> None:
        self.agent, self.game, self.level = agent, game, level
        self.thought = (0, 0, 0, 0)
        self._rng = np.random.default_rng(seed)
        self._actor: Actor | None = None
        if agent.kind == "greedy":
            self._utility = agent.formula(agent.utility, game.symbols)
            self._rules = game.rules_for(self._utility.symbols)
        if agent.kind == "flat":
            depth, budget = SearchSettings.from_dict(agent.search).horizon, agent.budget
            self._look = Lookahead(
                game,
                level,
                agent.formula(agent.utility, game.symbols),
                depth,
                "flat",
                Allowance(budget.iterations, None, budget.seconds),
                seed=seed,
            )
        if agent.kind == "search":
            self._actor = Actor(
                game,
                level,
                agent.formula(agent.utility, game.symbols),
                policy_of(agent, game),
                agent.budget,
                SearchSettings.from_dict(agent.search),
                choose=_answer(agent, game),
                variant=agent.variant,
                seed=seed,
            )

    def prepare(self) -> None:
        """It is ready once it is made."""

    def choose(self, state: WordRow) -> int:
        """The move to make."""
        if self._actor is not None:
            move = self._actor.think(state)
            self.thought = (move.iterations, move.nodes, *self._actor.shape())
            return move.action
        if self.agent.kind == "greedy":
            return self._greedy(state)
        if self.agent.kind == "flat":
            look = self._look.think(state)
            self.thought = (look.playouts, 0, 0, 0)
            return look.action
        return random_move(self.game, self.level, state, self._rng)

    def follow(self, action: int) -> None:
        """Hear of a move, by whomever it was."""
        if self._actor is not None:
            self._actor.follow(action)

    def close(self) -> None:
        """Nothing is left behind."""

    def _greedy(self, state: WordRow) -> int:
        import time

        end = None if self.agent.seconds is None else time.perf_counter() + self.agent.seconds
        tables, rules, out = self.level.tables, self._rules, np.zeros(len(self.game.metrics))
        player, luck = int(rules.mover(tables, state)), np.ones(2, dtype=np.int64)
        best: list[int] = []
        highest = 0.0
        for action in self.game.legal(self.level, state):
            after = state.copy()
            rules.step(tables, after, action, luck)
            rules.measure(tables, after, player, out)
            value = self._utility.evaluate(dict(zip(self.game.symbols, map(float, out), strict=True)))
            if not best or value > highest:
                best, highest = [action], value
            elif value == highest:
                best.append(action)
            if end is not None and time.perf_counter() >= end:
                break
        return best[int(self._rng.integers(len(best)))]


_warm: set[tuple[str, int, str]] = set()
"""Games, their versions, and agents that have made a move in this process."""


def warm_up(agents: Iterable[Agent], game: Game, level: Level) -> None:
    """Let each agent make the first move of a game of its own with one iteration, so that what has to be compiled, or
    loaded, for it is no part of a later move's time. Once in a process for each agent; changes nothing else.

    Programs, and games that are played in another process, have nothing to be compiled here.
    """
    if game.outside is not None:
        return
    for agent in agents:
        key = (game.name, game.version, repr(replace(agent, name="", about="", iterations=1, seconds=None)))
        if agent.kind == "program" or key in _warm:
            continue
        state = game.start(level, 1)
        if game.over(level, state) == RUNNING and game.legal(level, state):
            ready = replace(agent, utility=agent.utility or game.symbols[0])
            mind = Mind(ready.with_budget(1, None), game, level, 1)
            action = mind.choose(state)
            mind.follow(action)
            game.rules().step(level.tables, state, action, stream(1))
        _warm.add(key)


def random_move(game: Game, level: Level, state: WordRow, rng: np.random.Generator) -> int:
    """A move of the game's own random player, or any legal one with the same chance."""
    if "random" not in game.variants:
        legal = game.legal(level, state)
        return legal[int(rng.integers(len(legal)))]
    played, luck = np.zeros(1, dtype=np.int64), rng.integers(1, 2**32, 2)
    actions, seen = np.zeros(max(1, level.max_actions), dtype=np.int64), np.zeros((1, len(game.metrics)))
    rollout = game.variants["random"]().rollout
    rollout(level.tables, state.copy(), actions, played, 1, luck.astype(np.int64), seen, 0)
    return int(played[0])
