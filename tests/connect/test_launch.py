"""Tests which program is started for a path."""

import os
import plistlib
import struct
import sys

import pytest

from persona_evo.connect import launch
from persona_evo.connect.process_start import View
from persona_evo.errors import ConnectError

pytestmark = pytest.mark.quick


def program(path):
    """Write a program that may be run; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def assembly(path, managed, wide=False):
    """The head of a Windows program, with or without an entry for the CLI header."""
    data = bytearray(1024)
    data[:2], data[0x3C:0x40], data[0x80:0x84] = b"MZ", struct.pack("<I", 0x80), b"PE\0\0"
    struct.pack_into("<H", data, 0x80 + 24, 0x20B if wide else 0x10B)
    struct.pack_into("<I", data, 0x80 + 24 + (112 if wide else 96) + 14 * 8, 0x2008 if managed else 0)
    path.write_bytes(bytes(data))
    return path


def test_python_files_run_in_this_python(tmp_path):
    assert launch.command(program(tmp_path / "g.py"), ["a b"]) == [sys.executable, str(tmp_path / "g.py"), "a b"]


def test_an_app_with_a_unity_player(tmp_path):
    app = tmp_path / "My Game.app"
    inside = program(app / "Contents" / "MacOS" / "Real")
    program(app / "Contents" / "MacOS" / "Other")
    (app / "Contents" / "Resources" / "Data").mkdir(parents=True)
    with (app / "Contents" / "Info.plist").open("wb") as file:
        plistlib.dump({"CFBundleExecutable": "Real"}, file)
    log = tmp_path / "worker-0.log"
    for path in (app, tmp_path / "My Game"):
        if path == app or sys.platform != "win32":
            assert launch.command(path, ["-x"], log=log) == [
                str(inside),
                "-batchmode",
                "-nographics",
                "-logFile",
                str(log),
                "-x",
            ]
    assert launch.command(app, log=log, view=View.SHOWN) == [str(inside), "-logFile", str(log)]
    assert launch.command(app, view=View.DRAWN) == [str(inside), "-batchmode"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="builds for Linux")
def test_a_linux_build_by_its_folder_and_without_its_suffix(tmp_path):
    file = program(tmp_path / "build" / "Game.x86_64")
    (tmp_path / "build" / "Game_Data").mkdir()
    assembly(tmp_path / "build" / "UnityCrashHandler64.exe", False)
    assert launch.find(tmp_path / "build") == launch.find(tmp_path / "build" / "Game") == file
    assert "-batchmode" in launch.command(file)
    program(tmp_path / "build" / "Other.x86_64")
    with pytest.raises(ConnectError, match="several games"):
        launch.find(tmp_path / "build")


@pytest.mark.skipif(os.name == "nt", reason="elsewhere")
def test_windows_programs(tmp_path, monkeypatch):
    monkeypatch.setattr(launch.shutil, "which", lambda tool: f"/usr/bin/{tool}" if tool == "mono" else None)
    for wide in (False, True):
        file = assembly(tmp_path / f"g{wide}.exe", True, wide)
        assert launch.command(file) == ["/usr/bin/mono", str(file)]
        with pytest.raises(ConnectError, match="for Windows"):
            launch.command(assembly(tmp_path / f"n{wide}.exe", False, wide))
    with pytest.raises(ConnectError, match="needs dotnet"):
        launch.command(program(tmp_path / "g.dll"))
    (tmp_path / "short.exe").write_bytes(b"MZ")
    with pytest.raises(ConnectError, match="for Windows"):
        launch.command(tmp_path / "short.exe")


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_what_cannot_be_started(tmp_path):
    (tmp_path / "plain").write_text("no program", encoding="utf-8")
    with pytest.raises(ConnectError, match=r"chmod \+x plain"):
        launch.command(tmp_path / "plain")
    with pytest.raises(ConnectError, match="no such game"):
        launch.command(tmp_path / "missing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConnectError, match="contains no game"):
        launch.command(tmp_path / "empty")
    (tmp_path / "bad.app").mkdir()
    with pytest.raises(ConnectError, match="contains no program"):
        launch.command(tmp_path / "bad.app")
