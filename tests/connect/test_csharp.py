"""Tests the C# side, compiled and run with Mono: its NUnit tests, and its console games over plain sockets.

What the frames are is written out here once more, with struct alone, so that a mistake in the project's own code for
frames cannot hide one in the C# code.
"""

from __future__ import annotations

import io
import json
import math
import os
import random
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image

from persona_evo.formula import TABLE, Formula, parse

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "unity_support" / "build.py"
SHIPPED = ROOT / "policies" / "minidungeons2"
SEED = 20_261_128

needs_mono = pytest.mark.skipif(
    shutil.which("mcs") is None or shutil.which("mono") is None,
    reason="Mono is not installed (on Debian: apt-get install mono-mcs mono-runtime)",
)
needs_nunit = pytest.mark.skipif(
    shutil.which("nunit-console") is None or not list(Path("/usr/lib/cli").glob("nunit.framework*")),
    reason="NUnit is not installed (on Debian: apt-get install nunit-console libnunit-cil-dev)",
)
pytestmark = needs_mono


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the console games."""
    return build(tmp_path_factory.mktemp("csharp"), "corridor", "benchmark", "roguelike2d")


def build(folder: Path, *what: str) -> Path:
    """Build programs in a folder with `build.py`; return the folder."""
    done = subprocess.run([sys.executable, BUILD, *what, "--out", folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return folder


def run(built: Path, game: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program that was built, without the variables of a driver."""
    return subprocess.run(
        ["mono", built / f"{game}.exe", *arguments], capture_output=True, text=True, timeout=60, env=clean_environment()
    )


