"""The built wheel carries all it needs: levels, personas and policies."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command away from the source tree; its output."""
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run([str(c) for c in command], cwd=cwd, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


def environment(folder: Path) -> Path:
    """Return a new virtual environment without pip; its folder of programs."""
    venv.create(folder)
    return folder / ("Scripts" if os.name == "nt" else "bin")


def install(programs: Path, *words: str | Path, cwd: Path) -> None:
    """Install something into an environment."""
    run(sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet", *words, cwd=cwd)


def test_wheel_carries_levels_personas_and_policies(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for source, inside in (
        ("persona_evo/games/catalog/minidungeons2/levels", "persona_evo/games/catalog/minidungeons2/levels"),
        ("persona_evo/games/catalog/roguelike2d/levels", "persona_evo/games/catalog/roguelike2d/levels"),
        ("persona_evo/games/catalog/its_alive/levels", "persona_evo/games/catalog/its_alive/levels"),
        ("persona_evo/personas/catalog", "persona_evo/personas/catalog"),
        ("policies/minidungeons2", "persona_evo/_policies/minidungeons2"),
    ):
        files = [p.name for p in (ROOT / source).iterdir() if p.is_file()]
        assert files
        assert not [f for f in files if f"{inside}/{f}" not in names]
    assert not [n for n in names if n.startswith(("tests", "runs"))]


def check_installed(programs: Path, cwd: Path) -> None:
    """The installed program finds what ships with it, and plays."""
    program = programs / "persona-evo"
    assert "paper_runner" in run(program, "policy", "list", cwd=cwd)
    assert "train01" in run(program, "level", "list", cwd=cwd)
    assert "runner" in run(program, "persona", "list", cwd=cwd)
    out = run(program, "solve", "test01", "--persona", "runner", cwd=cwd)
    assert "0." in out


def test_wheel_installs_where_its_dependencies_are(wheel: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "env")
    python = programs / "python"
    install(programs, "--no-deps", wheel, cwd=tmp_path)
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip()
    (Path(site) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = run(python, "-c", "import persona_evo; print(persona_evo.__file__)", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(Path(site))
    check_installed(programs, tmp_path)


@pytest.mark.slow
def test_wheel_installs_into_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path / "env")
    install(programs, wheel, cwd=tmp_path)
    check_installed(programs, tmp_path)
