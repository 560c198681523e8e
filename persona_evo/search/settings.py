"""The settings of a search: its budget and its rules. Both are plain data that run folders and policy files store."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from persona_evo import extensions, limits
from persona_evo.errors import SettingsError, unknown
from persona_evo.personas.lists import DEFAULT_LISTS, MOST_LISTS, OpenList
from persona_evo.words import plural

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
"""Settings whose values other packages can add, as (setting, group of entry points, built-in value)."""

MOVE_BY_MOVE = (
    'let an agent play move by move: --agent FILE.toml#NAME with playtest and evolve, agent="FILE.toml#NAME" in Python'
)
"""The hint for games in which no complete plan can be made in advance."""


POLISH = 2
"""Iterations for finding a plan of equal utility that wins or is shorter, as a multiple of those the proof took."""

PROVEN = "proven best"
FAILED = "failed"
"""The reason why a playthrough ended in which a connected game failed."""

STOPPED = (PROVEN, "budget", "time", "nodes", "memory", "win", "stuck", FAILED)
"""The reasons why a search ends. `PROVEN`: no plan is better. `budget`, `time`, `nodes`: a limit of the budget is
reached. `memory`: the planner's memory is full. `win`: a selected node wins (`first_win`). `stuck`: nothing is left
that can be selected and expanded, and there is no proof (`revisit`). `FAILED`: a connected game failed.
"""


@dataclass(frozen=True)
class Budget:
    """The limits of a search. The search ends at the first limit that it reaches.

    Attributes:
        iterations: the number of rounds of selection, expansion, rollout and backup.
        seconds: wall-clock time. A result under this limit depends on the machine and is marked as not reproducible.
        nodes: the size of the tree.
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
        """Return a share of the budget. Each limit keeps at least its smallest possible value."""
        if share >= 1.0:
            return self
        iterations = None if self.iterations is None else max(1, round(self.iterations * share))
        nodes = None if self.nodes is None else max(1, round(self.nodes * share))
        return Budget(iterations, None if self.seconds is None else self.seconds * share, nodes)

    def less(self, iterations: int, seconds: float) -> Budget | None:
        """Return what is left after so many iterations and seconds, or None if nothing is left.

        The limit on nodes applies to each search separately and does not change.
        """
        left = None if self.iterations is None else self.iterations - iterations
        time = None if self.seconds is None else self.seconds - seconds
        spent = (left is not None and left <= 0) or (time is not None and time <= 0)
        return None if spent else Budget(left, time, self.nodes)

    @property
    def text(self) -> str:
        """The limits in words: 1 iteration, 0.5 seconds."""
        limits = {name.removesuffix("s"): value for name, value in dataclasses.asdict(self).items()}
        return ", ".join(f"{value:g} {plural(value, name)}" for name, value in limits.items() if value is not None)

    @property
    def reproducible(self) -> bool:
        """Whether the same seed gives the same result on every machine."""
        return self.seconds is None

    def to_dict(self) -> dict[str, object]:
        """Return the budget as plain data."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Budget:
        """Make a budget from plain data; the inverse of `to_dict`."""
        _check(cls.__dataclass_fields__, data, "budget")
        make: Callable[..., Budget] = cls
        return make(**data)


@dataclass(frozen=True)
class SearchSettings:
    """The rules of a search.

    Attributes:
        stop: `first_win` ends the search at the first selected node that wins (the paper); `budget` uses the whole
            budget and keeps the best plan seen.
        terminal: `revisit` lets the policy select finished nodes again; `cut_off` never selects a subtree that holds
            nothing new, so that an exhausted root is a proof.
        expansion: whether untried actions are taken in the game's order or at random.
        rollout: the number of random actions after an expansion.
        horizon: the highest number of moves from the root; 0 takes the game's own.
        transpositions: `prune` drops a state that the tree already holds at the same or a lower depth; `merge` lets
            equal states share their statistics; `off` does neither.
        value: how R is computed: 0.75 mean + 0.25 maximum as in the original code (`mixed`), or the mean.
        selection: `child` descends to the child whose own state scores best (the paper). `leaf` scores a child by the
            best leaf below it, so that the search continues at the best leaf of the whole tree (best-first search);
            this needs a score that never changes. Policies that read the search's variables always select by `child`.
        finish: the share of the budget kept for playing on to a win from the best plan found, or from somewhat before
            its end, if that plan does not end the game. A win that lowers the utility is not taken. What is left of the
            share when a win is found is not spent. A search with open lists spends an equal share, or twice as much if
            it has few iterations, on walks home before that (see `walks`). Its wins may cost a little utility (see
            `Planner.plan`).
        watch: which states count as the end of a plan: those in the tree, also the ends of rollouts, or all states
            seen.
        variant: a variant of the game's rules used in the search only (`Game.variants`); "" for the rules as they are.
        lists: the open lists of the planner (see `open_lists`) for policies with a static score that have no lists of
            their own; empty for a search with a single list (preset `single`).
        hedge: the share of the iterations for a complete UCB1 search beside the lists. Its plan counts if it is better.
        selection_rule: the name of a `selection_rules.SelectionRule`, which chooses the child to descend to and takes
            the tree policy as its prior. It is for searches without lists. "" selects by the tree policy itself.
        rollout_policy: the name of a `rollouts.RolloutPolicy`, or "random" for the game's own rollouts.
        seeds: how many game seeds a search of a connected game averages over, because the player cannot know what the
            level's seed decides; 0 for a player who knows it. None for what the game's description says.
        tolerance: a share of |best utility|. Among the plans within it, a search shows the route that its seed draws.
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
    seeds: int | None = None

    def __post_init__(self) -> None:
        for name in ("rollout", "horizon"):
            object.__setattr__(self, name, limits.integral(getattr(self, name)))
        for name in ("finish", "hedge", "tolerance"):
            object.__setattr__(self, name, limits.python_number(getattr(self, name)))
        for name, allowed in CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                expected, hint = unknown(str(value), allowed)
                raise SettingsError(f"search setting {name!r}", found=repr(value), expected=expected, hint=hint)
        for name, low, high in (("rollout", 0, 100_000), ("horizon", 0, 1_000_000)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise SettingsError(
                    f"search setting {name!r}", found=repr(value), expected=f"a whole number from {low} to {high}"
                )
        if self.seeds is not None:
            object.__setattr__(self, "seeds", limits.whole(self.seeds, "the number of seeds", 0, limits.MOST_SEEDS))
        if not isinstance(self.variant, str):
            raise SettingsError("search setting 'variant'", found=repr(self.variant), expected="a name")
        for name, of in (("finish", "the budget"), ("hedge", "the iterations"), ("tolerance", "the best utility")):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 0.9:
                raise SettingsError(
                    f"search setting {name!r}", found=repr(value), expected=f"a share of {of} from 0 to 0.9"
                )
        if not isinstance(self.lists, (tuple, list)) or not all(isinstance(one, OpenList) for one in self.lists):
            raise SettingsError("search setting 'lists'", found=repr(self.lists)[:100], expected="a list of open lists")
        object.__setattr__(self, "lists", tuple(self.lists))
        self._check_added()
        if len(self.lists) > MOST_LISTS:
            raise SettingsError(
                "search setting 'lists'", found=f"{len(self.lists)} lists", expected=f"at most {MOST_LISTS}"
            )

    def _check_added(self) -> None:
        """Check that the rules and policies of other packages are installed and fit the other settings."""
        for name, group, usual in ADDED:
            value = getattr(self, name)
            if not isinstance(value, str) or (value != usual and value not in extensions.names(group)):
                what, known = name.replace("_", " "), [*filter(None, [usual]), *extensions.names(group)]
                expected, hint = unknown(value, known) if known else ("none", f"no installed package adds a {what}")
                raise SettingsError(f"there is no such {what}", found=str(value), expected=expected, hint=hint)
        if self.selection_rule and self.lists:
            raise SettingsError(
                "selection rules are for searches that descend a tree, not for open lists",
                found=f"selection_rule {self.selection_rule!r} and {len(self.lists)} lists",
                expected="the search 'single' or 'paper'",
            )

    def refuse_added(self, what: str) -> None:
        """Refuse a selection rule or a rollout policy of another package where nothing would use it.

        Args:
            what: the feature that cannot use them, named in the message.

        Raises:
            SettingsError: the settings name one.
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

    def for_persona(self, seeds: int | None) -> SearchSettings:
        """Return these settings with the `seeds` of a persona, unless they have their own."""
        return self if seeds is None or self.seeds is not None else dataclasses.replace(self, seeds=seeds)

    @classmethod
    def paper(cls) -> SearchSettings:
        """Return the settings of the paper and the original code."""
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
        """Return the settings for one open list: best-first for static formulas, descent from the root for others."""
        return cls(lists=())

    @classmethod
    def anytime(cls) -> SearchSettings:
        """Return the default: the planner with several open lists, which keeps the best plan seen and may prove it."""
        return cls()

    @classmethod
    def preset(cls, name: str) -> SearchSettings:
        """Return the settings of one of PRESETS.

        Raises:
            SettingsError: there is no such preset.
        """
        if name not in PRESETS:
            expected, hint = unknown(name, PRESETS)
            raise SettingsError("no such search preset", found=name, expected=expected, hint=hint)
        return {"paper": cls.paper, "single": cls.single, "anytime": cls.anytime}[name]()

    @property
    def best_first(self) -> bool:
        """Whether a score that never changes leads to the best leaf anywhere in the tree."""
        return self.selection == "leaf" and self.terminal == "cut_off" and self.transpositions != "merge"

    @property
    def preset_name(self) -> str:
        """The name of the preset that these settings are based on."""
        return "anytime" if self.lists else "paper" if self.stop == "first_win" else "single"

    def to_dict(self) -> dict[str, object]:
        """Return the settings as plain data."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if self.seeds is None:
            del values["seeds"]
        return {"preset": self.preset_name, **values, "lists": [one.to_dict() for one in self.lists]}

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> SearchSettings:
        """Make settings from plain data; the inverse of `to_dict`.

        Missing fields take their defaults, except `lists`: without it, the search has a single list. `preset` is there
        for readers of the file; the other fields contain all that it stands for.
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
"""The names that `SearchSettings.preset` takes."""


def _check(fields: Iterable[str], data: Mapping[str, object], what: str) -> None:
    """Check that all keys are known fields."""
    for key in data:
        if key not in fields:
            expected, hint = unknown(str(key), fields)
            raise SettingsError(f"there is no such field in {what}", found=str(key), expected=expected, hint=hint)


LONGER = 0.25
"""How many more moves a route may have than the best plan, as a share of that plan's moves. It prevents padding."""


def least_worth(worth: float, tolerance: float) -> float:
    """Return the lowest utility of a route next to a best plan of utility `worth`; `tolerance` is a share of it."""
    return worth - tolerance * abs(worth)


def longest_route(moves: int) -> int:
    """Return the highest number of moves a route may have next to a best plan of `moves` moves."""
    return math.ceil((1.0 + LONGER) * moves)
