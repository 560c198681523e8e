"""Tests evolution and playtests of a two-player game: opponents, sides, and that everything can be repeated."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from persona_evo.agents.agent_files import load_agents
from persona_evo.agents.duel import Duel, League, budget_for, seen_from
from persona_evo.cli.main import main
from persona_evo.errors import PolicyError, RunError, SettingsError
from persona_evo.evolve import reopening
from persona_evo.evolve.driving import FINISHED
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec, spec_from_dict, spec_to_dict
from persona_evo.evolve.outcome import Outcome
from persona_evo.evolve.playthroughs import FitnessTrial, play
from persona_evo.evolve.records import Request
from persona_evo.evolve.run import resume
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.start import usual
from persona_evo.games import registry
from persona_evo.games.core import LOST, WON
from persona_evo.jobs.workers import Workers
from persona_evo.matches import names
from persona_evo.personas import load
from persona_evo.playtest import batch
from persona_evo.playtest.players import Player
from persona_evo.report import replay
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.store import policies, policy_library, runs
from tests.evolve.evolving import evolve
from tests.shared import unsealed

GAME = registry.get("colosseum")
DUELIST = load("duelist", GAME)
LEVELS = [GAME.load("random 5", f"size{n}", size=n) for n in (5, 6)]
LEAGUE = names.league(GAME, "", opponents=["random", "two_ply"])
BUDGET = Budget(iterations=15)
SPEC = FitnessSpec.of("colosseum", LEVELS, DUELIST.utility, SearchSettings(), BUDGET, "WIN", LEAGUE)
SMALL = EvolutionSettings.of(
    "modern",
    population=6,
    islands=2,
    generations=3,
    final_trials=2,
    final_candidates=2,
    reevaluations=2,
    first=("ucb1",),
    **usual(GAME),
)


def evolved(root: Path, jobs: int = 1, **more: Any) -> Outcome:
    given = {"settings": SMALL, "seed": 4, "budget": BUDGET, "league": LEAGUE, **more}
    return evolve(GAME, DUELIST, LEVELS, root=root, name="run", jobs=jobs, **given)


def journal(folder: Path) -> list[dict[str, Any]]:
    return [runs.comparable(row) for row in runs.read_journal(folder)]


def test_a_game_is_seen_from_the_side_that_the_policy_plays() -> None:
    duel = Duel(GAME, LEVELS[0], LEAGUE.agent, LEAGUE.opponents[0])
    policy = TreePolicy.of("R + sqrt(log(P) / N)", GAME)
    for side in (0, 1):
        found = duel.plan(DUELIST.utility, policy, Budget(iterations=60), 11, side)
        end = GAME.replay(LEVELS[0], found.actions, seed=11)[-1]
        assert GAME.measure(LEVELS[0], end, side) == found.metrics
        assert found.utility == pytest.approx(found.metrics["WIN"] + 0.3 * found.metrics["MG"])
        assert found.outcome == seen_from(side, GAME.over(LEVELS[0], end))
        assert {WON: 1.0, LOST: 0.0}.get(found.outcome, 0.5) == found.metrics["WIN"]
        moves = len(found.actions[side::2])
        assert 0 < found.iterations <= 60 * moves
        again = duel.plan(DUELIST.utility, policy, Budget(iterations=60), 11, side)
        assert replace(again, seconds=0.0) == replace(found, seconds=0.0)


def test_cases_are_pairs_of_levels_and_opponents_and_sides_alternate(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SPEC.cases == ("size5 random", "size5 two_ply", "size6 random", "size6 two_ply")
    seen: list[FitnessTrial] = []

    def watch(shared: tuple[FitnessSpec, Any], trials: list[FitnessTrial]) -> Any:
        for trial in trials:
            seen.append(trial)
            yield from play(shared, [trial])

    monkeypatch.setattr("persona_evo.evolve.fitness.play", watch)
    plan = tuple((10 + case, 20 + case, 30 + case) for case in range(4))
    with Workers(1) as workers:
        scores = Fitness(SPEC, workers).scores([Request("R", plan), Request("TE - OTE", plan)])
    ours, theirs = ([p for p in seen if p.formula == formula] for formula in ("R", "TE - OTE"))
    assert sorted((p.case, p.seed, p.side) for p in ours)[:6] == [
        (0, 10, 0),
        (0, 20, 1),
        (0, 30, 0),
        (1, 11, 1),
        (1, 21, 0),
        (1, 31, 1),
    ]
    assert len(seen) == 24 and [p[1:] for p in ours] == [p[1:] for p in theirs]
    first = [next(play((SPEC, None), [p])) for p in ours if p.case == 0]
    assert scores[0][0].priority == pytest.approx(sum(s.priority for s in first if s is not None) / 3)


def test_a_specification_survives_its_file_and_opponents_get_the_budget() -> None:
    again = spec_from_dict("colosseum", "WIN", json.loads(json.dumps(spec_to_dict(SPEC))))
    assert again == SPEC
    spec = FitnessSpec.of(
        "colosseum",
        LEVELS,
        DUELIST.utility,
        SearchSettings(),
        BUDGET,
        "WIN",
        names.league(GAME, "", opponents=["uct_walls", "killer_moves:iterations=7"]),
    )
    assert spec.league is not None
    assert [(o.iterations, o.seconds) for o in spec.league.opponents] == [(15, None), (15, None)]


@pytest.mark.usefixtures("unsimplified")
def test_an_evolution_is_the_same_on_two_cores_and_resumed_and_its_policy_is_an_agent(tmp_path: Path) -> None:
    whole = evolved(tmp_path / "one")
    rows = journal(whole.folder)
    assert whole.status == FINISHED and len(rows) == 6
    part = evolved(tmp_path / "part", settings=replace(SMALL, generations=1))
    assert resume(part.folder, generations=3, jobs=2).status == FINISHED
    assert journal(part.folder) == rows

    assert whole.policy is not None
    policy = policies.read(whole.policy)
    assert list(policy.fitness) == list(SPEC.cases) and policy.levels == ("size5", "size6")
    assert policy.agent["variant"] == "killers" and policy.run["opponents"] == ["random", "two_ply"]
    for word in (str(whole.policy), str(whole.folder), f"{whole.policy}:iterations=9"):
        found = names.agent(GAME, word)
        assert (found.policy, found.variant) == (policy.best, "killers")
    assert found.iterations == 9 and found.name == "policy:iterations=9"
    assert (
        main(
            [
                "match",
                "colosseum",
                str(whole.policy),
                "random",
                "--size",
                "5",
                "--games",
                "2",
                "--swap",
                "--iterations",
                "10",
                "--jobs",
                "1",
                "--seed",
                "1",
            ]
        )
        == 0
    )


def test_a_run_with_another_league_than_its_checkpoint_is_refused(tmp_path: Path) -> None:
    run = evolved(tmp_path, settings=replace(SMALL, generations=1)).folder
    path = run / runs.CONFIG
    good = unsealed(path)
    path.write_text(good.replace('"greedy"', '"gredy"'))
    with pytest.raises(RunError, match=r"config\.json:\d+(.|\n)*gredy"):
        reopening.spec_of(run, "colosseum")
    path.write_text(good.replace('"two_ply"', '"three_ply"'))
    with pytest.raises(RunError, match="another configuration"):
        resume(run, generations=2)


def test_who_cannot_be_in_a_league(tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text("class StudentAgent:\n    def step(self, *a): return (0, 0), 0\n")
    for words, message in (
        (["nosuch"], "no such agent"),
        (["uct", "uct"], "same name"),
        ([str(program)], "a program cannot be"),
    ):
        with pytest.raises(SettingsError, match=message):
            names.league(GAME, "", opponents=words)
    with pytest.raises(SettingsError, match="no tree policy"):
        names.league(GAME, "", template="two_ply")
    with pytest.raises(SettingsError, match="for two-player games"):
        LEAGUE.check(registry.get("minidungeons2"))
    with pytest.raises(SettingsError, match="needs opponents"):
        evolved(tmp_path, league=None)
    with pytest.raises(SettingsError, match="agents that play move by move have search settings"):
        evolved(tmp_path, search=SearchSettings.anytime())
    with pytest.raises(SettingsError, match="needs opponents"):
        batch.playtest(GAME, LEVELS, [Player(DUELIST, TreePolicy.ucb1())], 1, seed=1)
    bad = tmp_path / "agents.toml"
    bad.write_text('league = "uct"\n[evolver]\nkind = "random"\n')
    with pytest.raises(SettingsError, match=r"agents\.toml:1.*not a list of agents"):
        names.league(replace(GAME, agents=str(bad)), "")


def test_a_game_without_a_league_has_its_random_player_and_the_template() -> None:
    found = names.league(replace(GAME, agents=""), "WIN")
    assert [o.name for o in found.opponents] == ["random", "evolver"] and found.agent.utility == "WIN"
    known = load_agents(Path(GAME.agents), GAME)
    shipped = names.league(GAME, "WIN")
    assert shipped.agent == known["evolver"] and set(o.name for o in shipped.opponents) <= set(known)


def test_the_evolved_player_that_ships_is_the_policy_that_ships() -> None:
    by_name, by_policy = names.agent(GAME, "evolved"), names.agent(GAME, "duelist")
    policy = policy_library.find("duelist", GAME.name)
    assert by_name.policy == by_policy.policy == policy.best and policy.persona == "duelist"
    for field in ("utility", "answer", "search", "variant", "kind"):
        assert getattr(by_name, field) == getattr(by_policy, field) == getattr(names.evolver(GAME), field)


def test_a_policy_without_an_agent_plays_in_the_games_template(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    policies.write(policies.Policy("mine", "colosseum", formula="R + 0.1*sqrt(log(P) / N)"), path)
    assert names.agent(GAME, str(path)) == replace(
        names.evolver(GAME), name="mine", policy="R + 0.1*sqrt(log(P) / N)", about="policy mine (anyone)"
    )
    policies.write(policies.Policy("mine", "colosseum", formula="R", agent={"name": "x", "variant": "no"}), path)
    with pytest.raises(PolicyError, match=r"mine\.json.*its agent"):
        names.agent(GAME, str(path))


def test_a_playtest_for_two_meets_everybody_from_both_sides_and_goes_on(tmp_path: Path) -> None:
    players = [Player(DUELIST, TreePolicy.ucb1())]
    given: dict[str, Any] = {"seed": 5, "budget": BUDGET, "league": LEAGUE}
    whole = batch.playtest(GAME, LEVELS, players, 5, folder=tmp_path / "p", **given)
    assert len(whole.records) == 10 and not any(r.positions for r in whole.records)
    duels = [Duel(GAME, LEVELS[0], LEAGUE.agent, o.with_budget(15, None)) for o in LEAGUE.opponents]
    for r in whole.records[:5]:
        plan = duels[r.trial // 2 % 2].plan(DUELIST.utility, players[0].policy, BUDGET, r.seed, r.trial % 2)
        assert (plan.utility, len(plan.actions)) == (r.utility, r.steps)
        level = next(v for v in LEVELS if v.name == r.level)
        assert len(list(replay.states(GAME, level, r))) == r.steps + 1, "seen from either side"
    lost = [r for r in whole.records if r.lost]
    assert all(r.metrics["WIN"] == 0.0 and r.cause in ("random", "two_ply") for r in lost)
    lines = (tmp_path / "p" / "traces.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "p" / "traces.jsonl").write_text("".join(lines[:4]))
    again = batch.resume(tmp_path / "p", jobs=2)
    assert again.league == LEAGUE.with_budget(BUDGET)
    assert [replace(r, seconds=0.0) for r in again.records] == [replace(r, seconds=0.0) for r in whole.records]


def test_commands_say_what_does_not_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    for words, message in (
        (["evolve", "--persona", "runner", "--league", "uct"], "--league is for two-player games"),
        (
            ["evolve", "--persona", "duelist", "--game", "colosseum", "--search", "paper", "--levels", "random06"],
            "agents that play move by move have search settings",
        ),
        (["evolve", "--persona", "duelist", "--game", "colosseum", "--agent", "random"], "no tree policy"),
        (
            [
                "playtest",
                "random06",
                "--game",
                "colosseum",
                "--personas",
                "duelist",
                "--policy",
                "ucb1",
                "--search",
                "paper",
            ],
            "agents that play move by move have search settings",
        ),
    ):
        assert main(words) != 0
        err = capsys.readouterr().err
        assert message in err and "Traceback" not in err


def test_a_league_is_plain_data_in_both_directions() -> None:
    assert League.from_dict(json.loads(json.dumps(LEAGUE.to_dict())), GAME) == LEAGUE
    for values in ({}, {"agent": {}, "opponents": []}, {**LEAGUE.to_dict(), "opponents": [3]}):
        with pytest.raises(SettingsError):
            League.from_dict(values, GAME)


def test_a_budget_that_nobody_asked_for_is_that_of_the_agents_move() -> None:
    assert budget_for(None, None, LEAGUE) == LEAGUE.agent.budget != Budget()
    assert budget_for(None, None) == Budget(10_000)
    assert budget_for(7, None, LEAGUE) == Budget(7) and budget_for(None, 0.5, LEAGUE) == Budget(None, 0.5)
