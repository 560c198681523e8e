"""A connected game that misbehaves in the way its first argument names; without one it is a small sound game.

The sound game: four decisions of two choices, the score is the number they make in binary.
"""

import contextlib
import os
import secrets
import signal
import socket
import struct
import subprocess
import sys
import time
import zlib

from persona_evo.connect import protocol as p
from persona_evo.connect.client import Client
from persona_evo.errors import ConnectError

DEPTH = 4
FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
PLAYED, HELD = [], []


def swapped(number):
    """Return a number whose four bytes are in the wrong order."""
    return struct.unpack(">f", struct.pack("<f", number))[0]


def play(client):
    """Play one rollout, with the fault if it belongs to the play."""
    made = []
    if FAULT == "rots" and os.path.exists(sys.argv[0] + ".rotten"):
        os.kill(os.getpid(), signal.SIGKILL)
    for turn in range(DEPTH):
        client.report_metric("TURN", turn if FAULT != "swapped" else swapped(turn))
        count = 2 + secrets.randbelow(3) if FAULT == "chance" and turn == 2 else 2
        made.append(client.select(count))
        if made == [1, 0]:
            if FAULT == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            elif FAULT in ("once", "tardy") and not os.path.exists(sys.argv[0] + ".died"):
                open(sys.argv[0] + ".died", "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            elif FAULT == "raise_once" and not os.path.exists(sys.argv[0] + ".died"):
                open(sys.argv[0] + ".died", "w").close()
                raise ValueError("no such room")
            elif FAULT == "stop":
                os.kill(0, signal.SIGSTOP)
            elif FAULT == "raise":
                raise ValueError("no such room \x1b[31m\nbehind the\u202e door")
            elif FAULT == "hang":
                time.sleep(1000)
    if FAULT == "slow":
        time.sleep(0.002 * (zlib.crc32(bytes([*made, int(os.environ["PE_WORKER"])])) % 5))
    if FAULT in ("tardy", "forks"):
        time.sleep(0.1 if FAULT == "tardy" else 5.0)
    PLAYED.append(made)
    if FAULT == "leaks":
        HELD.append(bytearray(os.urandom(2**17)))
    if FAULT == "tired" and len(PLAYED) == 25:
        os.kill(os.getpid(), signal.SIGKILL)
    if FAULT == "rots" and len(PLAYED) == 9:
        open(sys.argv[0] + ".rotten", "w").close()
    client.report_metric("TURN", DEPTH if FAULT != "noise" else secrets.randbelow(1000))
    luck = secrets.randbelow(1000) if FAULT == "score" else 0
    if FAULT == "swapped":
        client.report_metric("TURN", swapped(DEPTH))
    if FAULT in ("vast", "small"):
        luck = 1e13 if FAULT == "vast" else 0
        made = [bit * (1e-4 if FAULT == "small" else 1) for bit in made]
    client.supply_outcome(luck + sum(bit * 2**i for i, bit in enumerate(reversed(made))))


def answer(client, order, score):
    """Return the frame of a correct result for an order."""
    return p.encode_result(p.Result(order.id, p.OK, score, order.prefix, 0, 1, b"", struct.pack("<f", 1), 0, 0))


def raw(client):
    """Answers by hand, for what the library would not send."""
    while True:
        order = client._next_order()._replace(flags=p.FINAL_METRICS)
        send = client._driver._socket.sendall
        if FAULT in ("pings", "trickle"):
            while True:
                send(p.frame(p.Kind.PING, b"") * (1000 if FAULT == "pings" else 1))
                time.sleep(0.001 if FAULT == "trickle" else 0.0)
        if FAULT == "strangers":
            while True:
                send(answer(client, order._replace(id=12345), 1.0))
        if FAULT == "half":
            send(answer(client, order, 1.0)[:20])
            return
        if FAULT == "huge":
            send(struct.pack("<IB", 0xFFFFFFFF, p.Kind.RESULT) + b"x" * 100)
        elif FAULT == "garbage":
            send(bytes(range(255, 0, -1)) * 10)
        elif FAULT == "nan":
            send(answer(client, order, float("nan")))
        elif FAULT == "error":
            send(p.json_frame(p.Kind.ERROR, {"code": "exception", "message": "no map\nof \x1b[31m", "fatal": True}))
        elif FAULT == "error_garbage":
            send(p.frame(p.Kind.ERROR, b"[" * 4000))
        elif FAULT == "mute":
            time.sleep(1000)
        elif FAULT == "foreign":
            send(answer(client, order._replace(prefix=p.pack([(0, 7)])), 1.0))
        elif FAULT == "twice":
            one = order._replace(prefix=order.prefix or b"")
            send(answer(client, one._replace(id=2**63), 9.0))
            rows = len(one.prefix) // 4
            whole = p.encode_result(
                p.Result(one.id, p.OK, 2.0, one.prefix, rows, 1, bytes(4 * rows), struct.pack("<f", 1), 0, 0)
            )
            send(whole + whole)


def main():
    """Start the game, with the fault if it belongs to the start or the connection."""
    if FAULT == "exit":
        print("the licence has run out")
        sys.exit(3)
    if FAULT == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if FAULT == "tardy" and os.path.exists(sys.argv[0] + ".died"):
        time.sleep(1.5)
    if FAULT == "nowhere":
        time.sleep(1000)
    if FAULT == "child":
        subprocess.Popen(
            [
                sys.executable,
                "-c",
                "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)",
                sys.argv[0],
            ]
        )
    env = dict(os.environ)
    if FAULT.startswith("daemon"):
        sleeper = "import os, signal, sys, time; signal.signal(15, signal.SIG_IGN); os.setsid(); time.sleep(1000)"
        subprocess.Popen([sys.executable, "-c", sleeper, sys.argv[0]], close_fds=True)
        if FAULT == "daemon_stop":
            time.sleep(0.5)
            os.kill(0, signal.SIGSTOP)
    if FAULT == "forks":
        for _ in range(4):
            if os.fork() == 0:
                held = bytearray(os.urandom(2**20)) * 60
                time.sleep(1000)
                sys.exit(len(held))
    if FAULT in ("silent", "noise_first"):
        s = socket.create_connection((env["PE_ADDR"], int(env["PE_PORT"])))
        if FAULT == "noise_first":
            s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while s.recv(1000):
            pass
        sys.exit(4)
    if FAULT == "nonce":
        env["PE_NONCE"] = "0" * 64
    if FAULT == "stranger":
        with contextlib.suppress(ConnectError):
            Client("stranger", environ={**env, "PE_NONCE": "f" * 64}, metrics=["TURN"])
        socket.create_connection((env["PE_ADDR"], int(env["PE_PORT"]))).sendall(b"\0" * 30)
    if FAULT == "version":
        p.VERSION = (2, 0)
        p.Hello.__new__.__defaults__ = ((2, 0),)
    if FAULT == "ranges":
        p.MetricInfo.__new__.__defaults__ = (0.0, 2.0)
    name = p.MetricInfo("red \x1b[31m", "TURN") if FAULT == "red" else p.MetricInfo("TURN", "TURN")
    client = Client("faulty", metrics=[name], max_decisions=10, capabilities=["seed"], environ=env)
    by_hand = ("pings", "trickle", "strangers", "half", "huge", "garbage", "nan", "mute", "foreign", "twice", "error")
    by_hand += ("error_garbage",)
    raw(client) if FAULT in by_hand else client.run(play)


if __name__ == "__main__":
    sys.exit(main())
