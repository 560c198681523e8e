"""Tests the Unity package's documentation: its scripts compile and play, its files and commands exist."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from persona_evo.connect import description_file, launch
from persona_evo.connect import protocol as p
from persona_evo.connect.doctor import examine
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.session import Session
from persona_evo.formula import parse
from tests.cli.tool import typed
from tests.connect.test_csharp import needs_mono
from tests.connect.test_unity_package import GUIDE, PACKAGE, STUBS, UNITY_SUPPORT, changes, compile_unity

INDEX = PACKAGE / "Documentation~" / "index.md"
PAGES = [
    *sorted((PACKAGE / "Documentation~").glob("*.md")),
    PACKAGE / "README.md",
    UNITY_SUPPORT / "README.md",
    UNITY_SUPPORT / "PROTOCOL.md",
]
PERSONAS = UNITY_SUPPORT.parent / "persona_evo" / "personas" / "catalog"


def blocks(page: Path, language: str) -> list[str]:
    """The code blocks of a page in a language, indented ones, too."""
    found = re.findall(rf"(?ms)^( *)```{language}\n(.*?)^ *```", page.read_text(encoding="utf-8"))
    return [textwrap.dedent(code) for _, code in found]


@pytest.fixture(scope="module")
def unity(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package compiled against stubs, its documentation's scripts, and a player for these."""
    out = tmp_path_factory.mktemp("unity")
    compile_unity(out)
    for number, code in enumerate(c for page in PAGES for c in blocks(page, "csharp")):
        (out / f"doc{number}.cs").write_text(code, encoding="utf-8")
    compile_to(out / "Documentation.dll", *sorted(out.glob("doc*.cs")))
    compile_to(out / "Player.exe", STUBS / "Player" / "Player.cs")
    return out


