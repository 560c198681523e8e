"""Encodes, decodes and checks HELLO, the frame with which a game introduces itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from persona_evo.connect.protocol import (
    MAGIC,
    MOST_DECISIONS,
    MOST_HELLO,
    SYMBOL,
    VERSION,
    Hello,
    Kind,
    MetricInfo,
    decode_json,
    is_whole,
    json_frame,
)
from persona_evo.errors import ConnectError, Place, ProtocolError, has_control


def encode_hello(hello: Hello) -> bytes:
    """Return a HELLO frame."""
    return json_frame(
        Kind.HELLO,
        {
            "magic": MAGIC,
            "protocol": list(hello.protocol),
            "library": hello.library,
            "game": {"name": hello.game[0], "version": hello.game[1]},
            "nonce": hello.nonce,
            "capabilities": list(hello.capabilities),
            "metrics": [m._asdict() for m in hello.metrics],
            "max_decisions": hello.max_decisions,
        },
    )


def nonce_in(payload: bytes) -> str:
    """Return the nonce of a HELLO without checking the rest; "" if it has none.

    Raises:
        ProtocolError: the payload is not a JSON object, or the nonce is not text.
    """
    nonce = decode_json(Kind.HELLO, payload).get("nonce", "")
    if not isinstance(nonce, str):
        raise _bad("nonce", nonce, "the text of PE_NONCE")
    return nonce


def decode_hello(payload: bytes) -> Hello:
    """Decode the payload of HELLO. It may be of another version of the protocol: see `versions_agree`.

    Raises:
        ProtocolError: it violates PROTOCOL.md.
    """
    if len(payload) > MOST_HELLO:
        raise ProtocolError("HELLO is too large", found=f"{len(payload)} bytes", expected=f"at most {MOST_HELLO}")
    value = decode_json(Kind.HELLO, payload)
    if value.get("magic") != MAGIC:
        raise ProtocolError("this is not a game of this protocol", found=repr(value.get("magic")), expected=repr(MAGIC))
    protocol = value.get("protocol")
    if not (isinstance(protocol, list) and len(protocol) == 2 and all(is_whole(n, 0, 10**6) for n in protocol)):
        raise _bad("protocol", protocol, "[1, 0]")
    if protocol[0] != VERSION[0]:
        nonce = value.get("nonce")
        said = str(value.get("library", "")), nonce if isinstance(nonce, str) else ""
        return Hello(said[0], ("", ""), said[1], (), (), 1, (protocol[0], protocol[1]))
    game = value.get("game")
    if not isinstance(game, dict) or not all(isinstance(game.get(k), str) for k in ("name", "version")):
        raise _bad("game", game, "an object with name and version")
    short = all(len(game[k]) <= 200 and _line(game[k]) for k in ("name", "version"))
    if not game["name"].strip() or not short:
        raise _bad("game", game, "a name and a version of at most 200 characters, on one line each")
    nonce, library = value.get("nonce"), value.get("library", "")
    if not isinstance(nonce, str):
        raise _bad("nonce", nonce, "the text of PE_NONCE")
    if not _line(library):
        raise _bad("library", library, "a text on one line")
    capabilities = value.get("capabilities", [])
    if not isinstance(capabilities, list) or not all(_line(c) for c in capabilities):
        raise _bad("capabilities", capabilities, "a list of texts on one line each")
    most = value.get("max_decisions")
    if not is_whole(most, 1, MOST_DECISIONS):
        raise _bad("max_decisions", most, f"a whole number from 1 to {MOST_DECISIONS}")
    return Hello(
        library,
        (game["name"], game["version"]),
        nonce,
        tuple(capabilities),
        _metrics(value.get("metrics")),
        most,
        (protocol[0], protocol[1]),
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) <= 1e308


def _bad(key: str, value: Any, expected: str) -> ProtocolError:
    shown = repr(value)
    shown = shown if len(shown) <= 100 else shown[:100] + "..."
    return ProtocolError(f"HELLO's {key!r} is not valid", found=shown, expected=expected)


def _metrics(value: Any) -> tuple[MetricInfo, ...]:
    if not isinstance(value, list):
        raise _bad("metrics", value, "a list")
    found: list[MetricInfo] = []
    for m in value:
        symbol = m.get("symbol") if isinstance(m, dict) else None
        if not isinstance(symbol, str) or not SYMBOL.fullmatch(symbol):
            raise _bad("metrics", m, "objects with a symbol of letters, digits and _")
        if symbol in (other.symbol for other in found):
            raise ProtocolError("HELLO has two metrics with the same symbol", found=symbol)
        name, low, high = m.get("name") or symbol, m.get("low"), m.get("high")
        if not _line(name) or not all(b is None or _is_number(b) for b in (low, high)):
            raise _bad("metrics", m, "a text on one line as name, numbers or null as low and high")
        if low is not None and high is not None and low > high:
            raise _bad("metrics", m, "low <= high")
        found.append(MetricInfo(name, symbol, low, high))
    return tuple(found)


def _line(value: Any) -> bool:
    """Return whether a value is text that terminals and tables can show unchanged."""
    return isinstance(value, str) and "\n" not in value and not has_control(value)


def versions_agree(theirs: Sequence[int]) -> str:
    """Return "" if the versions are compatible, otherwise a sentence with both versions and what to update."""
    if theirs[0] == VERSION[0]:
        return ""
    old, ours, other = theirs[0] < VERSION[0], ".".join(map(str, VERSION)), ".".join(map(str, theirs))
    update = "update the library in the game" if old else "update the driver, persona-evo"
    return f"the driver speaks protocol {ours}, the game protocol {other}: {update}"


def check_same_game(known: Hello, hello: Hello, path: str) -> None:
    """Raise an error if a process describes itself differently from the processes before it.

    Args:
        known: the HELLO of the earlier processes.
        hello: the HELLO of this one.
        path: the game's path, for the message.

    Raises:
        ConnectError: name, version, metrics or the maximum number of decisions differ.
    """
    if (known.game, known.metrics, known.max_decisions) != (hello.game, hello.metrics, hello.max_decisions):
        raise ConnectError(
            "two processes of the game report different games",
            place=Place(path),
            found=_described(hello),
            expected=_described(known),
        )


def _described(hello: Hello) -> str:
    return f"{' '.join(hello.game)} with {', '.join(m.symbol for m in hello.metrics)}, {hello.max_decisions} decisions"
