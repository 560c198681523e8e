"""Simplifies a formula for readers, without ever trusting the algebra.

The exact rules of `rewrite` come first. Then sympy runs in a separate process, so that a crash does no harm. Its work
is limited by its function calls, which are the same on every machine, and not by the clock; a time limit is optional.
sympy treats division as the ordinary one, so everything it finds is checked against the raw formula (`verify`), and the
shortest form that passes replaces it. If none passes, the raw formula stays and the reason says why.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from persona_evo.errors import FormulaError
from persona_evo.formula.core import Formula, parse
from persona_evo.formula.rewrite import canonical
from persona_evo.formula.verify import EXACT, ComparedCases, cases, choice_differs, value_differs
from persona_evo.words import counted

NO_TIME = "not simplified, since there was no time left for it"
"""The reason why a formula is unchanged if the time is up before anything is tried."""
STOPPED = "sympy was stopped"
"""The beginning of the note that says that the time was up."""
WORK = 10_000_000
"""The function calls that sympy may make: about 15 s of work on a processor of 2023."""
CPU_SECONDS = 150
"""The processor time after which sympy is assumed to hang outside function calls; WORK takes a tenth of it."""
HANG_SECONDS = 900.0
"""The time after which sympy is given up however busy the machine is."""
LEAST_SECONDS = 1.0
"""The time below which nothing is tried, since starting sympy alone takes most of it."""
CHECK_SECONDS = 0.3
"""The time reserved for checking sympy's forms against the raw formula."""

SHARED = ("P", "D")
"""Search variables that all children of a node share: the parent's visits and the depth."""


@dataclass(frozen=True)
class Simplified:
    """The result of simplifying a formula.

    Attributes:
        raw: the formula as it came.
        formula: the shortest form that passed, or raw.
        replaced: whether that is another formula.
        reason: why it was replaced or not, in words.
        same_value: False if terms that all children share were dropped, so that only the choice of child is kept.
        seconds: the wall-clock time.
        cut: whether the time was up before everything was tried.
    """

    raw: Formula
    formula: Formula
    replaced: bool
    reason: str
    same_value: bool
    seconds: float
    cut: bool = False

    @property
    def text(self) -> str:
        """The text of `formula`."""
        return self.formula.text

    @property
    def scores(self) -> tuple[Formula, ...]:
        """`formula` alone, as one of possibly several that a policy plays by."""
        return (self.formula,)


@dataclass(frozen=True)
class _Candidate:
    formula: Formula
    origin: str
    tolerance: float = EXACT
    same_value: bool = True

    @property
    def rank(self) -> tuple[int, int, int, float, str]:
        """Shorter is better: nodes, then depth, then text; of equals the one that is not rounded."""
        text = self.formula.text
        return self.formula.size, self.formula.depth, len(text), self.tolerance, text


def simplify(
    formula: Formula,
    symbols: Sequence[str],
    samples: NDArray[Any] | None = None,
    timeout: float = HANG_SECONDS,
    *,
    groups: NDArray[Any] | None = None,
    digits: int | None = 6,
    choice_only: bool = False,
    shared: Collection[str] = SHARED,
    seed: int = 1,
    until: float | None = None,
    work: int = WORK,
) -> Simplified:
    """Return the shortest form of a formula that behaves the same.

    Args:
        formula: the formula to simplify.
        symbols: the names of the samples' columns, including those of the formula.
        samples: float64[n, len(symbols)], states (and search variables) of real playthroughs.
        timeout: the seconds that sympy may take; below the time that `work` takes, the result depends on the machine.
        groups: int64[n], which samples are children of one node.
        digits: the significant digits to which constants may be rounded, None for no rounding; values may then differ
            by a few units of the last digit, choices may not.
        choice_only: True for a tree policy, whose terms that all children share may be dropped.
        shared: symbols that all children of a node have in common (P, D, and the game's clock).
        seed: the seed of the made-up cases.
        until: the moment on `time.monotonic` by which to return what has been found.
        work: the number of function calls that sympy may make.

    Raises:
        FormulaError: the formula has a symbol without a column.
    """
    started = time.perf_counter()
    left = float("inf") if until is None else until - time.monotonic()
    if left < LEAST_SECONDS:
        return Simplified(formula, formula, False, NO_TIME, True, 0.0, True)
    given_time = min(timeout, left - CHECK_SECONDS)
    if missing := formula.symbols - set(symbols):
        raise FormulaError(
            "the samples lack symbols of the formula", found=", ".join(sorted(missing)), expected="a column for each"
        )
    given = cases(symbols, samples, groups, shared, seed)
    exact = canonical(formula)
    found, trouble = sympy_candidates(exact, given_time, work)
    forms = [
        _Candidate(exact, "the exact rules"),
        *(_Candidate(canonical(f), "sympy") for f in found),
        *(_Candidate(f, "sympy") for f in found),
    ]
    if digits is not None:
        forms += [_Candidate(rounded(c.formula, digits), c.origin, 10.0 ** (1 - digits)) for c in list(forms)]
    if choice_only:
        forms += [
            _Candidate(short, c.origin, c.tolerance, False)
            for c in list(forms)
            if (short := without_shared(c.formula, shared)) is not None
        ]
    best, reason, late = _choose(formula, forms, given, choice_only, until)
    if trouble:
        reason += f"; {trouble}"
    replaced = best is not None
    return Simplified(
        raw=formula,
        formula=best.formula if best else formula,
        replaced=replaced,
        reason=reason,
        same_value=best.same_value if best else True,
        seconds=time.perf_counter() - started,
        cut=late or (given_time < timeout and STOPPED in trouble),
    )


