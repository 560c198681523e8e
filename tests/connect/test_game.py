"""Tests a connected game with everything that a game is used for: levels, personas, playtests, evolution, commands."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from persona_evo.connect.description_file import read
from persona_evo.connect.game import load as load_game
from persona_evo.connect.process_start import Timeouts
from persona_evo.connect.restarts import Restarts
from persona_evo.connect.tree import PrefixTree
from persona_evo.errors import ConnectError, FormulaError, GameError, LevelError, SettingsError
from persona_evo.games import mapsets, registry
from persona_evo.games.core import ENDED, LOST, RUNNING, WON
from persona_evo.personas import catalog, load
from persona_evo.search.bounds import solve
from persona_evo.store import policies, runs
from tests.cli.tool import command, environment, run, typed
from tests.connect.driving import describe, faulty, game, games, left, none_left
from tests.shared import hear_ctrl_c

TABLES = """
[maps]
train = ["short@1", "default@2"]
hard = ["train", ":loose@1-3"]
[outcome]
won = "HEIGHT - 4"
lost = "FELL"
[[metrics]]
symbol = "HEIGHT"
meaning = "rungs climbed"
better = "higher"
"""
CLIMBER = """
name = "climber"
game = "ladder"
utility = "HEIGHT - 5 * FELL"
priority = "HEIGHT"
"""


@pytest.fixture
def file(tmp_path):
    """The description of a game with two workers and a persona. No process is left after the test."""
    made = describe(tmp_path, top='workers = 2\npersonas = ["climber.toml"]', tables=TABLES)
    (tmp_path / "climber.toml").write_text(CLIMBER, encoding="utf-8")
    yield made
    assert none_left(tmp_path)


def test_levels_are_names(file):
    found, running = game(file)
    running.close()
    assert [v.name for v in mapsets.resolve(found, ["hard", "short@1"])] == [
        "short@1",
        "default@2",
        "default:loose@1",
        "default:loose@2",
        "default:loose@3",
    ]
    assert mapsets.shipped(found).sets["train"] == ("short@1", "default@2")
    for wrong in ("a@b", "a:b:c", "@5-3", "a@1-999999999"):
        with pytest.raises(SettingsError):
            mapsets.resolve(found, [wrong])
    with pytest.raises(LevelError, match="several"):
        found.load("short@1-2", "x")
    with pytest.raises(SettingsError, match="are not files"):
        mapsets.find(found, ["train"])


def test_states_are_choices_and_the_game_says_what_they_are(file):
    found, running = game(file)
    try:
        (level,) = mapsets.resolve(found, ["default:loose@1"])
        best = {}
        for choices in ((), (0,), (1, 0), (0, 0, 0, 0, 0, 0)):
            states = found.replay(level, choices)
            best[choices] = found.measure(level, states[-1])
            assert best[choices]["TURN"] == len(choices)
            assert len(found.legal(level, states[-1])) == (
                0 if len(choices) == 6 else 2 + int(best[choices]["HEIGHT"]) % 2
            )
            assert found.over(level, states[-1]) == (ENDED if len(choices) == 6 else RUNNING)
        rules, actions = found.rules(), np.zeros(level.max_actions, dtype=np.int64)
        outcomes = set()
        for seed in range(60):
            state, rng = found.start(level), np.array([seed + 1, 7], dtype=np.int64)
            played, seen = np.zeros(50, dtype=np.int64), np.zeros((50, len(found.metrics)))
            made = rules.rollout(level.tables, state, actions, played, 50, rng, seen, 1)
            assert made <= 6 and seen[made - 1, found.symbols.index("TURN")] >= made
            outcomes.add(found.over(level, state))
        assert outcomes == {WON, LOST, ENDED}
        with pytest.raises(GameError, match="choice 9"):
            found.measure(level, found.replay(level, (9,))[-1])
        with pytest.raises(SettingsError, match="outside this program"):
            solve(found, level, load("climber", found).utility)
    finally:
        running.close()


def test_personas_stand_beside_the_game(file, tmp_path):
    found, running = game(file)
    running.close()
    assert [p.name for p in catalog(found)] == ["climber"]
    bare, running = game(describe(tmp_path / "bare"))
    running.close()
    (score,) = catalog(bare)
    assert (score.name, score.utility.text, score.priority) == ("score", "SCORE", "SCORE")
    assert found.metrics[0].meaning == "rungs climbed" and found.metrics[0].better == "higher"


def test_the_registry_finds_it_and_closes_it(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = registry.get("ladder.toml")
    assert registry.address(found) == str(file.resolve())
    assert registry.get("ladder") is found
    assert left(tmp_path)
    found.outside.close()


PLAYED = ("--trials", 2, "--iterations", 40, "--policy", "ucb1", "--seed", 3, "--no-pictures")


def test_players_of_some_skill_search_anew_for_each_move(file, tmp_path):
    out = tmp_path / "skilled"
    skilled = (*PLAYED, "--skill", "novice,expert")
    refused = typed(tmp_path, "playtest", "hard", "--game", file, *skilled, "--out", out)
    assert refused.code == 2 and "iterations with novice (5) and expert (40)" in refused.err and not out.exists()
    own = [word for word in skilled if word not in ("--iterations", 40)]
    ran = typed(tmp_path, "playtest", "hard", "--game", file, *own, "--out", out)
    assert ran.code == 0 and none_left(tmp_path), ran.err
    rows = [json.loads(line) for line in (out / "traces.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {r["skill"] for r in rows} == {"novice", "expert"} and all(r["steps"] == len(r["actions"]) for r in rows)


def test_an_agent_plays_from_move_to_move(file, tmp_path):
    agent = tmp_path / "mover.toml"
    agent.write_text('[mover]\nkind = "search"\niterations = 30\n', encoding="utf-8")
    words = ("playtest", "hard", "--game", file, "--trials", 2, "--policy", "ucb1", "--seed", 3, "--no-pictures")
    ran = typed(tmp_path, *words, "--agent", f"{agent}#mover", "--out", tmp_path / "moved")
    assert ran.code == 0 and none_left(tmp_path), ran.err
    rows = [json.loads(line) for line in (tmp_path / "moved" / "traces.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(30 * r["steps"] == r["iterations"] for r in rows if r["policy"] == "ucb1")


def test_playtests_can_be_repeated_and_resumed(file, tmp_path, capsys):
    one = run(capsys, "playtest", "hard", "--game", file, *PLAYED, "--out", tmp_path / "one")
    assert one.code == 0, one.err
    assert "climber" in one.out and none_left(tmp_path)
    run(capsys, "playtest", "hard", "--game", file, *PLAYED, "--jobs", 2, "--out", tmp_path / "two")
    journal = next(f for f in (tmp_path / "one").iterdir() if f.suffix == ".jsonl")
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    other = (tmp_path / "two" / journal.name).read_text(encoding="utf-8").splitlines(keepends=True)
    assert plain(lines) == plain(other) and len(lines) >= 10
    (tmp_path / "two" / journal.name).write_text("".join(other[:4]), encoding="utf-8")
    again = run(capsys, "playtest", "--resume", tmp_path / "two", "--no-pictures")
    assert again.code == 0, again.err
    assert plain((tmp_path / "two" / journal.name).read_text(encoding="utf-8").splitlines()) == plain(lines)


def plain(lines):
    """Return rows of JSON lines without what depends on the machine."""
    return [{k: v for k, v in json.loads(line).items() if k not in ("seconds", "hash", "crc")} for line in lines]


EVOLVED = ("--population", 8, "--islands", 2, "--iterations", 30, "--seed", 5, "--set", "final_trials=1")


@pytest.mark.usefixtures("unsimplified")
def test_evolution_can_be_resumed_and_its_policy_played(file, tmp_path, capsys):
    whole = run(
        capsys,
        "evolve",
        "--game",
        file,
        "--persona",
        "climber",
        "--levels",
        "train",
        "--generations",
        3,
        *EVOLVED,
        "--out",
        tmp_path / "whole",
    )
    assert whole.code == 0, whole.err
    part = run(
        capsys,
        "evolve",
        "--game",
        file,
        "--persona",
        "climber",
        "--levels",
        "train",
        "--generations",
        1,
        *EVOLVED,
        "--out",
        tmp_path / "part",
    )
    assert part.code == 0, part.err
    (folder,), (other,) = ((tmp_path / n).iterdir() for n in ("part", "whole"))
    resumed = run(capsys, "evolve", "--resume", folder, "--generations", 3)
    assert resumed.code == 0, resumed.err
    a, b = (json.loads((runs.policy_of(f)).read_text(encoding="utf-8")) for f in (folder, other))
    assert (a["formula"], a["fitness"]) == (b["formula"], b["fitness"])
    played = run(
        capsys,
        "playtest",
        "short@9",
        "--game",
        file,
        "--policy",
        other,
        "--trials",
        1,
        "--iterations",
        40,
        "--no-pictures",
        "--seed",
        1,
        "--out",
        tmp_path / "played",
    )
    assert played.code == 0 and "climber" in played.out, played.err


def test_other_slots_are_another_game(file, tmp_path, capsys):
    run(capsys, "playtest", "short@1", "--game", file, *PLAYED, "--out", tmp_path / "one")
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("workers = 2", "workers = 3"), encoding="utf-8")
    assert run(capsys, "playtest", "--resume", tmp_path / "one", "--trust").code == 0
    file.write_text(text.replace("workers = 2", "workers = 2\nslots = 4"), encoding="utf-8")
    again = run(capsys, "playtest", "--resume", tmp_path / "one")
    assert again.code == 2 and "the rules of the game have changed" in again.err
    registry.get(str(file)).outside.close()


def test_doctor(file, tmp_path, capsys):
    fit = run(capsys, "doctor", "--game", file, "--level", "long@2", "--rollouts", 50)
    assert fit.code == 0 and "rollouts/s with 2 workers" in fit.out and "fine" in fit.out
    wrong = ("noise", "metric TURN at the end was"), ("chance", "at decision 2"), ("raise", "no such room")
    for fault, said in wrong:
        bad = run(capsys, "doctor", "--game", faulty(tmp_path / fault, fault), "--rollouts", 50)
        assert bad.code == 1 and said in bad.out, bad.out + bad.err
    once = run(capsys, "doctor", "--game", faulty(tmp_path / "once", "once"), "--rollouts", 50)
    assert once.code == 0 and "1 process ended or hung" in once.out and "SIGKILL" in once.out, once.out + once.err
    kept = (tmp_path / "once" / "logs" / "findings.jsonl").read_text(encoding="utf-8")
    assert json.loads(kept)["again"] is False and "crash (once; the repetition succeeded)" in once.out
    set_ = run(capsys, "doctor", "--game", file, "--level", "train", "--rollouts", 5)
    assert set_.code == 0 and "short@1: " in set_.out and "train stands for 2 levels" in set_.out
    odd = run(capsys, "doctor", "--game", file, "--level", "long:odd", "--rollouts", 5)
    assert odd.code == 0 and "no map long in [maps]" in odd.out and "no [variants.odd]" in odd.out
    for line in ("won = '((('", "won = 'NOPE > 1'"):
        bad = run(capsys, "doctor", "--game", describe(tmp_path / "bad", tables=f"[outcome]\n{line}"))
        assert bad.code == 2 and "ladder.toml:5" in bad.err, bad.out
    ended = run(capsys, "doctor", "--game", faulty(tmp_path / "exit", "exit"))
    assert ended.code == 2 and "the licence has run out" in ended.err


def test_search_is_kept_and_replayed(file, tmp_path, capsys):
    found = run(
        capsys,
        "connect",
        "search",
        file,
        "--level",
        "default@3",
        "--persona",
        "climber",
        "--policy",
        "ucb1:2",
        "--seed",
        1,
        "--out",
        tmp_path / "kept",
        "--iterations",
        150,
    )
    assert found.code == 0, found.err
    assert len((tmp_path / "kept" / "samples.csv").read_text(encoding="utf-8").splitlines()) == 151
    assert run(capsys, "connect", "replay", file, tmp_path / "kept" / "best.json").code == 0
    slowly = run(capsys, "connect", "replay", file, tmp_path / "kept" / "best.json", "--delay", "0.02")
    assert slowly.code == 0 and "6 decisions" in slowly.out, slowly.err
    trace = json.loads((tmp_path / "kept" / "best.json").read_text(encoding="utf-8"))
    trace["score"] += 1
    trace.pop("crc")
    (tmp_path / "other.json").write_text(json.dumps(trace), encoding="utf-8")
    other = run(capsys, "connect", "replay", file, tmp_path / "other.json")
    assert other.code == 2 and "reached another end" in other.err
    for text, place in (
        ("[" * 100_000, ""),
        ('{"format": 1', ":1:13"),
        (json.dumps({**trace, "score": "x"}), ":1:"),
        (json.dumps({**trace, "choices": [9], "counts": [2]}, indent=1), ":13:13"),
        ("{}", ":1:1"),
        (json.dumps({**trace, "choices": "0"}), ":1:"),
    ):
        (tmp_path / "damaged.json").write_text(text, encoding="utf-8")
        damaged = run(capsys, "connect", "replay", file, tmp_path / "damaged.json")
        assert damaged.code == 2 and f"damaged.json{place}" in damaged.err and "Error:" not in damaged.err, damaged.err
    trace["counts"][2] += 1
    trace["choices"][2] = trace["counts"][2] - 1
    (tmp_path / "wrong.json").write_text(json.dumps(trace), encoding="utf-8")
    for more in ((), ("--delay", "0")):
        wrong = run(capsys, "connect", "replay", file, tmp_path / "wrong.json", *more)
        assert wrong.code == 2 and ("not deterministic" in wrong.err or "the same decisions" in wrong.err), wrong.err


def test_a_search_whose_best_playthrough_ends_otherwise_says_so(tmp_path, capsys):
    out = tmp_path / "out"
    found = run(capsys, "connect", "search", faulty(tmp_path, "score"), "--iterations", 20, "--seed", 1, "--out", out)
    assert (
        found.code == 1
        and "led to a different end: the score was" in found.out
        and "chance in the default map" in found.err
    )
    assert (out / "best.json").is_file() and none_left(tmp_path)


def test_a_search_that_gives_up_keeps_what_it_found(tmp_path, capsys, monkeypatch):
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    file, out = faulty(tmp_path, "rots", "workers = 1\nslots = 1", "[restarts]\na_minute = 1\n"), tmp_path / "out"
    file.write_text(file.read_text(encoding="utf-8").replace('logs = "logs"', ""), encoding="utf-8")
    gone = run(capsys, "connect", "search", file, "--iterations", 500, "--seed", 1, "--out", out)
    assert gone.code == 2 and "the game fails too often" in gone.err and "[restarts]" in gone.err, gone.err
    assert (
        f"is in {out}: rollouts.jsonl, samples.csv, best.json, tree.npz, logs" in gone.err
        and "stopped by an error" in gone.out
    )
    best = json.loads((out / "best.json").read_text(encoding="utf-8"))
    rows = (out / "samples.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert best["score"] == max(float(row.split(",")[1]) for row in rows) and len(rows) >= 5
    assert PrefixTree.load(out / "tree.npz").nodes > 5
    assert {f.name for f in (out / "logs").iterdir()} == {"findings.jsonl", "worker-0.log"}


def test_a_comparison_says_which_variants_nobody_has_declared(file, capsys):
    ran = run(
        capsys,
        "compare",
        "short@4",
        "short:lose@4",
        "--game",
        file,
        "--trials",
        1,
        "--iterations",
        10,
        "--policy",
        "ucb1",
        "--seed",
        1,
    )
    assert ran.code == 0 and "no [variants.lose]" in ran.err and ran.err.count("note:") == 1


def test_ranges_of_seeds_are_compared_in_pairs(file, tmp_path, capsys):
    few = ("--trials", 1, "--iterations", 20, "--policy", "ucb1", "--seed", 1, "--out", tmp_path / "out")
    ran = run(capsys, "compare", "short@11-17", "default:loose@11-17", "--game", file, *few)
    assert ran.code == 0, ran.err
    assert "7 pairs of levels, paired by seed: short@11 with default:loose@11" in ran.err
    with (tmp_path / "out" / "comparison.csv").open(newline="", encoding="utf-8") as stream:
        rows = {row["measure"]: row for row in csv.DictReader(stream)}
    assert {row["test"] for row in rows.values()} == {"Wilcoxon"} and rows["HEIGHT"]["a_n"] == "7"
    assert "Each pair of levels counts once" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_an_experiment_has_ranges_of_seeds(file, tmp_path, capsys):
    text = f'game = "{file.name}"\nlevel = "short@4-6"\nreplicates = 2\nrollouts = 15\nworkers = 2\nscore = "HEIGHT"\n'
    (tmp_path / "seeds.toml").write_text(text + "[variants.loose]\n[players.one]\n[players.two]\nuct_constant = 1\n")
    with file.open("a", encoding="utf-8") as stream:
        stream.write("[variants.loose]\n")
    ran = run(capsys, "experiment", tmp_path / "seeds.toml", "--out", tmp_path / "out")
    assert ran.code == 0, ran.err
    assert "cannot be compared: 3 pairs of levels are too few" in ran.out and "x 3 levels" in ran.err
    assert "nothing will be comparable: 3 pairs of levels are too few" in ran.err
    assert "no significant difference" not in ran.out
    with (tmp_path / "out" / "results.jsonl").open(encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    levels = [f"short:loose@{n}" for n in (4, 4, 5, 5, 6, 6)]
    assert [(row["cell"], row["level"]) for row in rows] == [
        (f"loose / {player}", level) for player in ("one", "two") for level in levels
    ]


def test_compiled_and_plain_code_search_alike(file, tmp_path, capsys):
    kept = []
    for name in ("compiled", "plain"):
        for policy in ("ucb1", "formula:R + sqrt(log(P) / N) + 0.1 * HEIGHT + RSD"):
            out, search = tmp_path / name / policy[:4], ("connect", "search", file, "--level", "long@3")
            words = (*search, "--policy", policy, "--seed", 4, "--iterations", 60, "--out", out)
            plain = name == "plain"
            done = typed(tmp_path, *words, PERSONA_EVO_INTERPRET="1") if plain else run(capsys, *words)
            assert done.code == 0, done.err
            kept.append([(out / f).read_bytes() for f in ("best.json", "samples.csv")])
    assert kept[:2] == kept[2:] and kept[0] != kept[1]


def test_a_description_that_has_moved_is_named_anew(file, tmp_path, capsys):
    run(capsys, "playtest", "short@1", "--game", file, *PLAYED, "--out", tmp_path / "one")
    file.rename(tmp_path / "tower.toml")
    lost = run(capsys, "playtest", "--resume", tmp_path / "one")
    assert lost.code == 2 and "no longer where it was" in lost.err and "FILE.toml" in lost.err
    (tmp_path / "tower.toml").write_text(
        'name = "ladder"\n' + (tmp_path / "tower.toml").read_text(encoding="utf-8"), encoding="utf-8"
    )
    found = run(capsys, "playtest", "--resume", tmp_path / "one", "--game", tmp_path / "tower.toml", "--no-pictures")
    assert found.code == 0, found.err


def test_a_new_description_is_one(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "connect", "new", "tower").code == 0
    assert run(capsys, "connect", "new", "tower").code == 2
    missing = run(capsys, "doctor", "--game", "tower.toml")
    assert missing.code == 2 and "there is no such game" in missing.err
    (tmp_path / "bridge.exe").touch()
    assert run(capsys, "connect", "new", "bridge").code == 0
    assert read(tmp_path / "bridge.toml").game == tmp_path / "bridge.exe", "the program that is there"


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_game_is_left_when_the_driver_is_stopped(tmp_path, how):
    file = faulty(tmp_path, "slow", "workers = 3", "")
    words = command(
        "connect",
        "search",
        file,
        "--iterations",
        1_000_000,
        "--policy",
        "ucb1",
        "--terminal",
        "revisit",
        "--out",
        tmp_path / "out",
        "--seed",
        1,
    )
    driver = subprocess.Popen(
        words, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c
    )
    end = time.monotonic() + 60
    while time.monotonic() < end and len([line for line in games(tmp_path) if "faulty.py" in line]) < 3:
        time.sleep(0.05)
    time.sleep(0.5)
    assert len([line for line in games(tmp_path) if "faulty.py" in line]) == 3
    for _ in range(1 if how == signal.SIGKILL else 4):
        driver.send_signal(how)
        time.sleep(0.05)
    _, err = driver.communicate(timeout=20)
    assert driver.returncode == (130 if how == signal.SIGINT else -how)
    assert "Traceback" not in err
    assert none_left(tmp_path)


BY_FACTORY = """
import subprocess, sys
from pathlib import Path
from persona_evo.connect.process_start import Start, Timeouts
from persona_evo.connect.worker import Worker

