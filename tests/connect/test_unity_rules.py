"""Tests the Unity package against the rules of the Asset Store and of OpenUPM that can be checked without Unity.

The rules are those of Unity's package `com.unity.asset-store-validation` 0.6 (its documentation has a page for each),
those of the manual's page on package manifests, and OpenUPM's criteria for packages.
"""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.shared import ROOT

pytestmark = pytest.mark.quick

PACKAGE = ROOT / "unity_support" / "package"
MANIFEST: dict[str, Any] = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))
SEMVER = re.compile(r"\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?")
HEADINGS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
SAMPLES = PACKAGE / "Samples~"

MODULES = {
    "imgui": r"\b(GUILayout|GUI|EditorGUILayout|EditorGUI)\.",
    "tilemap": r"\bUnityEngine\.Tilemaps\b",
    "physics2d": r"\b(Physics2D|Rigidbody2D|Collider2D|BoxCollider2D|RaycastHit2D)\b",
    "physics": r"\b(Physics|Rigidbody|Collider|RaycastHit)\b",
    "jsonserialize": r"\bJsonUtility\b",
    "audio": r"\b(AudioSource|AudioClip)\b",
    "animation": r"\b(Animator|Animation|AnimationClip)\b",
    "ui": r"\bUnityEngine\.UI\b",
    "uielements": r"\bUnityEngine\.UIElements\b",
    "unitywebrequest": r"\bUnityWebRequest\b",
    "particlesystem": r"\bParticleSystem\b",
    "imageconversion": r"\b(EncodeToPNG|LoadImage)\b",
}
"""Built-in modules of Unity that a package has to depend on, and what shows that it uses them."""


