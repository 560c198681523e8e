"""What is known of a policy beside others, as its file keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from persona_evo.errors import Place, PolicyError
from persona_evo.store import policies
from persona_evo.words import counted

EQUAL = 1e-9
"""Difference of mean utilities below which two policies do equally well."""


_OPTIONAL = ("training", "validation", "share")
"""Numbers that a comparison need not have."""
_NAMED = 8
"""Levels that are named one by one, at most."""


@dataclass(frozen=True)
class Rival:
    """Another policy, and how the winner does beside it.

    Attributes:
        name: "UCB1", or which policy it is.
        utility: its mean.
        difference: mean utility of the winner less its own.
        low, high: the difference's confidence interval (95 %), from trials with the same seeds, over these levels; None
            where each level was played once.
    """

    name: str
    utility: float
    difference: float
    low: float | None = None
    high: float | None = None

    @property
    def verdict(self) -> str:
        """ "better", "worse", "no better", or "perhaps better" (one trial each, which tells little)."""
        if self.low is None or self.high is None:
            return "perhaps better" if self.difference > EQUAL else "no better"
        return "better" if self.low > EQUAL else "worse" if self.high < -EQUAL else "no better"


@dataclass(frozen=True)
class RivalComparison:
    """A winner beside others.

    Attributes:
        levels: where they played. unseen: whether the winner was not trained on these; else only the seeds are new.
        trials: of each level. utility: mean of the winner.
        rivals: whom it was compared with.
        missing: why there is no comparison, or not with everybody; "" if there is.
        drawn: whether the levels are a sample of those that a generator draws, so that intervals are over levels.
        training, validation: fitness of the winner on levels to train on and on the validation set of its evolution,
            None where there is no such set.
        share: of the best known utility of the levels, None where that is not known.
    """

    levels: tuple[str, ...] = ()
    unseen: bool = True
    trials: int = 0
    utility: float = 0.0
    rivals: tuple[Rival, ...] = ()
    missing: str = ""
    drawn: bool = False
    training: float | None = None
    validation: float | None = None
    share: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """As a policy's file has it."""
        return {
            "levels": list(self.levels),
            "unseen": self.unseen,
            "trials": self.trials,
            "utility": self.utility,
            "rivals": [vars(rival) for rival in self.rivals],
            "missing": self.missing,
            **({"drawn": True} if self.drawn else {}),
            **{name: getattr(self, name) for name in _OPTIONAL if getattr(self, name) is not None},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RivalComparison:
        """The inverse of `to_dict`; KeyError, TypeError or ValueError where the values are none."""
        rivals = tuple(
            Rival(
                str(r["name"]),
                *(float(r[k]) for k in ("utility", "difference")),
                *(None if r[k] is None else float(r[k]) for k in ("low", "high")),
            )
            for r in values["rivals"]
        )
        return cls(
            tuple(map(str, values["levels"])),
            bool(values["unseen"]),
            int(values["trials"]),
            float(values["utility"]),
            rivals,
            str(values["missing"]),
            bool(values.get("drawn", False)),
            *(None if values.get(name) is None else float(values[name]) for name in _OPTIONAL),
        )

    def lines(self) -> list[str]:
        """The comparison in sentences, the plainest first."""
        found = [self.headline] if self.headline else []
        if self.rivals:
            many = self.drawn or len(self.levels) > _NAMED
            what = "generated level" if self.drawn else "level"
            named = counted(len(self.levels), what) if many else ", ".join(self.levels)
            where = f"{named} (not trained on)" if self.unseen else f"new seeds of {named}"
            for rival in self.rivals:
                found.append(
                    f"{rival.verdict} than {rival.name} on {where}: {self.utility:.4f} against "
                    f"{rival.utility:.4f}, {_difference(rival)}"
                )
            found.append(
                f"mean utility of {counted(self.trials, 'trial')} per level"
                + (
                    f", with 95 % intervals over the {'levels' if self.drawn else 'trials'}"
                    if self.drawn or self.trials > 1
                    else ""
                )
            )
        return [*found, *([self.missing] if self.missing else [])]

    @property
    def headline(self) -> str:
        """The fitness on levels to train on and on the validation set beside the result on held-out levels; "" where
        there is no validation set."""
        if self.validation is None:
            return ""
        training = "not measured" if self.training is None else f"{self.training:.4f}"
        said = f"training fitness {training}, validation {self.validation:.4f}"
        if not (self.trials and self.unseen):
            return said
        share = "" if self.share is None else f" ({self.share:.4f} of the best known)"
        return f"{said}, held-out utility {self.utility:.4f}{share}"


def _difference(rival: Rival) -> str:
    if rival.low is None or rival.high is None:
        return f"difference {rival.difference:+.4f}"
    return f"difference {rival.difference:+.4f} [{rival.low:+.4f}, {rival.high:+.4f}]"


def of_policy(policy: policies.Policy) -> RivalComparison | None:
    """The comparison that a policy's file holds, None where it has none.

    Raises:
        PolicyError: it is damaged.
    """
    if not policy.comparison:
        return None
    try:
        return RivalComparison.from_dict(policy.comparison)
    except (KeyError, TypeError, ValueError, AttributeError) as e:
        raise PolicyError(
            "the comparison is damaged",
            place=Place(policy.file or policy.name),
            found=f"{type(e).__name__}: {e}",
            hint="delete the key comparison",
        ) from e