def factory(address, port, nonce):
    return subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(1000)", sys.argv[1]])

worker = Worker(Start(Path("late"), Path(sys.argv[1]), factory=factory, timeouts=Timeouts(None, None, None)), 0)
worker.launch()
worker.connect()
"""
"""A driver that waits for a game which a factory has started, in the driver's own process group."""


STARTED = {"nowhere": "faulty.py", "mute": "faulty.py", "child": "signal.signal", "made": "sleep(1000)"}
"""By the name of a folder, what the command line of the process has that must not outlive the driver."""


@pytest.mark.skipif(os.name == "nt", reason="process groups of POSIX")
def test_games_that_hang_do_not_outlive_a_driver_that_is_killed(tmp_path):
    drivers = {}
    for fault in ("nowhere", "mute", "child"):
        file = faulty(tmp_path / fault, fault, tables="[timeouts]\nconnect = 0\nrollout = 0\n")
        drivers[fault] = subprocess.Popen(
            command("doctor", "--game", file, "--rollouts", 1_000_000),
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    drivers["made"] = subprocess.Popen([sys.executable, "-c", BY_FACTORY, tmp_path / "made"], env=environment())
    end = time.monotonic() + 240
    while drivers and time.monotonic() < end:
        others = [line for line in games(tmp_path) if int(line.split()[0]) not in {one.pid for one in drivers.values()}]
        for name in list(drivers):
            if any(str(tmp_path / name) in line and STARTED[name] in line for line in others):
                time.sleep(0.5)  # what a factory starts is known to the driver a moment later
                drivers[name].kill()
                drivers.pop(name).wait(10)
        time.sleep(0.1)
    assert not drivers, "every game has started"
    assert none_left(tmp_path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("workers = 0", "workers is out of range"),
        ("game = 5", "game is not text"),
        ('colour = "red"', "unknown key"),
        ('rollout = "clever"', "no such rollout"),
        ("[timeouts]\nrollout = -1", "out of range"),
        ("[maps]\na = []", "empty"),
        ("[settings]\nmap = 'x'", "set by the level"),
        ("[settings]\nday = 2020-01-01", "JSON"),
        ("name = 'a b'", "a name"),
        ("[outcome]\nwon = 'HEIHT'", "HEIGHT"),
        ("[[metrics]]\nsymbol = 'X'", "reports no such metric"),
        ("[maps]\na = ['default@5-1']", "out of range"),
        ("[maps]\na = ['default@-1']", "not a level"),
        ("[maps]\na = ['default@1-1000000000000']", "out of range"),
        ("[variants.b]\n[maps]\na = [':c']", "variant"),
        ("[maps]\na = ['default@" + "9" * 5000 + "']", "out of range"),
        ("[metrics.NOPE]\n", "not a list of tables"),
        ("port = 65535\nworkers = 2", "port is out of range"),
        ("personas = ['none.toml']", "no such persona file"),
        ("[variants]\na = 1", "not a variant"),
        ("x = [", "not TOML"),
    ],
)
def test_a_wrong_description_is_told_with_its_line(tmp_path, line, said):
    file = describe(tmp_path, tables=line)
    if line.startswith("game"):
        file.write_text(line, encoding="utf-8")
    with pytest.raises((ConnectError, FormulaError)) as caught:
        load_game(file)
    assert said in str(caught.value)
    assert f"{file.name}:" in str(caught.value)
    assert none_left(tmp_path)


