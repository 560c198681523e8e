"""Hostile frames over real connections: to the driver from a game, and to the Python client from a driver."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from persona_evo.connect import hello_frame, launch
from persona_evo.connect import protocol as p
from persona_evo.connect.client import Client
from persona_evo.connect.pool import ProcessPool, Restarts
from persona_evo.connect.process_start import Start, Timeouts
from persona_evo.errors import InputError
from tests.harness.mutations import MUTATIONS
from tests.harness.trials import Finding, Part, Trial

FRAMES = 20
"""Frames of one connection; the one before the last is made to be refused, for most of them."""
METRICS = (p.MetricInfo("score", "SCORE"), p.MetricInfo("turn", "TURN"))
PREFIX = p.pack([(0, 2), (1, 3)])
WORDS = ("id", "kind", "code", "message", "fatal", "settings", "map", "variant", "choice", "protocol", "timeouts")


def value(dice: random.Random, depth: int = 0) -> object:
    """Any JSON value."""
    kinds: tuple[Callable[[], object], ...] = (
        lambda: dice.choice((None, True, False, "", "\x1b[31m", "SCORE", "\u202e", "a" * 5000)),
        lambda: dice.choice((0, -1, 2**31, 2**64, -(2**63), 10**400)),
        lambda: dice.choice((0.5, -0.0, 1e308, 1e-320)),
        lambda: [value(dice, depth + 1) for _ in range(dice.randrange(4))] if depth < 4 else [],
        lambda: mapping(dice, depth + 1) if depth < 4 else {},
    )
    return dice.choice(kinds)()


def mapping(dice: random.Random, depth: int = 0) -> dict[str, object]:
    """Any JSON object, with some of the keys that frames have."""
    return {dice.choice(WORDS): value(dice, depth) for _ in range(dice.randrange(5))}


def result(dice: random.Random, number: int) -> bytes:
    """Return a RESULT that is almost what was ordered."""
    trace = p.pack([(0, 2), (1, 3), *((dice.randrange(2), 2) for _ in range(dice.randrange(4)))])
    rows = dice.choice((0, len(trace) // p.PAIR))
    columns = dice.choice((0, 2, 2, 2, 3))
    floats = [dice.choice((0.0, 1.5, -2.0)) for _ in range((rows + 1) * columns)]
    if dice.random() < 0.05 and floats:
        floats[-1] = dice.choice((float("nan"), float("inf")))
    packed = struct.pack(f"<{len(floats)}f", *floats)
    return p.encode_result(
        p.Result(
            number,
            dice.choice((p.OK, p.OK, p.OK, p.TRUNCATED, p.ILLEGAL, p.EXCEPTION)),
            dice.choice((0.0, 1.0, -1e300, float("nan"))) if dice.random() < 0.1 else 1.0,
            trace,
            rows,
            columns,
            packed[: 4 * rows * columns],
            packed[4 * rows * columns :],
            dice.getrandbits(64),
            dice.getrandbits(32),
            dice.choice(("", "no such room \x1b[31m")),
        )
    )


def order(dice: random.Random, number: int) -> bytes:
    """Return a ROLLOUT that may ask for anything."""
    prefix = p.pack([(dice.randrange(2), dice.choice((2, 2, 3))) for _ in range(dice.randrange(5))])
    return p.encode_rollout(
        p.Rollout(
            number,
            dice.getrandbits(64),
            dice.getrandbits(64),
            dice.randrange(4),
            dice.randrange(5),
            dice.randrange(2),
            prefix,
        )
    )


def some(dice: random.Random, number: int, usual: Callable[[random.Random, int], bytes]) -> bytes:
    """Return a frame: mostly the usual one of this side, else any other."""
    return dice.choice(
        (
            lambda: usual(dice, number),
            lambda: usual(dice, number),
            lambda: usual(dice, dice.getrandbits(64)),
            lambda: p.frame(p.Kind.PING, dice.randbytes(dice.randrange(80))),
            lambda: p.json_frame(dice.choice(sorted(p.JSON)), mapping(dice)),
            lambda: p.frame(dice.choice(list(p.Kind)), dice.randbytes(dice.randrange(60))),
        )
    )()


def mutated(frame: bytes, dice: random.Random) -> bytes:
    """Return a frame after a mutation of its head or payload; now and then nothing but noise."""
    if dice.random() < 0.1:
        return dice.randbytes(dice.randrange(1, 60))
    data = bytearray(frame)
    dice.choice(MUTATIONS)(data, dice)
    return bytes(data)


def stream(dice: random.Random, usual: Callable[[random.Random, int], bytes]) -> list[bytes]:
    """Return what one side sends: whole frames of any content, then mutated ones."""
    whole = [some(dice, number, usual) for number in range(FRAMES)]
    intact = dice.randrange(FRAMES)
    return [*whole[:intact], *(mutated(frame, dice) for frame in whole[intact:])]


def speak(address: str, port: int, frames: list[bytes], dice: random.Random) -> None:
    """Connect, send, in pieces of any size, and read what comes until the other side is gone."""
    with contextlib.suppress(OSError), socket.create_connection((address, port), timeout=5) as line:
        line.settimeout(5)
        data = b"".join(frames)
        while data:
            size = dice.choice((1, 7, 64, 5000))
            line.sendall(data[:size])
            data = data[size:]
        line.shutdown(socket.SHUT_WR)
        while line.recv(1 << 16):
            pass


def to_driver(trial: Trial) -> str:
    """Return a game that sends such frames in answer to orders."""
    sent = stream(trial.dice, result)
    threads: list[threading.Thread] = []

    def factory(address: str, port: int, nonce: str) -> subprocess.Popen[bytes]:
        hello = p.Hello(p.LIBRARY, ("hostile", "1"), nonce, ("seed",), METRICS, 10)
        first = hello_frame.encode_hello(hello)
        if trial.dice.random() < 0.2:
            first = mutated(first, trial.dice)
        own = random.Random(trial.dice.random())
        threads.append(threading.Thread(target=speak, args=(address, port, [first, *sent], own), daemon=True))
        threads[-1].start()
        return subprocess.Popen(["sleep", "60"], start_new_session=True)

    limits = Timeouts(connect=1.0, handshake=0.5, rollout=1.0)
    start = Start(Path("hostile"), trial.folder, timeouts=limits, factory=factory)
    orders = [p.Rollout(n, 1, n, trial.dice.randrange(3), p.UNIFORM, 0, PREFIX) for n in range(FRAMES)]
    try:
        with ProcessPool(start, queue=4, restarts=Restarts(1, 1)) as pool:
            came = sum(1 for _ in pool.play(orders))
    except InputError as e:
        if e.place is None and "hostile" not in str(e):
            raise Finding(f"refused without a place: {e}") from e
        return "driver: refused"
    finally:
        for thread in threads:
            thread.join(10)
            if thread.is_alive():
                raise Finding("the connection is not closed")
    return f"driver: {came} results"


def to_client(trial: Trial) -> str:
    """Return a driver that sends such frames to a game."""
    sent = [p.json_frame(p.Kind.WELCOME, {"settings": {}, "map": "m"}), *stream(trial.dice, order)]
    if trial.dice.random() < 0.2:
        sent[0] = mutated(sent[0], trial.dice)
    with socket.create_server(("127.0.0.1", 0)) as door:
        address, port = door.getsockname()

        def drive() -> None:
            with contextlib.suppress(OSError), door.accept()[0] as line:
                line.settimeout(5)
                line.sendall(b"".join(sent))
                line.shutdown(socket.SHUT_WR)
                while line.recv(1 << 16):
                    pass

        thread = threading.Thread(target=drive, daemon=True)
        thread.start()
        environ: Mapping[str, str] = launch.variables(address, port, "ab")
        capabilities = ["seed", "lookahead"]
        try:
            client = Client("game", metrics=METRICS, max_decisions=10, capabilities=capabilities, environ=environ)
            try:
                client.run(play)
            finally:
                client.close()
            outcome = "client: played on"
        except InputError:
            outcome = "client: refused"
        thread.join(10)
        if thread.is_alive():
            raise Finding("the client keeps the connection")
        return outcome


def play(client: Client) -> None:
    """A game of four decisions."""
    for turn in range(4):
        client.report_metric("TURN", turn)
        client.select(2)
    client.supply_outcome(1.0)


def run(trial: Trial) -> str:
    """Send frames to one side or the other."""
    side = to_driver if trial.number % 2 else to_client
    trial.what = side.__name__
    return side(trial)


PART = Part("frames", 5_000, "frames", FRAMES, run, lambda: None)