def sources() -> str:
    """All C# files that Unity compiles, without comments and strings."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.cs")))
    return re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', "", text)


def files() -> list[Path]:
    """All files of the package."""
    return [path for path in PACKAGE.rglob("*") if path.is_file()]


def test_the_name() -> None:
    name = MANIFEST["name"]
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-_]|\.[a-z0-9]){1,213}", name)
    assert not name.startswith(("com.unity.", "com.github.", "com.example.")) and len(name) <= 214
    assert not name.endswith((".plugin", ".bundle", ".framework"))
    assert len(name.split(".")) >= 3, "OpenUPM asks for three parts"


def test_the_name_that_is_shown() -> None:
    shown = MANIFEST["displayName"]
    assert 3 < len(shown) < 80 and shown.isascii() and not re.search("[<>]", shown)
    assert "unity" not in re.sub("(?i)for unity", "", shown).lower()


def test_the_versions() -> None:
    assert SEMVER.fullmatch(MANIFEST["version"])
    major, minor = map(int, re.fullmatch(r"(\d{4})\.(\d)", MANIFEST["unity"]).groups())  # type: ignore[union-attr]
    update = re.fullmatch(r"(\d+)[abfp]\d+", MANIFEST["unityRelease"])
    assert update is not None
    assert (major, minor, int(update[1])) >= (2021, 3, 26), "the oldest Unity that the Asset Store takes"


def test_the_author() -> None:
    author = MANIFEST["author"]
    name = author["name"] if isinstance(author, dict) else author
    assert 0 < len(name) <= 512 and not name.lower().startswith("unity")
    if isinstance(author, dict):
        assert (
            re.fullmatch(r"(?:[^@\s]+@[^@\s]+\.[a-z]{2,})?", author.get("email", ""))
            and len(author.get("email", "")) <= 320
        )
        assert re.fullmatch(r"(?:https?://\S+)?", author.get("url", ""))
    holder = re.search(r"Copyright \(c\) \d+ (.*)", (PACKAGE / "LICENSE.md").read_text(encoding="utf-8"))
    assert holder is not None and holder[1] == name


def test_the_description() -> None:
    assert 50 <= len(MANIFEST["description"]) <= 200


def test_the_license_is_one_of_spdx() -> None:
    assert MANIFEST["license"] == "MIT"
    assert (PACKAGE / "LICENSE.md").read_text(encoding="utf-8").startswith("MIT License\n")


def test_the_changelog() -> None:
    assert [p.name for p in PACKAGE.iterdir() if p.name.lower().startswith("changelog.") and p.suffix != ".meta"] == [
        "CHANGELOG.md"
    ]
    lines = (PACKAGE / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    versions: list[str] = []
    headings: list[str] = []
    for line in (line for line in lines if line.startswith("##")):
        if line.startswith("###"):
            headings.append(line.removeprefix("### "))
            assert [h for h in HEADINGS if h in headings] == headings, "known headings, in their order, each once"
            continue
        entry = re.fullmatch(r"## \[(.*)\] - (\d{4}-\d{2}-\d{2})", line)
        assert entry is not None, f"{line!r} is no version with a date"
        assert SEMVER.fullmatch(entry[1])
        datetime.date.fromisoformat(entry[2])
        versions.append(entry[1])
        headings = []
    assert versions[0] == MANIFEST["version"] and len(set(versions)) == len(versions)


def test_the_documentation() -> None:
    pages = [p for p in (PACKAGE / "Documentation~").iterdir() if p.suffix in (".md", ".html", ".pdf", ".rtf", ".txt")]
    assert "index.md" in {p.name for p in pages} and all(p.stat().st_size for p in pages)


def test_the_samples() -> None:
    samples = MANIFEST["samples"]
    for key in ("path", "displayName", "description"):
        values = [sample[key] for sample in samples]
        assert all(values) and len(set(values)) == len(values)
    folders = {path.name for path in SAMPLES.iterdir() if path.is_dir()}
    assert {f"Samples~/{name}" for name in folders} == {sample["path"] for sample in samples}
    for sample in samples:
        inside = [path for path in (PACKAGE / sample["path"]).rglob("*") if path.suffix != ".meta"]
        assert any(path.suffix == ".unity" for path in inside), "a sample has a scene"
        assert not any(path.name.startswith(".") or path.name.endswith("~") for path in inside)


def test_the_scene_of_the_sample_fits_its_scripts() -> None:
    scene = (SAMPLES / "Corridor" / "Corridor.unity").read_text(encoding="utf-8")
    assert scene.startswith("%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n--- !u!")
    objects = {m[1]: m[2] for m in re.finditer(r"(?ms)^--- !u!\d+ &(\d+)\n(.*?)(?=^--- |\Z)", scene)}
    for number in re.findall(r"fileID: (\d+)\}", scene):
        assert number == "0" or number in objects, f"there is no object {number}"
    for number, text in objects.items():
        for component in re.findall(r"(?m)^  - component: \{fileID: (\d+)\}$", text):
            assert f"m_GameObject: {{fileID: {number}}}" in objects[component]
    guids = {
        match[1]: path.with_suffix("")
        for path in PACKAGE.rglob("*.cs.meta")
        if (match := re.search(r"guid: (\w+)", path.read_text(encoding="utf-8")))
    }
    scripts = {}
    for text in objects.values():
        if text.startswith("MonoBehaviour:"):
            (guid,) = re.findall(r"guid: (\w+), type: 3", text)
            scripts[guids[guid].name] = re.findall(r"(?m)^  (\w+):", text.split("m_EditorClassIdentifier: \n")[1])
    assert set(scripts) == {"PlaytestBehaviour.cs", "CorridorBehaviour.cs"}
    component = (PACKAGE / "Runtime" / "Unity" / "PlaytestBehaviour.cs").read_text(encoding="utf-8")
    fields = re.findall(r"\[SerializeField[^\]]*(?:\"[^\"]*\"[^\]]*)?\]\s+private [\w\[\]]+ (\w+)", component)
    assert scripts["PlaytestBehaviour.cs"] == fields and len(fields) == 7
    declared = re.findall(
        r'DeclareMetric\("(\w+)"', (SAMPLES / "Corridor" / "CorridorGame.cs").read_text(encoding="utf-8")
    )
    assert re.findall(r"(?m)^  - symbol: (\w+)$", scene) == declared


def test_the_dependencies_are_complete_and_used() -> None:
    text = sources()
    used = {f"com.unity.modules.{name}" for name, sign in MODULES.items() if re.search(sign, text)}
    assert used == set(MANIFEST["dependencies"])
    assert all(SEMVER.fullmatch(version) for version in MANIFEST["dependencies"].values()), "exact versions, no ranges"


def test_each_script_belongs_to_one_assembly_and_each_assembly_has_scripts() -> None:
    definitions = [p for pattern in ("*.asmdef", "*.asmref") for p in PACKAGE.rglob(pattern)]
    owners = {path.parent for path in definitions}
    assert len(owners) == len(definitions), "one assembly definition a folder"
    owned = set()
    for script in PACKAGE.rglob("*.cs"):
        if SAMPLES in script.parents:
            continue
        owner = next((folder for folder in script.parents if folder in owners), None)
        assert owner is not None, f"{script} belongs to no assembly"
        owned.add(owner)
    assert owned == owners
    for path in definitions:
        definition = json.loads(path.read_text(encoding="utf-8"))
        assert definition["name"] == path.stem


def test_only_tests_are_left_out_of_projects() -> None:
    for path in PACKAGE.rglob("*.asmdef"):
        definition = json.loads(path.read_text(encoding="utf-8"))
        is_test = PACKAGE / "Tests" in path.parents
        assert definition["defineConstraints"] == (["UNITY_INCLUDE_TESTS"] if is_test else []), path
        assert definition["autoReferenced"] is not is_test, path


def test_the_folders_are_those_of_the_package_layout() -> None:
    names = {path.name.removesuffix(".meta") for path in PACKAGE.iterdir()}
    folders = {"Runtime", "Editor", "Tests", "Samples~", "Documentation~"}
    assert names == {"package.json", "README.md", "CHANGELOG.md", "LICENSE.md", *folders}
    assert {path.name for path in (PACKAGE / "Tests").iterdir() if path.is_dir()} == {"Editor"}


def test_links_lead_somewhere() -> None:
    for page in PACKAGE.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)]+)\)", text):
            assert target.startswith("https://") or (page.parent / target.split("#")[0]).exists(), f"{page}: {target}"
        for named in re.findall(r"`(Documentation~/[\w.-]+|Runtime/\w+|Samples~/\w+|Tests/\w+)`", text):
            assert (PACKAGE / named).exists(), f"{page}: {named}"


def test_no_file_is_of_a_kind_that_is_refused() -> None:
    refused = re.compile(
        r"\.(bat|bin|com|csh|dom|dmg|exe|jse?|lib|ms[ipt]|pkg|ps1|sh|vb|vbe|vbs|vbscript|vs|vsd|vsh|zip|7z|rar|jpe?g|mp3"
        r"|rsp|unitypackage|dll)"
    )
    for path in files():
        assert not refused.fullmatch(path.suffix.lower()) and not path.is_symlink(), path
        assert len(path.relative_to(PACKAGE).as_posix()) <= 140, path
    assert sum(path.stat().st_size for path in files()) < 512 * 2**20
