"""What a search is told: its budget and its rules. Both are data; they travel into run folders and policy files."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from persona_evo import extensions, limits
from persona_evo.errors import SettingsError, unknown
from persona_evo.personas.lists import DEFAULT_LISTS, MOST_LISTS, OpenList

CHOICES: dict[str, tuple[str, ...]] = {
    "stop": ("first_win", "budget"),
    "terminal": ("revisit", "cut_off"),
    "expansion": ("ordered", "random"),
    "transpositions": ("off", "prune", "merge"),
    "value": ("mixed", "mean"),
    "selection": ("child", "leaf"),
    "watch": ("tree", "ends", "all"),
}


ADDED = (
    ("selection_rule", "persona_evo.selection_rules", ""),
    ("rollout_policy", "persona_evo.rollout_policies", "random"),
)
"""Settings whose values other packages add: name, group of entry points, and the value that is built in."""

MOVE_BY_MOVE = (
    'let an agent play move by move: --agent FILE.toml#NAME with playtest and evolve, agent="FILE.toml#NAME" in Python'
)
"""What to do in games that cannot be planned whole."""


POLISH = 2
"""Iterations spent on a plan of equal worth that wins or is shorter, for each that it took to prove the best worth."""

PROVEN = "proven best"
STOPPED = (PROVEN, "budget", "time", "nodes", "memory", "win", "stuck")
"""Why a search ended: no plan is better; a limit of the budget, or the planner's memory, was reached; a selected node
won (`first_win`); nothing is left that could be selected and expanded, without a proof (`revisit`)."""


@dataclass(frozen=True)
class Budget:
    """How long a search may go on: whichever limit comes first.

    iterations: rounds of select, expand, roll out, back up. nodes: size of the tree. seconds: wall clock; a result
    under it depends on the machine and is marked as not reproducible.
    """

    iterations: int | None = 10_000
    seconds: float | None = None
    nodes: int | None = None

    def __post_init__(self) -> None:
        for name in ("iterations", "nodes"):
            if getattr(self, name) is not None:
                value = limits.whole(getattr(self, name), f"the number of {name}", 1, limits.MOST_ITERATIONS)
                object.__setattr__(self, name, value)
        if self.seconds is not None:
            seconds = limits.number(self.seconds, "the number of seconds", 0, limits.MOST_SECONDS, above=True)
            object.__setattr__(self, "seconds", seconds)
        if self.iterations is None and self.seconds is None and self.nodes is None:
            raise SettingsError("a budget without a limit", expected="iterations, seconds or nodes")

    def part(self, share: float) -> Budget:
        """A share of it; of each limit at least the smallest amount there is."""
        if share >= 1.0:
            return self
        iterations = None if self.iterations is None else max(1, round(self.iterations * share))
        nodes = None if self.nodes is None else max(1, round(self.nodes * share))
        return Budget(iterations, None if self.seconds is None else self.seconds * share, nodes)

    def less(self, iterations: int, seconds: float) -> Budget | None:
        """What is left when so much of it is spent, None for nothing; nodes are per search and stay."""
        left = None if self.iterations is None else self.iterations - iterations
        time = None if self.seconds is None else self.seconds - seconds
        spent = (left is not None and left <= 0) or (time is not None and time <= 0)
        return None if spent else Budget(left, time, self.nodes)

    @property
    def reproducible(self) -> bool:
        """Whether the same seed gives the same result on every machine."""
        return self.seconds is None

    def to_dict(self) -> dict[str, object]:
        """As plain data."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Budget:
        """The inverse of `to_dict`."""
        _check(cls.__dataclass_fields__, data, "budget")
        make: Callable[..., Budget] = cls
        return make(**data)


