"""The comparison of a policy with others, as its file stores it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from persona_evo.errors import Place, PolicyError
from persona_evo.store import policies
from persona_evo.words import counted

EQUAL = 1e-9
"""The difference of mean utilities below which two policies count as equally good."""


_OPTIONAL = ("training", "validation", "share")
"""The numbers that a comparison may lack."""
_NAMED = 8
"""The highest number of levels that are listed by name."""


@dataclass(frozen=True)
class Rival:
    """Another policy, and the winner's result against it.

    Attributes:
        name: "UCB1", or a description of the policy.
        utility: its mean utility.
        difference: the mean utility of the winner minus that of this policy.
        low, high: the confidence interval of the difference (95 %), from trials with the same seeds, over these levels;
            None if each level was played once.
    """

    name: str
    utility: float
    difference: float
    low: float | None = None
    high: float | None = None

    @property
    def verdict(self) -> str:
        """ "better", "worse", "no better", or "perhaps better" (after one trial each, which says little)."""
        if self.low is None or self.high is None:
            return "perhaps better" if self.difference > EQUAL else "no better"
        return "better" if self.low > EQUAL else "worse" if self.high < -EQUAL else "no better"


@dataclass(frozen=True)
class RivalComparison:
    """A winner compared with other policies.

    Attributes:
        levels: the levels they played.
        unseen: whether the winner was not trained on these levels; otherwise only the seeds are new.
        trials: the number of trials of each level.
        utility: the mean utility of the winner.
        rivals: the policies it was compared with.
        missing: why there is no comparison, or not with all rivals; "" if it is complete.
        drawn: whether the levels are a sample of those that a generator draws, so that intervals are over levels.
        training, validation: the winner's fitness on training levels and on the validation set of its evolution, None
            if there is no such set.
        share: the share of the best known utility of the levels, None if that is not known.
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
        """Return the comparison as a policy's file stores it."""
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
        """Make a comparison from plain values; the inverse of `to_dict`.

        Raises:
            KeyError, TypeError, ValueError: the values are not a comparison.
        """
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
        """Return the comparison in sentences, the plainest first."""
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
        """The fitness on training levels and on the validation set beside the result on held-out levels.

        It is "" if there is no validation set.
        """
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
    """Return the comparison in a policy's file, None if it has none.

    Raises:
        PolicyError: the comparison is damaged.
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