def test_variants_and_settings_reach_the_game(tmp_path):
    top, tables = "", "[settings]\ng = 1\n[variants.hard]\ng = 2\n[variants.easy]\n"
    file = describe(tmp_path, top=top, tables=tables)
    script = tmp_path / "ladder.py"
    script.write_text(
        script.read_text(encoding="utf-8")
        .replace(
            "client.supply_outcome(height",
            'client.supply_outcome(100 * client.settings["g"] + 10 * len(client.variant) + 0 * (height',
        )
        .replace("10 * fell)", "10 * fell))"),
        encoding="utf-8",
    )
    found, running = game(file)
    try:
        scores = {}
        for name in ("default", ":hard", "short:easy", ":hard@1"):
            (level,) = mapsets.resolve(found, [name])
            scores[name] = running.play(level.tables[0], b"").score
        assert scores == {"default": 100, ":hard": 240, "short:easy": 140, ":hard@1": 240}
        assert len(running._pools) == 1
        with pytest.raises(SettingsError, match="no such variant"):
            mapsets.resolve(found, [":hrad"])
    finally:
        running.close()


def test_a_game_that_cannot_change_maps_is_started_for_each(tmp_path):
    file = describe(tmp_path)
    script = tmp_path / "ladder.py"
    script.write_text(script.read_text(encoding="utf-8").replace(', "maps"', ""), encoding="utf-8")
    found, running = game(file)
    try:
        for name, turns in (("short", 3), ("default", 6), ("long", 40), ("short@2", 3), (":loose", 6), ("default", 6)):
            (level,) = mapsets.resolve(found, [name])
            assert running.play(level.tables[0], b"").decisions <= turns
        assert len(games(tmp_path)) == len(running._pools) == 3
    finally:
        running.close()
    assert none_left(tmp_path)


