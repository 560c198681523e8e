"""Tests that no process, folder or memory is left behind or exceeded, whatever a game or a program does."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from persona_evo.connect import guard, watchdog
from persona_evo.connect import protocol as p
from persona_evo.connect.findings import Lost
from persona_evo.connect.guard import CappedLog, guarded, log_end, segments_of
from persona_evo.connect.level_names import LevelName
from persona_evo.errors import ConnectError
from tests.cli.tool import environment, run
from tests.connect.driving import describe, faulty, game, left, none_left, session

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the guard ends other sessions on Linux alone")
LEVEL = LevelName()


def wait_until(true, seconds=20.0):
    """Wait until a condition holds, at most some seconds."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    assert true()


@pytest.mark.parametrize(
    ("fault", "said"),
    [("pings", "PINGs"), ("strangers", "with ids that no ROLLOUT had, the last one 12345"), ("trickle", "PINGs")],
)
def test_a_game_that_sends_everything_but_its_result_is_timed_out(tmp_path, fault, said):
    running = session(faulty(tmp_path, fault, "", "[timeouts]\nrollout = 0.5\n[restarts]\na_minute = 1\n"))
    began = time.monotonic()
    try:
        with pytest.raises(ConnectError) as caught:
            running.play(LEVEL, b"")
        assert "no result within 0.5 s" in str(caught.value) and said in str(caught.value), caught.value
        assert time.monotonic() - began < 40
    finally:
        running.close()
    assert none_left(tmp_path)


def test_a_stopped_game_is_timed_out_and_ended(tmp_path):
    running = session(faulty(tmp_path, "stop", "", "[timeouts]\nrollout = 0.5\n[restarts]\na_minute = 1\n"))
    try:
        with pytest.raises(ConnectError, match=r"no result within 0\.5 s"):
            running.play(LEVEL, b"")
    finally:
        running.close()
    assert none_left(tmp_path)


@LINUX
def test_a_child_with_a_session_of_its_own_ends_with_its_game(tmp_path):
    running = session(faulty(tmp_path, "daemon"))
    running.play(LEVEL, b"")
    wait_until(lambda: len(left(tmp_path)) >= 3)
    running.close()
    assert none_left(tmp_path)
    log = (tmp_path / "logs" / "worker-0.log").read_text()
    assert "ended with it: 1 process that it had started" in log


@LINUX
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_driver_that_is_killed(tmp_path, how):
    """Processes with sessions of their own and stopped processes end, and the temporary log folder is removed."""
    file = faulty(tmp_path, "daemon_stop")
    file.write_text(file.read_text().replace('logs = "logs"\n', ""))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    words = [sys.executable, "-m", "persona_evo", "connect", "search", str(file), "--iterations", "100"]
    env = {**environment(), "TMPDIR": str(scratch)}
    driver = subprocess.Popen(words, env=env, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: sum("time.sleep(1000)" in line for line in left(tmp_path)) == 1, 60)
        assert list(scratch.glob("persona-evo-faulty-*"))
        driver.send_signal(how)
    finally:
        driver.wait()
    assert none_left(tmp_path)
    if how == signal.SIGKILL:
        wait_until(lambda: not list(scratch.glob("persona-evo-faulty-*")))


@LINUX
def test_memory_is_limited_for_all_processes_of_a_game_together(tmp_path):
    file = faulty(tmp_path, "forks", "", "[limits]\nmemory = 150\n[restarts]\na_minute = 1\n")
    running = session(file)
    try:
        with pytest.raises(ConnectError) as caught:
            running.play(LEVEL, b"")
        assert "more memory than the 150 MB" in str(caught.value)
    finally:
        running.close()
    assert none_left(tmp_path)
    assert "ended because of its memory" in (tmp_path / "logs" / "worker-0.log").read_text()


def test_processes_are_replaced_after_so_many_rollouts_with_the_same_results(tmp_path):
    def results(folder, tables):
        running = session(describe(folder, tables=tables))
        try:
            pool = running.pool(LEVEL)
            first = pool.pids
            found = [running.play(LEVEL, b"", seed).trace for seed in range(25)]
            return found, pool.pids != first, pool.recycled, pool.restarted
        finally:
            running.close()

    plain, renewed = results(tmp_path / "a", ""), results(tmp_path / "b", "[limits]\nrollouts = 10\n")
    assert plain[0] == renewed[0]
    assert plain[1:] == (False, 0, 0) and renewed[1:] == (True, 2, 0)
    assert none_left(tmp_path)


