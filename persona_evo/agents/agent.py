"""Agents: what plays one side of a game, as data.

| kind | plays |
|---|---|
| random | moves of the game's own random player (variant `random`); without that, all legal moves are equally likely |
| greedy | the move after which `utility` is highest (of equal ones any); with `seconds`, the best one by then |
| search | the best move of a tree search (`search.actor`) |
| flat | in single-player games, the first move of the best random line of `search.horizon` moves (`search.lookahead`) |
| program | what a program of somebody else answers (`agents.program`) |

In a single-player game an agent may have no `utility`: it then plays for the utility of the persona.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial

from persona_evo import limits
from persona_evo.errors import Place, SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.games.core import Game
from persona_evo.search.moves import CHOICES
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy, check_moves, variables
from persona_evo.words import counted

KINDS = ("random", "greedy", "search", "flat", "program")
THINKING = ("greedy", "search", "flat")
"""Kinds of agents that have a utility and a budget."""

Field = tuple[str, ...]
"""The keys that lead to a value in an agent's table."""


@dataclass(frozen=True)
class Agent:
    """One agent.

    Attributes:
        name: the name in tables.
        kind: one of KINDS.
        about: a description for people.
        utility: a formula over the metrics as the player to move sees them.
        policy: "ucb1", "ucb1:C" or a formula.
        answer: the child of the root that is played (see `Actor`).
        variant: the variant of the rules that the search uses.
        constants: the number that each name stands for in formulas.
        search: fields of `SearchSettings`.
        seconds, iterations: the budget of a move; the search stops at the limit that it reaches first.
        program: the file of a program.
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

    def __post_init__(self) -> None:
        limits.label(self.name, "an agent")

    def to_dict(self) -> dict[str, object]:
        """Return the fields as plain values."""
        return {k: dict(v) if isinstance(v, Mapping) else v for k, v in asdict(self).items()}

    @property
    def budget(self) -> Budget:
        """The budget of one move."""
        return Budget(self.iterations if self.iterations or self.seconds else 1_000, self.seconds)

    @property
    def reproducible(self) -> bool:
        """Whether the same seed gives the same moves on every machine."""
        return self.kind == "random" or (self.kind != "program" and self.seconds is None)

    def with_budget(self, iterations: int | None, seconds: float | None) -> Agent:
        """Return the agent with another budget; the agent itself if it has no budget or no other is given."""
        if self.kind not in THINKING or (iterations is None and seconds is None):
            return self
        return replace(self, iterations=iterations, seconds=seconds)

    def formula(self, text: str, symbols: tuple[str, ...]) -> Formula:
        """Return a formula of this agent with numbers in place of its constants.

        Raises:
            FormulaError: the text is not a formula over these symbols and the constants; the column is that in `text`.
        """
        read = parse(text, (*symbols, *self.constants), place=Place(f"a formula of {self.name}", 1, 1))
        numbers: dict[float | str, float] = {name: float(value) for name, value in self.constants.items()}
        return Formula(tuple(numbers.get(token, token) for token in read.tokens))


def check(agent: Agent, game: Game) -> None:
    """Check that an agent can play a game.

    Raises:
        SettingsError, FormulaError: it cannot.
    """
    for _, look in checks(agent, game):
        look()


def checks(agent: Agent, game: Game) -> Iterator[tuple[Field, Callable[[], object]]]:
    """Yield the fields of an agent, each with a function that raises an error if the value does not fit the game."""
    kind = agent.kind
    yield ("kind",), partial(_kind, agent, game)
    if kind in THINKING and (agent.utility or game.players > 1):
        yield ("utility",), partial(_utility, agent, game)
    if kind in ("search", "flat"):
        for key, value in agent.search.items():
            yield ("search", key), partial(_setting, key, value)
    if kind == "flat":
        yield ("search",), partial(_lines, agent)
    if kind == "search":
        yield ("variant",), partial(game.rules_for, (), agent.variant)
        yield ("search", "variant"), partial(game.rules_for, (), str(agent.search.get("variant", "")))
        yield ("policy",), partial(policy_of, agent, game)
        yield ("answer",), partial(answer_of, agent, game)
        for key in ("policy", "answer"):
            yield (key,), partial(_moves, agent, game, key)
    if kind != "program":
        yield ("iterations",), partial(Budget, 1 if agent.iterations is None else agent.iterations)
        yield ("seconds",), partial(Budget, 1, agent.seconds)


def symbols_of(key: str, game: Game) -> tuple[str, ...]:
    """Return the symbols that the formula of a field may read."""
    return game.symbols if key == "utility" else variables(game, moves=True)


def _kind(agent: Agent, game: Game) -> None:
    if agent.kind not in KINDS:
        expected, hint = unknown(agent.kind, KINDS)
        raise SettingsError("no such kind of agent", found=agent.kind, expected=expected, hint=hint)
    if agent.kind == "program" and not game.programs:
        raise SettingsError(
            f"{game.name} cannot show its states to programs",
            found=agent.program or agent.kind,
            expected="another kind, such as search",
        )
    if agent.kind == "flat" and game.outside is not None:
        raise SettingsError(
            f"flat search needs the states of a game, and {game.title} runs in a process of its own",
            found=agent.name,
            expected="another kind, such as search",
        )
    if agent.kind == "flat" and game.players != 1:
        raise SettingsError(
            "flat search is for single-player games",
            found=counted(game.players, "player"),
            expected="another kind, such as search",
        )


def _setting(key: str, value: object) -> None:
    SearchSettings.from_dict({key: value}).refuse_added("an agent, which plays move by move,")


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
    """Check that a formula reads AN and AR only if the search keeps them."""
    formula = policy_of(agent, game).formula if key == "policy" else answer_of(agent, game)
    if isinstance(formula, Formula):
        check_moves(game, agent.variant or str(agent.search.get("variant", "")), formula.symbols)


def policy_of(agent: Agent, game: Game) -> TreePolicy:
    """Return the tree policy of an agent that searches.

    Raises:
        SettingsError: the constant of UCB1 is not a number.
        FormulaError: the policy is not a formula over what a tree policy may read.
    """
    name, _, c = agent.policy.partition(":")
    if name.strip() == "ucb1":
        try:
            return TreePolicy.ucb1(float(c)) if c else TreePolicy.ucb1()
        except ValueError as e:
            raise SettingsError("UCB1's constant cannot be read", found=c, expected="a number, as in ucb1:0.5") from e
    return TreePolicy.of(agent.formula(agent.policy, variables(game, moves=True)), game, agent.name, moves=True)


def answer_of(agent: Agent, game: Game) -> str | Formula:
    """Return how an agent that searches chooses a child of the root: one of `actor.CHOICES`, or a formula."""
    return agent.answer if agent.answer in CHOICES else agent.formula(agent.answer, variables(game, moves=True))
