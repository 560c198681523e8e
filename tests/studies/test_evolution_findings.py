"""What the study of evolution says of measurements that are made up, so that it is known beforehand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from persona_evo.evolve.pools import LevelPool
from persona_evo.games.level_text import LevelText
from persona_evo.intervals import score
from persona_evo.studies.evolution import findings, report
from persona_evo.studies.evolution.choices import LINE, PLAIN, SHIPPED, Choices, MethodRun
from persona_evo.studies.evolution.levels import HELD_OUT, TRAINING, Levels
from persona_evo.studies.evolution.measuring import RunMeasurement
from persona_evo.studies.evolution.settings import EVOLUTION, SEEDED, MethodCell, StudySettings, lines
from persona_evo.studies.evolution.stages import ENOUGH, budget_probe, win_probe

WHO = "runner"


def _room(length: int) -> str:
    wall = "X" * (length + 2)
    return f"{wall}\nXH{' ' * (length - 2)}eX\n{wall}\n"


LEVELS = tuple(LevelText(f"level{k}", _room(k + 3), "", ()) for k in range(6))
SETTINGS = replace(
    StudySettings.of(chosen=["single", "planner-300"], personas=[WHO], runs=2), wins=(20,), shipped={WHO: "-NE"}
)
SINGLE, SINGLE_ALONE, PLANNED = (
    MethodCell("single", SEEDED, WHO),
    MethodCell("single", EVOLUTION, WHO),
    MethodCell("planner-300", SEEDED, WHO),
)


def measure(*utilities: float, won: int = 1, trials: int = 1) -> RunMeasurement:
    return RunMeasurement(tuple((u,) * trials for u in utilities), (won,) * len(utilities), {"PE": 1.0})


@pytest.fixture
def choices() -> Choices:
    """Return two runs of each cell, without measurements."""
    pool = LevelPool(LEVELS, (1.0,) * 6)
    levels = Levels({(WHO, HELD_OUT): pool, (WHO, TRAINING): pool}, {})
    runs = {
        cell: [
            MethodRun(cell, n, f"PE - {n}*{cell.method == SEEDED:d}", 10, 1.0, ((10, 0.5, 0.1 * n, "PE"),))
            for n in (1, 2)
        ]
        for cell in SETTINGS.cells()
    }
    return Choices(SETTINGS, levels, runs, {}, {})


def know(c: Choices, cell: MethodCell, values: list[list[float]], other: str, reference: list[float]) -> None:
    """Give a cell's runs and a policy their utilities on the held-out levels."""
    known = dict(c.known)
    for run, row in zip(c.runs[cell], values, strict=True):
        known[c.probe(cell.setting, WHO, run.policy)] = measure(*row)
    text = c.reference(other, cell.setting, WHO)
    assert text is not None
    known[c.probe(cell.setting, WHO, text)] = measure(*reference)
    c.known = known


def best_line(c: Choices, setting: str, best: int) -> None:
    """Measure the lines on the training levels, so that one of them is the best."""
    c._references.clear()
    probes = c.line_probes(setting, WHO)
    c.known = {**c.known, **{p: measure(*[0.9 if k == best else 0.5] * 6) for k, p in enumerate(probes)}}


def test_a_gain_is_the_mean_over_runs_less_the_policy_that_was_chosen_on_training_levels(choices: Choices) -> None:
    assert choices.reference(LINE, "single", WHO) is None
    best_line(choices, "single", 2)
    assert choices.reference(LINE, "single", WHO) == lines()[1][WHO][2]
    know(choices, SINGLE, [[0.8] * 6, [0.9] * 6], LINE, [0.7] * 6)
    found = findings.compared(choices, SINGLE, LINE)
    assert found is not None and (found.mean, found.other, found.runs) == (pytest.approx(0.85), pytest.approx(0.7), 2)
    assert found.gain.value == pytest.approx(0.15) and found.gain.low == pytest.approx(0.1)
    assert found.verdict == "better" and findings.signed(found.gain) == "+.150 (+.100 to +.200)"
    assert findings.compared(choices, SINGLE, PLAIN) is None
    assert findings.nothing_gained(choices) == []


def test_the_effect_size_counts_levels_by_the_mean_of_the_runs(choices: Choices) -> None:
    best_line(choices, "single", 2)
    know(choices, SINGLE, [[0.9, 0.1, 0.5, 0.5, 0.8, 0.4], [0.7, 0.3, 0.5, 0.5, 0.8, 0.2]], LINE, [0.5] * 6)
    found = findings.compared(choices, SINGLE, LINE)
    assert found is not None and found.effect == score((2 + 2 / 2) / 6, 6)
    cells = [cell for row in report.differences(choices, "single", HELD_OUT, "held-out levels").rows for cell in row]
    assert any(cell.endswith(";\u00a050\u00a0%\u00a0(19–81)") for cell in cells), cells


