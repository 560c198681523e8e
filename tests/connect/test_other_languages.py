"""Tests the protocol in another language: a small game in C follows it and draws the same random numbers."""

import shutil

import pytest

from persona_evo.connect import protocol as p
from persona_evo.connect.description_file import read
from persona_evo.connect.doctor import examine
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.session import Session
from persona_evo.seeds import SplitMix64
from tests.benchmarks.transport import build, measure
from tests.connect.driving import none_left

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")


def test_a_game_in_c_plays_what_it_should(tmp_path):
    program = build(tmp_path)
    file = tmp_path / "fast.toml"
    file.write_text(f'game = "{program.name}"\narguments = ["7", "3"]\nlogs = "logs"\n', encoding="utf-8")
    session = Session(read(file))
    try:
        prefix = p.pack([(1, 2 + SplitMix64(5).below(4))])
        result = session.play(LevelName("", "", 5), prefix, 9)
        own, choices = SplitMix64(5), SplitMix64(9)
        counts = [2 + own.below(4) for _ in range(7)]
        assert p.unpack(result.trace) == [(1, counts[0]), *((choices.below(n), n) for n in counts[1:])]
        assert result.score == sum(choice for choice, _ in p.unpack(result.trace))
        assert result.row(2)[1] == result.row(2)[0] + 2
        report = examine(session, LevelName(), rollouts=100)
        assert report.faults == [] and report.rollouts == 100 and report.decisions == 7
    finally:
        session.close()
    assert none_left(tmp_path)


def test_the_benchmark_has_a_row_for_each_queue():
    rows = measure(quick=True)
    measured = [row for row in rows if row.ratio is not None]
    assert len(measured) >= 3 and {row.reach for row in measured[:3]} == {"10,000/s"}
    assert all(row.ratio > 0.01 for row in measured)
