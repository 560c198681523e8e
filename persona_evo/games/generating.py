"""Generates pools of sound and distinct levels from a seed.

A game draws level texts (`Generator`); everything else is the same for all games. A level is accepted if the game can
read it, its level check finds no problem, and it satisfies the constraints. The same seed gives the same levels on
every machine, and a larger pool begins with the levels of a smaller one.

Levels belong to streams. The text of a level alone decides which stream it belongs to, so levels of different streams
always differ, for any seeds and constraints.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from persona_evo.errors import LevelError, SettingsError, unknown
from persona_evo.games.constraints import AllowedRange, Constraints, Generator
from persona_evo.games.core import Game, Level
from persona_evo.words import counted, enumerated

STREAMS = {"train": "", "validation": "validation-", "held out": "held-out-"}
"""Name of a stream -> prefix of the names of its levels."""

MOST_LEVELS = 10_000
"""The largest number of levels in a pool."""

GENERATE = "generate:"
"""The prefix of a name that stands for a number of generated levels: "generate:200"."""


def generator(game: Game) -> Generator:
    """Return a game's level generator.

    Raises:
        SettingsError: the game has none.
    """
    if game.generator is not None:
        return game.generator()
    hint = "write levels by hand: persona-evo level new writes one to start from"
    if game.outside is not None:
        hint = "its levels are named MAP:VARIANT@SEED: every seed is a level"
    raise SettingsError(
        f"{game.title} has no level generator",
        found=game.name,
        expected="a game with a `generator`, such as minidungeons2",
        hint=hint,
    )


def generate(
    game: Game,
    count: int,
    seed: int,
    stream: str = "train",
    constraints: Constraints | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Level]:
    """Generate sound levels from a seed, no two of which are equal.

    The levels have not been solved; for solved levels see `persona_evo.evolve.pools`.

    Args:
        game: the game, which needs a level generator.
        count: the number of levels, 1 to MOST_LEVELS.
        seed: the seed of the pool.
        stream: one of STREAMS; levels of different streams are never equal.
        constraints: the constraints that every level satisfies.
        options: passed to the game's loader.

    Raises:
        SettingsError: the game has no generator, no level satisfies the constraints, or an argument is out of range.
    """
    source = LevelSource(game, seed, stream, constraints or Constraints(), options or {})
    return distinct(count, source.levels)


def asked(names: Sequence[str]) -> int:
    """Return the number of levels that a name such as "generate:200" asks for; 0 if no name asks for any.

    Raises:
        SettingsError: the number is invalid, or other levels are named as well.
    """
    given = [name for name in names if name.startswith(GENERATE)]
    if not given:
        return 0
    if len(names) > 1:
        raise SettingsError(
            "generated levels cannot be mixed with others",
            found=" ".join(names),
            expected=f"{given[0]} alone",
            hint="level generate writes levels to files, which can be mixed with others",
        )
    text = given[0].removeprefix(GENERATE)
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text[:9]) <= MOST_LEVELS:
        raise SettingsError(
            "not a number of levels", found=given[0], expected=f"{GENERATE}N, N from 1 to {MOST_LEVELS:,}"
        )
    return int(text)


def distinct(count: int, candidates: Callable[[int], Iterator[Level]]) -> list[Level]:
    """Return, for each number from 1 to `count`, the first candidate that differs from all levels before it.

    Raises:
        SettingsError: the count is out of range.
    """
    check_count(count)
    found: dict[str, Level] = {}
    for number in range(1, count + 1):
        level = next(level for level in candidates(number) if level.text not in found)
        found[level.text] = level
    return list(found.values())


def check_count(count: int) -> None:
    """Check that a number of levels is a whole number from 1 to MOST_LEVELS.

    Raises:
        SettingsError: it is not.
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MOST_LEVELS:
        raise SettingsError("the number of levels is out of range", found=str(count), expected=f"1 to {MOST_LEVELS:,}")


