"""Holds all settings of the evolution in one frozen value."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from persona_evo import extensions
from persona_evo.errors import Place, SettingsError, unknown
from persona_evo.evolve.setting_values import (
    ADDED,
    BY_SEARCH,
    CHOICES,
    FORMULA,
    HIGHEST,
    LOWEST,
    MODERN_MUTATIONS,
    MOST,
    MUTATIONS,
    NUMBERS,
    PAPER,
    SAMPLING,
    SMALL_ISLAND,
)
from persona_evo.limits import integral, python_number, shown
from persona_evo.words import counted


@dataclass(frozen=True)
class EvolutionSettings:
    """Holds the settings by which formulas are bred and chosen. The defaults are those of the preset `modern`.

    The preset `paper` is the protocol of Holmgård et al. 2018, section V-B. Where the text and the original program
    differ, it has the program's value, and the text's value is an option.

    Attributes:
        population: the number of individuals of all islands together; a multiple of `islands`.
        islands: the number of islands.
        generations: the number of populations that are evaluated, including the first.
        runs: the number of independent runs; the best by the persona's core priority is taken.
        functions: "basic" is + - * /, "extended" adds sqrt log exp min max abs neg if.
        variables: the search variables that formulas may read in addition to metrics. "metrics": none, so that a score
            never changes and a search is several times faster. "paper": R. "extended": R N P D RMAX RSD. For plans of
            whole levels with scores that never change, "planner": D, UTILITY and, if the game bounds it, CEILING;
            "parent": these and the values in the parent's state (see `tree_policy.plan_variables`).
        metrics: the game's metrics that formulas may use; if empty, all except those on how the game ended.
        costly: whether metrics that are costly to compute are among them.
        constant_low, constant_high: the range from which constants are drawn uniformly (the text has -1 to 1).
        growth: the shape of random formulas: "grow" draws every node from all functions and leaves alike, "full" has
            all leaves at one depth, "half" is either; "sums" is "half" or a sum of weighted terms
            (`genetics.with_term`).
        terms: how random weighted terms are drawn: "random" adds or subtracts any symbol with the same chance; "game"
            follows what the game says of its metrics (`Metric.better`). Then nine of ten terms have the sign that fits,
            so that distances are subtracted, and half of the sums begin with a metric that is better if it is higher.
        depth_min, depth_max: the depth of random formulas; a single leaf has depth 0.
        depth_limit: the largest depth of any formula.
        size_limit: the largest number of nodes of any formula.
        migration_every: the number of generations between migrations; 0 for none.
        migrants: the number of individuals of each island, drawn at random, whose copies migrate.
        topology: copies go to the next island ("ring") or to one drawn at random ("random").
        pool: who may breed: "tournament" (the program), "top5" (the text: the fittest, all with an equal chance),
            "rank" (tournament on the mean of the ranks in each level), "lexicase" (epsilon-lexicase over levels), or
            the name of a `selection.SelectionOperator`.
        pool_size: the number of individuals in the pool of "top5".
        tournament: the number of contestants of a tournament.
        elites: the number of best individuals of each island that survive unchanged.
        mutation: the probability that a member of the pool is mutated.
        mutations: the kinds of mutation and their weights (see `operators`); a kind may be the name of an
            `operators.MutationOperator`.
        crossover: the probability that a pair exchanges subtrees; otherwise both are copied.
        trials: the number of playthroughs of each level in one evaluation.
        levels_a_generation: the number of levels that are drawn anew for each generation, on which all its individuals
            play; elites and hall of fame are then compared on a fixed validation set. 0 plays all levels in each
            generation.
        proof: the number of playthroughs up to which elites are compared on more than the validation set: in each
            generation they play as many levels to train on as that has. 0 for the validation set alone.
        race_from: the number of levels after which the worse half of each island drops out of this generation, and
            again each time this number has doubled; elites play on. 0 lets every individual play all levels.
        budgets: shares of the budget that the levels of a generation get in turn; empty for the whole budget. A policy
            that needs a large budget loses to one that does with less.
        wins: the weight of winning in the fitness, from 0 to 1; the rest is the weight of the utility.
        parsimony: the fitness that 100 additional bits of description cost in comparisons
            (`genome.description_length`).
        tuning: the share of the playthroughs, or of the time, for the end: the race of the finalists, and the tuning of
            the winner.
        common_seeds: whether all individuals of a generation play with the same seeds.
        reevaluations: the largest number of evaluations of a candidate for the elite or the hall of fame, each with
            fresh seeds and all averaged; 1 trusts the first one.
        rounds: the number of rounds of re-evaluations in one generation.
        duplicates: formulas that are not evaluated but reuse the result of a duplicate, which may come from other
            seeds: none ("off"), those with the same canonical form ("canonical"), or those that rank a fixed sample
            of states alike ("behaviour"). The last is an approximation: two formulas may differ in a state outside the
            sample. The preset "paper" allows only "off". Playthroughs of the same canonical form with the same seed are
            played once under every setting, which changes no result.
        memory: the number of evaluations remembered to recognise duplicates.
        unique_tries: the number of attempts to breed an offspring that is new to its island.
        prefer_small: whether the smaller of two equally fit individuals counts as better.
        individual: what is bred. "formula" is one formula. "lists" are open lists of a planner (see `genome`), whose
            scores read the metrics and the planner's own variables. "search" depends on the search: lists for the
            planner with open lists if `variables` is "metrics", otherwise one formula.
        first: policies that join the first population: "ucb1", "library", "utility" (the persona's utility and its core
            priority, with paths to their possible targets, and R, the mean utility, with metrics), or formulas.
        hall_of_fame: the number of individuals kept in the hall of fame.
        final_candidates: the number of members of the hall that are compared on fresh seeds at the end.
        final_trials: the number of playthroughs of each level in that comparison.
        preset: the name of the preset that these settings are based on.
    """

    population: int = 100
    islands: int = 5
    generations: int = 100
    runs: int = 1
    functions: str = "extended"
    variables: str = "metrics"
    metrics: tuple[str, ...] = ()
    costly: bool = True
    constant_low: float = -1.0
    constant_high: float = 1.0
    growth: str = "half"
    terms: str = "random"
    depth_min: int = 2
    depth_max: int = 5
    depth_limit: int = 8
    size_limit: int = 127
    migration_every: int = 1
    migrants: int = 5
    topology: str = "ring"
    pool: str = "lexicase"
    pool_size: int = 5
    tournament: int = 2
    elites: int = 3
    mutation: float = 0.3
    mutations: Mapping[str, float] = field(default_factory=lambda: MODERN_MUTATIONS)
    crossover: float = 0.8
    trials: int = 1
    levels_a_generation: int = 0
    proof: int = 1_000
    race_from: int = 0
    budgets: tuple[float, ...] = ()
    wins: float = 0.0
    parsimony: float = 0.0
    tuning: float = 0.0
    common_seeds: bool = True
    reevaluations: int = 6
    rounds: int = 1
    duplicates: str = "behaviour"
    memory: int = 1000
    unique_tries: int = 5
    prefer_small: bool = True
    individual: str = BY_SEARCH
    first: tuple[str, ...] = ("ucb1", "utility")
    hall_of_fame: int = 40
    final_candidates: int = 10
    final_trials: int = 20
    preset: str = "modern"

    def __post_init__(self) -> None:
        for name in ("metrics", "first", "budgets"):
            value = getattr(self, name)
            if isinstance(value, str) or not isinstance(value, Iterable) or getattr(value, "shape", None) == ():
                what = "numbers" if name == "budgets" else "texts"
                raise _wrong(name, value, f"a list of {what}")
            object.__setattr__(self, name, tuple(value))
        if not isinstance(self.mutations, Mapping):
            raise _wrong(
                "mutations",
                self.mutations,
                "weights by kind of mutation, as a run's config.json has them",
                "set the weight of one: mutations.NAME=2",
            )
        object.__setattr__(self, "mutations", {k: python_number(v) for k, v in self.mutations.items()})
        object.__setattr__(self, "budgets", tuple(python_number(share) for share in self.budgets))
        for name in LOWEST:
            object.__setattr__(self, name, integral(getattr(self, name)))
        for name in NUMBERS:
            object.__setattr__(self, name, python_number(getattr(self, name)))
        _check(self)

    @classmethod
    def paper(cls, **changes: Any) -> EvolutionSettings:
        """Return the published protocol."""
        return cls(**{**PAPER, **changes})

    @classmethod
    def modern(cls, **changes: Any) -> EvolutionSettings:
        """Return the improved protocol with the same budget: no work is done twice, and no lucky result survives."""
        return cls(**changes)

    @classmethod
    def sampling(cls, **changes: Any) -> EvolutionSettings:
        """Return the preset `modern` for many training levels, of which each generation plays some."""
        return cls.modern(**{**SAMPLING, **changes})

    @classmethod
    def of(cls, preset: str = "", /, *, sampled: bool = False, **changes: Any) -> EvolutionSettings:
        """Return the preset called `preset` with some values changed.

        Args:
            preset: the name of the preset, "paper" or "modern".
            sampled: whether each generation draws its levels; this changes some values of `modern` (see `SAMPLING`).
            changes: values by name. "mutations.NAME" changes the weight of one mutation.

        Raises:
            SettingsError: there is no such preset or setting, or a value is out of range.
        """
        presets = {"paper": cls.paper, "modern": cls.modern}
        named = [preset] if preset != "" else []
        named += [changes.pop("preset")] if "preset" in changes else []
        if len(named) != 1:
            found = " and ".join(map(shown, named)) or "none"
            raise SettingsError("give one preset of the evolution", found=found, expected=" or ".join(presets))
        preset = named[0]
        if not isinstance(preset, str) or preset not in presets:
            found = preset if isinstance(preset, str) else shown(preset)
            expected, hint = unknown(found, presets)
            raise SettingsError("no such preset of the evolution", found=found, expected=expected, hint=hint)
        weights = {k.removeprefix(_WEIGHT): changes.pop(k) for k in list(changes) if k.startswith(_WEIGHT)}
        _known(changes)
        usual = SAMPLING if sampled and preset == "modern" else {}
        made = presets[preset](**{**usual, **_fitting({**usual, **changes}), **changes})
        return dataclasses.replace(made, mutations={**made.mutations, **weights}) if weights else made

    @property
    def island_size(self) -> int:
        """The number of individuals on each island."""
        return self.population // self.islands

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; `from_dict` reads them back."""
        values = dataclasses.asdict(self)
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], place: Place | None = None) -> EvolutionSettings:
        """Make settings from plain values. Missing values are those of `paper`, with a formula as the individual.

        Raises:
            SettingsError: a name is unknown, or a value has the wrong type or is out of range.
        """
        if not isinstance(values, Mapping):
            raise SettingsError("settings of the evolution must be an object", place=place, found=repr(values))
        _known(values, place)
        plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
        plain.setdefault("individual", FORMULA)  # older runs could breed nothing else
        try:
            return cls.paper(**plain)
        except SettingsError as e:
            raise e.moved(place) from e


