"""Formulas as DEAP trees: the primitive set, random trees, and the conversion from text to tree and back.

DEAP's own generators draw from Python's global `random`, and its constants are classes made at run time. Here,
everything draws from the stream it is given, and constants are plain terminals on DEAP's `PrimitiveTree`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from persona_evo.errors import SettingsError, unknown
from persona_evo.evolve.setting_values import LISTS, PLANNED
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import PRIMITIVES, Formula, parse
from persona_evo.formula.arithmetic import limit
from persona_evo.personas.lists import UTILITY

if TYPE_CHECKING:
    from persona_evo.games.core import Game

Tree = Any
"""A deap.gp.PrimitiveTree (DEAP has no types)."""

BASIC = ("+", "-", "*", "/")
EXTENDED = (*BASIC, "sqrt", "log", "exp", "min", "max", "abs", "neg", "if")
PAPER_VARIABLES = ("R",)
EXTENDED_VARIABLES = ("R", "N", "P", "D", "RMAX", "RSD")
OUTCOMES = ("DEAD", "WON")
"""Metrics that only report how a game ended. The paper's formulas do not use them."""

_TRIES = 20
_TERMS = 4
"""The highest number of terms in a random sum."""
_LIGHTEST = 0.001
"""The smallest weight of a term; the largest is 1."""
_ADDED = {"higher": 0.9, "lower": 0.1}
"""The chance that a term is added and not subtracted, by what the game says of its metric; 0.5 if it says nothing."""
_PRODUCTS = 0.25
"""The share of terms that are products of two leaves."""


def metrics_of(settings: EvolutionSettings, game: Game) -> tuple[str, ...]:
    """Return the metrics that formulas may use: those named in the settings, or else the game's except some.

    The exceptions are OUTCOMES and metrics that only say where the avatar stands.
    Metrics that are costly to compute, or that the game's publication lacks, are included if the settings say `costly`.
    The variables of plans of whole levels are included if `variables` says so.

    Raises:
        SettingsError: the settings name a metric that the game does not have.
    """
    for name in settings.metrics:
        if name not in game.symbols:
            expected, hint = unknown(name, game.symbols)
            raise SettingsError("the game has no such metric", found=name, expected=expected, hint=hint)
    usual = [m.symbol for m in game.metrics if not m.place and (settings.costly or not (m.costly or m.added))]
    found = settings.metrics or tuple(symbol for symbol in usual if symbol not in OUTCOMES)
    return (*found, *(_planned(settings, game, found) if settings.variables in PLANNED else ()))


def _planned(settings: EvolutionSettings, game: Game, metrics: Sequence[str]) -> list[str]:
    """Return UTILITY and CEILING and, for "parent", these and the metrics (except clocks) in the parent."""
    from persona_evo.search.tree_policy import PARENT, plan_variables

    own = [symbol for symbol in plan_variables(game) if not symbol.endswith(PARENT)]
    clocks = {m.symbol for m in game.metrics if m.clock}
    before = [symbol + PARENT for symbol in (*metrics, *own) if symbol not in clocks]
    return [*own, *(before if settings.variables == "parent" else ())]


