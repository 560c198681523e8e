"""`python -m tests.benchmarks [names...]`: measure, print one table, write it down."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .report import Row, markdown, skipped, write


@dataclass(frozen=True)
class Choice:
    """How thoroughly to measure."""

    quick: bool
    full: bool


def _engine(choice: Choice) -> list[Row]:
    from . import classes, cores, engine

    effort = engine.QUICK if choice.quick else engine.FULL if choice.full else engine.USUAL
    return [
        *engine.measure(effort),
        *classes.measure(*(1_000, 3) if choice.quick else (10_000, 11)),
        *cores.measure(choice.quick),
    ]


def _memory(choice: Choice) -> list[Row]:
    from . import memory

    return memory.measure_tree(100_000 if choice.quick else memory.MILLIONS)


def _evolution(choice: Choice) -> list[Row]:
    from . import evolution

    return evolution.measure_cost(choice.quick, choice.full)


def _playthroughs(choice: Choice) -> list[Row]:
    from . import playthroughs

    return playthroughs.measure(choice.quick)


def _start(choice: Choice) -> list[Row]:
    from . import startup

    return startup.measure(choice.quick)


def _quality(choice: Choice) -> list[Row]:
    from . import quality

    return quality.measure(5 if choice.quick else 50)


def _flat(choice: Choice) -> list[Row]:
    from . import memory

    return memory.measure_generations(*(5, 20) if choice.quick else (50, 1_000))


def _transport(choice: Choice) -> list[Row]:
    from . import transport

    return transport.measure(choice.quick)


def _puyo(choice: Choice) -> list[Row]:
    from . import puyo

    return puyo.measure(choice.quick)


def _colosseum(choice: Choice) -> list[Row]:
    from . import courses

    return courses.measure(choice.quick)


def _planner(choice: Choice) -> list[Row]:
    from . import planner

    return planner.measure(choice.quick, choice.full)


def _findings(choice: Choice) -> list[Row]:
    from . import findings

    return findings.measure(choice.quick)


BENCHMARKS: dict[str, Callable[[Choice], list[Row]]] = {
    "engine": _engine,
    "memory": _memory,
    "flat": _flat,
    "evolution": _evolution,
    "playthroughs": _playthroughs,
    "start": _start,
    "quality": _quality,
    "transport": _transport,
    "puyo": _puyo,
    "colosseum": _colosseum,
    "planner": _planner,
    "findings": _findings,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or all; return 0 whatever they find."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    if arguments[:1] == ["planner"]:
        from . import planner

        return planner.main(arguments[1:])
    if arguments[:1] == ["findings"]:
        from . import findings

        return findings.main(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description=__doc__,
        epilog="`planner` and `findings`, named first, have options of their own: python -m tests.benchmarks findings "
        "--help",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which of: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="a look at each, in seconds; its figures are rough")
    parser.add_argument(
        "--full",
        action="store_true",
        help="searches of 10,000,000 iterations, too, and the paper's evolution whole instead of extrapolated",
    )
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write benchmarks.json and benchmarks.md there")
    args = parser.parse_args(arguments)
    for name in args.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    choice = Choice(args.quick, args.full)
    rows: list[Row] = []
    for name in args.names or BENCHMARKS:
        began = time.perf_counter()
        try:
            rows += BENCHMARKS[name](choice)
        except ImportError as e:
            rows.append(skipped(name, "", f"{e}"))
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        if args.out:
            write(args.out, rows, {"quick": args.quick, "full": args.full, "names": list(args.names)})
    print(markdown(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
