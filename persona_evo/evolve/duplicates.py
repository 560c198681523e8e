"""Finds formulas that are equal for a search, and keeps a bounded memory of evaluated ones.

| what counts as equal | how reliable it is |
|---|---|
| the same canonical form, symbols and seed (`first_of_equals`) | exact: the search builds the same tree |
| the same canonical form (`duplicates="canonical"`) | the scores are equal, bit for bit; the seeds may differ |
| the same order of sampled states (`duplicates="behaviour"`) | an approximation; the seeds may differ |

A tree policy only compares the scores of children, so two formulas that put every pair of states in the same order
play alike. This is judged on a fixed sample of states, which are drawn widely on purpose. Metrics move independently of
each other there, so formulas that differ in any state of a real level nearly always differ in the sample, too. Formulas
that differ in the sample never count as duplicates. Two formulas that differ only in states outside the sample do, and
one of them then gets the result of the other.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import cache
from math import fsum

import numpy as np
from numpy.typing import NDArray

from persona_evo.evolve import genome
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import Formula, parse
from persona_evo.search.tree_policy import TreePolicy

STATES = 64
"""The number of states in the sample."""

_SAMPLE_SEED = 2018


def sample(symbols: Sequence[str], states: int = STATES) -> NDArray[np.float64]:
    """Return the fixed sample, float64[states, symbols]: shares, small counts, zeros and ones in any combination.

    The visits of the parent (P) are never fewer than those of the child (N), and both are at least 1.
    """
    stream = random.Random(_SAMPLE_SEED)
    rows = np.array([[_value(stream) for _ in symbols] for _ in range(states)])
    for name in ("N", "P"):
        if name in symbols:
            column = rows[:, list(symbols).index(name)]
            column[:] = [float(stream.randint(1, 1000)) for _ in range(states)]
    if "N" in symbols and "P" in symbols:
        n, p = list(symbols).index("N"), list(symbols).index("P")
        rows[:, p] += rows[:, n]
    return rows


def _value(stream: random.Random) -> float:
    kind = stream.random()
    if kind < 0.2:
        return 0.0
    if kind < 0.3:
        return 1.0
    if kind < 0.7:
        return stream.random()
    return float(stream.randint(0, 50))


class Keys:
    """Makes the keys that duplicates share.

    Args:
        kind: "off" (the text itself), "canonical" or "behaviour".
        symbols: all symbols that formulas may use.
    """

    def __init__(self, kind: str, symbols: Sequence[str]) -> None:
        self.kind = kind
        self._symbols = tuple(symbols)
        self._rows = sample(symbols) if kind == "behaviour" else np.zeros((0, 0))

    def key(self, formula: Formula) -> str:
        """Return 16 hex digits that are the same for all duplicates of `formula`.

        The key includes how long a score stays valid (`TreePolicy.holds`), because some searches depend on it:
        `PE + (R - R)` has the scores of `PE` but is searched with in another way.
        """
        if self.kind == "off":
            return _digest(formula.text.encode())
        from persona_evo.formula.rewrite import canonical

        short = canonical(formula)
        holds = bytes(TreePolicy("", formula).holds)  # none for the usual case, a score that never changes
        if self.kind == "canonical":
            return _digest(short.text.encode() + holds)
        return _digest(self.ranks(short).tobytes() + holds)

    def key_of(self, text: str) -> str:
        """Return the key of the text of a formula or of open lists.

        Two sets of lists are equal if they have the same scores, in the sense of `key`, with the same weights. If
        behaviour counts, proportional weights are enough, and the order of the lists does not matter.
        """
        if self.kind == "off" or not genome.is_lists(text):
            return _digest(text.encode()) if self.kind == "off" else self.key(parse(text))
        lists = genome.lists_of(text)
        alike = self.kind == "behaviour"
        total = fsum(one.weight for one in lists) if alike else 1.0
        parts = [f"{self.key(one.score)} {one.weight / total:.9g} {one.novel}" for one in lists]
        return _digest("; ".join(sorted(parts) if alike else parts).encode())

    def ranks(self, formula: Formula) -> NDArray[np.int16]:
        """Return int16[states], the rank of each state's score. Scores equal to 12 digits share a rank."""
        rows = (dict(zip(self._symbols, row, strict=True)) for row in self._rows.tolist())
        scores = np.array([formula.evaluate(row) for row in rows])
        _, inverse = np.unique(_rounded(scores), return_inverse=True)
        return inverse.astype(np.int16)


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round values to 12 significant digits, so that the order of additions makes no difference."""
    fraction, exponent = np.frexp(values)
    return np.ldexp(np.round(fraction * 2.0**40) / 2.0**40, exponent)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


class EvaluationCache:
    """A cache of evaluations, key -> (utilities, trials). It forgets the least recently used entry first.

    Args:
        known: the mapping used and updated in place, so that a checkpoint contains it.
        capacity: the number of entries kept.
    """

    def __init__(self, known: dict[str, tuple[list[float], int]], capacity: int) -> None:
        self._known = known
        self._capacity = capacity

    def __len__(self) -> int:
        return len(self._known)

    def recall(self, key: str) -> tuple[list[float], int] | None:
        """Return what is known of a key. This counts as a use."""
        found = self._known.pop(key, None)
        if found is not None:
            self._known[key] = found
        return found

    def keep(self, key: str, utilities: list[float], trials: int) -> None:
        """Store an entry, and forget those beyond the capacity."""
        self._known.pop(key, None)
        self._known[key] = (list(utilities), trials)
        while len(self._known) > self._capacity:
            del self._known[next(iter(self._known))]


def keys_for(settings: EvolutionSettings, symbols: Sequence[str]) -> Keys:
    """Return the key maker that these settings ask for."""
    return Keys(settings.duplicates, symbols)


def first_of_equals(trials: Sequence[tuple[str | TreePolicy, int, int, int, float]], *, by_form: bool) -> list[int]:
    """Return for each playthrough the index of the first one that must have the same result, often its own.

    Args:
        trials: tuples (formula or tree policy, case, seed, side, share of the budget).
        by_form: whether formulas of the same canonical form and symbols are equal, else only those with the same text.
            It holds for searches that know a formula by its scores, its symbols and how long its scores stay valid.
    """
    shared = Counter(trial[1:] for trial in trials)
    player = cache(_form if by_form else _whole)
    first: dict[Hashable, int] = {}
    return [
        first.setdefault((player(trial[0]), trial[1:]), i) if shared[trial[1:]] > 1 else i
        for i, trial in enumerate(trials)
    ]


def _whole(policy: str | TreePolicy) -> Hashable:
    return policy


def _form(policy: str | TreePolicy) -> Hashable:
    """Return a value that is the same for tree policies that a search cannot tell apart."""
    from persona_evo.formula.rewrite import canonical

    if isinstance(policy, str) and genome.is_lists(policy):
        return policy
    own = TreePolicy("", parse(policy)) if isinstance(policy, str) else policy
    if own.formula is None:
        return own.c, own.lists
    return canonical(own.formula).tokens, own.formula.symbols, own.lists
