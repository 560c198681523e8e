"""Requirements on results, which decide a playtest's exit code: `runner.win_rate >= 0.95`.

    requirement = [player [@level] .] measure operator number [%]

| part | meaning |
|---|---|
| `runner` | the player with that label, its trials of all levels together |
| `runner@map01` | the player in one level; `runner@*` in each level, all of which must hold |
| `*` or nothing | each persona, all of which must hold; players that are only baselines must be named |
| measure | one of MEASURES, or a metric's symbol (its mean) |
| findings | number of problems, notices or findings of a kind: `problems == 0`, `no_return@map01 == 0` |
| deaths, stuck | playthroughs that end that way, although kinds of findings have these names, too |
| operator | >= <= > < == != |
| number | with %, hundredths |
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NoReturn

from persona_evo.errors import Place, SettingsError, unknown
from persona_evo.games.findings import Finding
from persona_evo.playtest import ranges
from persona_evo.playtest.metrics import EVERY, Summary
from persona_evo.playtest.requirement import COUNTS, OPERATORS, SOURCE, Check, Requirement

_COUNT = re.compile(rf"({'|'.join(COUNTS)})(?:@(.*))?")

_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_FORM = "PLAYER.MEASURE >= NUMBER, PLAYER@LEVEL.MEASURE >= NUMBER or MEASURE >= NUMBER"


def parse(text: str, source: str = SOURCE) -> Requirement:
    """Read one requirement.

    Raises:
        SettingsError: it is invalid or no result could satisfy it; the message gives the column.
    """
    signs = list(re.finditer(r"[<>=!]+", text))
    if not signs:
        _refuse("a requirement has no operator", source, len(text.rstrip()) + 1, text, f"one of {' '.join(OPERATORS)}")
    last = signs[-1]
    sign = last.group()
    if sign not in OPERATORS:
        hint = "write ==" if sign == "=" else None
        _refuse("no such operator", source, last.start() + 1, sign, f"one of {' '.join(OPERATORS)}", hint)
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
    """Return the player, level and measure that a requirement names, and their columns.

    For numbers of findings the level follows what is counted: `problems@map01`. `left` is the text before the operator.
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
        if not text.replace(";", "").strip():
            raise SettingsError("a requirement is empty", place=Place(SOURCE), expected=_FORM)
        offset = 0
        for part in text.split(";"):
            if part.strip():
                found.append(parse(" " * offset + part))
            offset += len(part) + 1
    return found


def evaluate(
    requirements: Iterable[Requirement],
    summaries: Sequence[Summary],
    baselines: Collection[str] = (),
    findings: Sequence[Finding] = (),
) -> list[Check]:
    """Check all requirements against results, in order.

    Args:
        requirements: the parsed requirements.
        summaries: what the players did.
        baselines: labels of players that are judged only if they are named.
        findings: the findings without accepted ones.

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
    """Read the number after the operator; return it and its column."""
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