class LevelSource:
    """A source of all levels of a seed and a stream.

    Args:
        game: the game, which needs a level generator.
        seed: the seed of all levels.
        stream: one of STREAMS.
        constraints: the constraints that every level satisfies.
        options: passed to the game's loader.

    Raises:
        SettingsError: the game has no generator, the stream or a kind is unknown, or a constraint allows no level.
    """

    def __init__(
        self, game: Game, seed: int, stream: str, constraints: Constraints, options: Mapping[str, Any]
    ) -> None:
        if stream not in STREAMS:
            expected, hint = unknown(stream, STREAMS)
            raise SettingsError("no such stream of levels", found=stream, expected=expected, hint=hint)
        self.game, self.seed, self.stream, self.options = game, seed, stream, dict(options)
        self.generator, self.constraints = generator(game), constraints
        for kind in constraints.kinds:
            if kind not in self.generator.kinds:
                expected, hint = unknown(kind, self.generator.kinds)
                raise SettingsError(f"{game.title} has no such kind of level", found=kind, expected=expected, hint=hint)
        self.kinds = constraints.kinds or tuple(self.generator.kinds)
        for name, span in constraints.spans.items():
            if not span.low <= span.high:
                raise SettingsError(
                    f"the constraint on {name} allows nothing", found=str(span), expected="the lower number first"
                )
            limit = self.generator.limits.get(name, AllowedRange())
            if span.high < limit.low or span.low > limit.high:
                raise SettingsError(
                    f"generated levels of {game.title} never have such a value: {name}",
                    found=f"{name} {span}",
                    expected=f"{name} {limit}",
                )
        self._number = list(STREAMS).index(stream)

    def levels(self, number: int) -> Iterator[Level]:
        """Yield the sound candidates for a level of the pool, in the order of `candidates`."""
        from persona_evo.games.diagnosis import has_no_problem

        for level, settled in self.candidates(number):
            if settled or has_no_problem(self.game, level):
                yield level

    def candidates(self, number: int) -> Iterator[tuple[Level, bool]]:
        """Yield the candidates for a level of the pool: those of the kind whose turn it is, then those of other kinds.

        Args:
            number: the number of the level, from 1.

        Yields:
            Each level, and whether it is known to be sound; if not, it is sound if it can be won.

        Raises:
            SettingsError: the texts drawn contain no more candidates; the error says what was wrong with them.
        """
        first = (number - 1) % len(self.kinds)
        seen = _Seen(self.constraints)
        for kind in (*self.kinds[first:], *self.kinds[:first]):
            rng = Random(f"level {self.game.name} {self.stream} {self.seed} {number} {kind}")
            name = f"{STREAMS[self.stream]}{kind}-{self.seed}-{number:03d}"
            for _ in range(max(1, self.generator.attempts(self.constraints) // len(self.kinds))):
                seen.drawn += 1
                text = self.generator.draw(rng, kind, self.constraints)
                if text is None:
                    seen.failed += 1
                elif stream_of(text) == self._number and (found := self._sound(text, name, seen)) is not None:
                    yield found
        raise seen.error(self.game, self.kinds)

    def _sound(self, text: str, name: str, seen: _Seen) -> tuple[Level, bool] | None:
        """Return a candidate, or None if the game rejects it, its check finds a problem, or it breaks a constraint."""
        from persona_evo.games.diagnosis import is_sound

        try:
            level = self.game.load(text, name, "", **self.options)
        except LevelError:
            seen.failed += 1
            return None
        if self.constraints.spans:
            numbers = self.game.structure(level) if self.game.structure is not None else {}
            if not seen.fits(self.game, numbers):
                return None
        sound = is_sound(self.game, level)
        if sound is False:
            seen.unsound += 1
            return None
        seen.sound += 1
        return level, bool(sound)


class _Seen:
    """Counts what was wrong with the texts drawn for a level."""

    def __init__(self, constraints: Constraints) -> None:
        self._constraints = constraints
        self._values: dict[str, AllowedRange] = {}
        self.drawn = self.failed = self.unsound = self.unfit = self.sound = 0

    def fits(self, game: Game, numbers: Mapping[str, float]) -> bool:
        """Return whether a level with these numbers satisfies the constraints, and record the numbers."""
        for name in self._constraints.spans:
            if name not in numbers:
                expected, hint = unknown(name, numbers)
                raise SettingsError(
                    f"levels of {game.title} do not have this number", found=name, expected=expected, hint=hint
                )
            if not math.isnan(value := numbers[name]):
                low, high = self._values.get(name, (value, value))
                self._values[name] = AllowedRange(min(low, value), max(high, value))
        unmet = self._constraints.unmet(numbers)
        self.unfit += bool(unmet)
        return not unmet

    def error(self, game: Game, kinds: Sequence[str]) -> SettingsError:
        """Return the error that no level was found, with what was wrong with the texts drawn."""
        spans = self._constraints.spans
        what = [f"{name} {span}" for name, span in spans.items()]
        found = [f"{name} from {low:g} to {high:g}" for name, (low, high) in self._values.items()]
        numbers = [
            (self.unfit, "broke a constraint"),
            (self.unsound, "had a problem"),
            (self.failed, "did not make a level"),
            (self.sound, "were sound but not wanted"),
        ]
        counts = enumerated([f"{count:,} {words}" for count, words in numbers if count])
        return SettingsError(
            f"no such level of {game.title} ({', '.join(kinds)}) was found in {counted(self.drawn, 'attempt')}",
            found="; ".join(filter(None, (enumerated(found), counts))),
            expected=enumerated(what) if what else "a sound level",
            hint="relax the constraints, or choose other kinds" if spans else "choose another seed or other kinds",
        )


def stream_of(text: str) -> int:
    """Return the number of the stream that a level belongs to; it depends only on the level's text."""
    return hashlib.blake2b(text.encode(), digest_size=8).digest()[0] % len(STREAMS)
