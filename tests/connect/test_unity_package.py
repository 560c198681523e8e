"""Tests that the Unity package is complete, and that its Unity parts compile against stubs of Unity."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import persona_evo

ROOT = Path(__file__).resolve().parents[2]
UNITY_SUPPORT = ROOT / "unity_support"
PACKAGE = UNITY_SUPPORT / "package"
STUBS = ROOT / "tests" / "connect" / "unity_stubs"
GUIDE = PACKAGE / "Documentation~" / "2d-roguelike.md"

needs_mono = pytest.mark.skipif(shutil.which("mcs") is None, reason="Mono is not installed (apt-get install mono-mcs)")


def kept() -> list[Path]:
    """The package's files and folders that Unity looks at or copies, without .meta files."""
    found = []
    for path in PACKAGE.rglob("*"):
        parts = path.relative_to(PACKAGE).parts
        if path.suffix != ".meta" and parts[0] != "Documentation~" and not parts[-1].endswith("~"):
            found.append(path)
    return found


def test_each_file_and_folder_has_a_guid_of_its_own() -> None:
    guids: dict[str, Path] = {}
    for path in kept():
        meta = path.with_name(path.name + ".meta")
        assert meta.is_file(), f"{meta} is missing: python unity_support/metas.py writes it"
        text = meta.read_text()
        found = re.findall(r"(?m)^guid: ([0-9a-f]{32})$", text)
        assert len(found) == 1, meta
        assert found[0] not in guids, f"{meta} and {guids[found[0]]} have the same GUID"
        guids[found[0]] = meta
        assert ("folderAsset: yes" in text) == path.is_dir()
    assert len(guids) > 30
    assert set(PACKAGE.rglob("*.meta")) == set(guids.values()), "a .meta file has no file"


def test_the_manifest_names_what_is_there() -> None:
    manifest = json.loads((PACKAGE / "package.json").read_text())
    assert manifest["name"] == "com.persona-evo.playtest"
    assert manifest["version"] == persona_evo.__version__
    assert (PACKAGE / "README.md").is_file()
    assert (PACKAGE / "LICENSE.md").read_text() == (ROOT / "LICENSE").read_text()
    library = f'Library = "persona-evo-csharp {manifest["version"]}"'
    assert library in (PACKAGE / "Runtime" / "Core" / "Frames.cs").read_text()


def test_assemblies_refer_to_each_other_only() -> None:
    definitions = {d["name"]: d for d in (json.loads(p.read_text()) for p in PACKAGE.rglob("*.asmdef"))}
    for definition in definitions.values():
        assert set(definition["references"]) <= set(definitions)
    core = definitions["PersonaEvo.Playtest.Core"]
    assert core["noEngineReferences"] is True
    assert core["references"] == []
    for name in ("PersonaEvo.Playtest.Editor", "PersonaEvo.Playtest.Tests"):
        assert definitions[name]["includePlatforms"] == ["Editor"]


def test_the_core_has_neither_unity_nor_luck_of_its_own() -> None:
    for path in (PACKAGE / "Runtime" / "Core").glob("*.cs"):
        text = re.sub(r"//.*", "", path.read_text())
        assert not re.search(r"UnityEngine|UnityEditor|GetHashCode|new Random|System\.Random|Guid\.NewGuid", text), path


def test_lines_fit() -> None:
    for path in UNITY_SUPPORT.rglob("*.cs"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            assert len(line) <= 130, f"{path}:{number}"


@needs_mono
def test_the_parts_for_unity_compile_against_stubs(tmp_path: Path) -> None:
    compile_unity(tmp_path)
    assert (tmp_path / "PersonaEvo.Playtest.Editor.dll").is_file()


def compile_unity(out: Path) -> None:
    """Compile the Unity package with `build.py`."""
    done = subprocess.run(
        [sys.executable, UNITY_SUPPORT / "build.py", "unity", "--out", out], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def changes() -> str:
    """The guide's changes, as one diff."""
    return "".join(re.findall(r"(?ms)^```diff\n(.*?)^```", GUIDE.read_text()))


def test_the_guide_takes_fewer_than_100_changed_lines() -> None:
    changed = [line for line in changes().splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---") and line]
    assert f"{len(changed)} changed lines" in GUIDE.read_text()
    assert len(changed) < 100


@needs_mono
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_guide_applies_and_compiles(tmp_path: Path) -> None:
    game = tmp_path / "game"
    shutil.copytree(STUBS / "Roguelike", game)
    (tmp_path / "guide.diff").write_text(changes())
    applied = subprocess.run(
        ["git", "apply", "--unsafe-paths", tmp_path / "guide.diff"], cwd=game, capture_output=True, text=True
    )
    assert applied.returncode == 0, applied.stderr
    assert "EndDay(food)" in (game / "Player.cs").read_text()
    compile_unity(tmp_path)
    references = [
        f"-r:{tmp_path / name}.dll"
        for name in (
            "UnityEngine",
            "PersonaEvo.Playtest",
            "PersonaEvo.Playtest.Core",
        )
    ]
    done = subprocess.run(
        [
            "mcs",
            "-langversion:6",
            "-target:library",
            f"-out:{tmp_path / 'game.dll'}",
            *references,
            *sorted(map(str, game.glob("*.cs"))),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
