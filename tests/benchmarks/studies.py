"""`python -m tests.benchmarks.studies [NAME...] --out FOLDER`: the studies behind the reproduction.

Takes about an hour with the defaults on two cores; `--quick` gives the same tables from next to nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from . import claims, holding, ingredients
from .study import Row, line, write


def _claims(args: argparse.Namespace) -> list[Row]:
    return claims.measure(args.trials, (1_000,) if args.quick else claims.LOOPS, _say)


def _holding(args: argparse.Namespace) -> list[Row]:
    if args.quick:
        return holding.measure(1, 0.2, 300, _say)
    return holding.measure(args.trials, tell=_say)


def _search(args: argparse.Namespace) -> list[Row]:
    if args.quick:
        return ingredients.of_search(args.trials, 1_000, ["anytime"], _say)
    return ingredients.of_search(args.trials, tell=_say)


def _evolution(args: argparse.Namespace) -> list[Row]:
    rows = []
    for persona in args.personas:
        if args.quick:
            small = {"population": 10, "generations": 2, "final_candidates": 1, "final_trials": 1}
            rows += ingredients.of_evolution(persona, [1, 2], 1, ["selection over levels"], _say, 100, small)
        else:
            rows += ingredients.of_evolution(persona, range(1, args.seeds + 1), args.trials, tell=_say)
    return rows


STUDIES: dict[str, Callable[[argparse.Namespace], list[Row]]] = {
    "claims": _claims, "holding": _holding, "search": _search, "evolution": _evolution,
}  # fmt: skip


def _say(row: Row) -> None:
    print(line(row), flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the studies named, or all, and write NAME.csv for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(STUDIES))
    parser.add_argument("--trials", type=int, default=5, help="playthroughs of a map (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="evolutions of a setting (default: %(default)s)")
    parser.add_argument("--personas", nargs="+", default=["completionist"], help="whose (default: %(default)s)")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("runs/studies"), help="folder (default: %(default)s)")
    args = parser.parse_args(arguments)
    if unknown := [n for n in args.names if n not in STUDIES]:
        parser.error(f"no such study: {unknown[0]} (there are {', '.join(STUDIES)})")
    for name in args.names or STUDIES:
        write(args.out / f"{name}.csv", STUDIES[name](args))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
