"""`python -m tests.harness`: run all trials, or a share of them, and print what came of them.

A full run takes about 15 minutes of the processor; `--part 1/10` runs a tenth of each kind. Rows and the folders of
findings are kept in --out, where the same command resumes a run that was stopped. The exit code is 1 after a finding.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.harness import damages, frames, inputs, kills
from tests.harness.trials import Part, Record, Row, make, run

PARTS = (kills.PART, damages.PART, frames.PART, inputs.PART)


def share_of(text: str) -> tuple[int, int]:
    """Return a share such as 1/10."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"found {text}, expected a share such as 1/10")
    return int(part), int(parts)


def table(rows: Sequence[Row]) -> str:
    """Return what came of the trials, a line for each part and outcome."""
    lines = []
    for part in PARTS:
        own = [row for row in rows if row.part == part.name]
        if not own:
            continue
        bad = sum(row.bad for row in own)
        slowest = max(row.seconds for row in own)
        minutes = sum(row.processor for row in own) / 60
        memory = max(row.memory for row in own) / 2**20
        lines.append(
            f"{part.name}: {len(own) * part.each:,} of {part.trials * part.each:,} {part.unit}, {bad} findings; "
            f"slowest {slowest:.1f} s, {minutes:.1f} minutes of the processor, {memory:.0f} MB at most"
        )
        counts = Counter(row.outcome for row in own if not row.bad)
        lines += [f"    {counts[outcome]:7,}  {outcome}" for outcome in sorted(counts)]
        lines += [f"    FINDING {row.number}: {row.what}: {row.outcome[:300]}" for row in own if row.bad]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.harness", description=__doc__)
    parser.add_argument(
        "--part", type=share_of, default=(1, 1), metavar="K/N", help="the Kth of N shares (default: all)"
    )
    parser.add_argument("--only", choices=[part.name for part in PARTS], help="trials of this kind alone")
    parser.add_argument("--trial", type=int, metavar="NUMBER", help="make one trial of --only and say what happens")
    parser.add_argument("--out", type=Path, default=Path("runs/harness"), metavar="FOLDER", help="default: %(default)s")
    args = parser.parse_args(argv)
    chosen: list[Part] = [part for part in PARTS if args.only in (None, part.name)]
    args.out.mkdir(parents=True, exist_ok=True)
    if args.trial is not None:
        if args.only is None:
            parser.error("--trial needs --only")
        chosen[0].prepare()
        row = make(chosen[0], args.trial, args.out)
        print(f"{row.what}: {row.outcome}\n{row.details}")
        return int(row.bad)
    record = Record(args.out / "rows.jsonl")
    for part in chosen:
        run(part, part.share(*args.part), record, _tell)
    print(table(record.rows))
    return int(any(row.bad for row in record.rows))


def _tell(row: Row) -> None:
    """Print a finding at once, and a sign of life now and then."""
    if row.bad:
        print(f"FINDING in {row.part} {row.number}: {row.what}: {row.outcome[:300]}", file=sys.stderr, flush=True)
    elif row.number % 100 == 0:
        print(f"{row.part} {row.number:,}: {row.what}: {row.outcome}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