def test_a_search_in_which_the_game_failed_is_kept_and_says_so(tmp_path, capsys):
    out = tmp_path / "out"
    found = run(capsys, "connect", "search", faulty(tmp_path, "raise"), "--iterations", 60, "--seed", 1, "--out", out)
    assert found.code == 1 and (out / "best.json").is_file()
    assert "FAULT: the game failed in " in found.out and found.err.count("no such room") == 1, found.out + found.err
    once = run(capsys, "connect", "search", faulty(tmp_path / "once", "once"), "--iterations", 40, "--seed", 1)
    assert once.code == 0 and "the repetition succeeded" in once.err, once.out + once.err
    with pytest.raises(SystemExit):
        run(capsys, "connect", "search", "--help")
    assert "exit code is 1 if the game failed" in " ".join(capsys.readouterr().out.split())


def test_the_doctor_tells_each_failure_once(tmp_path, capsys):
    bad = run(capsys, "doctor", "--game", faulty(tmp_path, "raise"), "--rollouts", 300)
    assert bad.code == 1 and bad.out.count("no such room") == 1, bad.out
    assert "FAULT: the game failed in " in bad.out and bad.out.count("FAULT") == 1
    kept = re.search(r"\(kept in (.*findings.jsonl)\)", bad.out)
    assert kept is not None and f"connect shrink {tmp_path / 'faulty.toml'} {kept[1]} finds" in " ".join(
        bad.out.split()
    )


