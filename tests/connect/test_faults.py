"""Tests all faults of a game: what is reported, and that nothing is left behind."""

import contextlib
import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from persona_evo.connect import hello_frame
from persona_evo.connect import protocol as p
from persona_evo.connect.findings import FailingRollout, group_similar
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.process_start import Start, Timeouts
from persona_evo.connect.shutdown import close_all
from persona_evo.connect.worker import Worker
from persona_evo.errors import ConnectError, GameError, PersonaEvoError, ProtocolError
from tests.cli.tool import run
from tests.connect.driving import describe, faulty, none_left, session

SOUND = LevelName()


def one(file):
    """Play one rollout and return the error that it raises."""
    running = session(file)
    try:
        with pytest.raises(PersonaEvoError) as caught:
            for seed in range(20):
                running.play(SOUND, b"", seed)
    finally:
        running.close()
    return caught.value


STARTS = {
    "exit": (ConnectError, "before it connected", "exit code 3", "the licence has run out"),
    "signal": (ConnectError, "before it connected", "SIGSEGV", "log"),
    "nowhere": (ConnectError, "no game connected within 5 s", "still runs", "log"),
    "silent": (ConnectError, "before it said HELLO", "no HELLO came within 0.5 s", "exit code 4", "log"),
    "noise_first": (ProtocolError, "a frame is too large", "before HELLO", "exit code 4", "log"),
    "red": (ProtocolError, "HELLO's 'metrics'", "faulty.py, worker 0", "on one line", r"\x1b[31m"),
    "nonce": (ConnectError, "wrong nonce", "PE_NONCE", "connections without it are closed"),
    "version": (ConnectError, "protocol 1.0", "protocol 2.0", "update the driver"),
}


@pytest.mark.parametrize("fault", STARTS)
def test_a_game_that_does_not_start(tmp_path, fault):
    kind, *parts = STARTS[fault]
    limits = "[timeouts]\nconnect = 60\nhandshake = 0.5\n" if fault != "nowhere" else "[timeouts]\nconnect = 0.5\n"
    file = faulty(tmp_path, fault, tables=limits)
    began = time.monotonic()
    error = one(file)
    assert isinstance(error, kind)
    if fault == "nowhere":
        parts[0] = "no game connected within 0.5 s"
    for part in parts:
        assert part in str(error)
    assert time.monotonic() - began < 60 and "\x1b" not in str(error)
    assert none_left(tmp_path)


def late(behaviour, limit=20.0):
    """Return a worker whose game is played by the test, which acts with (address, nonce) while the worker waits."""
    told = []

    def factory(address, port, nonce):
        told.append(((address, port), nonce))
        return subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(1000)"], start_new_session=True)

    worker = Worker(Start(Path("late"), Path("logs"), factory=factory, timeouts=Timeouts(limit, 0.3, 1.0)), 0)
    worker.launch()
    other = threading.Thread(target=behaviour, args=told[0])
    other.start()
    try:
        return worker.connect()
    finally:
        close_all([worker])
        other.join()


def strangers(address, nonce=""):
    """Connect a silent stranger, one that sends garbage, one that hangs up, and one with another game's HELLO."""
    hello = hello_frame.encode_hello(p.Hello(p.LIBRARY, ("other", "1"), "f" * 64, (), (), 9))
    return [said(address, text) for text in (b"", b"GET / HTTP/1.1\r\n\r\n", None, hello)]


def said(address, text):
    """Connect to a listener and send it some bytes; None closes the connection at once."""
    connection = socket.create_connection(address)
    if text is None:
        connection.close()
    else:
        connection.sendall(text)
    return connection


def test_strangers_before_the_game_do_not_keep_it_out():
    def come(address, nonce):
        others = strangers(address)
        time.sleep(1.3)
        others += strangers(address)
        hello = hello_frame.encode_hello(p.Hello(p.LIBRARY, ("late", "1"), nonce, (), (), 9))
        others.append(said(address, hello[:20]))
        others[-1].sendall(hello[20:])
        assert others[-1].recv(5)[4:] == bytes([p.Kind.WELCOME])
        for connection in others:
            connection.close()

    assert late(come).game == ("late", "1")


def test_who_came_instead_is_told_where_the_game_does_not():
    def come(address, nonce):
        said(address, b"GET / HTTP/1.1\r\n\r\n").close()

    with pytest.raises(ProtocolError) as caught:
        late(come, 0.5)
    for part in ("no game connected within 0.5 s", "somebody connected: a frame is too large", "it still runs"):
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"max_decisions": 0}, "HELLO's 'max_decisions'"),
        ({"protocol": [2, 0]}, "update the driver"),
    ],
)
def test_a_game_with_the_nonce_and_a_wrong_hello_is_told_at_once(change, what):
    def come(address, nonce):
        hello = json.loads(hello_frame.encode_hello(p.Hello(p.LIBRARY, ("late", "1"), nonce, (), (), 9))[5:])
        connection = said(address, p.json_frame(p.Kind.HELLO, {**hello, **change}))
        assert connection.recv(5)[4:] == bytes([p.Kind.ERROR])
        connection.close()

    with pytest.raises(ConnectError, match=what) as caught:
        late(come)
    assert "late, worker 0" in str(caught.value)