def leaves(settings: EvolutionSettings, metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the symbols of a formula: the metrics, then the search's variables, which scores of open lists lack."""
    if settings.individual == LISTS:
        return tuple(metrics)
    own = {"metrics": (), "paper": PAPER_VARIABLES, "extended": EXTENDED_VARIABLES}.get(settings.variables, ("D",))
    return (*metrics, *(symbol for symbol in own if symbol not in metrics))


@dataclass(frozen=True, eq=False)
class Primitives:
    """The building blocks of formulas.

    Attributes:
        pset: the deap.gp.PrimitiveSet.
        functions: its functions, as DEAP nodes.
        symbols: its named leaves, as DEAP nodes.
        constants: (low, high) of the one leaf that is a new number each time.
        better: `Metric.better` of each metric that the game calls good or bad, by their symbols; empty if random terms
            do not follow it.
        clocks: the symbols of the game's clocks.
    """

    pset: Any
    functions: tuple[Any, ...]
    symbols: tuple[Any, ...]
    constants: tuple[float, float]
    better: Mapping[str, str] = field(default_factory=dict)
    clocks: tuple[str, ...] = ()

    @classmethod
    def of(cls, settings: EvolutionSettings, metrics: Sequence[str], game: Game | None = None) -> Primitives:
        """Return the primitive set of these settings over these metrics (see `metrics_of`).

        Args:
            game: the game, which says what is good about its metrics; None for metrics of no game.
        """
        from deap import gp

        own = game.metrics if game else ()
        pset = gp.PrimitiveSet("tree_policy", 0)
        for name in BASIC if settings.functions == "basic" else EXTENDED:
            pset.addPrimitive(PRIMITIVES[name].function, PRIMITIVES[name].arity, name=name)
        for symbol in leaves(settings, metrics):
            pset.addTerminal(0.0, name=symbol)
        return cls(
            pset=pset,
            functions=tuple(pset.primitives[gp.__type__]),
            symbols=tuple(pset.terminals[gp.__type__]),
            constants=(settings.constant_low, settings.constant_high),
            better={m.symbol: m.better for m in own if m.better in _ADDED} if settings.terms == "game" else {},
            clocks=tuple(m.symbol for m in own if m.clock and m.symbol in metrics),
        )

    @property
    def leaf_share(self) -> float:
        """The share of leaves among all primitives. The constant counts as one leaf."""
        n = len(self.symbols) + 1
        return n / (n + len(self.functions))

    def leaf(self, stream: random.Random) -> Any:
        """Draw a leaf. All symbols and the constant have the same chance."""
        i = stream.randrange(len(self.symbols) + 1)
        return self.symbols[i] if i < len(self.symbols) else constant(stream.uniform(*self.constants))

    def symbol(self, stream: random.Random) -> Any:
        """Draw a named leaf. All have the same chance."""
        return self.symbols[stream.randrange(len(self.symbols))]

    def function(self, stream: random.Random, arity: int | None = None) -> Any:
        """Draw a function, of `arity` operands if that is given. All have the same chance."""
        if arity is None:
            return self.functions[stream.randrange(len(self.functions))]
        fitting = [f for f in self.functions if f.arity == arity]
        return fitting[stream.randrange(len(fitting))]


def constant(value: float) -> Any:
    """Return a number as a DEAP leaf, within the limits of formulas."""
    from deap import gp

    return gp.Terminal(limit(float(value)) + 0.0, False, gp.__type__)


def is_constant(node: Any) -> bool:
    """Return whether a node is a number."""
    return bool(node.arity == 0) and isinstance(node.value, float)


def tree(formula: Formula, primitives: Primitives) -> Tree:
    """Return a formula as a tree. Its functions need not be in the primitive set, but its symbols must be.

    Raises:
        SettingsError: the formula uses something that the primitive set does not have.
    """
    from deap import gp

    nodes = []
    for token in formula.prefix:
        if isinstance(token, float):
            nodes.append(constant(token))
        elif token in primitives.pset.mapping:
            nodes.append(primitives.pset.mapping[token])
        else:
            expected, hint = unknown(token, primitives.pset.mapping)
            raise SettingsError(
                f"the evolution's settings do not have {token!r}", found=formula.text, expected=expected, hint=hint
            )
    return gp.PrimitiveTree(nodes)


def formula(nodes: Tree) -> Formula:
    """Return a tree as a formula."""
    return Formula.from_prefix([n.value if is_constant(n) else n.name for n in nodes])


def read(text: str, primitives: Primitives) -> Tree:
    """Return the tree of a formula's text."""
    return tree(parse(text), primitives)


def depth(nodes: Tree) -> int:
    """Return the number of operations above the deepest leaf, 0 for a leaf."""
    return int(nodes.height)


def fits(nodes: Tree, settings: EvolutionSettings) -> bool:
    """Return whether a tree is within the limits of depth and size."""
    return len(nodes) <= settings.size_limit and depth(nodes) <= settings.depth_limit


def random_tree(settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Tree:
    """Draw a random tree with a depth from depth_min to depth_max within the size limit."""
    for _ in range(_TRIES):
        nodes = _shape(settings, primitives, stream)
        if fits(nodes, settings):
            return nodes
    return grow(primitives, settings.depth_min, settings.depth_min, stream, full=True, arity=2)


def with_term(nodes: Tree, primitives: Primitives, stream: random.Random) -> Tree:
    """Add a weighted leaf, or a weighted product of two leaves, to a tree, or subtract it.

    The logarithm of the weight is uniform. What the game says of the first leaf makes one sign likelier.
    """
    named = primitives.pset.mapping
    weight = float(f"{math.exp(stream.uniform(math.log(_LIGHTEST), 0.0)):.2g}")
    first = primitives.symbol(stream)
    added = [first]
    if stream.random() < _PRODUCTS:
        added = [named["*"], *added, primitives.symbol(stream)]
    sign = named["+" if stream.random() < _ADDED.get(primitives.better.get(first.name, ""), 0.5) else "-"]
    return type(nodes)([sign, *nodes, named["*"], constant(weight), *added])


def _sum(primitives: Primitives, stream: random.Random) -> Tree:
    """Draw a first leaf with one or more weighted terms.

    The first leaf is the persona's utility, or any leaf if formulas may not read the utility. If the game says which
    metrics are better when they are higher, it is one of these in half of the cases, and always without the utility.
    """
    from deap import gp

    head = next((leaf for leaf in primitives.symbols if leaf.name == UTILITY), None)
    good = [leaf for leaf in primitives.symbols if primitives.better.get(leaf.name) == "higher"]
    if good and (head is None or stream.random() < 0.5):
        head = good[stream.randrange(len(good))]
    nodes = gp.PrimitiveTree([head or primitives.symbol(stream)])
    for _ in range(stream.randint(1, _TERMS)):
        nodes = with_term(nodes, primitives, stream)
    return nodes


def _shape(settings: EvolutionSettings, primitives: Primitives, stream: random.Random) -> Tree:
    kind = settings.growth
    if kind == "sums":
        if stream.random() < 0.5:
            return _sum(primitives, stream)
        kind = "half"
    if kind == "half":
        kind = "full" if stream.random() < 0.5 else "grow"
    if kind == "grow":
        return grow(primitives, settings.depth_min, settings.depth_max, stream, full=False)
    high = stream.randint(settings.depth_min, settings.depth_max)
    return grow(primitives, high, high, stream, full=True)


def grow(
    primitives: Primitives, low: int, high: int, stream: random.Random, *, full: bool, arity: int | None = None
) -> Tree:
    """Draw a random tree from the root to the leaves.

    Args:
        low: no leaf is nearer to the root than this, unless it is at `high`.
        high: no node is deeper than this.
        full: whether all leaves are at `high`. Otherwise each node from `low` on is drawn from functions and leaves
            alike.
        arity: the number of operands of all functions, if given.
    """
    from deap import gp

    nodes: list[Any] = []
    open_depths = [0]
    while open_depths:
        here = open_depths.pop()
        stop = here >= high or (not full and here >= low and stream.random() < primitives.leaf_share)
        if stop:
            nodes.append(primitives.leaf(stream))
            continue
        function = primitives.function(stream, arity)
        nodes.append(function)
        open_depths.extend([here + 1] * function.arity)
    return gp.PrimitiveTree(nodes)
