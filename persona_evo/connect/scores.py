"""The range of the utilities that a search has seen, and whether UCB1's constant fits it.

UCB1's own constant, the square root of 2, is made for utilities from 0 to 1. With `scores = "normalised"`, a connected
search with this constant divides utilities by the range of those it has seen. It does so where the constant does not
fit: for ranges above 1 and, once ENOUGH rollouts were made, below 1 / UNFIT. Utilities from 0 to 1 therefore stay as
they are. Any other constant is the user's own and is used with the utilities as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from persona_evo.search.tree_policy import UCB1_CONSTANT, TreePolicy
from persona_evo.words import figure

NORMALISED, RAW = "normalised", "raw"
"""The values of `scores` in a description."""

UNFIT = 30.0
"""The factor between the range of the utilities and UCB1's constant from which on the constant does not fit."""

ENOUGH = 100
"""The number of rollouts after which a narrow range of utilities is no accident."""


LONG = 500
"""The number of rollouts from which on a shallow tree is worth a notice."""

DEEP = 0.05
"""A constant of UCB1, as a share of the range of utilities, with which the trees of long games become deep."""


def is_fitted(policy: TreePolicy, scores: str) -> bool:
    """Return whether connected searches fit a policy's constant to the utilities that they see."""
    return scores == NORMALISED and policy.kind == "ucb1" and policy.c == UCB1_CONSTANT


@dataclass
class UtilityRange:
    """The range of the utilities seen so far.

    Attributes:
        low, high: the lowest and the highest utility; inf and -inf before the first.
        count: the number of utilities.
        mean, squares: their mean, and the sum of the squares of their distances from it.
    """

    low: float = math.inf
    high: float = -math.inf
    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def add(self, utility: float) -> None:
        """Take in the utility of a rollout."""
        self.low, self.high = min(self.low, utility), max(self.high, utility)
        self.count += 1
        away = utility - self.mean
        self.mean += away / self.count
        self.squares += away * (utility - self.mean)

    @property
    def deviation(self) -> float:
        """The standard deviation of the utilities; 0 before the first."""
        return math.sqrt(self.squares / self.count) if self.count else 0.0

    @property
    def scale(self) -> float:
        """The number to divide utilities by so that UCB1's own constant fits them."""
        spread = self.high - self.low
        narrow = self.count >= ENOUGH and 0.0 < spread < 1.0 / UNFIT
        return spread if narrow or 1.0 < spread < math.inf else 1.0

    def advice(self, policy: TreePolicy, scores: str) -> str:
        """Return what is wrong with a policy's constant for this range, and which one fits; "" if nothing is wrong."""
        spread = self.high - self.low
        if policy.kind != "ucb1" or is_fitted(policy, scores) or not 0.0 < spread < math.inf:
            return ""
        if policy.c / UNFIT <= spread <= policy.c * UNFIT:
            return ""
        what = "only follows the best result so far" if spread > policy.c else "plays almost at random"
        fits = f"--policy ucb1:{spread:.2g} fits this range"
        if scores == NORMALISED:
            fits += ", and --policy ucb1 finds the range by itself"
        return f"from {figure(self.low)} to {figure(self.high)}: UCB1 with the constant {policy.c:.3g} {what}; {fits}"

    def depth_advice(self, policy: TreePolicy, depth: int, decisions: int) -> str:
        """Return what to do about a tree that leaves most decisions to chance; "" if it does not, or is small.

        Args:
            policy: the tree policy.
            depth: the depth of the tree.
            decisions: the number of decisions of the best playthrough.
        """
        spread = self.high - self.low
        if policy.kind != "ucb1" or self.count < LONG or 2 * depth >= decisions or not 0.0 < spread < math.inf:
            return ""
        deeper = f"try --policy ucb1:{DEEP * spread:.1g}, or " if policy.c > DEEP * spread else ""
        return (
            f"the search tree reached {depth} of {decisions} decisions and left the others to chance; {deeper}play "
            "from move to move (--skill, --agent)"
        )
