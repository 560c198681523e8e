"""Tests closed and full streams, Ctrl-C at bad moments, full disks, and files that exist already."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from persona_evo.cli import main as program
from persona_evo.jobs import files
from tests.cli.tool import command, environment, run

LISTED, WRONG, HELP = ("policy", "list"), ("persona", "nope"), ("playtest", "--help")


@pytest.mark.skipif(os.name == "nt", reason="shells of POSIX")
@pytest.mark.parametrize(
    ("line", "streams", "code"),
    [
        (LISTED, ">&-", 141),
        (LISTED, "2>&-", 0),
        (LISTED, ">&- 2>&-", 141),
        (WRONG, ">&-", 2),
        (WRONG, "2>&-", 2),
        (WRONG, "2>/dev/full", 2),
        (LISTED, ">/dev/full", 2),
        (LISTED, "2>/dev/full", 0),
        (HELP, ">/dev/full", 2),
        (HELP, ">&-", 141),
        (("--version",), ">/dev/full", 2),
    ],
)
def test_streams_that_cannot_be_written(line: tuple[str, ...], streams: str, code: int, tmp_path: Path) -> None:
    if "full" in streams and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    done = subprocess.run(
        ["sh", "-c", f'"$@" {streams}', "sh", *command(*line)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr and "ignored" not in done.stderr
    if streams == ">/dev/full":
        assert "standard output: No space left" in done.stderr and "only the output is lost" in done.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_that_became_another_error_is_still_one(
    number: signal.Signals, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = signal.getsignal(number)
    if usual not in (signal.default_int_handler, signal.SIG_DFL):
        pytest.skip("somebody else takes the signal")

    def broken(*_: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(number)
        raise TypeError("what compiled code made of it")

    monkeypatch.setattr(program, "parser", broken)
    stopped = run(capsys, "doctor")
    assert stopped.code == code and stopped.err == "persona-evo: stopped\n"
    assert signal.getsignal(number) is usual


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_while_a_destructor_runs_is_not_lost(
    number: signal.Signals, code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python ignores exceptions in destructors, such as those of compiled code."""
    if signal.getsignal(number) not in (signal.default_int_handler, signal.SIG_DFL):
        pytest.skip("somebody else takes the signal")

    class Module:
        def __del__(self) -> None:
            self.close()

        def close(self) -> None:
            signal.raise_signal(number)

    def closing(*_: object) -> None:
        Module()
        time.sleep(30)

    monkeypatch.setattr(program, "parser", closing)
    stopped = run(capsys, "doctor")
    assert stopped.code == code and stopped.err == "persona-evo: stopped\n"


@pytest.mark.parametrize(
    ("program", "late"),
    [
        ("persona_evo.cli.main", "persona_evo.cli.doctor"),
        ("persona_evo", "persona_evo.cli.main"),
    ],
)
def test_ctrl_c_while_commands_are_imported(program: str, late: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Late:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == '{late}':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Late())\n"
    )
    found = environment()
    found["PYTHONPATH"] = os.pathsep.join([str(tmp_path), found["PYTHONPATH"]])
    done = subprocess.run(
        [sys.executable, "-m", program, "doctor"],
        env=found,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 130 and "Traceback" not in done.stderr


def test_a_full_disk_names_the_file_and_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    target = tmp_path / "f.txt"
    ran = run(capsys, "formula", "export", "MS", "-o", target)
    assert (
        ran.code == 2
        and str(target) in ran.err
        and "everything saved so far is kept" in ran.err
        and not target.exists()
    )


def test_an_error_of_writing_without_a_name_gets_that_of_the_folder(tmp_path: Path) -> None:
    for name, told in ((None, str(tmp_path)), ("a.csv", "a.csv")):
        with pytest.raises(OSError) as caught, files.writing_in(tmp_path):
            raise OSError(28, "No space left on device", name)
        assert caught.value.filename == told


def test_exports_write_over_nothing_without_force(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "f.txt"
    for line in (("formula", "export", "MS"), ("policy", "export", "runner", "--to", "json")):
        target.write_text("mine")
        ran = run(capsys, *line, "-o", target)
        assert ran.code == 2 and "--force" in ran.err and target.read_text() == "mine"
        assert run(capsys, *line, "-o", target, "--force").code == 0 and target.read_text() != "mine"


def test_a_damaged_policy_is_told_and_passed_over(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "policies" / "minidungeons2"
    folder.mkdir(parents=True)
    (folder / "cut.json").write_text('{"schema": 1')
    (folder / "half.json").write_text(json.dumps({"schema": 1, "name": "\ud800"}))
    monkeypatch.chdir(tmp_path)
    ran = run(capsys, *LISTED)
    assert ran.code == 0 and "runner" in ran.out
    for name in ("cut", "half"):
        assert f"{name}.json" in ran.err and any(row.split() == [name, "–", "damaged"] for row in ran.out.splitlines())
