"""What PROTOCOL.md says in numbers is what the code does: frame types, test vectors, and the playthrough in bytes."""

import json
import re
import socket
import struct
import subprocess
import sys

import pytest

from persona_evo.connect import game_frames
from persona_evo.connect import protocol as p
from persona_evo.connect.worker import KNOWN
from persona_evo.errors import ProtocolError
from persona_evo.seeds import SplitMix64
from tests.connect.driving import GAMES
from tests.shared import ROOT

pytestmark = pytest.mark.quick

PAGE = (ROOT / "unity_support" / "PROTOCOL.md").read_text(encoding="utf-8")


def table(head):
    """The rows of the table whose first line begins so, as cells without back quotes around them."""
    lines = PAGE[PAGE.index(f"\n| {head}") + 1 :].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def dumps():
    """The frames that are shown byte by byte."""
    blocks = re.findall(r"```\n((?:[0-9a-f]{4}  .*\n)+)```", PAGE)
    found = []
    for block in blocks:
        lines = block.splitlines()
        data = [bytes.fromhex(line[6:]) for line in lines]
        assert [int(line[:4], 16) for line in lines] == [16 * i for i in range(len(lines))]
        found.append(b"".join(data))
    return found


def test_the_frame_types():
    rows = {int(number): name for number, name, *_ in table("type | name")}
    assert rows == {kind.value: kind.name for kind in p.Kind}


def test_every_capability_is_described():
    named = set(re.findall(r"(?:with the|capability) `(\w+)`", PAGE)) | {
        word for row in table("part | needed") for word in re.findall(r"capability `(\w+)`", row[1])
    }
    assert named == set(KNOWN)


def test_the_random_numbers():
    drawn = 0
    for seed, what, values in table("seed | drawn"):
        rng, expected = SplitMix64(int(seed)), re.findall(r"`([^`]+)`", values)
        if what == "`next()`":
            got = [f"{rng.next():016X}" for _ in expected]
        elif what.startswith("`below(n)`"):
            got = [str(rng.below(int(n))) for n in re.findall(r"\d+", what)]
        elif what == "`unit()`":
            got = [repr(rng.unit()) for _ in expected]
        elif what.startswith("by the weights"):
            weights = [float(w) for w in re.findall(r"\d+", what)]
            got = [str(rng.weighted(weights)) for _ in expected]
        else:
            items = re.findall(r"\d+", what)
            rng.shuffle(items)
            got = items
        assert got == expected, what
        drawn += len(got)
    assert drawn > 30


def test_the_state_hash():
    rows = table("bytes (hexadecimal)")
    assert len(rows) == 4
    for shown, value in rows:
        data = b"" if shown == "none" else bytes.fromhex(re.match(r"`([0-9a-f ]+)`", shown)[1])
        assert f"{p.hash_of(data, b''):016X}" == value.strip("`")


def test_the_playthrough_is_what_the_driver_sends_and_reads():
    order, answer = dumps()
    expected = p.Rollout(1, 5, 9, p.ALL_METRICS, p.UNIFORM, 0, p.pack([(1, 3), (2, 3)]))
    assert order == p.encode_rollout(expected) and p.decode_rollout(order[5:]) == expected
    result = p.decode_result(answer[5:])
    assert p.encode_result(result) == answer
    assert (result.id, result.status, result.score, result.microseconds) == (1, p.OK, 27.0, 0)
    assert [choice for choice, _ in p.unpack(result.trace)] == [1, 2, 2, 2, 0, 2]
    assert [result.row(i)[0] for i in range(6)] == [0, 7, 10, 14, 15, 23] and result.last() == (27.0, 0.0)
    assert result.hash == p.hash_of(result.trace, result.final)


def test_the_playthrough_is_what_a_game_answers():
    order, answer = dumps()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        port = listener.getsockname()[1]
        told = {"PE_ADDR": "127.0.0.1", "PE_PORT": str(port), "PE_NONCE": "n", "PE_SETTINGS": "{}"}
        with subprocess.Popen([sys.executable, GAMES / "by_the_book.py"], env=told) as process:
            driver, _ = listener.accept()
            with driver, driver.makefile("rb") as stream:
                size, kind = struct.unpack("<IB", stream.read(5))
                assert kind == p.Kind.HELLO and json.loads(stream.read(size))["nonce"] == "n"
                welcome = {"protocol": [1, 0], "settings": {}, "variant": "", "map": ""}
                driver.sendall(p.json_frame(p.Kind.WELCOME, welcome) + order)
                assert stream.read(len(answer)) == answer
                driver.sendall(p.frame(p.Kind.BYE))
            assert process.wait(20) == 0


def test_restore_is_a_rollout_with_two_numbers_more():
    order = p.Rollout(7, 1, 2, p.FINAL_METRICS, p.WEIGHTS, 0, p.pack([(1, 3), (2, 3)]), 5, 1, 6)
    frame = p.encode_rollout(order)
    plain = p.encode_rollout(order._replace(restore=0, depth=0, snapshot=0))
    assert frame == p.frame(p.Kind.RESTORE, struct.pack("<QIQ", 5, 1, 6) + plain[5:])
    assert game_frames.decode_restore(frame[5:]) == order
    for wrong in (frame[5:20], p.encode_rollout(order._replace(depth=3))[5:]):
        with pytest.raises(ProtocolError):
            game_frames.decode_restore(wrong)


def test_long_ids_of_questions_are_texts():
    limit = int(re.search(r"a number up to (\d+)", PAGE)[1])
    assert limit == 2**53 - 1
    for number in (0, limit, limit + 1, 2**64 - 1):
        written = game_frames.json_id(number)
        assert isinstance(written, str) == (number > limit)
        assert game_frames.read_id(written) == game_frames.read_id(number) == game_frames.read_id(str(number)) == number
    for wrong in (-1, 1.5, True, None, "", "x", "-1", "1.0", str(2**64), 2**64):
        assert game_frames.read_id(wrong) is None