def _choose(
    raw: Formula, forms: list[_Candidate], given: ComparedCases, choice_only: bool, until: float | None = None
) -> tuple[_Candidate | None, str, bool]:
    """Return the shortest form that passes, the reason for the choice, and whether the time was up before that."""
    as_is = _Candidate(raw, "").rank[:3]
    refused = ""
    seen: set[tuple[Formula, bool]] = set()
    for form in sorted(forms, key=lambda c: c.rank):
        if form.rank[:3] >= as_is:
            break
        if (form.formula, form.same_value) in seen:
            continue
        if until is not None and time.monotonic() > until:
            return None, NO_TIME, True
        seen.add((form.formula, form.same_value))
        differs = value_differs(raw, form.formula, given, form.tolerance) if form.same_value else ""
        differs = differs or choice_differs(raw, form.formula, given)
        if not differs:
            return (
                form,
                _praise(raw, form, given) + (f"; a shorter form failed a check: {refused}" if refused else ""),
                False,
            )
        refused = refused or differs
    if refused:
        return None, f"kept as it is, because every shorter form failed a check; the first: {refused}", False
    return None, "kept as it is: nothing shorter was found", False


def _praise(raw: Formula, form: _Candidate, given: ComparedCases) -> str:
    what = "value and choice of child agree" if form.same_value else "the choice of child agrees"
    rounding = "" if form.tolerance == EXACT else ", constants rounded"
    return f"{counted(form.formula.size, 'node')} for {raw.size} by {form.origin}{rounding}; {what} on {given}"


def rounded(formula: Formula, digits: int) -> Formula:
    """Return the formula with its constants rounded to so many significant digits."""
    return Formula(tuple(float(f"{t:.{digits}g}") if isinstance(t, float) else t for t in formula.tokens))


def without_shared(formula: Formula, shared: Collection[str]) -> Formula | None:
    """Return the formula without terms of its outermost sum that all children share; None if there are none."""
    kept: list[tuple[Formula, bool]] = []
    left, dropped = [(formula, False)], False
    while left:
        part, negative = left.pop()
        operation = part.tokens[-1]
        if part.symbols <= set(shared):
            dropped = True
        elif operation in ("+", "-") and part.operands:
            a, b = part.operands
            left += [(b, negative != (operation == "-")), (a, negative)]
        else:
            kept.append((part, negative))
    if not dropped:
        return None
    kept.sort(key=lambda k: k[1])
    tokens: tuple[str | float, ...] = ()
    for part, negative in kept:
        tokens += part.tokens
        if len(tokens) > len(part.tokens):
            tokens += ("-" if negative else "+",)
        elif negative:
            tokens += ("neg",)
    return canonical(Formula(tokens or (0.0,)))


def _command() -> list[str]:
    return [sys.executable, "-m", "persona_evo.formula.simplify"]


def sympy_candidates(formula: Formula, timeout: float, work: int = WORK) -> tuple[list[Formula], str]:
    """Return (the forms that sympy found within the limits of seconds and function calls, what went wrong or "")."""
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    same = {"PYTHONHASHSEED": "0", "SYMPY_GROUND_TYPES": "python", "SYMPY_USE_CACHE": "yes", "SYMPY_CACHE_SIZE": "1000"}
    process = subprocess.Popen(
        _command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path, **same},
    )
    trouble = ""
    try:
        output, errors = process.communicate(json.dumps({"formula": formula.text, "work": work}), timeout)
        if process.returncode == _OUT_OF_WORK:
            trouble = f"sympy did not finish within {work:,} function calls"
        elif process.returncode:
            last = errors.strip().splitlines()
            trouble = f"sympy's process ended with code {process.returncode}" + (f" ({last[-1]})" if last else "")
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        trouble = f"{STOPPED} after {timeout:.3g} s"
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return list(_read(output)), trouble


def _read(output: str) -> Iterator[Formula]:
    for line in output.splitlines():
        try:
            yield parse(json.loads(line)["formula"])
        except (ValueError, KeyError, TypeError, FormulaError):
            continue  # a line cut short when the process was killed


_OUT_OF_WORK = 75
"""The exit code of a process that has made all the function calls it may make."""


def _limit(work: int) -> None:
    """End this process once it has made so many function calls, or hangs in one."""
    left = work
    with contextlib.suppress(ImportError):  # there is none on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))

    def called(*_: object) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(_OUT_OF_WORK)  # an exception might be caught within sympy

    sys.settrace(called)


def _worker() -> None:
    """Read one formula from standard input, write a line for each form as soon as it is found."""
    import sympy

    from persona_evo.formula.algebra import candidates

    sys.setrecursionlimit(20_000)
    asked = json.loads(sys.stdin.read())
    formula = parse(asked["formula"])
    _limit(asked["work"])
    for found in candidates(sympy, formula):
        print(json.dumps({"formula": found.text}), flush=True)


if __name__ == "__main__":
    _worker()
