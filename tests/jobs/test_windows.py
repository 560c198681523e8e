"""Tests what Windows does differently, with simulated calls, and POSIX through the same functions."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from persona_evo.agents.agent import Agent
from persona_evo.games import commands, registry
from persona_evo.jobs import files, windows
from persona_evo.matches import names

pytestmark = pytest.mark.quick


@pytest.fixture
def on_windows(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Simulated calls of Windows: a pipe that holds `bytes` bytes, None once it is closed, and a running parent."""
    state = SimpleNamespace(bytes=0, waited=[], parent=True)

    def peek(handle: int, size: int) -> tuple[int, int]:
        if state.bytes is None:
            raise BrokenPipeError
        return state.bytes, 0

    def open_process(access: int, inherit: bool, number: int) -> int:
        if not state.parent:
            raise OSError(87, "The parameter is incorrect")
        return number

    calls = SimpleNamespace(
        PeekNamedPipe=peek,
        OpenProcess=open_process,
        WaitForSingleObject=lambda handle, milliseconds: state.waited.append((handle, milliseconds)),
    )
    monkeypatch.setitem(sys.modules, "_winapi", calls)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(get_osfhandle=lambda pipe: pipe))
    monkeypatch.setattr(windows, "WINDOWS", True)
    return state


def test_a_pipe_is_readable_when_it_holds_something_or_was_closed() -> None:
    ours, theirs = os.pipe()
    try:
        assert windows.writable(theirs, 0) and not windows.readable(ours, 0.01)
        os.write(theirs, b"x")
        assert windows.readable(ours, 0.01) and os.read(ours, 9) == b"x"
    finally:
        os.close(theirs)
    assert windows.readable(ours, 0.01), "its end can be read"
    os.close(ours)


def test_a_full_pipe_is_not_writable() -> None:
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with contextlib.suppress(BlockingIOError):
        while os.write(theirs, bytes(1 << 16)):
            pass
    assert not windows.writable(theirs, 0.01)
    os.close(ours)
    os.close(theirs)


def test_a_pipe_of_windows_is_looked_at_until_time_runs_out(on_windows: SimpleNamespace) -> None:
    began = time.perf_counter()
    assert not windows.readable(3, 0.03) and time.perf_counter() - began >= 0.03
    on_windows.bytes = 1
    assert windows.readable(3, 0)
    on_windows.bytes = None
    assert windows.readable(3, 0)


def test_a_worker_of_windows_waits_for_its_parent_without_end(on_windows: SimpleNamespace) -> None:
    windows.wait_for_parent(42)
    assert on_windows.waited == [(42, 0xFFFFFFFF)]
    on_windows.parent = False
    windows.wait_for_parent(43)
    assert len(on_windows.waited) == 1, "a parent that has ended is not waited for"


def test_a_file_that_another_program_has_open_is_replaced_once_it_is_closed(
    on_windows: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path, real, refused = tmp_path / "a b.json", os.replace, [PermissionError(13, "in use")] * 3

    def replace(old: Path, new: Path) -> None:
        if refused:
            raise refused.pop()
        real(old, new)

    monkeypatch.setattr(windows, "_PAUSE", 0.0)
    monkeypatch.setattr(windows.os, "replace", replace)
    files.write_atomically(path, "old")
    assert path.read_text() == "old" and not refused
    refused += [PermissionError(13, "in use")] * 100
    with pytest.raises(PermissionError) as caught:
        files.write_atomically(path, "new")
    assert caught.value.filename == str(path) and path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_elsewhere_a_file_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tries = []

    def refuse(old: Path, new: Path) -> None:
        tries.append(new)
        raise PermissionError(1, "not allowed")

    monkeypatch.setattr(windows, "WINDOWS", False)
    monkeypatch.setattr(windows.os, "replace", refuse)
    with pytest.raises(PermissionError):
        windows.replace(tmp_path / "a", tmp_path / "b")
    assert len(tries) == 1


def test_command_lines_are_those_of_the_shell(on_windows: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["playtest", r"C:\my levels\a.txt", "--require", "runner.win_rate >= 0.95"]
    assert commands.command(registry.get("minidungeons2"), *words) == (
        r'persona-evo playtest "C:\my levels\a.txt" --require "runner.win_rate >= 0.95"'
    )
    monkeypatch.setattr(windows, "WINDOWS", False)
    assert windows.program("evolve", "--resume", Path("my runs/a"), "") == "persona-evo evolve --resume 'my runs/a'"
    line = windows.command_line(words)
    assert (
        subprocess.run(["sh", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True).stdout.split("\n")[:-1]
        == words
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (r"C:\lists\agents.toml#uct:iterations=9", (r"C:\lists\agents.toml#uct", "iterations=9")),
        ("C:/my lists/agents.toml#uct", ("C:/my lists/agents.toml#uct", "")),
        ("uct_walls:c=0.5", ("uct_walls", "c=0.5")),
        ("u:c=1/2", ("u", "c=1/2")),
        ("policies/a.json", ("policies/a.json", "")),
    ],
)
def test_the_colon_of_a_drive_splits_nothing(text: str, parts: tuple[str, str]) -> None:
    assert windows.split_at_colon(text) == parts


def test_agents_are_named_by_files_on_a_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def known(game: object, file: str, name: str, *rest: object) -> Agent:
        asked.append((file, name))
        raise KeyError

    monkeypatch.setattr(names, "_known", known)
    with pytest.raises(KeyError):
        names.agent(registry.get("colosseum"), r"C:\my lists\agents.toml#mine")
    assert asked == [(r"C:\my lists\agents.toml", "mine")]