def compile_to(target: Path, *sources: Path) -> None:
    """Compile C# sources against the package and stubs of Unity; warnings are errors."""
    names = ("UnityEngine", "UnityEditor", "PersonaEvo.Playtest", "PersonaEvo.Playtest.Core")
    done = subprocess.run(
        [
            "mcs",
            "-langversion:6",
            "-warnaserror+",
            f"-target:{'exe' if target.suffix == '.exe' else 'library'}",
            f"-out:{target}",
            *(f"-r:{target.parent / name}.dll" for name in names),
            *map(str, sources),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def playing(unity: Path, folder: Path, library: str, script: str, most: int, *metrics: str, more: str = "") -> Session:
    """A session with a script of a compiled library."""
    words = ["play", str(unity / library), script, str(most), *metrics]
    file = folder / "player.toml"
    file.write_text(f'game = "{unity / "Player.exe"}"\narguments = {words}\nlogs = "logs"\n{more}', encoding="utf-8")
    return Session(description_file.read(file))


def ends(session: Session, number: int = 60) -> Iterator[tuple[p.Result, dict[str, float]]]:
    """Playthroughs of as many seeds, with the metrics of their ends."""
    symbols = [m.symbol for m in session.hello().metrics]
    for seed in range(1, number + 1):
        result = session.play(LevelName("", "", seed), b"", seed)
        yield result, dict(zip(symbols, result.last(), strict=True))


@needs_mono
def test_the_loop_of_the_documentation_plays(unity: Path, tmp_path: Path) -> None:
    session = playing(unity, tmp_path, "Documentation.dll", "Loop", 1000, "HP", "DEAD", "WON")
    try:
        seen = set()
        for result, end in ends(session):
            assert result.status == p.OK
            assert (end["DEAD"], end["WON"]) == ((1.0, 0.0) if end["HP"] <= 0 else (0.0, 1.0))
            assert result.score == sum(choice for choice, _ in p.unpack(result.trace))
            seen.add(end["WON"])
        assert seen == {0.0, 1.0}
        assert examine(session, LevelName("", "", 1), rollouts=60).faults == []
    finally:
        session.close()


@needs_mono
def test_the_loop_goes_on_after_a_playthrough_that_is_cut_off(unity: Path, tmp_path: Path) -> None:
    session = playing(unity, tmp_path, "Documentation.dll", "Loop", 2, "HP", "DEAD", "WON")
    try:
        statuses = set()
        for result, _ in ends(session, 20):
            assert result.score == sum(choice for choice, _ in p.unpack(result.trace))
            statuses.add(result.status)
        assert statuses == {p.TRUNCATED}
    finally:
        session.close()


@needs_mono
def test_the_sample_plays_in_its_component(unity: Path, tmp_path: Path) -> None:
    script = "PersonaEvo.Playtest.Samples.CorridorBehaviour"
    session = playing(unity, tmp_path, "Samples.dll", script, 100, "ST", "COINS", "OUT")
    try:
        for result, end in ends(session, 20):
            assert end["ST"] == result.decisions
            assert result.score == pytest.approx(end["OUT"] + end["COINS"] - 0.01 * end["ST"])
    finally:
        session.close()


def test_every_script_of_the_documentation_is_a_whole_file() -> None:
    scripts = [code for page in PAGES for code in blocks(page, "csharp")]
    assert len(scripts) >= 2 and all(code.startswith("using ") for code in scripts)
    assert "= PlaytestBehaviour.Instance;" in scripts[0]


@needs_mono
def test_the_window_writes_a_game_toml_that_is_one(unity: Path, tmp_path: Path) -> None:
    player = tmp_path / "Game.x86_64"
    done = subprocess.run(
        ["mono", unity / "Player.exe", "describe", unity / "PersonaEvo.Playtest.Editor.dll", player, "My game"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == str(tmp_path / "game.toml"), done.stderr
    text = (tmp_path / "game.toml").read_text(encoding="utf-8")
    found = description_file.read(tmp_path / "game.toml")
    assert (found.name, found.game, found.outcome, found.maps) == ("My_game", player, ("", ""), {})
    (tmp_path / "personas").mkdir()
    (tmp_path / "personas" / "one.toml").write_text("", encoding="utf-8")
    filled = tmp_path / "filled.toml"
    filled.write_text(re.sub(r"(?m)^# (\w+ = )", r"\1", text), encoding="utf-8")
    found = description_file.read(filled)
    assert found.outcome == ("WON", "DEAD") and found.rollout == "weights" and set(found.maps) == {"train", "test"}
    assert [path.name for path in found.personas] == ["one.toml"]


def test_the_guides_game_toml_and_its_metrics_do_for_the_personas(tmp_path: Path) -> None:
    (text,) = blocks(GUIDE, "toml")
    file, beside = tmp_path / "game.toml", tmp_path / "personas"
    file.write_text(text, encoding="utf-8")
    beside.mkdir()
    copied = re.search(r"Copy\s+((?:`\w+\.toml`(?:, | and )?)+)", GUIDE.read_text(encoding="utf-8"))
    assert copied is not None
    for name in re.findall(r"`(\w+\.toml)`", copied[1]):
        shutil.copy(PERSONAS / name, beside)
    found = description_file.read(file)
    reported = set(re.findall(r'(?m)^\+.*(?:ReportMetric|Count)\("(\w+)"', changes()))
    table = "".join(re.findall(r"(?m)^   \| (`.*?) \|", GUIDE.read_text(encoding="utf-8")))
    assert reported == set(re.findall(r"`(\w+)`", table)) - {"days"}
    for formula in found.outcome:
        assert parse(formula, sorted(reported)).symbols
    catalog = [path for path in PERSONAS.glob("*.toml") if 'game = "roguelike2d"' in path.read_text(encoding="utf-8")]
    assert {path.name for path in found.personas} == {path.name for path in catalog} - {"thesis.toml"}
    for path in found.personas:
        persona = tomllib.loads(path.read_text(encoding="utf-8"))
        assert persona["game"] == found.name
        assert parse(persona["utility"], sorted(reported)).symbols | {persona["priority"]} <= reported


def commands() -> list[tuple[str, list[str]]]:
    """The commands of persona-evo that the pages show, with the subcommands they begin with."""
    shown = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        prose = re.sub(r"(?ms)^ *```.*?^ *```", "", text)
        lines = [*blocks(page, "sh"), *(" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose))]
        for line in re.findall(r"(?m)(?:^|/| )persona-evo ([a-z][^\n]+)", "\n".join(lines)):
            words = line.split()
            parts = 2 if words[0] in ("connect", "persona", "experiment") and len(words) > 1 else 1
            shown.append((line, words[:parts] + [word for word in words if word.startswith("--")]))
    return shown


def test_the_commands_that_are_shown_have_these_options(tmp_path: Path) -> None:
    shown = commands()
    assert any(line.startswith("doctor --game Builds/Playtest/game.toml") for line, _ in shown)
    for part in {tuple(w for w in words if not w.startswith("--")) for _, words in shown}:
        done = typed(tmp_path, *part, "--help")
        assert done.code == 0, part
        for line, words in shown:
            if tuple(w for w in words if not w.startswith("--")) == part:
                for option in words[len(part) :]:
                    assert f"{option} " in done.out or f"{option}," in done.out, line


def test_every_page_that_sets_up_names_the_doctor() -> None:
    for page in (INDEX, GUIDE, PACKAGE / "README.md"):
        assert "persona-evo doctor --game Builds/Playtest/game.toml" in page.read_text(encoding="utf-8"), page


def test_the_documentation_names_how_the_driver_starts_a_player_and_what_the_tests_need() -> None:
    text = INDEX.read_text(encoding="utf-8") + (PACKAGE / "README.md").read_text(encoding="utf-8")
    words = set(re.findall(r'"(-[a-zA-Z]+)"', Path(launch.__file__).read_text(encoding="utf-8")))
    assert words >= {"-batchmode", "-nographics", "-logFile"} and all(word in text for word in words)
    variables = set(
        re.findall(
            r'GetEnvironmentVariable\("(PERSONA_EVO_REPOSITORY)"',
            "".join(f.read_text() for f in (PACKAGE / "Tests").rglob("*.cs")),
        )
    )
    assert variables and all(f"`{name}`" in text for name in variables)
    assert '"testables": ["com.persona-evo.playtest"]' in text


@needs_mono
def test_the_page_for_games_in_csharp_leads_to_a_first_finding(tmp_path: Path) -> None:
    page = UNITY_SUPPORT / "README.md"
    (code,) = blocks(page, "csharp")
    (tmp_path / "Dive.cs").write_text(code, encoding="utf-8")
    (shown,) = [block for block in blocks(page, "sh") if "mcs -out" in block]
    compiled = shown.replace("unity_support/", f"'{UNITY_SUPPORT}'/")

    def compile_and_play() -> None:
        done = subprocess.run(compiled, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0 and done.stdout.startswith("score "), done.stdout + done.stderr

    compile_and_play()
    assert typed(tmp_path, "connect", "new", "dive").code == 0
    text = (tmp_path / "dive.toml").read_text(encoding="utf-8")
    assert 'game = "dive.exe"' in text
    for line in ('won = "WON"', 'lost = "DEAD"'):
        assert f"`{line}`" in page.read_text(encoding="utf-8")
        text, changes_made = re.subn(rf"(?m)^(# )?{line.split()[0]} = .*$", line, text, count=1)
        assert changes_made == 1
    (tmp_path / "dive.toml").write_text(text, encoding="utf-8")
    doctor = typed(tmp_path, "doctor", "--game", "dive.toml")
    assert doctor.code == 1 and "System.IndexOutOfRangeException" in doctor.out, doctor.out + doctor.err
    kept = re.search(r"\(kept in (.*findings.jsonl)\)", doctor.out)
    assert kept is not None
    assert re.search(r"Dive\.Play .*Dive\.cs:\d", Path(kept[1]).read_text(encoding="utf-8")), "where in the code it was"
    mended = "Treasure[System.Math.Min(depth, 6)]"
    assert f"`{mended}`" in page.read_text(encoding="utf-8")
    (tmp_path / "Dive.cs").write_text(code.replace("Treasure[depth]", mended), encoding="utf-8")
    compile_and_play()
    doctor = typed(tmp_path, "doctor", "--game", "dive.toml")
    assert doctor.code == 0 and "the same choices lead to the same end" in doctor.out, doctor.out + doctor.err
    search = typed(
        tmp_path,
        *("connect", "search", "dive.toml", "--level", "default@11", "--out", "runs/dive"),
        *("--iterations", "500", "--seed", "1"),
    )
    assert search.code == 0 and "WON=1 DEAD=0" in search.out, search.out + search.err
    assert typed(tmp_path, "persona", "new", "careful", "--game", "dive.toml").code == 0