def test_a_hanging_game_is_told_to_whoever_waits(tmp_path, capsys):
    file = faulty(tmp_path, "hang", "workers = 1\nslots = 1", "[timeouts]\nrollout = 0.5\n[restarts]\na_minute = 1\n")
    found = run(capsys, "connect", "search", file, "--iterations", 200, "--seed", 1)
    assert found.code == 2 and found.err.count("starting the game again") == 1, found.err


@pytest.mark.parametrize(
    "command",
    [
        ("connect", "search"),
        ("doctor", "--game"),
        ("experiment",),
        ("playtest", "default", "--game"),
        ("persona", "list", "--game"),
    ],
)
def test_what_is_not_there_is_told_before_anything_is_compiled(tmp_path, capsys, monkeypatch, command):
    file = describe(tmp_path)
    (tmp_path / "ladder.py").unlink()
    if command == ("experiment",):
        (tmp_path / "e.toml").write_text('game = "ladder.toml"\n', encoding="utf-8")
        file = tmp_path / "e.toml"
        monkeypatch.setattr("persona_evo.experiments.job.conduct", _never)
    monkeypatch.setattr("persona_evo.games.registry.get", _never)
    missing = run(capsys, *command, file)
    assert missing.code == 2 and "there is no such game" in missing.err, missing.err


