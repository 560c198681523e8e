"""Tests that the code agrees with PROTOCOL.md: frame types, test vectors, and the playthrough in bytes."""

import contextlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import sys

import pytest

from persona_evo.connect import description_file, game_frames
from persona_evo.connect import protocol as p
from persona_evo.connect.doctor import examine
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.pictures import decode_picture, encode_picture, size_of_png
from persona_evo.connect.priors import prior_order
from persona_evo.connect.session import Session
from persona_evo.connect.worker import KNOWN
from persona_evo.errors import ConnectError, ProtocolError
from persona_evo.seeds import SplitMix64
from tests.connect.driving import GAMES
from tests.shared import ROOT

pytestmark = pytest.mark.quick

NODE = ("node", str(GAMES / "by_the_book.js"))
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed (apt-get install nodejs)")
GAMES_BY_THE_BOOK = [
    pytest.param((sys.executable, str(GAMES / "by_the_book.py")), id="python"),
    pytest.param(NODE, id="node", marks=needs_node),
]
"""Games that were written from the page alone."""

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
        elif what.startswith("the order of the weights"):
            got = [str(choice) for choice in prior_order([float(w) for w in re.findall(r"\d+", what)], int(seed))]
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
    order, answer, _ = dumps()
    expected = p.Rollout(1, 5, 9, p.ALL_METRICS, p.UNIFORM, 0, p.pack([(1, 3), (2, 3)]))
    assert order == p.encode_rollout(expected) and p.decode_rollout(order[5:]) == expected
    result = p.decode_result(answer[5:])
    assert p.encode_result(result) == answer
    assert (result.id, result.status, result.score, result.microseconds) == (1, p.OK, 27.0, 0)
    assert [choice for choice, _ in p.unpack(result.trace)] == [1, 2, 2, 2, 0, 2]
    assert [result.row(i)[0] for i in range(6)] == [0, 7, 10, 14, 15, 23] and result.last() == (27.0, 0.0)
    assert result.hash == p.hash_of(result.trace, result.final)


@contextlib.contextmanager
def playing(*command):
    """A game that was started by bare sockets: what it sends is read from, and what is sent is written to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(20)
        port = listener.getsockname()[1]
        told = {"PE_ADDR": "127.0.0.1", "PE_PORT": str(port), "PE_NONCE": "n", "PE_SETTINGS": "{}"}
        with subprocess.Popen(command, env={**os.environ, **told}) as process:
            driver, _ = listener.accept()
            driver.settimeout(20)
            with driver, driver.makefile("rb") as stream:
                kind, payload = received(stream)
                assert kind == p.Kind.HELLO and json.loads(payload)["nonce"] == "n"
                welcome = {"protocol": [1, 0], "settings": {}, "variant": "", "map": ""}
                driver.sendall(p.json_frame(p.Kind.WELCOME, welcome))
                yield driver, stream
                driver.sendall(p.frame(p.Kind.BYE))
            assert process.wait(20) == 0


def received(stream):
    """The next frame: type and payload."""
    size, kind = struct.unpack("<IB", stream.read(5))
    return kind, stream.read(size)


@pytest.mark.parametrize("command", GAMES_BY_THE_BOOK)
def test_the_playthrough_is_what_a_game_answers(command):
    order, answer, _ = dumps()
    with playing(*command) as (driver, stream):
        driver.sendall(order)
        assert stream.read(len(answer)) == answer


@needs_node
def test_pictures_come_before_the_same_result():
    order, answer, last = dumps()
    picture = decode_picture(last[5:])
    assert encode_picture(picture) == last and (picture.id, picture.depth, size_of_png(picture.png)) == (1, 6, (1, 1))
    with_pictures = p.encode_rollout(p.decode_rollout(order[5:])._replace(flags=p.ALL_METRICS | p.PICTURES))
    with playing(*NODE) as (driver, stream):
        driver.sendall(with_pictures)
        came = [received(stream) for _ in range(7)]
        assert [(kind, decode_picture(payload).depth) for kind, payload in came] == [(12, i) for i in range(7)]
        assert came[6][1] == last[5:] and len({payload[12:] for _, payload in came}) == 7
        assert stream.read(len(answer)) == answer


@needs_node
def test_a_game_asks_with_the_exact_id_of_any_rollout():
    with playing(*NODE) as (driver, stream):
        for number in (7, 2**53 - 1, 2**53, 2**64 - 1):
            driver.sendall(p.encode_rollout(p.Rollout(number, 5, 9, p.NO_METRICS, p.ASK, 0, p.pack([(1, 3)] * 4))))
            for depth in (4, 5):
                kind, payload = received(stream)
                asked = json.loads(payload)
                assert kind == p.Kind.DECIDE and asked["depth"] == depth
                assert asked["id"] == game_frames.json_id(number) and game_frames.read_id(asked["id"]) == number
                driver.sendall(p.frame(p.Kind.PING, b"still there"))
                assert received(stream) == (p.Kind.PING, b"still there")
                driver.sendall(p.json_frame(p.Kind.CHOICE, {"id": asked["id"], "choice": 2}))
            kind, payload = received(stream)
            result = p.decode_result(payload)
            assert kind == p.Kind.RESULT and result.id == number
            assert [choice for choice, _ in p.unpack(result.trace)] == [1, 1, 1, 1, 2, 2]


@needs_node
def test_the_doctor_finds_nothing_wrong_with_a_game_in_node(tmp_path):
    file = tmp_path / "book.toml"
    starter = tmp_path / "book.sh"
    starter.write_text(f"#!/bin/sh\nexec node '{NODE[1]}'\n", encoding="utf-8")
    starter.chmod(0o755)
    top = 'game = "book.sh"\nlogs = "logs"\nrollout = "policy"\npolicy = "SUM - 3 * ZERO"\n[variants.double]\n'
    file.write_text(top, encoding="utf-8")
    session = Session(description_file.read(file))
    try:
        for level in (LevelName("", "", 3), LevelName("", "double", 3)):
            report = examine(session, level, rollouts=50)
            assert report.faults == []
            assert any(note.startswith("save-states") for note in report.notes)
        with pytest.raises(ConnectError, match="the variant is 'triple', expected double or none"):
            session.play(LevelName("", "triple", 5), b"")
    finally:
        session.close()


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