_WEIGHT = "mutations."
"""The prefix of a mutation's name if only its weight is changed."""


def _fitting(changes: Mapping[str, Any]) -> dict[str, int]:
    """Return default numbers of elites and migrants for islands that are too small for those of the presets."""
    sizes = [integral(changes.get(n, getattr(EvolutionSettings, n))) for n in ("population", "islands")]
    whole = [v for v in sizes if isinstance(v, int) and not isinstance(v, bool) and v > 0]
    if len(whole) < len(sizes):
        return {}
    size = whole[0] // whole[1]
    return {} if size >= SMALL_ISLAND else {"elites": size // 4, "migrants": size // 4}


def _known(values: Mapping[str, Any], place: Place | None = None) -> None:
    names = [f.name for f in dataclasses.fields(EvolutionSettings)]
    for name in values:
        if name not in names:
            expected, hint = unknown(name, names)
            what = "no such setting of the evolution"
            raise SettingsError(what, place=place, found=name, expected=expected, hint=hint)


def _check(s: EvolutionSettings) -> None:
    for name, lowest in LOWEST.items():
        value = getattr(s, name)
        highest = HIGHEST.get(name, MOST)
        if isinstance(value, bool) or not isinstance(value, int) or value < lowest:
            raise _wrong(name, value, f"a whole number of at least {lowest}")
        if value > highest:
            raise _wrong(name, value, f"a whole number from {lowest} to {highest}")
    for name, choices in CHOICES.items():
        value = getattr(s, name)
        if not isinstance(value, str) or (value not in choices and value not in (more := _added(name))):
            expected, hint = unknown(str(value), (*choices, *more) if isinstance(value, str) else choices)
            raise SettingsError(
                f"setting {name!r} does not have this value", found=_shown(value), expected=expected, hint=hint
            )
    for name, what in (("mutation", "chance"), ("crossover", "chance"), ("wins", "weight"), ("tuning", "share")):
        value = getattr(s, name)
        if not _is_number(value) or not 0 <= value <= 1:
            raise _wrong(name, value, f"a {what} between 0 and 1")
    if not _is_number(s.parsimony) or s.parsimony < 0:
        raise _wrong("parsimony", s.parsimony, "a number of at least 0")
    if not all(_is_number(share) and 0 < share <= 1 for share in s.budgets):
        raise _wrong("budgets", s.budgets, "shares of the budget, above 0 and at most 1")
    for name in ("costly", "common_seeds", "prefer_small"):
        if not isinstance(getattr(s, name), bool):
            raise _wrong(name, getattr(s, name), "true or false")
    if not isinstance(s.preset, str):
        raise _wrong("preset", s.preset, "a name")
    for name in ("metrics", "first"):
        if not all(isinstance(v, str) and v for v in getattr(s, name)):
            raise _wrong(name, getattr(s, name), "a list of texts")
    if len(set(s.metrics)) < len(s.metrics):
        raise _wrong("metrics", s.metrics, "each metric once")
    for name in ("constant_low", "constant_high"):
        if not _is_number(getattr(s, name)):
            raise _wrong(name, getattr(s, name), "a finite number")
    _check_mutations(s.mutations)
    _check_together(s)


def _added(setting: str) -> list[str]:
    """Return the values of a setting that other packages add."""
    return extensions.names(ADDED[setting]) if setting in ADDED else []


def _check_mutations(weights: Mapping[str, float]) -> None:
    for name, weight in weights.items():
        if name not in MUTATIONS and name not in (more := _added("mutations")):
            expected, hint = unknown(str(name), (*MUTATIONS, *more))
            raise SettingsError("no such mutation", found=str(name), expected=expected, hint=hint)
        if not _is_number(weight) or weight < 0:
            raise _wrong(f"mutations.{name}", weight, "a weight of at least 0")
    if not any(weights.values()):
        raise _wrong("mutations", dict(weights), "at least one weight above 0")


def _check_together(s: EvolutionSettings) -> None:
    if s.preset == "paper" and s.duplicates != "off":
        raise SettingsError(
            "the preset 'paper' does not reuse results from other seeds",
            found=f"duplicates {s.duplicates!r}",
            expected="duplicates 'off'",
            hint="the preset 'modern' reuses the results of duplicates",
        )
    least = max(s.elites + 1, s.migrants, 1)
    fits = s.islands * max(least, -(-s.population // s.islands))
    rules = (
        f"the population must be a multiple of islands ({s.islands}), and each island must have more individuals than "
        f"elites ({s.elites}) and at least as many as migrants ({s.migrants}): use {fits} or more, or fewer islands"
    )
    if s.population % s.islands:
        raise _wrong("population", s.population, f"a multiple of islands ({s.islands})", rules)
    if s.elites >= s.island_size:
        raise _wrong("elites", s.elites, f"fewer than the {counted(s.island_size, 'individual')} of an island", rules)
    if s.migrants > s.island_size:
        raise _wrong("migrants", s.migrants, f"at most the {counted(s.island_size, 'individual')} of an island", rules)
    if s.constant_low > s.constant_high:
        raise _wrong("constant_low", s.constant_low, f"at most constant_high ({s.constant_high})")
    if not s.depth_min <= s.depth_max <= s.depth_limit:
        raise SettingsError(
            "depths contradict each other",
            found=f"{s.depth_min}, {s.depth_max}, {s.depth_limit}",
            expected="depth_min <= depth_max <= depth_limit",
        )
    from persona_evo.formula.primitives import MAX_NODES

    least = 2 ** (s.depth_min + 1) - 1
    if not least <= s.size_limit <= MAX_NODES:
        raise _wrong("size_limit", s.size_limit, f"between {least} (a full formula of depth_min) and {MAX_NODES}")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e300 <= value <= 1e300


def _wrong(name: str, value: Any, expected: str, hint: str | None = None) -> SettingsError:
    return SettingsError(f"setting {name!r} is out of range", found=_shown(value)[:200], expected=expected, hint=hint)


def _shown(value: Any) -> str:
    """Return a value of a setting as readable text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={_shown(own)}" for name, own in value.items()) or "nothing"
    if isinstance(value, (list, tuple)):
        return ",".join(map(_shown, value)) or "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    return (value or "an empty text") if isinstance(value, str) else shown(value)
