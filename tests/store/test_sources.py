"""Files that are being edited: changes are told once they rest, whatever way an editor saves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from persona_evo.errors import SettingsError
from persona_evo.store.sources import Sources

pytestmark = pytest.mark.quick


def settled(sources: Sources) -> list[str]:
    return [p.name for _ in range(3) for p in sources.changed()]


def test_a_change_is_told_once_and_only_when_it_rests(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one")
    sources = Sources(lambda: [file])
    assert settled(sources) == []
    file.write_text("half")
    assert sources.changed() == []
    file.write_text("whole")
    assert sources.changed() == [] and settled(sources) == ["a.txt"]
    assert settled(sources) == []


def test_a_save_by_rename_and_one_of_the_same_size_and_time_are_seen(tmp_path: Path) -> None:
    file, other = tmp_path / "a.txt", tmp_path / "a.new"
    file.write_text("one")
    sources = Sources(lambda: [file])
    other.write_text("two")
    os.replace(other, file)
    assert settled(sources) == ["a.txt"]
    times = file.stat()
    file.write_text("six")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert settled(sources) == ["a.txt"]


def test_what_is_touched_and_stays_the_same_is_no_change(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one")
    sources = Sources(lambda: [file])
    os.utime(file)
    assert settled(sources) == []
    file.write_text("two")
    file.write_text("one")
    assert settled(sources) == []


def test_files_may_come_and_go(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")

    def find() -> list[Path]:
        found = sorted(tmp_path.glob("*.txt"))
        if not found:
            raise SettingsError("no levels")
        return found

    sources = Sources(find)
    (tmp_path / "b.txt").write_text("two")
    assert settled(sources) == ["b.txt"]
    (tmp_path / "a.txt").unlink()
    assert settled(sources) == ["a.txt"]
    (tmp_path / "b.txt").unlink()
    assert settled(sources) == ["b.txt"]