def clean_environment(**more: str) -> dict[str, str]:
    """Return the environment without the variables of a driver, and with some others."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("PE_", "MC_"))} | more


@needs_nunit
def test_the_nunit_tests_pass(tmp_path: Path) -> None:
    build(tmp_path, "tests")
    vectors = tmp_path / "vectors.json"
    vectors.write_text(json.dumps({"vectors": list(python_values(400))}))
    environment = clean_environment(PERSONA_EVO_REPOSITORY=str(ROOT), PERSONA_EVO_VECTORS=str(vectors))
    done = subprocess.run(
        ["nunit-console", "-nologo", "-noxml", "tests.dll"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert "Errors: 0, Failures: 0" in done.stdout
    assert "Not run: 0" in done.stdout, done.stdout


def python_values(number: int) -> Iterator[dict[str, object]]:
    """Random formulas and those of the shipped policies at random points, with what Python makes of them."""
    rng = random.Random(SEED)
    points = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-5, 3.0, 700.5, 1e300, -1e300, 5e-324, math.nan, math.inf, -math.inf)
    written = {math.inf: "inf", -math.inf: "-inf"}
    files = [json.loads(f.read_text()) for f in sorted(SHIPPED.glob("*.json"))]
    shipped = [parse(file[key]) for file in files for key in ("formula", "utility") if file[key]]
    assert len(shipped) > 20
    for formula in [random_formula(rng) for _ in range(number)] + shipped * 5:
        values = {s: rng.choice((rng.choice(points), rng.uniform(-5, 5))) for s in sorted(formula.symbols)}
        expected = formula.evaluate(values)
        if 0 < abs(expected) < sys.float_info.min:
            continue  # Mono rounds results that are subnormal twice: they differ in the last bit
        yield {
            "formula": formula.text,
            "values": {s: None if math.isnan(v) else written.get(v, v) for s, v in values.items()},
            "expected": expected,
            # the last bit of the shipped completionist's exp is not the same in Mono
            **({"rel": 1e-15} if formula in shipped and "exp" in formula.tokens else {}),
        }


def random_formula(rng: random.Random) -> Formula:
    """Draw a formula with any operator of the table."""
    tokens: list[str | float] = []
    height, size = 0, rng.randint(1, 40)
    while len(tokens) < size or height != 1:
        fitting = [p for p in TABLE if p.arity <= height]
        if fitting and (len(tokens) >= size or rng.random() < 0.5):
            chosen = rng.choice(fitting)
            tokens.append(chosen.name)
            height += 1 - chosen.arity
        else:
            tokens.append(rng.choice(("R", "MS", "PE", "ST", rng.uniform(-3, 3), 2.0, 0.1, 1e-200)))
            height += 1
    return Formula(tuple(tokens))


class Answer(NamedTuple):
    """RESULT."""

    id: int
    status: int
    score: float
    trace: list[tuple[int, int]]
    rows: list[tuple[float, ...]]
    final: tuple[float, ...]
    hash: int
    microseconds: int
    message: str
    pairs: bytes
    last: bytes


class Driver:
    """Listens, starts a game, and speaks the protocol with it."""

    def __init__(self, built: Path, game: str, **settings: object) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(20)
        environment = clean_environment(
            PE_ADDR="127.0.0.1",
            PE_PORT=str(listener.getsockname()[1]),
            PE_NONCE="0f" * 32,
            PE_WORKER="0",
            PE_SETTINGS=json.dumps(settings),
        )
        self.process = subprocess.Popen(
            ["mono", built / f"{game}.exe"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            self.socket, _ = listener.accept()
        finally:
            listener.close()
        self.socket.settimeout(20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        kind, payload = self.receive()
        assert kind == 1
        assert len(payload) <= 4096
        self.hello = json.loads(payload)
        welcome = {"protocol": [1, 0], "settings": settings, "variant": None, "map": settings.get("map")}
        self.send(2, json.dumps(welcome).encode())

    def __enter__(self) -> Driver:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
        if self.process.poll() is None:
            try:
                self.process.wait(10)
            finally:
                self.process.kill()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()

    def send(self, kind: int, payload: bytes = b"") -> None:
        self.socket.sendall(struct.pack("<IB", len(payload), kind) + payload)

    def receive(self) -> tuple[int, bytes]:
        size, kind = struct.unpack("<IB", self._exactly(5))
        return kind, self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            more = self.socket.recv(size - len(found))
            assert more, "the game closed the connection"
            found += more
        return found

    def rollout(
        self,
        id_: int,
        game: int,
        choices: int,
        flags: int = 2,
        mode: int = 0,
        policy: int = 0,
        prefix: list[tuple[int, int]] | None = None,
    ) -> Answer:
        """Send an order and return its answer."""
        self.order(id_, game, choices, flags, mode, policy, prefix)
        return self.answer()

    def order(
        self,
        id_: int,
        game: int,
        choices: int,
        flags: int = 2,
        mode: int = 0,
        policy: int = 0,
        prefix: list[tuple[int, int]] | None = None,
    ) -> None:
        pairs = b"".join(struct.pack("<HH", *pair) for pair in prefix or [])
        self.send(3, struct.pack("<QQQBBI", id_, game, choices, flags, mode, policy) + pairs)

    def restore(
        self, state: int, depth: int, keep: int, id_: int, game: int, choices: int, prefix: list[tuple[int, int]]
    ) -> Answer:
        """Send an order that may begin from a kept state and may leave one; return its answer."""
        pairs = b"".join(struct.pack("<HH", *pair) for pair in prefix)
        self.send(11, struct.pack("<QIQQQQBBI", state, depth, keep, id_, game, choices, 2, 1, 0) + pairs)
        return self.answer()

    def answer(self) -> Answer:
        kind, data = self.receive()
        assert kind == 4, data
        return read_answer(data)


def read_answer(data: bytes) -> Answer:
    """RESULT's payload in parts."""
    id_, status, score, n = struct.unpack_from("<QBdI", data)
    at = 21
    pairs = data[at : at + 4 * n]
    trace = list(struct.iter_unpack("<HH", pairs))
    at += 4 * n
    count, columns = struct.unpack_from("<IH", data, at)
    at += 6
    width = 4 * columns
    rows = [struct.unpack_from(f"<{columns}f", data, at + width * i) for i in range(count)]
    at += width * count
    last = data[at : at + width]
    state, micros = struct.unpack_from("<QI", data, at + width)
    message = data[at + width + 12 :].decode()
    final = struct.unpack(f"<{columns}f", last)
    return Answer(id_, status, score, trace, rows, final, state, micros, message, pairs, last)


