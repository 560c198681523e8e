"""`python -m tests.benchmarks.studies [NAME...] --out FOLDER`: the studies behind the reproduction.

Takes about an hour with the defaults on two cores; `--quick` gives the same tables from next to nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import claims, holding, ingredients
from .study import Row, line, write

Tell = Callable[[Row], None]


def _claims(args: argparse.Namespace, tell: Tell) -> None:
    if args.quick:
        claims.measure(1, (100, 300), tell, 100)
    else:
        claims.measure(args.trials, tell=tell)


def _holding(args: argparse.Namespace, tell: Tell) -> None:
    if args.quick:
        holding.measure(1, 0.2, 300, tell)
    else:
        holding.measure(args.trials, tell=tell)


def _search(args: argparse.Namespace, tell: Tell) -> None:
    if args.quick:
        ingredients.of_search(1, 300, ["anytime"], tell)
    else:
        ingredients.of_search(args.trials, names=args.only, tell=tell)


def _evolution(args: argparse.Namespace, tell: Tell) -> None:
    for persona in args.personas:
        if args.quick:
            small = {"population": 10, "generations": 2, "final_candidates": 1, "final_trials": 1}
            ingredients.of_evolution(persona, [1, 2], 1, ["selection over levels"], tell, 100, small)
        else:
            ingredients.of_evolution(persona, range(1, args.seeds + 1), args.trials, args.only, tell)


STUDIES: dict[str, Callable[[argparse.Namespace, Tell], None]] = {
    "claims": _claims,
    "holding": _holding,
    "search": _search,
    "evolution": _evolution,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named studies, or all; NAME.csv of each is written again after every row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(STUDIES))
    parser.add_argument("--trials", type=int, default=5, help="playthroughs of a map (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=3, help="evolutions of a setting (default: %(default)s)")
    parser.add_argument("--personas", nargs="+", default=["completionist"], help="whose (default: %(default)s)")
    parser.add_argument("--only", nargs="+", default=[], metavar="INGREDIENT", help="of search and evolution")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("runs/studies"), help="folder (default: %(default)s)")
    args = parser.parse_args(arguments)
    if unknown := [n for n in args.names if n not in STUDIES]:
        parser.error(f"no such study: {unknown[0]} (there are {', '.join(STUDIES)})")
    for name in args.names or STUDIES:
        rows: list[Row] = []

        def tell(row: Row, rows: list[Row] = rows, name: str = name) -> None:
            rows.append(row)
            write(args.out / f"{name}.csv", rows)
            print(line(row), flush=True)

        try:
            STUDIES[name](args, tell)
        except KeyboardInterrupt:
            print(f"stopped in {name}; its {len(rows)} finished rows are kept", file=sys.stderr)
            return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