ROLLOUTS = {
    "half": (ConnectError, "bytes into a frame", "fails too often"),
    "huge": (ProtocolError, "a frame is too large", "4294967295"),
    "garbage": (ProtocolError, "too large", "worker 0"),
    "nan": (ProtocolError, "a score is not a number", "faulty.py, worker 0"),
    "foreign": (ProtocolError, "RESULT", "worker 0"),
    "mute": (ConnectError, "no result within 1 s", "fails too often"),
    "raise": (ConnectError, "the game fails", r"ValueError: no such room \x1b[31m"),
    "error": (ConnectError, "reports an error: no map", "  of \\x1b[31m", "code exception", "faulty.py, worker 0"),
    "error_garbage": (ProtocolError, "ERROR is not JSON: it is nested too deeply", "faulty.py, worker 0"),
    "chance": (GameError, "is not deterministic", "at decision 2"),
}


@pytest.mark.parametrize("fault", ROLLOUTS)
def test_a_game_that_fails_in_a_rollout(tmp_path, fault):
    kind, *parts = ROLLOUTS[fault]
    file = faulty(tmp_path, fault, tables="[timeouts]\nrollout = 1\n[restarts]\na_minute = 1\n")
    if fault == "chance":
        running = session(file)
        try:
            with pytest.raises(PersonaEvoError) as caught:
                for seed in range(50):
                    first = running.play(SOUND, b"", seed)
                    running.play(SOUND, first.trace, seed)
            error = caught.value
        finally:
            running.close()
    else:
        error = one(file)
    assert isinstance(error, kind), error
    for part in parts:
        assert part in str(error)
    assert none_left(tmp_path)


def test_answers_that_nobody_asked_for_are_dropped_and_counted(tmp_path):
    running = session(faulty(tmp_path, "twice"))
    try:
        prefix = p.pack([(0, 2)])
        found = [running.play(SOUND, prefix, seed).score for seed in range(3)]
        pool = running.pool(SOUND)
        assert found == [2.0] * 3
        assert pool.dropped >= 5
    finally:
        running.close()


def test_a_game_that_dies_now_and_then_and_goes_well_when_repeated_is_not_given_up(tmp_path):
    running = session(faulty(tmp_path, "tired", "workers = 1"))
    try:
        pool = running.pool(SOUND)
        results = [running.play(SOUND, b"", seed) for seed in range(140)]
        assert pool.restarted >= 5 > pool.restarts.allowed.a_minute and len(results) == 140
        assert not any(finding.again for finding in pool.findings)
    finally:
        running.close()


@pytest.mark.parametrize("fault", ["kill", "hang"])
def test_a_prefix_that_ends_two_processes_is_set_aside(tmp_path, fault):
    file = faulty(tmp_path, fault, "workers = 2", f"[timeouts]\nrollout = {2 if fault == 'hang' else 30}\n")
    running = session(file)
    try:
        pool = running.pool(SOUND)
        bad = p.pack([(1, 2), (0, 2)])
        orders = [
            p.Rollout(0, 0, seed, p.ALL_METRICS, p.UNIFORM, 0, bad if seed == 5 else p.pack([(0, 2)]))
            for seed in range(12)
        ]
        results = list(pool.play(orders))
        assert [r.id for r in results] == list(range(12))
        lost = [r for r in results if not isinstance(r, p.Result)]
        assert [r.id for r in lost] == [5]
        finding = lost[0].finding
        assert (finding.kind, finding.prefix) == ({"kill": "crash", "hang": "timeout"}[fault], ((1, 2), (0, 2)))
        assert (finding.game_seed, finding.rollout_seed) == (0, 5)
        assert pool.restarted == 2
        (told,) = running.findings()
        assert "choices 1 0" in told
        assert (tmp_path / "logs" / "findings.jsonl").read_text(encoding="utf-8").count("\n") == 1
    finally:
        running.close()
    assert none_left(tmp_path)


def test_a_process_that_is_started_anew_does_not_make_the_others_late(tmp_path):
    """While the driver waits for it, results of the others stay unread for longer than a rollout may take."""
    running = session(faulty(tmp_path, "tardy", "workers = 3", "[timeouts]\nrollout = 1\n"))
    try:
        pool = running.pool(SOUND)
        orders = [
            p.Rollout(0, 0, seed, p.ALL_METRICS, p.UNIFORM, 0, p.pack([(int(seed == 5), 2), (0, 2)]))
            for seed in range(20)
        ]
        results = list(pool.play(orders))
        assert [r.id for r in results if isinstance(r, p.Result)] == list(range(20))
        assert pool.restarted == 1 and not any(found.again for found in pool.findings)
    finally:
        running.close()