def fnv(data: bytes) -> int:
    """Return the 64-bit FNV hash of some bytes."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def test_a_game_greets_and_answers(built: Path) -> None:
    with Driver(built, "corridor", map="@..$.D") as driver:
        assert driver.hello["magic"] == "persona-evo"
        assert driver.hello["protocol"] == [1, 0]
        assert driver.hello["nonce"] == "0f" * 32
        assert driver.hello["game"] == {"name": "corridor", "version": "1"}
        assert driver.hello["max_decisions"] == 60
        assert set(driver.hello["capabilities"]) == {"seed", "weights", "lookahead", "hash", "maps", "snapshot"}
        assert [m["symbol"] for m in driver.hello["metrics"]] == ["ST", "COINS", "OUT"]
        assert driver.hello["metrics"][0] | {"name": ""} == {"name": "", "symbol": "ST", "low": 0, "high": 60}
        right = [(0, 1), (1, 2), (1, 2), (1, 2), (1, 2)]
        answer = driver.rollout(2**64 - 1, 5, 6, prefix=right)
        assert (answer.id, answer.status, answer.message) == (2**64 - 1, 0, "")
        assert answer.trace == right
        assert answer.score == 1 + 1 - 0.01 * 5
        assert answer.rows == [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 1, 0), (4, 1, 0)]
        assert answer.final == (5, 1, 1)
        assert 0 < answer.microseconds < 10_000_000


def test_the_same_order_gives_the_same_answer(built: Path) -> None:
    with Driver(built, "benchmark") as driver:
        first = driver.rollout(1, 10, 20)
        assert first.status == 0
        assert len(first.trace) == len(first.rows) == 40
        assert len(first.final) == 8
        assert sum(first.final) == 40
        assert first.hash == fnv(first.pairs + first.last)
        again = driver.rollout(2, 10, 20)
        assert again._replace(id=1, microseconds=0) == first._replace(microseconds=0)
        assert [c for _, c in driver.rollout(3, 11, 20).trace] != [c for _, c in first.trace]
        other = driver.rollout(4, 10, 21)
        assert [c for _, c in other.trace] == [c for _, c in first.trace]
        assert other.trace != first.trace
        replayed = driver.rollout(5, 10, 99, prefix=first.trace)
        assert replayed._replace(id=1, microseconds=0) == first._replace(microseconds=0)
        bare = driver.rollout(6, 10, 20, flags=0)
        assert (bare.trace, bare.rows, bare.final) == (first.trace, [], ())
        assert bare.hash == fnv(first.pairs)


def test_rollouts_draw_the_numbers_of_the_golden_file(built: Path) -> None:
    golden = json.loads((ROOT / "tests" / "connect" / "golden_random.json").read_text())["next"]
    with Driver(built, "benchmark") as driver:
        for vector in golden:
            trace = driver.rollout(1, 3, int(vector["seed"])).trace
            drawn = [int(x) for x in vector["expected"]]
            assert [c for c, _ in trace[:5]] == [(x >> 32) * n >> 32 for x, (_, n) in zip(drawn, trace, strict=False)]


def test_many_orders_at_once_are_answered_in_their_order(built: Path) -> None:
    with Driver(built, "benchmark") as driver:
        for id_ in range(200):
            driver.order(id_, id_ % 7, id_, flags=id_ % 3)
        assert [driver.answer().id for _ in range(200)] == list(range(200))


@pytest.mark.parametrize(("game", "settings"), [("corridor", {"map": ""}), ("roguelike2d", {"days": 4})])
def test_a_kept_state_changes_nothing_but_the_time(built: Path, game: str, settings: dict[str, object]) -> None:
    with Driver(built, game, **settings) as driver:
        assert "snapshot" in driver.hello["capabilities"]
        whole = driver.rollout(1, 8, 3, mode=1)
        depths = range(len(whole.trace) + 1)
        for depth in depths:
            driver.restore(max(0, depth - 2), max(0, depth - 3), depth + 1, 2, 8, depth, whole.trace[:depth])
        for depth in depths:
            for seed in (8, 9):  # there is no state of seed 9, which is played from the start
                order = (depth + 1, depth, 0, 3, seed, 70 + depth)
                if seed == 8:
                    restored = driver.restore(*order, whole.trace[:depth])
                    plain = driver.rollout(3, seed, 70 + depth, mode=1, prefix=whole.trace[:depth])
                else:
                    restored = driver.restore(*order, [])
                    plain = driver.rollout(3, seed, 70 + depth, mode=1)
                assert restored._replace(microseconds=0) == plain._replace(microseconds=0), (depth, seed)
        assert len(depths) > 8
        other = [(1 - choice if count == 2 else choice, count) for choice, count in whole.trace[:4]]
        wrong = driver.restore(5, 4, 0, 4, 8, 5, other)  # another prefix than that of the state
        assert wrong._replace(microseconds=0) == driver.rollout(4, 8, 5, mode=1, prefix=other)._replace(microseconds=0)
        driver.send(
            2, json.dumps({"protocol": [1, 0], "settings": settings | {"days": 2}, "map": settings.get("map")}).encode()
        )
        after = driver.restore(3, 2, 0, 5, 8, 6, whole.trace[:2])
        assert after._replace(microseconds=0) == driver.rollout(5, 8, 6, mode=1, prefix=whole.trace[:2])._replace(
            microseconds=0
        )


def test_pictures_come_before_each_decision_and_change_nothing(built: Path) -> None:
    with Driver(built, "roguelike2d", days=1) as driver:
        assert "pictures" in driver.hello["capabilities"]
        plain = driver.rollout(5, 1001, 3)
        for mode, prefix in ((0, []), (0, plain.trace[:7]), (3, [])):
            driver.order(6, 1001, 3, flags=6, mode=mode, prefix=prefix)
            shown, last = [], None
            while last is None:
                kind, data = driver.receive()
                if kind == 12:
                    assert struct.unpack_from("<QI", data) == (6, len(shown))
                    shown.append(data[12:])
                elif kind == 6:
                    asked = json.loads(data)
                    assert asked["depth"] == len(shown) - 1, "the picture comes before the question"
                    driver.send(7, json.dumps({"id": 6, "choice": plain.trace[asked["depth"]][0]}).encode())
                else:
                    last = read_answer(data)
            assert last._replace(id=5, microseconds=0) == plain._replace(microseconds=0) or prefix
            assert last.status == 0 and len(shown) == len(last.trace) + 1
        corners = []
        for data in shown:
            with Image.open(io.BytesIO(data)) as image:
                assert image.size == (128, 136) and image.mode == "RGB"
                corners.append(image.getpixel((8, 120)))
        assert corners[0] == (0xF2, 0xB7, 0x05) and corners[-1] != corners[0], "the avatar begins at the bottom left"


def test_weights_policies_and_asking(built: Path) -> None:
    with Driver(built, "corridor", map="...." + "@" + "...D") as driver:
        steps = [len(driver.rollout(i, 1, i, mode=1).trace) for i in range(60)]
        assert sum(steps) < sum(len(driver.rollout(i, 1, i, mode=0).trace) for i in range(60))
        code = ["OUT", "ST", 0.01, "*", "-", "D", "+"]
        driver.send(5, json.dumps({"id": 9, "name": "p", "kind": "rollout", "code": code}).encode())
        assert driver.rollout(1, 1, 1, mode=2, policy=9, prefix=[(1, 2)] * 3).trace == [(1, 2)] * 4
        driver.order(77, 1, 1, mode=3)
        asked = 0
        while (frame := driver.receive())[0] == 6:
            question = json.loads(frame[1])
            assert question["id"] == 77
            assert question["depth"] == asked == question["metrics"][0]
            assert question["weights"] == [1, 2]
            asked += 1
            driver.send(7, json.dumps({"id": 77, "choice": 1}).encode())
        assert frame[0] == 4
        assert asked == 4


def test_a_prefix_that_does_not_fit_is_told_with_its_depth(built: Path) -> None:
    with Driver(built, "corridor", map="..@..D") as driver:
        answer = driver.rollout(1, 1, 1, prefix=[(0, 2), (2, 5)])
        assert (answer.status, answer.trace) == (2, [(0, 2), (2, 2)])
        over = driver.rollout(2, 1, 1, prefix=[(1, 2)] * 4)
        assert (over.status, over.trace) == (2, [(1, 2)] * 3 + [(1, 0)])
        assert len(over.rows) == 4
        assert driver.rollout(3, 1, 1).status == 0


def test_a_map_that_is_none_is_an_answer_and_no_crash(built: Path) -> None:
    with Driver(built, "corridor", map="no corridor") as driver:
        answer = driver.rollout(1, 1, 1)
        assert answer.status == 3
        assert "no corridor" in answer.message
        driver.send(2, json.dumps({"protocol": [1, 0], "settings": {}, "map": "@D"}).encode())
        assert driver.rollout(2, 1, 1).trace == [(0, 1)]


@pytest.mark.parametrize("bye", [True, False])
def test_the_game_quits_when_the_driver_does(built: Path, bye: bool) -> None:
    with Driver(built, "benchmark") as driver:
        driver.rollout(1, 1, 1)
        if bye:
            driver.send(10)
        else:
            driver.socket.close()
        assert driver.process.wait(10) == 0


def test_ping_and_what_no_driver_sends(built: Path) -> None:
    with Driver(built, "benchmark") as driver:
        driver.send(8, b"x" * 64)
        assert driver.receive() == (8, b"x" * 64)
        driver.send(77, b"?")
        kind, payload = driver.receive()
        assert kind == 9
        assert json.loads(payload)["fatal"] is True
        assert driver.process.wait(10) == 0


def test_nobody_listens(built: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    done = subprocess.run(
        ["mono", built / "benchmark.exe"],
        env=clean_environment(PE_PORT=str(port)),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 1
    assert f"127.0.0.1:{port}" in done.stderr
    assert "at PersonaEvo" not in done.stderr


def test_a_policy_file_plays_inside_the_game(built: Path, tmp_path: Path) -> None:
    corridor = ("--map", "$..$@......D", "--iterations", "300")
    ucb1 = run(built, "corridor", "--policy", str(SHIPPED / "ucb1.json"), *corridor)
    assert ucb1.stdout == "score 1.85 steps 15 coins 1.00 out 1\n"
    own = json.loads((SHIPPED / "runner.json").read_text())
    own |= {"game": "corridor", "formula": "OUT - 0.01 * ST + R", "simplified": "", "utility": "OUT - 0.01 * ST"}
    (tmp_path / "runner.json").write_text(json.dumps(own))
    runner = run(built, "corridor", "--policy", str(tmp_path / "runner.json"), *corridor)
    assert runner.stdout == "score 0.93 steps 7 coins 0.00 out 1\n"
    foreign = run(built, "corridor", "--policy", str(SHIPPED / "runner.json"))
    assert foreign.returncode == 1
    assert "minidungeons2" in foreign.stderr
    assert "PE" in foreign.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--nothing", "1"), "no such option: --nothing"),
        (("--seed", "x"), "--seed is 'x'"),
        (("--seed",), "--seed needs a value"),
        (("--policy", "nowhere.json"), "nowhere.json"),
        (("--policy", str(BUILD)), "JSON, line 1, column 3"),
        (("--formula", "1 +"), "line 1, column 4"),
        (("--formula", "1", "--player", "x"), "expected search or lookahead"),
        (("--map", "x"), "is no corridor"),
    ],
)
def test_wrong_options_are_told_in_a_line(built: Path, arguments: tuple[str, ...], message: str) -> None:
    done = run(built, "corridor", *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_rate_of_rollouts(built: Path) -> None:
    with Driver(built, "benchmark") as driver:
        number, flight = 20_000, 64
        for i in range(flight):
            driver.order(i, 1, i, flags=1)
        began = time.perf_counter()
        for i in range(number):
            driver.receive()
            driver.order(flight + i, 1, i, flags=1)
        rate = number / (time.perf_counter() - began)
        print(f"{rate:.0f} rollouts/s")
        assert rate > 1000
