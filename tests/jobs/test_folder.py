"""Folders of jobs: what is said where a folder holds another job."""

from __future__ import annotations

from typing import Any

import pytest

from persona_evo.jobs.folder import differences

pytestmark = pytest.mark.quick

A, B = {"name": "a", "size": 1, "by": {"seed": 1}}, {"name": "b", "size": 1}


@pytest.mark.parametrize(
    ("known", "ours", "expected"),
    [
        ({"trials": 3}, {"trials": 3}, None),
        ({"trials": 3}, {"trials": 4}, ("other trials 3", "trials 4")),
        ({"levels": [A, B]}, {"levels": [A]}, ("other levels a, b", "levels a")),
        ({"levels": [A, B]}, {"levels": [{**A, "size": 2}, B]}, ("other levels a: size 1", "levels a: size 2")),
        (
            {"levels": [A, B]},
            {"levels": [{**one, "size": 2} for one in (A, B)]},
            ("other levels size 1", "levels size 2"),
        ),
        (
            {"levels": [A, B]},
            {"levels": [{**A, "size": 2}, {**B, "size": 3}]},
            ("other levels a: size 1, other levels b: size 1", "levels a: size 2, levels b: size 3"),
        ),
    ],
)
def test_differences_name_what_is_other_and_where(
    known: dict[str, Any], ours: dict[str, Any], expected: tuple[str, str] | None
) -> None:
    assert differences(known, ours) == expected