def test_a_taken_port_is_told(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen(1)
        error = one(describe(tmp_path, top=f"port = {other.getsockname()[1]}"))
    assert "the port for the game is already in use" in str(error) and "ladder.toml:3" in str(error)


def test_a_fixed_port_is_used(tmp_path):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        free = other.getsockname()[1]
    for _ in range(2):  # at once, while the system remembers the connections that have ended
        running = session(describe(tmp_path, top=f"port = {free}"))
        try:
            assert running.play(SOUND, b"").status == p.OK
        finally:
            running.close()


def test_a_path_with_spaces_and_other_letters(tmp_path):
    folder = tmp_path / "mein Spiel – 遊戲 'ü'"
    running = session(describe(folder))
    try:
        assert running.play(LevelName("short"), b"").decisions == 3
    finally:
        running.close()
    assert (folder / "logs" / "worker-0.log").is_file()
    assert none_left(folder)


def test_strangers_are_sent_away_and_the_game_is_let_in(tmp_path):
    running = session(faulty(tmp_path, "stranger"))
    try:
        assert running.hello().game == ("faulty", "1")
        assert running.play(SOUND, b"").decisions == 4
    finally:
        running.close()
    assert none_left(tmp_path)


@pytest.mark.parametrize(
    ("fault", "rollouts", "logs"),
    [("", 30, []), ("raise", 30, ["findings.jsonl", "worker-0.log"]), ("nan", 3, ["worker-0.log"])],
)
def test_temporary_logs_are_kept_where_the_game_fails(tmp_path, monkeypatch, fault, rollouts, logs):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    file = faulty(tmp_path, fault)
    file.write_text(file.read_text(encoding="utf-8").replace('logs = "logs"', ""), encoding="utf-8")
    running = session(file)
    try:
        for seed in range(rollouts):
            with contextlib.suppress(ConnectError):
                running.play(SOUND, b"", seed)
    finally:
        running.close()
    kept = sorted(f.name for f in (tmp_path / "temporary").rglob("*") if f.is_file())
    assert kept == logs


def test_children_of_the_game_are_ended_too(tmp_path):
    running = session(faulty(tmp_path, "child"))
    running.play(SOUND, b"")
    assert not none_left(tmp_path, 0.0)
    running.close()
    assert none_left(tmp_path)


def test_the_nonce_is_written_nowhere(tmp_path):
    running = session(faulty(tmp_path, ""))
    try:
        hello = running.hello()
        assert hello.nonce == ""
        assert running.pool(SOUND)._seats[0].worker._nonce == ""
    finally:
        running.close()


def test_failures_that_are_alike_are_told_once(tmp_path):
    running = session(faulty(tmp_path, "raise"))
    try:
        list(
            running.pool(SOUND).play(
                [p.Rollout(0, 0, seed, p.ALL_METRICS, p.UNIFORM, 0, p.pack([(1, 2), (0, 2)])) for seed in range(30)]
            )
        )
        (told,) = running.findings()
    finally:
        running.close()
    file = tmp_path / "logs" / "findings.jsonl"
    assert "failed in 30 rollouts, first by" in told and "exception in" in told and told.endswith(f"(kept in {file})")
    assert "no such room" in told and "behind the" not in told and "\\n" not in told, "the first line alone"
    lines = file.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 30 and "behind the" in lines[0]


def test_numbers_make_no_other_failure_and_words_do():
    def finding(message, again=True, prefix=((0, 2),)):
        return FailingRollout("exception", "", "", 0, 1, 0, prefix, message, again)

    same = finding("gold is 5 at 0x7fA0"), finding("gold is 12 at 0x1", prefix=()), finding("gold is 5 at 0x2\n  at 3")
    others = finding("silver is 5 at 0x2"), finding("gold is 5 at 0x2", again=False)
    assert group_similar([*same, *others]) == [(same[0], 3), (others[0], 1), (others[1], 1)]


def test_the_first_rollout_that_hangs_is_told_at_once(tmp_path, caplog):
    file = faulty(tmp_path, "hang", "workers = 1\nslots = 1", "[timeouts]\nrollout = 0.5\n")
    running = session(file)
    try:
        bad = p.Rollout(0, 0, 1, p.ALL_METRICS, p.UNIFORM, 0, p.pack([(1, 2), (0, 2)]))
        pool = running.pool(SOUND)
        pool.open()
        began = time.time()
        assert not isinstance(next(pool.play([bad])), p.Result)
    finally:
        running.close()
    assert 0.5 <= caplog.records[0].created - began < 4, "after the limit, and not after many times the limit"
    (told,) = [record.getMessage() for record in caplog.records]
    assert "did not end within 0.5 s: starting the game again" in told and "[timeouts] rollout" in told


def test_the_same_failing_rollout_is_kept_once(tmp_path, capsys):
    file = faulty(tmp_path, "raise")
    told = run(capsys, "doctor", "--game", file, "--rollouts", 20)
    assert told.code == 1 and told.out.count("no such room") == 1, told.out
    lines = (tmp_path / "logs" / "findings.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(set(lines)) > 1
