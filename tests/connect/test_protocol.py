"""Tests frames and random numbers: what is written can be read again, and nothing else can."""

import json
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from persona_evo.connect import hello_frame
from persona_evo.connect import protocol as p
from persona_evo.connect.incoming import IncomingFrames
from persona_evo.errors import ProtocolError, SettingsError
from persona_evo.seeds import SplitMix64

pytestmark = pytest.mark.quick

U64 = st.integers(0, 2**64 - 1)
PAIRS = st.lists(
    st.integers(1, p.MOST_CHOICES).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))), max_size=40
)
FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@st.composite
def results(draw):
    """Draw a RESULT with traces and metrics of every form."""
    trace = draw(PAIRS)
    columns = draw(st.integers(0, 4))
    rows = draw(st.sampled_from([0, len(trace)])) if columns else 0
    numbers = draw(st.lists(FLOATS, min_size=rows * columns, max_size=rows * columns))
    final = draw(st.lists(FLOATS, min_size=columns, max_size=columns))
    return p.Result(
        draw(U64),
        draw(st.sampled_from([p.OK, p.TRUNCATED, p.EXCEPTION])),
        draw(st.floats(allow_nan=False, allow_infinity=False)),
        p.pack(trace),
        rows,
        columns,
        struct.pack(f"<{len(numbers)}f", *numbers),
        struct.pack(f"<{columns}f", *final),
        draw(U64),
        draw(st.integers(0, 2**32 - 1)),
        draw(st.text(max_size=50)),
    )


def payload(frame, kind):
    """Return what a single frame of a kind carries."""
    ((found, data),) = IncomingFrames().feed(frame)
    assert found == kind
    return data


@given(U64, U64, U64, st.integers(0, 2), st.integers(0, 3), st.integers(0, 2**32 - 1), PAIRS)
def test_rollout_comes_back(id_, game, rollout, flags, mode, policy, pairs):
    order = p.Rollout(id_, game, rollout, flags, mode, policy, p.pack(pairs))
    assert p.decode_rollout(payload(p.encode_rollout(order), p.Kind.ROLLOUT)) == order
    assert p.unpack(order.prefix) == pairs


@given(results())
def test_result_comes_back(result):
    found = p.decode_result(payload(p.encode_result(result), p.Kind.RESULT))
    assert found == result
    assert [found.row(i) for i in range(found.rows)] == [result.row(i) for i in range(result.rows)]


def test_layout_is_the_documents():
    order = p.Rollout(1, 2, 3, 2, 1, 4, p.pack([(5, 6)]))
    assert p.encode_rollout(order) == bytes.fromhex(
        "220000000301000000000000000200000000000000030000000000000002010400000005000600"
    )
    result = p.Result(7, 1, -0.5, p.pack([(0, 2)]), 1, 1, struct.pack("<f", 1.5), struct.pack("<f", 2.0), 9, 10, "é")
    assert p.encode_result(result) == bytes.fromhex(
        "35000000"
        "04"
        "0700000000000000"
        "01"
        "000000000000e0bf"
        "01000000"
        "00000200"
        "01000000"
        "0100"
        "0000c03f"
        "00000040"
        "0900000000000000"
        "0a000000"
        "c3a9"
    )


@given(st.lists(results(), max_size=5), st.lists(st.integers(1, 200), max_size=60))
def test_frames_come_whole_however_they_are_cut(many, cuts):
    stream = b"".join(map(p.encode_result, many))
    reader, found, at = IncomingFrames(), [], 0
    for cut in [*cuts, len(stream)]:
        found += reader.feed(stream[at : at + cut])
        at += cut
    assert [p.decode_result(data) for _, data in found] == many
    assert reader.waiting == 0


@settings(max_examples=300)
@given(st.binary(max_size=300))
def test_no_bytes_do_more_than_be_refused(data):
    for decode in (
        p.decode_result,
        p.decode_rollout,
        hello_frame.decode_hello,
        lambda d: p.decode_json(2, d),
        IncomingFrames().feed,
    ):
        try:
            decode(data)
        except ProtocolError as e:
            assert e.what


@given(results(), st.data())
def test_a_result_cut_short_or_changed_is_refused_or_is_another_result(result, data):
    whole = p.encode_result(result)[5:]
    end = data.draw(st.integers(0, len(whole) - len(result.message.encode()) - 1))
    with pytest.raises(ProtocolError):
        p.decode_result(whole[:end])


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_refused(score):
    result = p.Result(1, 0, score, b"", 0, 0, b"", b"", 0, 0)
    with pytest.raises(ProtocolError, match="score"):
        p.decode_result(p.encode_result(result)[5:])