def placed(folder, top="", tables=""):
    """A description whose game says in its metrics' names where it runs and with what."""
    folder.mkdir(parents=True)
    (folder / "Build").mkdir()
    source = """
import os, sys
from persona_evo.connect.client import Client
with open(sys.argv[1] + "/seen.txt", "w") as file:
    file.write("|".join([os.getcwd(), os.environ["TOWER"], *sys.argv[1:]]))
Client("placed", metrics=["A"]).run(lambda client: client.supply_outcome(client.select(2)))
"""
    (folder / "placed.py").write_text(source)
    file = folder / "placed.toml"
    file.write_text(f'logs = "logs"\n{top}\n{tables}\n')
    return file


def test_folder_arguments_and_variables_of_a_game(tmp_path, monkeypatch):
    """A program in PATH runs in its folder, and {here} is the folder of the description."""
    folder = tmp_path / "my game"
    monkeypatch.setenv("PATH", os.path.dirname(sys.executable), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    name = os.path.basename(sys.executable)
    top = f'game = "{name}"\ncwd = "Build"\narguments = ["{{here}}/placed.py", "{{here}}"]'
    running = session(placed(folder, top, '[environment]\nTOWER = "{here}/tower"'))
    try:
        assert running.play(LEVEL, b"").decisions == 1
    finally:
        running.close()
    seen = (folder / "seen.txt").read_text().split("|")
    assert seen == [str(folder / "Build"), f"{folder}/tower", str(folder)]


@pytest.mark.parametrize(
    ("top", "tables", "said"),
    [
        ('cwd = "none"', "", "there is no such folder"),
        ("", '[environment]\nPE_NONCE = "x"', "not a variable that can be set"),
        ("", "[environment]\nA = 1", "A is not text"),
        ("", "[limits]\nmemory = -1", "memory is out of range"),
        ("", "[limits]\nspeed = 1", r"unknown key in \[limits\]"),
    ],
)
def test_wrong_folders_variables_and_limits_are_refused(tmp_path, top, tables, said):
    with pytest.raises(ConnectError, match=said) as caught:
        session(describe(tmp_path, top=top, tables=tables))
    assert caught.value.place is not None and caught.value.place.line > 0


def test_a_game_is_the_same_in_another_folder(tmp_path):
    """The version of a game does not depend on where its description lies."""
    versions = set()
    for name in ("a", "b"):
        found, running = game(describe(tmp_path / name, top='arguments = ["{here}"]'))
        running.close()
        versions.add(found.version)
    assert len(versions) == 1


@pytest.mark.skipif(os.name == "nt", reason="the guard writes logs where there are process groups")
def test_a_log_keeps_its_beginning_and_its_end(tmp_path):
    text = "import sys\nprint('first line')\nfor i in range(200_000): print('line', i)\nprint('last line')"
    log = tmp_path / "worker.log"
    words = guarded([sys.executable, "-c", text], log=str(log), most=100_000)
    assert subprocess.run(words, check=True).returncode == 0
    kept = log.read_text()
    assert kept.startswith("first line\nline 0\n") and kept.endswith("line 199999\nlast line\n")
    assert len(kept) < 101_000 and "bytes are left out here ---" in kept
    assert not [s for s in segments_of(str(log)) if os.path.exists(s)]
    whole = 11 + 10 + sum(len(f"line {i}\n") for i in range(200_000)) > 2_000_000
    dropped = int(kept.split("--- ")[1].split(" bytes")[0].replace(",", ""))
    assert whole and dropped + 100_000 == 11 + 10 + sum(len(f"line {i}\n") for i in range(200_000))


def test_the_end_of_a_log_can_be_read_while_it_is_written(tmp_path):
    path = str(tmp_path / "x.log")
    log = CappedLog(path, 100)
    for i in range(60):
        log.write(b"%09d\n" % i)
    assert log_end(path, 0, 20) == b"000000058\n000000059\n"
    log.close()
    assert log_end(path, 0, 20) == b"000000058\n000000059\n"
    assert Path(path).read_bytes().startswith(b"000000000\n")


@pytest.mark.skipif(os.name == "nt", reason="guards are for systems with process groups")
def test_a_guard_ends_as_its_command_does():
    def ends(*words):
        return subprocess.run(guarded(words), stderr=subprocess.PIPE)

    assert ends("/bin/sh", "-c", "exit 7").returncode == 7
    assert ends("/bin/sh", "-c", "kill -TERM $$").returncode == -signal.SIGTERM
    missing = ends("/no/such/program")
    assert missing.returncode == guard.START_EXIT and b"cannot be started: No such file" in missing.stderr


@pytest.mark.skipif(os.name == "nt", reason="the watchdog needs process groups")
def test_the_watchdog_forgets_what_has_ended(tmp_path):
    code = (
        "import os, sys, subprocess, time\n"
        "from persona_evo.connect import watchdog\n"
        "a, b = (subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(100)', sys.argv[1]],"
        " start_new_session=True, stdout=subprocess.DEVNULL) for _ in range(2))\n"
        "watchdog.add(a.pid); watchdog.add(b.pid); watchdog.remove(a.pid)\n"
        "watchdog.add_folder(sys.argv[1] + '/gone'); watchdog.add_folder(sys.argv[1] + '/kept')\n"
        "watchdog.remove_folder(sys.argv[1] + '/kept')\n"
        "print(a.pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    for name in ("gone", "kept"):
        (tmp_path / name).mkdir()
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment(), stdout=subprocess.PIPE)
    kept = int(done.stdout)
    try:
        wait_until(lambda: len(left(tmp_path)) == 1 and not (tmp_path / "gone").exists())
        assert left(tmp_path)[0].split()[0] == str(kept) and (tmp_path / "kept").exists()
    finally:
        os.kill(kept, signal.SIGKILL)
    assert watchdog.__file__


@pytest.mark.skipif(os.name == "nt", reason="the watchdog needs process groups")
def test_the_watchdog_gives_who_is_told_to_end_some_time(tmp_path):
    slow = (
        "import signal, sys, time\n"
        "def end(*_):\n"
        "    time.sleep(0.5); open(sys.argv[1] + '/ended', 'w').close(); sys.exit()\n"
        "signal.signal(signal.SIGTERM, end); print('ready', flush=True)\n"
        "time.sleep(100)\n"
    )
    code = (
        "import os, sys, subprocess\n"
        "from persona_evo.connect import watchdog\n"
        f"one = subprocess.Popen([sys.executable, '-c', {slow!r}, sys.argv[1]], start_new_session=True,"
        " stdout=subprocess.PIPE)\n"
        "watchdog.add(one.pid); one.stdout.readline(); os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment())
    wait_until((tmp_path / "ended").exists)
    assert none_left(tmp_path)


def test_a_game_that_fails_once_by_an_exception_has_not_failed_each_time(tmp_path):
    running = session(faulty(tmp_path, "raise_once"))
    try:
        pool = running.pool(LEVEL)
        results = [running.play(LEVEL, b"", seed) for seed in range(20)]
        assert len(results) == 20 and pool.failures == 0 and pool.restarted == 0
        (told,) = running.findings()
        assert "exception (once; the repetition succeeded)" in told
    finally:
        running.close()
    steady = session(faulty(tmp_path / "steady", "raise"))
    try:
        pool = steady.pool(LEVEL)
        for seed in range(20):
            pool.submit(p.Rollout(0, 0, seed))
        lost = [r for r in (pool.next() for _ in range(20)) if isinstance(r, Lost)]
        assert lost and pool.failures == len(lost) and all(f.again for f in pool.findings)
    finally:
        steady.close()


def test_a_pattern_of_personas_may_match_nothing_yet_and_a_name_may_not(tmp_path):
    assert session(describe(tmp_path, top='personas = ["personas/*.toml"]')).about.personas == ()
    with pytest.raises(ConnectError, match="persona file"):
        session(describe(tmp_path, top='personas = ["personas/bold.toml"]'))


def test_a_search_starts_all_processes_at_once(tmp_path, capsys):
    file, source = describe(tmp_path, top="workers = 2"), tmp_path / "ladder.py"
    meeting = (
        "def main():\n    import os, pathlib, time\n    here = pathlib.Path(__file__).parent\n"
        "    (here / f\"here-{os.environ['PE_WORKER']}\").touch()\n"
        '    while not all((here / f"here-{n}").exists() for n in range(2)):\n        time.sleep(0.01)\n'
    )
    source.write_text(source.read_text().replace("def main():\n", meeting))
    found = run(capsys, "connect", "search", file, "--iterations", 4, "--seed", 1)
    assert found.code == 0, "a process that waits for the other one connects only if both are started"
