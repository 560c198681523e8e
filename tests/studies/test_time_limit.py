"""The time for a study's command covers its report."""

from __future__ import annotations

import time

import pytest

from persona_evo.studies import time_limit


def test_time_for_the_report_is_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "slowness", lambda: 2.0)
    began = time.monotonic()
    end = time_limit.deadline(1000.0, 9.0)
    assert end is not None
    assert began + 1000 - 2 * (time_limit.STARTED + 9) - 5 <= end <= time.monotonic() + 1000 - 2 * 9
    assert time_limit.deadline(None, 9.0) is None
    assert time_limit.deadline(1.0, 100.0) <= time.monotonic(), "no time for anything but the report"  # type: ignore[operator]


def test_a_processor_is_never_faster_than_the_clock() -> None:
    assert time_limit.slowness() >= 1.0
