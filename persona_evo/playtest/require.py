"""Requirements on results, which decide a playtest's exit code: `runner.win_rate >= 0.95`.

    requirement = [player [@level] .] measure operator number [%]

| part | meaning |
|---|---|
| `runner` | the player of that label, its trials of all levels together |
| `runner@map01` | in one level; `runner@*` in each level, all of which must hold |
| `*` or nothing | each persona, all of which must hold; players that are only there to be compared with must be named |
| measure | one of MEASURES, or a metric's symbol (its mean) |
| findings | problems, notices or a kind of finding, how many there are: `problems == 0`, `no_return@map01 == 0` |
| deaths, stuck | playthroughs that end so, although kinds of findings have these names, too |
| operator | >= <= > < == != |
| number | with %, hundredths |
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from persona_evo.errors import Place, SettingsError, unknown
from persona_evo.games.findings import KINDS, Finding
from persona_evo.playtest import ranges
from persona_evo.playtest.metrics import EVERY, Summary

SOURCE = "--require"
"""Where requirements come from if nothing else is said, for messages."""

MEASURES: dict[str, Callable[[Summary], float | None]] = {
    "win_rate": lambda s: s.win_rate.value,
    "deaths": lambda s: float(s.lost),
    "death_rate": lambda s: s.lost / s.trials,
    "losses": lambda s: float(s.lost),
    "loss_rate": lambda s: s.lost / s.trials,
    "unfinished": lambda s: float(s.unfinished),
    "unfinished_rate": lambda s: s.unfinished / s.trials,
    "stuck": lambda s: float(s.stuck),
    "stuck_rate": lambda s: s.stuck / s.trials,
    "damage": lambda s: None if s.damage is None else s.damage.value,
    "health": lambda s: None if s.health is None else s.health.value,
    "steps": lambda s: s.steps.value,
    "utility": lambda s: s.utility.value,
    "best_utility": lambda s: s.best_utility,
    "bound_ratio": lambda s: s.ratio,
    "seconds": lambda s: s.seconds.value,
    "trials": lambda s: float(s.trials),
}
"""What can be required beside the means of the game's metrics."""

COUNTS = ("problems", "notices", *(kind for kind in KINDS if kind not in MEASURES))
"""What can be required of findings: how many there are of a severity or a kind."""

_COUNT = re.compile(rf"({'|'.join(COUNTS)})(?:@(.*))?")

_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_NEAR = 1e-12
_FORM = "PLAYER.MEASURE >= NUMBER, PLAYER@LEVEL.MEASURE >= NUMBER or MEASURE >= NUMBER"