def test_a_metric_that_is_no_number_is_refused():
    result = p.Result(1, 0, 1.0, b"", 0, 1, b"", struct.pack("<f", math.nan), 0, 0)
    with pytest.raises(ProtocolError, match="metric"):
        p.decode_result(p.encode_result(result)[5:])


def test_large_and_unknown_frames_are_refused_at_their_head():
    reader = IncomingFrames()
    with pytest.raises(ProtocolError, match="too large"):
        reader.feed(struct.pack("<IB", 2**32 - 1, 4))
    assert reader.waiting == 0
    with pytest.raises(ProtocolError, match="unknown type"):
        IncomingFrames().feed(struct.pack("<IB", 0, 13))


@pytest.mark.parametrize("pairs", [[(2, 2)], [(0, 0)], [(0, 0xFFFF)], [(0xFFFF, 0xFFFE)]])
def test_impossible_choices_are_refused(pairs):
    with pytest.raises(ProtocolError):
        p.pack(pairs)


HELLO = p.Hello(p.LIBRARY, ("g", "1"), "00", ("seed",), (p.MetricInfo("hit points", "HP", 0, None),), 9)


def test_hello_comes_back():
    assert hello_frame.decode_hello(payload(hello_frame.encode_hello(HELLO), p.Kind.HELLO)) == HELLO


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("magic", "other"),
        ("protocol", [1]),
        ("protocol", "1.0"),
        ("game", {"name": ""}),
        ("nonce", 5),
        ("capabilities", "seed"),
        ("metrics", [{"symbol": "H P"}]),
        ("metrics", [{"symbol": "A"}, {"symbol": "A"}]),
        ("metrics", [{"symbol": "A", "low": 2, "high": 1}]),
        ("max_decisions", 0),
        ("max_decisions", True),
        ("game", {"name": "x", "version": "y" * 5000}),
        ("game", {"name": "x\ny", "version": ""}),
        ("game", {"name": "x", "version": "\x1b[31m"}),
        ("metrics", [{"symbol": "A", "name": "a\u202eb"}]),
        ("library", "a\x07"),
        ("library", 5),
        ("capabilities", ["seed\n"]),
    ],
)
def test_a_wrong_hello_is_refused(key, value):
    whole = {**json.loads(hello_frame.encode_hello(HELLO)[5:]), key: value}
    with pytest.raises(ProtocolError) as caught:
        hello_frame.decode_hello(json.dumps(whole).encode())
    assert (
        key == "magic"
        or f"'{key}'" in str(caught.value)
        or "at most" in str(caught.value)
        or "two metrics" in str(caught.value)
    )


def test_unknown_members_are_ignored_and_versions_told():
    whole = {**json.loads(hello_frame.encode_hello(HELLO)[5:]), "future": [1, 2]}
    assert hello_frame.decode_hello(json.dumps(whole).encode()) == HELLO
    assert hello_frame.versions_agree((1, 7)) == ""
    assert "update the driver" in hello_frame.versions_agree((2, 0))
    assert "update the library" in hello_frame.versions_agree((0, 9))


def test_splitmix_is_the_published_generator():
    rng = SplitMix64(1234567)
    assert [rng.next() for _ in range(5)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@given(U64, st.integers(1, 2**32))
def test_below_and_unit_stay_within(seed, n):
    assert 0 <= SplitMix64(seed).below(n) < n
    assert 0.0 <= SplitMix64(seed).unit() < 1.0


@given(U64, st.lists(st.floats(0, 1e6), min_size=1, max_size=9).filter(lambda w: sum(w) > 0))
def test_weights_of_nothing_are_never_drawn(seed, weights):
    assert weights[SplitMix64(seed).weighted(weights)] > 0


def test_weights_are_drawn_as_often_as_they_say():
    rng = SplitMix64(5)
    drawn = [rng.weighted([1.0, 0.0, 3.0]) for _ in range(4000)]
    assert 900 < drawn.count(0) < 1100
    assert drawn.count(1) == 0


@pytest.mark.parametrize("weights", [[], [0.0], [-1.0, 2.0], [math.nan], [math.inf], [1e308, 1e308]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(SettingsError):
        SplitMix64(1).weighted(weights)


@given(U64, st.lists(st.integers(), max_size=20))
def test_shuffle_keeps_all(seed, items):
    mixed = list(items)
    SplitMix64(seed).shuffle(mixed)
    assert sorted(mixed) == sorted(items)


def test_hash_is_fnv():
    assert p.hash_of(b"", b"") == 0xCBF29CE484222325
    assert p.hash_of(b"a", b"") == 0xAF63DC4C8601EC8C
    assert p.hash_of(b"foo", b"bar") == 0x85944171F73967E8
