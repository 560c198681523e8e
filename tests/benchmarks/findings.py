"""`python -m tests.benchmarks findings`: how many planted faults the product names, and what it says of sound levels.

Seed 1 is for those who develop the product; other seeds make levels that nobody has looked at. The same seed makes the
same levels. Faults and look-alikes are proven without the product (see `tests/benchmarks/faults`).
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from .faults.alike import LOOK_ALIKES
from .faults.by_hand import by_hand
from .faults.cases import ALIKE, FAULT, HAND, SOUND, Case, kept
from .faults.diagnosis import CHECK, PLAYTEST, diagnose
from .faults.dungeons import Board, dungeon, sound_drawn
from .faults.planted import PLANTERS, Planter
from .faults.scores import Verdict, judge, markdown, misses, precision, recall, write
from .report import FIGURE, REACHED, SHORT, Row

FOLDER = Path("runs/findings")
MD2 = "minidungeons2"
BASES = 40
"""Number of levels that a planter tries before a kind has to do with fewer cases."""


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks findings",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=1, help="makes the levels (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="one case of each kind, and no playtests")
    parser.add_argument("--each", type=int, help="cases of each kind and game (default: 4, with --quick 1)")
    parser.add_argument("--how", nargs="+", choices=(CHECK, PLAYTEST), help="commands to be judged (default: both)")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="cases with one of these in their names")
    parser.add_argument("--misses", action="store_true", help="print the smallest miss of each kind, too")
    parser.add_argument("--list", action="store_true", help="print the cases with their levels and judge nothing")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=FOLDER, metavar="FOLDER", help="default: %(default)s")
    args = parser.parse_args(arguments)
    args.each = args.each or (1 if args.quick else 4)
    args.how = args.how or ([CHECK] if args.quick else [CHECK, PLAYTEST])
    return args


def bases(seed: int, first: int, drawn: bool = True) -> Iterator[Board]:
    """Yield sound levels to plant faults in: generated ones, and every third by a designer."""
    designed = [board for _, _, board in sound_drawn()] if drawn else []
    Random(f"bases {seed} {first}").shuffle(designed)
    for number in itertools.count(first):
        if designed and number % 3 == 2:
            yield designed.pop()
        else:
            yield dungeon(seed, number)


def sound_cases(seed: int, each: int) -> Iterator[Case]:
    """Yield sound levels of MiniDungeons 2: generated ones, and those by designers."""
    for number in range(4 * each):
        yield Case(
            f"md2-sound-{number}",
            MD2,
            SOUND,
            "generated",
            (dungeon(seed, 1_000 + number).text,),
            proof="all can be had and the exit reached",
        )
    for source, name, board in sound_drawn() if each > 1 else sound_drawn()[:4]:
        yield Case(f"md2-sound-{name}", MD2, SOUND, source, (board.text,), proof="all can be had and the exit reached")


def planted_cases(seed: int, each: int) -> Iterator[Case]:
    """Yield faults of MiniDungeons 2 and their look-alikes, each in levels of its own."""
    for k, (fault, planters) in enumerate(PLANTERS.items()):
        yield from _planted(seed, each, 100 * k, fault, FAULT, planters)
    for k, (fault, planter) in enumerate(LOOK_ALIKES.items()):
        yield from _planted(seed, each, 5_000 + 100 * k, fault, ALIKE, (planter,))


def _planted(seed: int, each: int, first: int, fault: str, role: str, planters: Sequence[Planter]) -> Iterator[Case]:
    count = 0
    for tried, board in zip(range(BASES), bases(seed, first), strict=False):
        made = planters[count % len(planters)](board, Random(f"{fault} {role} {seed} {tried}"))
        if made is None:
            continue
        texts = (made.board.text,) if made.before is None else (made.before.text, made.board.text)
        name = f"md2-{'alike-' if role == ALIKE else ''}{fault.replace(' ', '-')}-{count}"
        yield Case(name, MD2, role, fault, texts, made.kinds, made.places, made.words, made.proof, made.options)
        count += 1
        if count == each:
            return


def all_cases(seed: int, each: int) -> Iterator[Case]:
    """Yield all cases of a seed, and those drawn by hand."""
    from .faults.class_cases import class_cases
    from .faults.seeded_cases import alive_cases, roguelike_faults, roguelike_sound

    yield from sound_cases(seed, each)
    yield from planted_cases(seed, each)
    few = max(1, each // 2)
    yield from class_cases(seed, few)
    yield from roguelike_sound(seed, few)
    yield from roguelike_faults(seed, few)
    yield from alive_cases(seed, few)
    yield from by_hand()


def judged(cases: Sequence[Case], how: str, jobs: int) -> list[Verdict]:
    """Diagnose and judge all cases in their order; after Ctrl-C, return those that are finished."""
    from joblib import Parallel, delayed

    began, verdicts = time.perf_counter(), list[Verdict]()
    made = Parallel(n_jobs=jobs, return_as="generator")(delayed(_one)(case, how) for case in cases)
    try:
        for done, verdict in enumerate(made, 1):
            verdicts.append(verdict)
            if done % 10 == 0 or done == len(cases):
                spent = time.perf_counter() - began
                left = spent / done * (len(cases) - done)
                print(
                    f"{how}: {done} of {len(cases)} cases, {spent:.0f} s, {left:.0f} s to go",
                    file=sys.stderr,
                    flush=True,
                )
    except KeyboardInterrupt:
        print(f"{how}: stopped after {len(verdicts)} of {len(cases)} cases", file=sys.stderr)
    return verdicts


def _one(case: Case, how: str) -> Verdict:
    return judge(case, diagnose(case, how))


def chosen(args: argparse.Namespace) -> list[Case]:
    """Return the cases that the command line asks for."""
    began = time.perf_counter()
    made = kept(args.out, f"{args.seed} {args.each}", lambda: all_cases(args.seed, args.each))
    cases = [c for c in made if not args.only or any(t in c.name for t in args.only)]
    roles = ", ".join(f"{sum(c.role == role for c in cases)} {role}" for role in (SOUND, ALIKE, FAULT, HAND))
    print(f"seed {args.seed}: {len(cases)} cases ({roles}), {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return cases


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the cases, diagnose them, print the tables and write everything."""
    args = options(arguments)
    cases = chosen(args)
    if args.list:
        for case in cases:
            print(f"{case.name} ({case.role}: {case.fault}) {case.proof}", *case.texts, sep="\n")
        return 0
    for how in args.how:
        verdicts = judged(cases, how, args.jobs)
        title = f"{how}, seed {args.seed}, {len(verdicts)} cases"
        print(markdown(verdicts, title))
        if args.misses:
            print(misses(verdicts))
        write(args.out, f"{how}-{args.seed}", verdicts, title)
    return 0


def measure(quick: bool) -> list[Row]:
    """Return the rows for the table of all benchmarks."""
    args = options(["--quick"] if quick else [])
    rows, cases = [], chosen(args)
    for how in args.how:
        verdicts = judged(cases, how, args.jobs)
        for line in recall(verdicts):
            rows.append(
                Row(
                    f"faults named by {how}: {line.what}",
                    "90 % of all, 70 % each",
                    f"{line.found} of {line.cases}",
                    line.share,
                    REACHED if line.enough else SHORT,
                )
            )
        for role, levels, problems, notices, _ in precision(verdicts):
            said = f"{problems:.2f} false problems and {notices:.2f} notices a level ({levels} levels)"
            rows.append(Row(f"said by {how} of levels that are {role}", "at most 0.5 and 2", said, None, FIGURE))
    return rows