class Check(NamedTuple):
    """A requirement's result. value: the number that decided, None where there was none. where: of whom it is."""

    text: str
    value: float | None
    passed: bool
    where: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Requirement:
    """One parsed requirement.

    player: a label, or EVERY for each persona. level: a name, EVERY for each, or None for all trials together.
    columns: where player, level and measure stand in the text, from 1. number_at: where the number does.
    """

    text: str
    player: str
    level: str | None
    measure: str
    operator: str
    number: float
    columns: tuple[int, int, int] = (0, 0, 0)
    source: str = SOURCE
    number_at: int = 0

    @property
    def counts(self) -> bool:
        """Whether findings are counted. Accepted ones are not."""
        return self.measure in COUNTS

    def count(self, findings: Sequence[Finding], levels: Iterable[str]) -> Check:
        """Hold the requirement against the number of findings: of the player, where one is named, and of the level."""
        own = [f for f in findings if self.measure in (f.kind, f"{f.severity}s")]
        own = [f for f in own if self.player in (EVERY, *f.players)]
        parts = [
            (name, [f for f in own if name is None or name in f.level.split(", ")])
            for name in (levels if self.level == EVERY else [self.level])
        ]
        failed = [(name, part) for name, part in parts if not self.holds(float(len(part)))]
        name, worst = max(failed or parts, key=lambda part: self._badness(float(len(part[1]))))
        reason = f"first: {worst[0].text}" if failed and worst else ""
        return Check(self.text, float(len(worst)), not failed, name or "", reason)

    def check_names(self, players: Iterable[str], levels: Iterable[str], symbols: Iterable[str]) -> None:
        """Refuse names that do not exist, to be called before the first trial is played.

        Raises:
            SettingsError: with the column, the known names and the nearest one.
        """
        asked: list[tuple[str, str | None, int, list[str]]] = [
            ("player", self.player, self.columns[0], [*players]),
            ("level", self.level, self.columns[1], [*levels]),
            ("measure", self.measure, self.columns[2], [*MEASURES, *COUNTS, *symbols]),
        ]
        for kind, name, column, known in asked:
            wild = kind != "measure" and name in (None, EVERY)
            if not wild and name is not None and name not in known:
                expected, hint = unknown(name, known)
                place = Place(self.source, 1, column)
                raise SettingsError(f"no such {kind}", place=place, found=name, expected=expected, hint=hint)

    def evaluate(self, summaries: Sequence[Summary], baselines: Collection[str] = ()) -> Check:
        """Hold the requirement against results; what is missing fails and says so (names: see `check_names`).

        baselines: labels of players that are judged only where they are named.
        """
        level_of = EVERY if self.level is None else self.level
        chosen = [s for s in summaries if self._judges(s.player, baselines) and self._takes(s.level, level_of)]
        if not chosen:
            return Check(self.text, None, False, "", "no playthroughs of this player and level")
        results: list[tuple[Summary, float]] = []
        for summary in chosen:
            value = self._value(summary)
            if value is None:
                return Check(self.text, None, False, _where(summary), _unknown(self.measure, summary))
            results.append((summary, value))
        failed = [r for r in results if not self.holds(r[1])]
        summary, value = max(failed or results, key=lambda r: self._badness(r[1]))
        others = f"{len(failed)} of {len(results)} fail" if len(failed) > 1 else ""
        return Check(self.text, value, not failed, _where(summary), others)

    def _judges(self, player: str, baselines: Collection[str]) -> bool:
        return player == self.player or (self.player == EVERY and player not in baselines)

    def _takes(self, level: str, wanted: str) -> bool:
        return level != EVERY if self.level == EVERY else level == wanted

    def _value(self, summary: Summary) -> float | None:
        if self.measure in MEASURES:
            return MEASURES[self.measure](summary)
        mean = summary.metrics.get(self.measure)
        return None if mean is None else mean.value

    def holds(self, value: float) -> bool:
        """Whether a value of the measure is as required."""
        if abs(value - self.number) <= _NEAR * max(1.0, abs(self.number)):
            return self.operator in (">=", "<=", "==")
        return _OPERATORS[self.operator](value, self.number)

    def _badness(self, value: float) -> float:
        gap = value - self.number
        return {">": -gap, ">=": -gap, "<": gap, "<=": gap, "==": abs(gap), "!=": -abs(gap)}[self.operator]


def parse(text: str, source: str = SOURCE) -> Requirement:
    """Read one requirement.

    Raises:
        SettingsError: with the column of what is wrong, also where no result at all could hold.
    """
    signs = list(re.finditer(r"[<>=!]+", text))
    if not signs:
        _refuse("a requirement has no operator", source, len(text.rstrip()) + 1, text, f"one of {' '.join(_OPERATORS)}")
    last = signs[-1]
    sign = last.group()
    if sign not in _OPERATORS:
        hint = "write ==" if sign == "=" else None
        _refuse("no such operator", source, last.start() + 1, sign, f"one of {' '.join(_OPERATORS)}", hint)
    between = [text[: signs[0].start()], *(text[a.end() : b.start()] for a, b in itertools.pairwise(signs))]
    if len(signs) > 1 and any(_NUMBER.fullmatch(part.strip()) for part in between):
        _refuse(
            "a requirement has more than one operator",
            source,
            last.start() + 1,
            text.strip(),
            _FORM,
            "write two requirements, with ; between them",
        )
    number, number_at = _number(text, last.end(), source)
    left = text[: last.start()]
    player, level, measure, columns = _subject(text, left, source)
    found = Requirement(text.strip(), player, level, measure, sign, number, columns, source, number_at)
    ranges.check(found)
    return found


