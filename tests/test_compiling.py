"""The compile layer: errors in the words of the source, what machine code depends on, and its files on disk."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from persona_evo import compiling
from persona_evo.compiling import ahead, cache, calibration, estimates, news, turns
from persona_evo.compiling.marks import fingerprint
from persona_evo.errors import CompileError

pytestmark = pytest.mark.skipif(compiling.INTERPRET, reason="nothing is compiled")

HEAD = """
import math
import numpy as np
from persona_evo.compiling import callback, compiled
from persona_evo.compiling.arrays import IntRow

"""
DOUBLED = (
    HEAD
    + """
FACTOR = 2

@compiled
def grown(x: int, more: int = 1) -> int:
    return FACTOR * x + more

@callback()
def total(row: IntRow) -> int:
    return grown(row[0]) + row[len(row) - 1]
"""
)

_modules = iter(range(10**6))


def module_of(text: str, folder: Path, name: str = "") -> ModuleType:
    """Return a module with a text, as a process sees it that starts now."""
    name = name or f"rules_{next(_modules)}"
    file = folder / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("own_rules", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["own_rules"] = module  # where annotations are looked up
    exec(compile(text, str(file), "exec"), module.__dict__)
    return module


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    made = tmp_path / "code"
    made.mkdir()
    monkeypatch.setattr(cache, "chosen", lambda: cache.CacheLocation(made))
    monkeypatch.setattr(cache, "_memory", {})
    monkeypatch.setattr(cache, "_told", set())
    yield made
    sys.modules.pop("own_rules", None)


def content(callback: compiling.Callback) -> bytes:
    """Return the object file of a function, as a process gets it that has not loaded it."""
    program = callback.program
    return cache.read(program.file) or program.make()


def test_machine_code_gives_what_python_gives(folder: Path) -> None:
    total = module_of(DOUBLED, folder).total
    row = np.array([5, 1, 7])
    assert total(row) == total.plain(row) == 18


@pytest.mark.parametrize(
    ("body", "line", "found", "hint"),
    [
        ("    a = [1, 2]\n    return a[row[0]]", 2, "a list", "row(N)"),
        ("    d = {1: row[0]}\n    return d[1]", 2, "a dictionary", "row(N)"),
        ("    name = 'x'\n    return len(name)", 2, "a text", "whole numbers"),
        ("    a = np.zeros(3)\n    return row[0]", 2, "numpy.zeros", "row(N)"),
        ("    return row[-1]", 2, "the index -1", "len(row) - 1"),
        ("    return unmarked(row)", 2, "unmarked, which is not marked", "write @compiled above def unmarked"),
        ("    return sum(row[i] for i in range(2))", 2, "sum()", "loop"),
        ("    if row[0] > 1:\n        raise IndexError\n    return 1", 3, "raise", "return a number"),
        ("    try:\n        return row[0]\n    except IndexError:\n        return 1", 1, "try", "return a number"),
        ("    return row.sum()", 2, ".sum, which a row does not have", "no methods"),
        ("    return row[row[0] / 2]", 2, "[...] of a row and a real number", ""),
        (
            "    x = 1\n    if row[0] > 1:\n        x = row\n    return x",
            5,
            "x is a whole number in one place and a row in another",
            "one type",
        ),
        ("    return nothing", 2, "the name nothing, which is not defined", "spelled"),
        ("    return sorted(row)[0]", 2, "sorted()", "numbers and rows"),
        ("    return WORDS[0]", 2, "the list WORDS", "tuples"),
        ("    return row + 1", 2, "+ of a row and a whole number", ""),
        ("    for x in row:\n        return x\n    return 0", 2, "a loop over a row", ""),
        ("    return row[0], 1", 1, "it returns a tuple instead of a whole number", ""),
        ("    return int(math.ldexp(row[0], 2))", 1, "ldexp(), which compiled code does not have", ""),
    ],
)
def test_what_cannot_be_compiled_is_said_with_its_line(
    folder: Path, body: str, line: int, found: str, hint: str
) -> None:
    before = "WORDS = [1]\n\ndef unmarked(row):\n    return row[0]\n"
    text = f"{HEAD}{before}\n@callback()\ndef rule(row: IntRow) -> int:\n{body}\n"
    module = module_of(text, folder)
    with pytest.raises(CompileError) as raised:
        module.rule(np.arange(3))
    error = raised.value
    first = text[: text.index("def rule")].count("\n")
    assert error.place is not None and error.place.source == module.__spec__.origin
    assert error.place.line in (first + line, first), error
    assert error.found is not None and found in error.found and hint in (error.hint or "")
    assert str(error).count("\n") < 6


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.arange(6.0), "int64"),
        (np.arange(6, dtype=np.int32), "int64"),
        (np.arange(6)[::2], "contiguous int64"),
    ],
)
def test_other_arrays_are_refused(folder: Path, given: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        module_of(DOUBLED, folder).total(given)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
def test_numbers_beyond_64_bits_are_refused(folder: Path, number: int) -> None:
    rule = module_of(f"{HEAD}@callback()\ndef rule(row: IntRow, n: int) -> int:\n    return row[0] + n\n", folder).rule
    with pytest.raises(TypeError, match="64 bits"):
        rule(np.arange(3), number)
    assert rule(np.arange(3), 2**63 - 1) == 2**63 - 1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("FACTOR = 2", "FACTOR = 3"),
        ("more: int = 1", "more: int = 2"),
        ("FACTOR * x + more", "FACTOR * x - more"),
        ("len(row) - 1", "len(row) - 2"),
        ("return FACTOR * x", "return int(math.pi) * x"),
    ],
)
def test_every_edit_that_matters_is_noticed(folder: Path, before: str, after: str) -> None:
    was, now = (module_of(text, folder).total for text in (DOUBLED, DOUBLED.replace(before, after)))
    assert fingerprint(was.plain) != fingerprint(now.plain)
    row = np.array([5, 1, 7])
    assert was(row) == was.plain(row) and now(row) == now.plain(row)


def test_a_constant_of_another_module_is_noticed(folder: Path) -> None:
    rule = "@callback()\ndef rule(row: IntRow) -> int:\n    return own_numbers.LIMIT + row[0]\n"
    text = f"{HEAD}import own_numbers\n{rule}"
    found = []
    for limit in (1, 2):
        sys.modules["own_numbers"] = numbers = ModuleType("own_numbers")
        numbers.LIMIT = limit  # type: ignore[attr-defined]
        found.append(module_of(text, folder).rule(np.arange(3)))
    del sys.modules["own_numbers"]
    assert found == [1, 2]


@pytest.mark.parametrize("doc", ["", '    """Add up."""\n'])
def test_a_comment_a_docstring_and_a_function_beside_it_change_nothing(folder: Path, doc: str) -> None:
    more = DOUBLED.replace("@callback()", "# a comment\n@callback()") + "\n@compiled\ndef other():\n    return 3\n"
    more = re.sub(r"(def total.*\n)", rf"\1{doc}", more)
    assert fingerprint(module_of(DOUBLED, folder).total.plain) == fingerprint(module_of(more, folder).total.plain)


def spoilt(how: str) -> Callable[[Path], object]:
    return {
        "empty": lambda file: file.write_bytes(b""),
        "cut": lambda file: file.write_bytes(file.read_bytes()[:-7]),
        "foreign": lambda file: file.write_bytes(b"\x7fELF" + bytes(500)),
        "flipped": lambda file: file.write_bytes(file.read_bytes()[:-1] + bytes([file.read_bytes()[-1] ^ 1])),
        "folder": lambda file: (file.unlink(), file.mkdir()),
    }[how]


@pytest.mark.parametrize("how", ["empty", "cut", "foreign", "flipped", "folder"])
def test_a_damaged_file_is_made_anew(folder: Path, how: str, caplog: pytest.LogCaptureFixture) -> None:
    text = DOUBLED.replace("grown", f"grown_{how}")  # nothing of it has been loaded by this process
    total = module_of(text, folder).total
    content(total)
    for file in list(folder.glob("*.bc")) + list(folder.glob("*.o")):
        spoilt(how)(file)
    again = module_of(text, folder).total
    assert cache.read(again.program.file) is None
    assert again(np.array([5, 1, 7])) == 18 and cache.read(again.program.file) is not None
    assert [line.count("cannot be read") for line in caplog.messages if "compiled again" in line][:1] == [1]
    assert sum("cannot be read" in line for line in caplog.messages) == 1


def test_a_folder_that_cannot_be_written_is_done_without(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    total = module_of(DOUBLED, folder).total
    assert content(total) == content(total)
    assert not [f for f in folder.iterdir() if f.suffix not in (".py", ".lock")]
    assert [line for line in caplog.messages if "No space left" in line] == caplog.messages


# whose folder it is, and for which processor


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a home, an XDG folder and a temporary folder of the test's own; nothing is chosen or told yet."""
    for variable in ("PERSONA_EVO_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setattr(cache, "_memory", {})
    monkeypatch.setattr(cache, "_told", set())
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(tmp_path)
    cache.chosen.cache_clear()
    yield tmp_path
    cache.chosen.cache_clear()


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file or folder somebody else's."""
    if os.geteuid() == 0:
        os.chown(path, 4321, 4321)
    else:
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)


