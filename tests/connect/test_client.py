"""Tests the client alone, against a driver made of a socket."""

import socket
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from persona_evo.connect import hello_frame
from persona_evo.connect import protocol as p
from persona_evo.connect.client import Client, ExperimentFinished
from persona_evo.connect.description_file import read
from persona_evo.connect.game_frames import encode_fitting
from persona_evo.connect.incoming import IncomingFrames
from persona_evo.errors import ConnectError
from persona_evo.seeds import SplitMix64
from tests.cli.tool import environment, run
from tests.connect.driving import none_left
from tests.shared import ROOT

pytestmark = pytest.mark.quick


class Driver:
    """One connection, taken from this side."""

    def __init__(self, play, **options):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(1)
        address, port = self.listener.getsockname()
        self.env = {"MC_ADDR": address, "MC_PORT": str(port), "MC_NONCE": "ab", "MC_EXP_SETTINGS": '{"map": "m"}'}
        self.error = None
        self.thread = threading.Thread(target=self._game, args=(play, options), daemon=True)
        self.thread.start()
        self.socket, _ = self.listener.accept()
        self.socket.settimeout(5)
        self.frames, self.held = IncomingFrames(), []
        self.hello = hello_frame.decode_hello(self.read(p.Kind.HELLO))
        self.socket.sendall(p.json_frame(p.Kind.WELCOME, {"settings": {"g": 2}, "map": "n", "variant": "v"}))

    def _game(self, play, options):
        try:
            self.client = Client("test", "1", environ=self.env, **options)
            self.client.run(play)
        except Exception as e:
            self.error = e

    def read(self, kind):
        while not self.held:
            self.held = self.frames.feed(self.socket.recv(65536))
        found, payload = self.held.pop(0)
        assert found == kind
        return payload

    def play(self, prefix=(), seed=1, flags=p.ALL_METRICS, mode=p.UNIFORM, game_seed=0):
        self.socket.sendall(p.encode_rollout(p.Rollout(9, game_seed, seed, flags, mode, 0, p.pack(prefix))))
        return p.decode_result(self.read(p.Kind.RESULT)) if mode != p.ASK else None

    def end(self):
        self.socket.sendall(p.frame(p.Kind.BYE))
        self.thread.join(5)
        assert not self.thread.is_alive()
        self.socket.close()
        self.listener.close()
        return self.error


def three(client):
    """Play three decisions and a final score."""
    for i in range(3):
        client.report_metric("A", i + client.random.below(10) * 100)
        client.select(5, [0, 1, 2, 3, 4])
    client.supply_outcome(-2.5)


def test_prefix_streams_and_metrics():
    driver = Driver(three, metrics=["A", "B"], max_decisions=5)
    assert (driver.hello.nonce, driver.hello.max_decisions) == ("ab", 5)
    result = driver.play([(4, 5), (2, 5)], seed=77, game_seed=5)
    rest, own = SplitMix64(77), SplitMix64(5)
    assert p.unpack(result.trace) == [(4, 5), (2, 5), (rest.below(5), 5)]
    assert [result.row(i) for i in range(3)] == [(i + own.below(10) * 100, 0.0) for i in range(3)]
    assert (result.score, result.status, result.rows) == (-2.5, p.OK, 3)
    by_weights = driver.play(seed=3, mode=p.WEIGHTS, flags=p.FINAL_METRICS)
    rest = SplitMix64(3)
    assert [c for c, _ in p.unpack(by_weights.trace)] == [rest.weighted([0, 1, 2, 3, 4]) for _ in range(3)]
    assert (by_weights.rows, by_weights.columns) == (0, 2)
    bare = driver.play(flags=p.NO_METRICS)
    assert (bare.columns, bare.final) == (0, b"")
    assert driver.end() is None
    assert driver.client.settings == {"g": 2} and (driver.client.map, driver.client.variant) == ("n", "v")


def test_a_result_that_is_too_large_becomes_an_exception_without_rows():
    trace = p.pack([(0, 2)] * 100_000)
    large = p.Result(7, p.OK, 3.0, trace, 100_000, 50, bytes(4 * 50 * 100_000), bytes(4 * 50), 1, 2, "")
    ((kind, payload),) = IncomingFrames().feed(encode_fitting(large))
    told = p.decode_result(payload)
    assert (kind, told.id, told.status, told.score, told.decisions) == (p.Kind.RESULT, 7, p.EXCEPTION, 0.0, 0)
    assert (told.rows, told.columns, told.final) == (0, 50, large.final) and told.message.startswith("the result: ")