def _subject(text: str, left: str, source: str) -> tuple[str, str | None, str, tuple[int, int, int]]:
    """Player, level and measure that a requirement names, and the columns at which they stand.

    The level stands behind what counts findings: `problems@map01`. left: the text before the operator.
    """
    name, start = left.strip(), len(left) - len(left.lstrip())
    if of_findings := _COUNT.fullmatch(name):
        measure, level = of_findings[1], of_findings[2]
        at = start + len(measure) + 2
        if level is not None and not level.strip():
            _refuse("a requirement names no level", source, at, text, _FORM, "* stands for each level")
        return EVERY, level and level.strip(), measure, (start + 1, at, start + 1)
    who, dot, measure = name.rpartition(".")
    measure_at = start + len(who) + len(dot)
    if not measure.strip():
        _refuse("a requirement names no measure", source, measure_at + 1, text, _FORM)
    player, at_sign, level = who.partition("@")
    if dot and not player.strip():
        _refuse("a requirement names no player", source, start + 1, text, _FORM, "* stands for each persona")
    if at_sign and not level.strip():
        _refuse("a requirement names no level", source, start + len(player) + 2, text, _FORM, "* stands for each level")
    if not dot and "@" in measure:
        _, hint = unknown(measure.partition("@")[0].strip(), COUNTS)
        _refuse("a requirement names no measure", source, len(left) + 1, text, _FORM, hint)
    columns = (start + 1, start + len(player) + 2, measure_at + 1)
    return player.strip() or EVERY, level.strip() or None, measure.strip(), columns


def parse_all(texts: Iterable[str]) -> list[Requirement]:
    """Read requirements; each text may hold several, separated by semicolons."""
    found = []
    for text in texts:
        offset = 0
        for part in text.split(";"):
            if part.strip():
                found.append(parse(" " * offset + part))
            offset += len(part) + 1
    if not found:
        raise SettingsError("a requirement is empty", place=Place(SOURCE), expected=_FORM)
    return found


def evaluate(
    requirements: Iterable[Requirement],
    summaries: Sequence[Summary],
    baselines: Collection[str] = (),
    findings: Sequence[Finding] = (),
) -> list[Check]:
    """All requirements held against results, in order.

    Args:
        requirements: as parsed.
        summaries: what the players did.
        baselines: labels of players that are judged only where they are named.
        findings: without accepted ones.

    Raises:
        SettingsError: a requirement names a player, level or measure that the results do not have.
    """
    players = list(dict.fromkeys(s.player for s in summaries))
    levels = list(dict.fromkeys(s.level for s in summaries if s.level != EVERY))
    symbols = list(dict.fromkeys(symbol for s in summaries for symbol in s.metrics))
    checks = []
    for requirement in requirements:
        if summaries:
            requirement.check_names(players, levels, symbols)
        if requirement.counts:
            checks.append(requirement.count(findings, levels))
        else:
            checks.append(requirement.evaluate(summaries, baselines))
    return checks


def _number(text: str, start: int, source: str) -> tuple[float, int]:
    """The number behind the operator, and its column."""
    rest = text[start:]
    column = start + len(rest) - len(rest.lstrip()) + 1
    word = rest.strip()
    percent = word.endswith("%")
    digits = word[:-1].rstrip() if percent else word
    if not _NUMBER.fullmatch(digits):
        _refuse("a requirement has no number after its operator", source, column, word or "the end", "a number or 95%")
    value = float(digits) / (100 if percent else 1)
    if abs(value) > 1e300:
        _refuse("a requirement's number is out of range", source, column, word, "a number within +-1e300")
    return value, column


def _refuse(what: str, source: str, column: int, found: str, expected: str, hint: str | None = None) -> NoReturn:
    raise SettingsError(what, place=Place(source, 1, column), found=found, expected=expected, hint=hint)


def _unknown(measure: str, summary: Summary) -> str:
    why = summary.unbound if measure == "bound_ratio" else ""
    return f"{measure} is not known{f': {why}' if why else ''}"


def _where(summary: Summary) -> str:
    return summary.player if summary.level == EVERY else f"{summary.player}@{summary.level}"