posix = pytest.mark.skipif(os.name != "posix", reason="files have no owner here")


@posix
@pytest.mark.parametrize("xdg", [None, "", "relative/folder"])
def test_an_empty_or_relative_xdg_folder_counts_as_none(
    places: Path, monkeypatch: pytest.MonkeyPatch, xdg: str | None
) -> None:
    if xdg is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    assert cache.cache_folder() == places / "home" / ".cache" / "persona_evo" / "code"
    monkeypatch.setenv("XDG_CACHE_HOME", str(places / "xdg"))
    cache.chosen.cache_clear()
    assert cache.cache_folder() == places / "xdg" / "persona_evo" / "code"


@posix
def test_the_folder_is_this_users_alone(places: Path) -> None:
    folder = places / "home" / ".cache" / "persona_evo" / "code"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert cache.cache_folder() == folder and folder.stat().st_mode & 0o777 == 0o700
    assert cache.chosen().trouble == "" and not (places / "persona_evo").exists()


@posix
def test_nothing_is_read_from_a_folder_of_somebody_else(
    places: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    theirs, private = places / "cache" / "code", places / "temporary" / f"persona_evo_cache_{os.getuid()}" / "code"
    theirs.mkdir(parents=True)
    (theirs / "a.bc").write_bytes(cache._sum("a.bc", b"evil") + b"evil")
    monkeypatch.setenv("PERSONA_EVO_CACHE", str(places / "cache"))
    assert cache.read("a.bc") == b"evil", "it is whole, and ours so far"
    cache.chosen.cache_clear()
    give_away(theirs, monkeypatch)
    assert cache.read("a.bc") is None and not cache.has("a.bc")
    assert f"{theirs} belongs to " in cache.chosen().trouble
    assert cache.cache_folder() in (None, private)
    assert len(caplog.messages) == 1 and f"{theirs} belongs to " in caplog.messages[0]
    cache.write("a.bc", b"good")
    assert cache.read("a.bc") == b"good" and (theirs / "a.bc").read_bytes().endswith(b"evil")


@posix
def test_without_a_home_compiled_code_goes_to_a_private_folder_or_stays_in_memory(
    places: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (places / "home").write_text("no folder can be made here")
    private = places / "temporary" / f"persona_evo_cache_{os.getuid()}"
    assert cache.cache_folder() == private / "code"
    assert private.stat().st_mode & 0o777 == (private / "code").stat().st_mode & 0o777 == 0o700
    assert "cannot be used" in caplog.messages[0] and str(private) in caplog.messages[0]
    cache.chosen.cache_clear()
    cache._told.clear()
    give_away(private, monkeypatch)
    assert cache.cache_folder() is None and not cache.is_kept()
    assert "kept in memory" in caplog.messages[1]
    cache.write("a.bc", b"good")
    assert cache.read("a.bc") == b"good" and cache.has("a.bc") and len(caplog.messages) == 2


@posix
def test_a_link_to_somebody_elses_folder_is_theirs(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = places / "theirs"
    theirs.mkdir()
    (places / "temporary" / f"persona_evo_cache_{os.getuid()}").symlink_to(theirs)
    (places / "home").write_text("")
    give_away(theirs, monkeypatch)
    assert cache.cache_folder() is None


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="takes an administrator")
def test_a_file_of_somebody_else_is_compiled_again(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache.write("a.bc", b"good")
    os.chown(folder / "a.bc", 4321, 4321)
    assert cache.read("a.bc") is None and "cannot be read (a.bc" in caplog.messages[0]


def test_machine_code_of_another_processor_is_left_alone_and_that_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from persona_evo.compiling import machine

    def found() -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in folder.glob("*.o")}

    text = DOUBLED.replace("grown", "grown_anywhere")  # nothing of it has been loaded by this process
    assert module_of(text, folder).total(np.array([5, 1, 7])) == 18
    assert compiling.is_warm() and cache.state(machine.mark()) == cache.CacheState(1, 0, 0)
    before, texts = found(), {file.name for file in folder.glob("*.bc")}
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")
    for cached in (machine.host, machine.mark):
        cached.cache_clear()
    try:
        assert machine.host() == ("generic", "") and not compiling.is_warm()
        assert module_of(text, folder).total(np.array([5, 1, 7])) == 18
        after = found()
        assert len(after) == 2 and before.items() <= after.items()
        assert {file.name for file in folder.glob("*.bc")} == texts, "bitcode is for any processor"
        assert len(caplog.messages) == 1 and "for another processor or for other versions" in caplog.messages[0]
        (folder / next(iter(before))).write_bytes(b"x")
        assert cache.state(machine.mark()) == cache.CacheState(1, 0, 1)
        monkeypatch.setenv("NUMBA_CPU_FEATURES", "+sse4.2")
        machine.host.cache_clear()
        assert machine.host() == ("generic", "+sse4.2")
    finally:
        monkeypatch.undo()
        for cached in (machine.host, machine.mark):
            cached.cache_clear()


@pytest.mark.parametrize("edits", [10, pytest.param(1_000, marks=pytest.mark.slow)])
def test_edits_never_end_in_an_error_and_the_folder_stays_small(
    folder: Path, monkeypatch: pytest.MonkeyPatch, edits: int
) -> None:
    monkeypatch.setattr(cache, "MOST", 12)
    for k in range(edits):
        total = module_of(DOUBLED.replace("FACTOR = 2", f"FACTOR = {k}"), folder, "mine").total
        assert total(np.array([1, 2])) == k + 3
    assert len([f for f in folder.iterdir() if f.suffix not in (".py", ".lock")]) <= 12


def test_drafts_of_killed_processes_are_removed(folder: Path) -> None:
    old, new = folder / "a.o.1.tmp", folder / "b.o.2.tmp"
    for draft in (old, new):
        draft.write_bytes(b"half")
    os.utime(old, (1, 1))
    content(module_of(DOUBLED, folder).total)
    assert not old.exists() and new.exists()


def test_clearing_removes_our_files_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "cache_root", lambda: folder.parent)
    content(module_of(DOUBLED, folder).total)
    former = folder.parent / "0123456789abcdef" / "search"
    former.mkdir(parents=True)
    for name in ("a.nbi", "b.nbc"):
        (former / name).write_bytes(b"x")
    kept = folder.parent / "notes.txt"
    kept.write_text("mine")
    gone, left = cache.clear()
    assert gone == 4 and not left and kept.exists() and not former.exists()


def test_what_is_compiled_is_told_once(folder: Path) -> None:
    heard: list[news.Work] = []
    compiling.listen(heard.append)
    try:
        total = module_of(DOUBLED, folder).total
        content(total)
        assert [(w.what, w.done) for w in heard[:2]] == [(news.START, False), (news.START, True)]
        assert [(w.depth, w.done) for w in heard[2:]] == [(0, False), (1, False), (1, True), (0, True)]
        assert heard[2].what == "the functions of own_rules" and heard[2].seconds > 0
        content(total)
        assert len(heard) == 6
    finally:
        compiling.listen(None)


def test_the_forecast_follows_what_was_measured(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "slowness", lambda: 12.0)
    assert estimates.factor() == 1 and not estimates.is_measured()
    with news.told("y", 0.5):
        assert estimates.factor() == 12, "the compiler is timed before the first estimate"
    assert estimates.factor() == 12, "too little work to say more"
    estimates.learn(2, 8)
    assert estimates.factor() == 8
    estimates.learn(10, 40)
    assert estimates.factor() == 6
    heard: list[news.Work] = []
    compiling.listen(heard.append)
    try:
        with news.told("x", 2.0):
            pass
    finally:
        compiling.listen(None)
    assert heard[0].seconds == 12 and estimates.factor() < 6


def test_the_compiler_is_timed_by_what_it_translates(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter((10.0, 10.0 + 3 * calibration.NOMINAL * calibration._COPIES))
    monkeypatch.setattr(calibration.time, "monotonic", lambda: next(moments))
    made: list[int] = []
    monkeypatch.setattr("persona_evo.compiling.frontend.translate", lambda function, *_: made.append(id(function)))
    assert calibration.slowness() == pytest.approx(3.0) and len(made) == 1 + calibration._COPIES


# two processes


def test_what_another_process_makes_is_waited_for_and_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second holder of a lock in this process stands for one in another: the locks are those of open files."""
    monkeypatch.setattr(calibration, "slowness", lambda: 1.0)
    code = module_of(DOUBLED.replace("grown", "grown_elsewhere"), folder).total.code
    heard: list[news.Work] = []
    compiling.listen(heard.append)
    monkeypatch.setattr("persona_evo.compiling.frontend.translate", lambda *_: pytest.fail("it was made twice"))
    found: list[bytes] = []
    waiting = threading.Thread(target=lambda: found.append(code.bitcode()))
    try:
        with turns.turn(code.file, code.title, 1.0):
            waiting.start()
            while not any("in another process" in work.what for work in heard):
                time.sleep(0.01)
            assert not found
            cache.write(code.file, b"made elsewhere")
        waiting.join(10)
    finally:
        compiling.listen(None)
    assert found == [b"made elsewhere"]


HOLDER = """
import os, sys, time
from persona_evo.compiling.turns import turn
with turn(sys.argv[1], "x", 1.0):
    print(flush=True)
    time.sleep(1000)
"""


@posix
def test_a_process_that_is_killed_or_suspended_keeps_nobody_waiting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "slowness", lambda: 1.0)
    monkeypatch.setattr(turns, "PATIENCE", 0.2)
    total = module_of(DOUBLED.replace("grown", "grown_after_all"), folder).total
    env = {**os.environ, "PERSONA_EVO_CACHE": str(folder.parent)}
    other = subprocess.Popen([sys.executable, "-c", HOLDER, total.code.file], env=env, stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None and other.stdout.readline()
        other.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        assert total(np.array([5, 1, 7])) == 18 and time.monotonic() - began >= turns.PATIENCE
        monkeypatch.setattr(turns, "PATIENCE", 1000.0)
    finally:
        other.kill()
        other.wait()
    with turns.turn(total.code.file, "x", 1.0):
        assert (folder / f"{total.code.file[:2]}.bc.lock").is_file()


def test_two_processes_make_what_one_makes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from persona_evo.games import registry

    monkeypatch.setattr(ahead, "WORTH", 0.0)
    rules = registry.get("roguelike2d").rules()
    ahead.prepare([rules.over.program, rules.mover.program, rules.key.program])
    for one in (rules.over, rules.mover, rules.key):
        assert cache.read(one.program.file) is not None


def test_importing_the_layer_loads_no_compiler() -> None:
    program = "import sys, persona_evo.compiling; sys.exit(any(m in sys.modules for m in ('numba', 'llvmlite')))"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


CALLED = (
    HEAD.replace("IntRow", "FloatTable, IntRow, WordRow")
    + """
@callback()
def of_two(a: WordRow, b: IntRow) -> int:
    return a[0] + b[len(b) - 1]

@callback()
def of_three(a: WordRow, b: WordRow, c: IntRow) -> int:
    c[0] = a[0] + 10 * b[1]
    return len(c)

@callback()
def of_row_and_number(a: WordRow, b: IntRow, number: int, c: IntRow) -> int:
    c[0] = number
    return a[0] + b[0]

@callback()
def of_table(table: FloatTable, row: IntRow) -> int:
    return row[0] + table.shape[0] * 10 + int(table[1, 0])
"""
)


def test_compiled_functions_take_arrays_as_python_has_them(folder: Path) -> None:
    rules, words, numbers = module_of(CALLED, folder), np.array([3, 4], dtype=np.uint16), np.arange(5)
    fixed = words.copy()
    fixed.flags.writeable = False
    for row in (words, fixed):
        assert rules.of_two(row, numbers) == 7
        assert rules.of_three(row, words, numbers[1:3]) == 2 and numbers[1] == 43
        assert rules.of_row_and_number(row, numbers[2:], -(2**63), numbers) == 5 and numbers[0] == -(2**63)
    assert rules.of_table(np.array([[0.0], [5.0]]), numbers[4:]) == 29


def test_compiled_functions_refuse_arrays_of_another_kind(folder: Path) -> None:
    rules, words, numbers = module_of(CALLED, folder), np.array([3, 4], dtype=np.uint16), np.arange(5)
    wrong: list[Callable[[], Any]] = [
        lambda: rules.of_two(words, words),
        lambda: rules.of_two(np.zeros(4, dtype=np.uint16)[::2], numbers),
        lambda: rules.of_three(words, words, words),
        lambda: rules.of_three(numbers, words, numbers),
        lambda: rules.of_row_and_number(words, numbers, 2**63, numbers),
        lambda: rules.of_row_and_number(words, numbers.astype(np.int32), 1, numbers),
        lambda: rules.of_table(np.zeros((2, 2))[:, :1], numbers),
    ]
    for call in wrong:
        with pytest.raises(TypeError, match=r"compiled code (needs contiguous|takes whole)"):
            call()