def _never(*_, **__):
    raise AssertionError("it is too late for this")


def test_the_tree_of_a_search_is_no_way_to_play(file, tmp_path, capsys):
    (tmp_path / "tree.npz").write_bytes(b"PK")
    for what in (tmp_path / "tree.npz", tmp_path):
        alone = run(capsys, "connect", "replay", file, what)
        assert alone.code == 2 and "best.json" in alone.err and "search again with --out" in alone.err, alone.err
    (tmp_path / "best.json").write_text("{}", encoding="utf-8")
    beside = run(capsys, "connect", "replay", file, tmp_path / "tree.npz")
    assert beside.code == 2 and f"name {tmp_path / 'best.json'}" in beside.err


def test_half_ranges_are_words():
    from persona_evo.personas.template import range_of

    assert [range_of(*b) for b in ((None, None), (0, None), (None, 5), (0, 5))] == ["", "from 0", "up to 5", "0 to 5"]


def test_a_comparison_names_no_file_where_there_is_none(file, capsys):
    ran = run(
        capsys,
        "compare",
        "short@4",
        "short@5",
        "--game",
        file,
        "--trials",
        1,
        "--iterations",
        10,
        "--policy",
        "ucb1",
        "--seed",
        1,
    )
    assert ran.code == 0 and "A = short@4" in ran.err and "B = short@5" in ran.err, ran.err


