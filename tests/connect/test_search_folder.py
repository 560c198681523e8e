"""Tests the folder of `connect search`: nothing is lost or overwritten, whatever stops the search."""

import json
import signal
import subprocess
import time

import pytest

from tests.cli.tool import command, environment, run
from tests.connect.driving import describe, faulty, none_left

SEARCH = ("--level", "long@3", "--iterations")
FILES = ("best.json", "samples.csv", "tree.npz")


def contents(folder):
    """Return the bytes of a folder's files."""
    return [(folder / name).read_bytes() for name in FILES]


def test_a_search_that_is_resumed_comes_to_what_it_would_have_come_to(tmp_path, capsys):
    file = describe(tmp_path)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert run(capsys, "connect", "search", file, *SEARCH, 120, "--seed", 5, "--out", whole).code == 0
    first = run(capsys, "connect", "search", file, *SEARCH, 50, "--seed", 5, "--out", parts)
    assert first.code == 0 and "resumed" not in first.err
    again = run(capsys, "connect", "search", file, *SEARCH, 120, "--out", parts)
    assert again.code == 0 and "seed 5" in again.err and "resumed: 50 rollouts" in again.err, again.err
    assert contents(parts) == contents(whole)
    assert (parts / "rollouts.jsonl").read_bytes() == (whole / "rollouts.jsonl").read_bytes()
    done = run(capsys, "connect", "search", file, *SEARCH, 120, "--out", parts)
    assert done.code == 0 and "resumed: 120 rollouts" in done.err and contents(parts) == contents(whole)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP])
def test_what_was_found_is_kept_when_the_search_is_killed(tmp_path, capsys, how):
    file = faulty(tmp_path, "slow", "workers = 1", "")
    out, rest = tmp_path / "out", ("--terminal", "revisit", "--seed", 4)
    words = command("connect", "search", file, "--iterations", 1_000_000, *rest, "--out", out)
    driver = subprocess.Popen(words, env=environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 300
        while not (out / "best.json").exists() and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.1)
    finally:
        driver.send_signal(how)
        driver.wait()
    assert none_left(tmp_path)
    kept = len((out / "rollouts.jsonl").read_text().splitlines())
    assert kept and json.loads((out / "best.json").read_text())["level"] == "default"
    with (out / "rollouts.jsonl").open("a") as torn:
        torn.write('{"seed": 12')
    more = 200 * kept  # visits of states that are known count, too, but are no rollouts
    resumed = run(capsys, "connect", "search", file, "--iterations", more, *rest, "--out", out)
    assert resumed.code == 0 and f"resumed: {kept} rollout" in resumed.err, resumed.err
    whole = tmp_path / "whole"
    assert run(capsys, "connect", "search", file, "--iterations", more, *rest, "--out", whole).code == 0
    assert contents(out) == contents(whole)


def test_another_search_and_a_second_process_are_refused(tmp_path, capsys):
    file, out = describe(tmp_path), tmp_path / "out"
    assert run(capsys, "connect", "search", file, *SEARCH, 20, "--seed", 5, "--out", out).code == 0
    before = contents(out)
    for other in (("--seed", 6), ("--policy", "ucb1:2"), ("--level", "long@4"), ("--terminal", "revisit")):
        words = [*SEARCH, 20, "--out", out, *other]
        refused = run(capsys, "connect", "search", file, *words)
        assert refused.code == 2 and "the folder holds another search" in refused.err, refused.err
    script = (
        "import sys, time; from pathlib import Path; from persona_evo.jobs.lock import Lock; "
        "Lock(Path(sys.argv[1])).acquire(); print('held', flush=True); time.sleep(100)"
    )
    words = [*command()[:1], "-c", script, str(out)]
    holder = subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        busy = run(capsys, "connect", "search", file, *SEARCH, 30, "--out", out)
        assert busy.code == 2 and "in use" in busy.err, busy.err
    finally:
        holder.kill()
        holder.wait()
    assert contents(out) == before
    (out / "search.json").unlink()
    (out / "rollouts.jsonl").unlink()
    old = run(capsys, "connect", "search", file, *SEARCH, 30, "--out", out)
    assert old.code == 2 and "samples.csv without search.json" in old.err and contents(out) == before


@pytest.mark.parametrize("damage", ["digit", "missing"])
def test_a_damaged_journal_is_told(tmp_path, capsys, damage):
    file, out = describe(tmp_path), tmp_path / "out"
    assert run(capsys, "connect", "search", file, *SEARCH, 20, "--seed", 5, "--out", out).code == 0
    lines = (out / "rollouts.jsonl").read_text().splitlines(keepends=True)
    if damage == "digit":
        lines[7] = lines[7].replace('"score":', '"score":1')
    else:
        del lines[7]
    (out / "rollouts.jsonl").write_text("".join(lines))
    told = run(capsys, "connect", "search", file, *SEARCH, 30, "--out", out)
    assert told.code == 2 and "rollouts.jsonl:8" in told.err, told.err


def test_rollouts_that_failed_are_not_played_again(tmp_path, capsys):
    file, out = faulty(tmp_path, "raise"), tmp_path / "out"
    first = run(capsys, "connect", "search", file, "--iterations", 40, "--seed", 1, "--out", out)
    assert first.code == 1 and "FAULT" in first.out, first.out + first.err
    again = run(capsys, "connect", "search", file, "--iterations", 40, "--out", out)
    assert again.code == 1 and "resumed: " in again.err
    assert [line for line in first.out.splitlines() if "FAULT" in line] == [
        line for line in again.out.splitlines() if "FAULT" in line
    ]


def test_a_search_refuses_a_name_of_several_levels(tmp_path, capsys):
    file = describe(tmp_path, tables='[maps]\nboth = ["long@1", "long@2"]')
    for part in ("search", "attach"):
        for name in ("long@1-3", "both"):
            told = run(capsys, "connect", part, file, "--level", name, "--iterations", 5)
            assert told.code == 2 and "this names several levels" in told.err and "waiting" not in told.out, told.err


@pytest.mark.parametrize("rollout", ["uniform", "weights"])
def test_a_search_with_widening_is_resumed(tmp_path, capsys, rollout):
    file = describe(tmp_path, top=f'widening = 2\nrollout = "{rollout}"')
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for out, rollouts in ((whole, 60), (parts, 25), (parts, 60)):
        assert run(capsys, "connect", "search", file, *SEARCH, rollouts, "--seed", 5, "--out", out).code == 0
    assert contents(parts) == contents(whole)
    assert (b'"weights"' in (whole / "rollouts.jsonl").read_bytes()) == (rollout == "weights")