def test_a_driver_that_goes_before_its_welcome_ends_the_client_without_an_error():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address, port = listener.getsockname()
        client = []

        def game():
            client.append(Client("test", environ={"PE_ADDR": address, "PE_PORT": str(port), "PE_NONCE": "ab"}))
            client[0].run(three)

        thread = threading.Thread(target=game, daemon=True)
        thread.start()
        driver, _ = listener.accept()
        with driver:
            driver.recv(65536)
        thread.join(5)
    assert client and not thread.is_alive()


def test_prefixes_that_do_not_fit():
    driver = Driver(three, metrics=["A"], max_decisions=5)
    result = driver.play([(1, 5), (0, 2)])
    assert (result.status, p.unpack(result.trace), result.rows) == (p.ILLEGAL, [(1, 5), (0, 5)], 2)
    result = driver.play([(1, 5), (0, 5), (0, 5), (1, 3)])
    assert (result.status, p.unpack(result.trace)[-1]) == (p.ILLEGAL, (1, 0))
    assert driver.play().status == p.OK
    assert driver.end() is None


def test_too_many_decisions_are_cut_short_with_the_score_so_far():
    def endless(client):
        made = 0
        while True:
            client.select(2)
            made += 1
            client.report_score(made)

    driver = Driver(endless, max_decisions=7)
    result = driver.play()
    assert (result.status, result.decisions, result.score) == (p.TRUNCATED, 7, 7.0)
    assert driver.play().score == 7.0
    assert driver.end() is None


@pytest.mark.parametrize(
    ("play", "said"),
    [
        (lambda c: c.supply_outcome(float("nan")), "not a finite"),
        (lambda c: c.report_metric("A", float("inf")), "not a finite"),
        (lambda c: c.report_metric("Z", 1), "no such metric"),
        (lambda c: c.select(0), "out of range"),
        (lambda c: c.select(65535), "out of range; found: 65,535 choices; expected: 1 to 65534"),
        (lambda c: c.select(2, [0, 0]), "weights"),
        (lambda c: 1 / 0, "ZeroDivisionError"),
        (lambda c: None, "without supply_outcome"),
    ],
)
def test_what_a_game_gets_wrong_is_told_to_the_driver(play, said):
    driver = Driver(play, metrics=["A"], max_decisions=7)
    for _ in range(2):
        result = driver.play()
        assert result.status == p.EXCEPTION and said in result.message
    assert driver.end() is None


def test_a_failure_says_where_in_the_games_code_it_was_raised():
    def fall(client):
        raise KeyError("rope")

    driver = Driver(fall, metrics=["A"])
    first, *stack = driver.play().message.splitlines()
    line = fall.__code__.co_firstlineno + 1
    assert first == f"KeyError: 'rope' (in fall, test_client.py:{line})"
    assert stack == [f'  at fall in {__file__}:{line}: raise KeyError("rope")'], "nothing of the client itself"
    assert driver.end() is None


def test_numbers_of_other_types_than_float_are_asked_with():
    def play(client):
        client.report_metric("A", True)
        client.select(np.int64(2), np.array([0.5, 1.5], np.float32))
        client.supply_outcome(np.float32(2))

    driver = Driver(play, metrics=["A"])
    driver.play(mode=p.ASK)
    asked = p.decode_json(p.Kind.DECIDE, driver.read(p.Kind.DECIDE))
    assert (asked["count"], asked["weights"], asked["metrics"]) == (2, [0.5, 1.5], [1.0])
    assert type(asked["metrics"][0]) is float
    driver.socket.sendall(p.json_frame(p.Kind.CHOICE, {"id": asked["id"], "choice": 1}))
    assert p.decode_result(driver.read(p.Kind.RESULT)).score == 2.0
    assert driver.end() is None


