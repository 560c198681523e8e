"""A game that was written from PROTOCOL.md alone: the standard library, the PE_* variables, and all modes but ask.

Six turns of three choices, each worth what the game seed gives it. Metrics: SUM, and ZERO, the turns that gave nothing.
The variant `double` counts twice; of a variant that it does not know it says so and ends.
"""

import json
import math
import os
import socket
import struct
import sys

MASK, LIMIT = 2**64 - 1, 1e300
SEARCH = ("R", "N", "P", "D", "RMAX", "RSD")


class Random:
    """SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32


def limit(x):
    """Return a number within the range of formulas."""
    return min(max(x, -LIMIT), LIMIT)


OPERATIONS = {
    "+": (2, lambda a, b: limit(a + b)),
    "-": (2, lambda a, b: limit(a - b)),
    "*": (2, lambda a, b: limit(a * b)),
    "/": (2, lambda a, b: limit(a / b) if b else 1.0),
    "neg": (1, lambda a: -a),
    "abs": (1, abs),
    "sqrt": (1, lambda a: math.sqrt(abs(a))),
    "log": (1, lambda a: math.log(abs(a)) if a else 0.0),
    "exp": (1, lambda a: limit(math.exp(min(max(a, -700.0), 700.0)))),
    "min": (2, min),
    "max": (2, max),
    ">": (2, lambda a, b: float(a > b)),
    ">=": (2, lambda a, b: float(a >= b)),
    "<": (2, lambda a, b: float(a < b)),
    "<=": (2, lambda a, b: float(a <= b)),
    "if": (3, lambda c, a, b: a if c > 0 else b),
}


def value(code, variables):
    """What a formula in postfix is worth; KeyError for a symbol that is none."""
    stack = []
    for token in code:
        if isinstance(token, str) and token in OPERATIONS:
            arity, function = OPERATIONS[token]
            operands = [stack.pop() for _ in range(arity)][::-1]
            stack.append(function(*operands))
        else:
            stack.append(limit(float(token) if not isinstance(token, str) else variables[token]))
    (result,) = stack
    return result


class Refused(Exception):
    """The game cannot be played like that."""


class State:
    """A game under way."""

    def __init__(self, seed, factor):
        luck = Random(seed)
        self.worth = [[luck.below(10) for _ in range(3)] for _ in range(6)]
        self.factor, self.turn, self.sum, self.zero = factor, 0, 0, 0

    def copy(self):
        other = State.__new__(State)
        other.__dict__.update(self.__dict__)
        return other

    def make(self, choice):
        gain = self.worth[self.turn][choice] * self.factor
        self.sum, self.zero, self.turn = self.sum + gain, self.zero + (gain == 0), self.turn + 1

    def metrics(self):
        return float(self.sum), float(self.zero)


class Game:
    """One connection to the driver, with nothing but the protocol page behind it."""

    def __init__(self, environment):
        self.given = json.loads(environment["PE_SETTINGS"])
        self.policies = {}
        self.socket = socket.create_connection((environment["PE_ADDR"], int(environment["PE_PORT"])))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(
            1,
            json.dumps(
                {
                    "magic": "persona-evo",
                    "protocol": [1, 0],
                    "library": "none 1",
                    "nonce": environment["PE_NONCE"],
                    "game": {"name": "by the book", "version": "1"},
                    "capabilities": ["seed", "maps", "lookahead"],
                    "metrics": [{"name": s, "symbol": s, "low": 0, "high": None} for s in ("SUM", "ZERO")],
                    "max_decisions": 6,
                }
            ).encode(),
        )

    def send(self, kind, payload):
        self.socket.sendall(struct.pack("<IB", len(payload), kind) + payload)

    def exactly(self, size):
        data = b""
        while len(data) < size:
            more = self.socket.recv(size - len(data))
            if not more:
                sys.exit(0)
            data += more
        return data

    def serve(self):
        while True:
            size, kind = struct.unpack("<IB", self.exactly(5))
            payload = self.exactly(size)
            if kind == 2:
                self.welcome(json.loads(payload))
            elif kind == 3:
                self.rollout(payload)
            elif kind == 5:
                self.policy(json.loads(payload))
            elif kind == 8:
                self.send(8, payload)
            elif kind == 9:
                sys.exit(str(payload))
            elif kind == 10:
                return

    def welcome(self, said):
        settings = self.given if said["settings"] is None else said["settings"]
        variant = settings.get("variant", "") if said["variant"] is None else said["variant"]
        self.factor = {"": 1, "double": 2}.get(variant)
        if self.factor is None:
            message = f"the variant is {variant!r}, expected double or none"
            self.send(9, json.dumps({"code": "exception", "message": message, "fatal": True}).encode())

    def policy(self, said):
        try:
            value(said["code"], dict.fromkeys((*SEARCH, "SUM", "ZERO"), 0.0))
            self.policies[said["id"]] = said["code"]
        except (KeyError, IndexError, ValueError) as e:
            message = f"no formula over the metrics: {e!r}"
            self.send(9, json.dumps({"code": "policy", "message": message, "fatal": False}).encode())

    def rollout(self, payload):
        number, seed, luck, flags, mode, policy = struct.unpack_from("<QQQBBI", payload)
        prefix = list(struct.iter_unpack("<HH", payload[30:]))
        state, random = State(seed, self.factor), Random(luck)
        trace, rows, status, message = [], b"", 0, b""
        if mode == 2 and policy not in self.policies:
            status, message = 3, b"there is no such policy"
        while status == 0 and state.turn < 6:
            rows += struct.pack("<2f", *state.metrics())
            if len(trace) < len(prefix):
                choice, count = prefix[len(trace)]
                status = 0 if count == 3 else 2
            elif mode == 2:
                choice = max(range(3), key=lambda c: self.score(state, c, self.policies[policy]))
            else:
                choice = random.below(3)
            trace.append((choice, 3))
            if status == 0:
                state.make(choice)
        self.result(number, status, state, trace, rows, flags, message)

    def score(self, state, choice, code):
        after = state.copy()
        after.make(choice)
        known = {**dict.fromkeys(SEARCH, 0.0), "D": after.turn}
        return value(code, {**known, **dict(zip(("SUM", "ZERO"), after.metrics(), strict=True))})

    def result(self, number, status, state, trace, rows, flags, message):
        pairs = b"".join(struct.pack("<HH", *pair) for pair in trace)
        final = struct.pack("<2f", *state.metrics()) if flags else b""
        rows = rows if flags == 2 else b""
        hashed = 0xCBF29CE484222325
        for byte in pairs + final:
            hashed = ((hashed ^ byte) * 0x100000001B3) & MASK
        self.send(
            4,
            b"".join(
                (
                    struct.pack("<QBdI", number, status, state.sum if status < 2 else 0.0, len(trace)),
                    pairs,
                    struct.pack("<IH", len(rows) // 8, 2 if flags else 0),
                    rows,
                    final,
                    struct.pack("<QI", hashed, 0),
                    message,
                )
            ),
        )


if __name__ == "__main__":
    Game(os.environ).serve()
