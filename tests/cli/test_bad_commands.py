"""Tests that mistakes on the command line give one clear message on standard error, exit code 2, and no traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.tool import run

pytestmark = pytest.mark.quick

BAD: list[tuple[str, str]] = [
    ("", "COMMAND"),
    ("evolv", "did you mean 'evolve'"),
    ("--verison", "did you mean --version"),
    ("connect doctor game.toml", "persona-evo doctor --game FILE.toml"),
    ("playtest", "no levels are named"),
    ("playtest --resume nowhere", "not the folder of a playtest"),
    ("playtest test01 --resume x", "cannot be combined with --resume"),
    ("playtest test99", "did you mean 'test"),
    ("playtest ./nothing.txt", "no such level, file, folder or set"),
    ("playtest empty", "no level files"),
    ("playtest *.nope", "matches no level files"),
    ("playtest test01 --persona R", "did you mean --personas"),
    ("playtest test01 --personas runer", "did you mean 'runner'"),
    ("playtest test01 --personas R,,MK", "names separated by commas"),
    ("playtest test01 --personas broken.toml", "broken.toml:"),
    ("playtest test01 --policy nobody", "no such policy"),
    ("playtest test01 --policy broken.json", "broken.json"),
    ("playtest test01 --policy ucb1:much", "not a number"),
    ("playtest test01 --policy ucb1:-1", "out of range"),
    ("playtest test01 --policy ucb1:nan", "out of range"),
    ("playtest test01 --policy formula:MS+", "formula"),
    ("playtest test01 --policy formula:MSS*2", "did you mean 'MS'"),
    ("playtest test01 --policy TC=ucb1 --personas R", "not among the players"),
    ("playtest test01 --policy ucb1 --policy ucb1", "given twice"),
    ("playtest test01 --baseline nobody", "no such policy"),
    ("playtest test01 --trials 0", "from 1 to 100000"),
    ("playtest test01 --trials -3", "from 1 to 100000"),
    ("playtest test01 --trials 1e9", "whole number"),
    ("playtest test01 --trials many", "'many'"),
    ("playtest test01 --iterations 0", "whole number"),
    ("playtest test01 --iterations 99999999999", "2000000000"),
    ("playtest test01 --seconds 0", "above 0"),
    ("playtest test01 --seconds nan", "found 'nan'"),
    ("playtest test01 --seconds inf", "found 'inf'"),
    ("playtest test01 --seconds -1", "above 0"),
    ("playtest test01 --jobs 0", "from 1 to"),
    ("playtest test01 --seed -1", "whole number"),
    ("playtest test01 --seed 99999999999999999999", "9223372036854775807"),
    ("playtest test01 --search fast", "no such choice for --search"),
    ("playtest test01 --backend lokky", "did you mean 'loky'"),
    ("playtest test01 --bound-seconds -1", "from 0"),
    ("playtest test01 --require runner.win_rate", "no operator"),
    ("playtest test01 --require runner.winrate>=1", "did you mean 'win_rate'"),
    ("playtest test01 --require runer.win_rate>=1", "did you mean 'runner'"),
    ("playtest test01 --require runner.win_rate>=lots", "no number"),
    ("playtest test01 --require runner.win_rate>95", "100 %\n  found: > 95\n  hint: did you mean 95%?"),
    ("playtest test01 --require runner.steps>999", "a playthrough ends after 200 steps"),
    ("playtest test01 --rules papper", "did you mean 'paper'"),
    ("playtest test01 --option speed=3", "speed"),
    ("playtest test01 --option speed", "NAME=VALUE"),
    ("playtest test01 --game chess", "no such game"),
    ("playtest test01 --game no.module:GAME", "cannot be loaded"),
    ("playtest test01 --game os:path", "os:path"),
    ("playtest test01 --out taken.txt --policy ucb1", "name another folder with --out"),
    ("playtest ragged.txt", "ragged.txt:2"),
    ("compare test01", "required: B"),
    ("compare test01 test01", "two levels"),
    ("compare test01 train", "two levels"),
    ("compare test01 test02 test03", "too many arguments"),
    ("playtest test01 --personas runner greedy", "commas between names and no spaces"),
    ("solve test01", "--persona"),
    ("solve --persona runner", "LEVEL"),
    ("solve test01 --personna runner", "did you mean --persona"),
    ("solve test01 --persona runner --seconds 0", "above 0"),
    ("solve test01 --persona runner --method magic", "no such choice"),
    ("solve test01 --persona runner --method beam", "no such choice"),
    ("solve test01 --persona runner --states 100", "the planner counts iterations"),
    ("solve test01 --persona runner --method bfs --iterations 100", "the method bfs counts states"),
    ("solve test01 --persona runner --iterations 0", "whole number"),
    ("runs show latest --trace 1 --gif .", "a name that ends in .gif"),
    ("solve test01 --persona runner --draw plan.jpg", "FILE.png or FILE.gif"),
    ("solve position01 --game puyo --persona greedy --draw plan.png", "does not tell where the avatar is"),
    ("evolve", "--persona is missing"),
    ("evolve --persona nobody", "no such persona"),
    ("evolve --persona runner --levels nowhere", "no such level"),
    ("evolve --persona runner --preset old", "no such choice for --preset"),
    ("evolve --persona runner --generations 0", "whole number"),
    ("evolve --persona runner --population 7", "multiple of islands"),
    ("evolve --persona runner --islands 0", "whole number"),
    ("evolve --persona runner --set elitess=3", "did you mean 'elites'"),
    ("evolve --persona runner --set elites=-1", "elites"),
    ("evolve --persona runner --set mutation=2", "between 0 and 1"),
    ("evolve --persona runner --for soon", "not a duration"),
    ("evolve --persona runner --for 0s", "not a duration"),
    ("evolve --persona runner --until 25:99", "not a time"),
    ("evolve --persona runner --until 2001-01-01", "in the past"),
    ("evolve --persona runner --until 0001-01-01T00:00+14:00", "in the past"),
    ("evolve --persona runner --until 9999-12-31T23:59-14:00", "the time is too long"),
    ("evolve --persona runner --for 70000000h", "the time is too long"),
    (f"evolve --persona runner --for {'9' * 400}h", "the time is too long"),
    ("evolve --persona runner --seed-policies nobody", "no such policy"),
    ("evolve --persona runner --seed-policies none ucb1", "none cannot be combined with other policies"),
    ("evolve --persona runner --seed-policies ucb1 --set variables=metrics", "--set variables=extended"),
    ("evolve --persona runner --seed-policies formula:R+PE", "--set variables=extended"),
    ("evolve --persona runner --seed-policies ucb1 --set first=PE", "given twice"),
    ("evolve --persona runner --seed 1.5", "whole number"),
    ("evolve --resume nowhere", "not a run folder"),
    ("evolve --resume nowhere --seed 3", "--seed cannot be combined with --resume"),
    ("persona", "new|check|list"),
    ("persona make x", "one of check, list, new"),
    ("persona new 9lives", "not a name"),
    ("persona new ../x", "not a name"),
    ("persona new taken -o taken.txt", "--force"),
    ("persona check nowhere.toml", "no such persona file"),
    ("persona check broken.toml", "broken.toml:"),
    ("persona check unknown_symbol.toml", "did you mean 'MS'"),
    ("level check nowhere", "no such level"),
    ("level check ragged.txt", "ragged.txt:2"),
    ("level", "new|generate|import|check|list"),
    ("level new ../x", "not a name"),
    ("level new taken", "--force"),
    ("policy show nobody", "no such policy"),
    ("policy show broken.json", "broken.json:1"),
    ("policy show empty", "no such policy"),
    ("policy export ucb1 --to cobol", "no such choice for --to"),
    ("policy export ucb1 --to python --name 1x", "not a name"),
    ("policy install nobody", "no such policy"),
    ("policy export listed.json", "open lists are not a single formula"),
    ("policy show unlisted.json", "'lists' is missing"),
    ("persona check heavy.toml", "heavy.toml:6:1: the weight of an open list"),
    ("playtest train01 --policy listed.json --search single", "a policy of open lists needs a planner that searches"),
    ("playtest train01 --policy agent:listed.json --agent mover.toml#mover", "an agent plays move by move"),
    ("playtest train01 --tolerance 0.1 --search paper", "tolerance 0.1; the search paper has none"),
    ("playtest train01 --hedge 0.1 --search single", "hedge 0.1; the search single has none"),
    ("playtest train01 --hedge 0 --tolerance 0 --agent mover.toml#mover --personas R", "plays move by move"),
    ("compare train01 train02 --tolerance 0.1 --search single", "the search single has none"),
    ("playtest train01 --tolerance 1", "up to 0.9"),
    ("playtest train01 --hedge -0.1", "from 0 up to 0.9"),
    ("playtest train01 --hedge nan", "from 0 up to 0.9"),
    ("playtest train01 --search anytme", "did you mean 'anytime'"),
    ("evolve --persona runner --levels train01 --search singel", "did you mean 'single'"),
    ("policy install ucb1 --name ../../x", "not a name"),
    ("formula simplify", "FORMULA"),
    ("formula simplify (MS", "FORMULA:1:"),
    ("formula simplify MS --timeout 0", "above 0"),
    ("formula export MS+XYZZY", "FORMULA:1:4"),
    ("demo --generations 0", "whole number"),
    ("demo --population 2", "whole number"),
    ("demo --persona nobody", "no such persona"),
    ("doctor --clear", "did you mean --clear-cache"),
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a current folder with files that are wrong in one way each."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.toml").write_text('game = "minidungeons2"\nutility = MS\n')
    (tmp_path / "unknown_symbol.toml").write_text('game = "minidungeons2"\npriority = "MS"\nutility = "0.7*MSS"\n')
    (tmp_path / "broken.json").write_text("{")
    listed = {"schema": 1, "name": "listed", "game": "minidungeons2", "kind": "lists"}
    (tmp_path / "unlisted.json").write_text(json.dumps(listed))
    (tmp_path / "listed.json").write_text(json.dumps({**listed, "lists": [{"score": "UTILITY"}]}))
    (tmp_path / "heavy.toml").write_text(
        'game = "minidungeons2"\npriority = "MS"\nutility = "MS"\n[[lists]]\nscore = "MS"\nweight = -1\n'
    )
    (tmp_path / "mover.toml").write_text('[mover]\nkind = "search"\nutility = "MS"\niterations = 5\n')
    (tmp_path / "ragged.txt").write_text("XXXX\nXHeXX\nXXXX\n")
    (tmp_path / "taken.txt").write_text("here first\n")
    return tmp_path


@pytest.mark.parametrize(("line", "said"), BAD, ids=[line or "nothing" for line, _ in BAD])
def test_one_clear_error(line: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {p.name for p in folder.iterdir()}
    ran = run(capsys, *line.split())
    assert ran.code == 2, ran
    assert said in ran.err
    assert "error" in ran.err and "Traceback" not in ran.err
    assert ran.err.count("persona-evo: error:") <= 1
    assert {p.name for p in folder.iterdir()} == before, "something was written"
    assert (folder / "taken.txt").read_text() == "here first\n"


def test_an_empty_argument_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in (["playtest", ""], ["playtest", "test01", "--personas", ""], ["persona", "new", " "]):
        ran = run(capsys, *line)
        assert ran.code == 2 and "found" in ran.err


def test_a_file_that_cannot_be_written_does_not_end_in_a_traceback(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "file").touch()
    ran = run(capsys, "persona", "new", "x", "-o", folder / "file" / "x.toml")
    assert ran.code == 2 and str(folder / "file") in ran.err and "Traceback" not in ran.err