def test_goals_need_all_their_comparisons(choices: Choices) -> None:
    assert [goal.met for goal in findings.goals(choices)] == [None] * 10
    best_line(choices, "single", 0)
    know(choices, SINGLE_ALONE, [[0.7] * 6, [0.7] * 6], LINE, [0.7] * 6)
    know(choices, SINGLE, [[0.8] * 6, [0.8] * 6], LINE, [0.7] * 6)
    know(choices, PLANNED, [[0.6] * 6, [0.8] * 6], SHIPPED, [0.7] * 6)
    met = {goal.text: goal.met for goal in findings.goals(choices)}
    assert [v for k, v in met.items() if k.startswith("single, evolution without seeds")] == [True]
    assert [v for k, v in met.items() if k.startswith("single, evolution with seeds")] == [None]  # no best seed
    assert [v for k, v in met.items() if k.startswith("planner-300: evolved lists")] == [False]
    assert any("not shown to be better than the shipped policy: +.000" in s for s in findings.nothing_gained(choices))


def test_nothing_is_lost_where_the_interval_ends_above_a_small_loss(choices: Choices) -> None:
    def goal() -> bool | None:
        return next(g.met for g in findings.goals(choices) if g.text.startswith("planner-300: nothing lost"))

    for loss, met in ((0.004, True), (0.006, False)):
        shipped = choices.reference(SHIPPED, "planner-300", WHO)
        assert shipped is not None
        texts = {run.policy: 0.9 - loss for run in choices.runs[PLANNED]} | {shipped: 0.9}
        choices.known = {
            budget_probe(choices, "planner-300", WHO, text, ENOUGH): measure(*[u] * 6) for text, u in texts.items()
        }
        assert goal() is met


def test_wins_are_compared_level_by_level(choices: Choices) -> None:
    ucb1 = choices.reference(PLAIN, "planner-300", WHO)
    assert ucb1 is not None and findings.fewer_wins(choices, "planner-300", WHO, 20) is None
    first, second = (win_probe(choices, "planner-300", WHO, run.policy, 20, 2) for run in choices.runs[PLANNED])
    assert (first.trials, first.seeds) == (10, "wins 20")
    won = {first: (10, 10, 7, 10, 0, 10), second: (10, 10, 6, 10, 0, 9)}
    many = {p: replace(measure(*[0.5] * 6, trials=10), won=w) for p, w in won.items()}
    plain = win_probe(choices, "planner-300", WHO, ucb1, 20, 1)
    choices.known = {
        **many,
        plain: replace(measure(*[0.5] * 2, 0.4, *[0.5] * 3, trials=20), won=(20, 3, 20, 20, 0, 20)),
    }
    found = findings.fewer_wins(choices, "planner-300", WHO, 20)
    assert found is not None
    assert [(row.level, row.won, row.trials, row.other) for row in found] == [
        ("level2", 13, 20, 20),
        ("level5", 19, 20, 20),
    ]
    assert found[0].p < findings.RARE < found[1].p
    goal = next(g for g in findings.goals(choices) if "fewer wins" in g.text)
    assert goal.met is False and "runner, level2: 13 of 20, UCB1 20 of 20" in goal.why
    assert "1 pair of level and persona (1 in 20 trials). In 1 of these, the mean utility is higher" in goal.why


def test_a_level_has_fewer_wins_if_new_trials_show_it_again(choices: Choices) -> None:
    choices.settings = replace(choices.settings, wins=(20, 100))
    ucb1 = choices.reference(PLAIN, "planner-300", WHO)
    assert ucb1 is not None

    def goal(won: tuple[int, ...]) -> findings.StudyGoal:
        choices.known = {}
        for trials, of_run in ((20, (1, 10, 10, 10, 10, 10)), (100, won)):
            plain = win_probe(choices, "planner-300", WHO, ucb1, trials, 1)
            choices.known[plain] = replace(measure(*[0.5] * 6, trials=trials), won=(trials,) * 6)
            for run in choices.runs[PLANNED]:
                probe = win_probe(choices, "planner-300", WHO, run.policy, trials, 2)
                choices.known[probe] = replace(measure(*[0.4] * 6, trials=trials // 2), won=of_run)
        return next(g for g in findings.goals(choices) if "fewer wins" in g.text)

    elsewhere, again = goal((50, 5, 50, 50, 50, 50)), goal((5, 50, 50, 50, 50, 50))
    assert elsewhere.met and elsewhere.why == "0 pairs of level and persona (1 in 20 trials and 1 in 100 trials)."
    assert again.met is False and "In 0 of these" in again.why and "runner, level0: 10 of 100" in again.why