def test_the_driver_chooses_in_mode_ask():
    driver = Driver(three, metrics=["A"], max_decisions=5)
    driver.play(mode=p.ASK, prefix=[(3, 5)])
    for depth in (1, 2):
        asked = p.decode_json(p.Kind.DECIDE, driver.read(p.Kind.DECIDE))
        assert (asked["id"], asked["depth"], asked["count"], asked["weights"]) == (9, depth, 5, [0, 1, 2, 3, 4])
        driver.socket.sendall(p.frame(p.Kind.PING, b"there?"))
        assert driver.read(p.Kind.PING) == b"there?"
        driver.socket.sendall(p.json_frame(p.Kind.CHOICE, {"id": 9, "choice": depth}))
    result = p.decode_result(driver.read(p.Kind.RESULT))
    assert [c for c, _ in p.unpack(result.trace)] == [3, 1, 2]
    assert driver.end() is None


def test_a_refused_game_ends_with_the_reason():
    driver = Driver(three, metrics=["A"])
    driver.socket.sendall(p.json_frame(p.Kind.ERROR, {"code": "version", "message": "too old", "fatal": True}))
    driver.thread.join(5)
    assert isinstance(driver.error, ConnectError) and "too old" in str(driver.error)


def test_a_game_without_a_driver_plays_by_itself():
    client = Client("test", environ={}, metrics=["A"])
    assert not client.is_driver_present
    made = []
    client.choose = lambda c, count, weights: made.append(count) or count - 1
    client.run(three)
    assert made == [5, 5, 5]


def test_no_driver_where_there_should_be_one():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with pytest.raises(ConnectError, match="cannot be reached"):
        Client("test", environ={"PE_ADDR": "127.0.0.1", "PE_PORT": str(port)})


def test_a_loop_of_ones_own_ends_with_the_experiment():
    seen = []

    def loop(client):
        try:
            while True:
                client.select(2)
                client.supply_outcome(1)
                seen.append(client.game_seed)
        except ExperimentFinished:
            seen.append("end")
            raise

    driver = Driver(loop)
    driver.play(game_seed=4)
    driver.play(game_seed=5)
    assert driver.end() is None
    assert seen == [4, 5, "end"]


def test_a_policy_whose_id_is_no_whole_number_is_refused():
    sent = []
    client = object.__new__(Client)
    client._number, client._capabilities, client._policies = {}, ("lookahead",), {}
    client._driver = SimpleNamespace(send=sent.append)
    policy = p.decode_json(p.Kind.POLICY, b'{"kind": "rollout", "id": 1e400, "code": [1.0]}')
    client._learn(policy)
    assert len(sent) == 1 and b"cannot be played by" in sent[0] and not client._policies
    client._learn({**policy, "id": 3})
    assert len(sent) == 1 and list(client._policies) == [3]


def test_a_new_game_in_python_is_the_one_of_the_page_and_passes_the_doctor(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "connect", "new", "cellar", "--language", "python").code == 0
    game = Path("cellar.py").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "pages" / "python_client.md").read_text(encoding="utf-8")
    assert page.partition("```python\n")[2].partition("```")[0] == game
    for level in ("default", "default:hard@3"):
        told = run(capsys, "doctor", "--game", "cellar.toml", "--level", level, "--rollouts", 50)
        assert told.code == 0 and "the same choices lead to the same end: fine" in told.out, told.out + told.err
    words = ("playtest", "default@1-2", "--game", "cellar.toml", "--personas", "score", "--trials", 1, "--jobs", 1)
    played = run(capsys, *words, "--policy", "ucb1", "--iterations", 50, "--no-pictures", "--out", "out")
    assert played.code == 0 and "win rate" in played.out, played.out + played.err
    alone = subprocess.run([sys.executable, "cellar.py"], env=environment(), capture_output=True, text=True, check=True)
    assert alone.stdout.startswith("score ")
    assert none_left(tmp_path)


def test_a_new_game_in_python_replaces_none(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("dive.py").write_text("mine", encoding="utf-8")
    refused = run(capsys, "connect", "new", "dive", "--language", "python")
    assert refused.code == 2 and "dive.py" in refused.err and "without --language" in refused.err
    assert not Path("dive.toml").exists() and Path("dive.py").read_text(encoding="utf-8") == "mine"
    assert run(capsys, "connect", "new", "dive", "--language", "python", "--out", "x/deep.toml").code == 0
    assert read(tmp_path / "x" / "deep.toml").game == tmp_path / "x" / "deep.py"
    assert 'Client("dive"' in Path("x/deep.py").read_text(encoding="utf-8")
