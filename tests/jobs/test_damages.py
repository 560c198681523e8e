"""Random damages to the folders of all kinds of jobs: each is noticed, recovered from, or without effect.

Run all with `pytest -m slow tests/jobs/test_damages.py -s`, which prints the counts. PERSONA_EVO_DAMAGES is the number
for each kind (default 200), PERSONA_EVO_PART=1/10 runs the first tenth of them.
"""

from __future__ import annotations

import collections
import os
import random
import shutil
from pathlib import Path

import pytest

from persona_evo.errors import InputError
from tests.jobs.kinds import KINDS, Kind

NUMBER = int(os.environ.get("PERSONA_EVO_DAMAGES", "200"))
PART, PARTS = map(int, os.environ.get("PERSONA_EVO_PART", "1/1").split("/"))
SEED = 20310504


def digit(data: bytearray, dice: random.Random) -> None:
    """Another digit in place of one."""
    places = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    at = dice.choice(places)
    data[at] = dice.choice([d for d in range(48, 58) if d != data[at]])


def bit(data: bytearray, dice: random.Random) -> None:
    """A bit that has flipped."""
    data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)


def removed(data: bytearray, dice: random.Random) -> None:
    """Some bytes that are missing."""
    at = dice.randrange(len(data))
    del data[at : at + dice.randint(1, 40)]


def inserted(data: bytearray, dice: random.Random) -> None:
    """Some bytes too many."""
    data[dice.randrange(len(data)) :] = dice.randbytes(dice.randint(1, 8)) + data[dice.randrange(len(data)) :]


def cut(data: bytearray, dice: random.Random) -> None:
    """A file that was cut off."""
    del data[dice.randrange(len(data)) :]


def repeated(data: bytearray, dice: random.Random) -> None:
    """A line that stands twice."""
    lines = bytes(data).splitlines(keepends=True)
    at = dice.randrange(len(lines))
    data[:] = b"".join([*lines[: at + 1], *lines[at:]])


def exchanged(data: bytearray, dice: random.Random) -> None:
    """Two lines that have changed places."""
    lines = bytes(data).splitlines(keepends=True)
    a, b = dice.randrange(len(lines)), dice.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    data[:] = b"".join(lines)


DAMAGES = (digit, digit, bit, removed, inserted, cut, repeated, exchanged)


def damaged(folder: Path, dice: random.Random) -> str:
    """Damage a file of a folder; which one, and how."""
    path = dice.choice(sorted(p for p in folder.iterdir() if p.is_file() and p.stat().st_size))
    if dice.random() < 0.1:
        path.unlink()
        return f"{path.name} deleted"
    damage = dice.choice(DAMAGES)
    data = bytearray(path.read_bytes())
    damage(data, dice)
    path.write_bytes(bytes(data))
    return f"{path.name} {damage.__name__}"


def outcome(kind: Kind, folder: Path, whole: list[str]) -> str:
    """What comes of resuming a damaged folder."""
    try:
        kind.run(folder, 1, 1)
    except InputError as e:
        return "refused" if e.place is not None else f"refused without a place: {e}"
    except OSError as e:
        return "refused" if e.filename else f"refused without a file: {e}"
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    if kind.name == "study":  # its results come in any order
        return "recovered" if sorted(kind.content(folder)) == sorted(whole) else "other results, unnoticed"
    return "recovered" if kind.content(folder) == whole else "other results, unnoticed"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_random_damages_are_noticed(kind: Kind, tmp_path: Path) -> None:
    made = tmp_path / "made"
    kind.run(made, 1, 1)
    whole, counts, bad = kind.content(made), collections.Counter[str](), list[str]()
    for number in range(NUMBER * (PART - 1) // PARTS, NUMBER * PART // PARTS):
        dice, folder = random.Random(f"{SEED} {kind} {number}"), tmp_path / "damaged"
        shutil.copytree(made, folder)
        what = damaged(folder, dice)
        came = outcome(kind, folder, whole)
        counts[came] += 1
        if came not in ("refused", "recovered"):
            bad.append(f"{number}: {what}: {came}")
        shutil.rmtree(folder)
    print(f"\n{kind}: {dict(counts)}")
    assert not bad, "\n".join(bad)