def test_all_that_a_new_description_shows_is_a_setting(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "connect", "new", "tower").code == 0
    text = (tmp_path / "tower.toml").read_text(encoding="utf-8")
    table = re.sub(r"(?m)^# (\[(?:timeouts|restarts)\]|connect|handshake|rollout = 30|a_minute|in_all)", r"\1", text)
    assert table.count("\n[timeouts]") == table.count("\n[restarts]") == 1
    (tmp_path / "tower.toml").write_text(table, encoding="utf-8")
    about = read(tmp_path / "tower.toml")
    assert (about.timeouts, about.restarts) == (Timeouts(), Restarts()), "shown are the defaults"


def test_win_rates_are_left_out_where_no_end_counts_as_won(tmp_path, capsys):
    for name, outcome in (("told", '[outcome]\nwon = "SCORE > 3"\n'), ("untold", "")):
        file = describe(tmp_path / name, tables=outcome)
        out = tmp_path / name / "out"
        ran = run(
            capsys,
            "playtest",
            "short@1",
            "short@2",
            "--game",
            file,
            "--personas",
            "score",
            "--policy",
            "ucb1",
            "--baseline",
            "ucb1",
            "--trials",
            2,
            "--iterations",
            10,
            "--seed",
            1,
            "--out",
            out,
        )
        assert ran.code == 0, ran.err
        page = (out / "index.html").read_text(encoding="utf-8")
        assert ("Win rate with" in page) == ("win rate  " in ran.out)
        assert ("Win rate with" in page) == (name == "told")
        assert ("notice: all levels: No end of the game counts as won" in ran.out) == (name == "untold")
        registry.get(str(file)).outside.close()


def test_the_hint_for_a_policy_of_a_connected_game_can_be_followed(tmp_path, capsys):
    file = describe(tmp_path)
    policy = tmp_path / "p.json"
    policies.write(policies.Policy("p", "ladder", utility="HEIGHT", formula="R + HEIGHT"), policy)
    refused = run(capsys, "policy", "export", policy, "--to", "python")
    assert refused.code == 2 and "hint: add --game FILE.toml (or FILE.py:GAME), the file" in refused.err, refused.err
    assert "HEIGHT" in run(capsys, "policy", "export", policy, "--to", "python", "--game", file).out