@dataclass(frozen=True)
class SearchSettings:
    """The rules of a search.

    stop: `first_win` ends at the first selected node that wins (the paper), `budget` goes on and keeps the best plan
    seen. terminal: `revisit` lets the policy select finished nodes again, `cut_off` never selects a subtree that holds
    nothing new; an exhausted root is a proof. expansion: untried actions in the game's order, or at random.
    rollout: random actions after an expansion. horizon: moves from the root at most; 0 takes the game's.
    transpositions: `prune` drops a state that the tree holds at no greater depth, `merge` lets equal states share
    their statistics. value: what R is, 0.75 mean + 0.25 maximum as in the original code (`mixed`) or the mean.
    selection: `child` descends to the child whose own state scores best (the paper); `leaf` lets a child count as much
    as the best leaf below it, so that the search goes on wherever in the tree the best leaf is (best-first search). It
    needs a score that never changes; policies that read the search's variables select by `child`.
    finish: share of the budget that is kept for playing on to a win from the best plan found, where that is no end
    of the game, or from somewhat before its end; a win that lowers the utility is not taken, and what is left of
    the share when a win is found is not spent.
    watch: which states count as the end of a plan: those of the tree, rollout ends too, or all states seen.
    variant: of the game's rules, for the search alone (`Game.variants`); "" for the rules as they are.
    lists: the open lists of the planner (see `open_lists`) that a policy with a static score searches with, unless
    the policy has lists of its own; none for the search with a single list (preset `single`).
    hedge: share of the iterations for a complete UCB1 search beside the lists, whose plan counts if it is the better.
    selection_rule: name of a `selection_rules.SelectionRule`, which then chooses the child to descend to, with the tree
    policy as its prior; it is for searches without lists. "" for the tree policy itself.
    rollout_policy: name of a `rollouts.RolloutPolicy`, or "random" for the game's own rollouts.
    tolerance: share of |best utility|; among the plans within it a search shows the route that its seed draws.
    """

    stop: str = "budget"
    terminal: str = "cut_off"
    expansion: str = "ordered"
    rollout: int = 10
    horizon: int = 0
    transpositions: str = "prune"
    value: str = "mixed"
    selection: str = "leaf"
    finish: float = 0.1
    watch: str = "all"
    variant: str = ""
    lists: tuple[OpenList, ...] = DEFAULT_LISTS
    hedge: float = 0.0
    tolerance: float = 0.0
    selection_rule: str = ""
    rollout_policy: str = "random"

    def __post_init__(self) -> None:
        for name in ("rollout", "horizon"):
            object.__setattr__(self, name, limits.integral(getattr(self, name)))
        for name in ("finish", "hedge", "tolerance"):
            object.__setattr__(self, name, limits.python_number(getattr(self, name)))
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                expected, hint = unknown(str(value), allowed)
                raise SettingsError(f"search setting {name!r}", found=repr(value), expected=expected, hint=hint)
        for name, low, high in (("rollout", 0, 100_000), ("horizon", 0, 1_000_000)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise SettingsError(
                    f"search setting {name!r}", found=repr(value), expected=f"a whole number from {low} to {high}"
                )
        if not isinstance(self.variant, str):
            raise SettingsError("search setting 'variant'", found=repr(self.variant), expected="a name")
        for name, of in (("finish", "the budget"), ("hedge", "the iterations"), ("tolerance", "the best utility")):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 0.9:
                raise SettingsError(
                    f"search setting {name!r}", found=repr(value), expected=f"a share of {of} from 0 to 0.9"
                )
        self._check_added()
        if len(self.lists) > MOST_LISTS:
            raise SettingsError(
                "search setting 'lists'", found=f"{len(self.lists)} lists", expected=f"at most {MOST_LISTS}"
            )

    def _check_added(self) -> None:
        """See that what other packages add is there, and that it fits."""
        for name, group, usual in ADDED:
            value = getattr(self, name)
            if value != usual and (not isinstance(value, str) or value not in extensions.names(group)):
                expected, hint = unknown(str(value), [usual or '""', *extensions.names(group)])
                raise SettingsError(f"search setting {name!r}", found=repr(value), expected=expected, hint=hint)
        if self.selection_rule and self.lists:
            raise SettingsError(
                "selection rules are for searches that descend a tree, not for open lists",
                found=f"selection_rule {self.selection_rule!r} and {len(self.lists)} lists",
                expected="the search 'single' or 'paper'",
            )

    def refuse_added(self, what: str) -> None:
        """Refuse a selection rule or a rollout policy of another package where nothing would use it.

        Args:
            what: what has no use for them, for the message.

        Raises:
            SettingsError: there is one.
        """
        for name, _, usual in ADDED:
            value = getattr(self, name)
            if value != usual:
                raise SettingsError(
                    f"{what} cannot use a {name.replace('_', ' ')} of another package",
                    found=f"{name} {value!r}",
                    expected="a search that plans a whole level of a game in this program",
                    hint=f"leave {name} out",
                )

    @classmethod
    def paper(cls) -> SearchSettings:
        """As the paper and the original code search."""
        return cls(
            stop="first_win",
            terminal="revisit",
            transpositions="off",
            watch="tree",
            selection="child",
            finish=0.0,
            lists=(),
        )

    @classmethod
    def single(cls) -> SearchSettings:
        """One open list: best-first by a static formula; descent from the root by any other policy."""
        return cls(lists=())

    @classmethod
    def anytime(cls) -> SearchSettings:
        """The default: the planner with several open lists, which keeps the best plan seen and may prove it."""
        return cls()

    @classmethod
    def preset(cls, name: str) -> SearchSettings:
        """The settings of one of PRESETS.

        Raises:
            SettingsError: there is no such preset.
        """
        if name not in PRESETS:
            expected, hint = unknown(name, PRESETS)
            raise SettingsError("no such search preset", found=name, expected=expected, hint=hint)
        return {"paper": cls.paper, "single": cls.single, "anytime": cls.anytime}[name]()

    @property
    def best_first(self) -> bool:
        """Whether a score that never changes leads to the best leaf, wherever in the tree it is."""
        return self.selection == "leaf" and self.terminal == "cut_off" and self.transpositions != "merge"

    @property
    def preset_name(self) -> str:
        """The preset that these settings belong to, whatever else was changed."""
        return "anytime" if self.lists else "paper" if self.stop == "first_win" else "single"

    def to_dict(self) -> dict[str, object]:
        """As plain data."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {"preset": self.preset_name, **values, "lists": [one.to_dict() for one in self.lists]}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> SearchSettings:
        """The inverse of `to_dict`; fields left out take their defaults, but `lists`: without them there is one list.

        `preset` is for people: the other fields say all that it stands for.
        """
        values = {k: v for k, v in data.items() if k != "preset"}
        _check(cls.__dataclass_fields__, values, "search settings")
        lists = values.get("lists", ())
        if not isinstance(lists, (list, tuple)):
            raise SettingsError("search setting 'lists'", found=repr(lists), expected="a list of open lists")
        if "preset" in data and (data["preset"] == "anytime") != bool(lists):
            raise SettingsError(
                "the search's preset does not fit its lists",
                found=f"{data['preset']!r}, {len(lists)} lists",
                expected="lists with 'anytime', and with no other preset",
                hint="restore the file",
            )
        make: Callable[..., SearchSettings] = cls
        return make(**{**values, "lists": tuple(OpenList.from_dict(one) for one in lists)})


PRESETS = ("paper", "single", "anytime")
"""Names that `SearchSettings.preset` takes."""


def _check(fields: Iterable[str], data: Mapping[str, object], what: str) -> None:
    """See that there are values for known fields alone."""
    for key in data:
        if key not in fields:
            expected, hint = unknown(str(key), fields)
            raise SettingsError(f"there is no such field in {what}", found=str(key), expected=expected, hint=hint)


LONGER = 0.25
"""Moves that a route may have more than the best plan, as a share of its moves: plans are not padded."""


def least_worth(worth: float, tolerance: float) -> float:
    """What a route is worth at least beside a best plan of this worth; tolerance: a share of |worth|."""
    return worth - tolerance * abs(worth)


def longest_route(moves: int) -> int:
    """Moves that a route has at most beside a best plan of so many."""
    return math.ceil((1.0 + LONGER) * moves)
