"""Automated playtesting with personas.

The whole main job in a few lines (everything is loaded when it is first used):

    import persona_evo as pe

    killer = pe.load_persona("monster_killer")
    run = pe.evolve_policy(
        killer,
        ["train01", "train02"],
        generations=5,
        population=40,
        iterations=1000,
        seed=1,
        progress=lambda p: print(f"generation {p.generation + 1}/{p.target}, {p.eta:.0f} s to go"),
    )
    policy = pe.load_policy(run.policy)
    print(policy.best)
    players = [pe.player(killer, policy), pe.player(killer, "ucb1")]
    results = pe.playtest_levels("test01", players, trials=20, iterations=1000, seed=1)
    print(results)
    results.write("runs/report")

The names below are those of `persona_evo.api`, where they are explained (`persona_evo.evolve` and
`persona_evo.playtest` are packages, hence the longer names of two functions).
"""

from __future__ import annotations

from persona_evo.version import __version__ as __version__

TYPE_CHECKING = False  # stands for typing.TYPE_CHECKING: importing typing would delay start and Ctrl-C of commands

if TYPE_CHECKING:
    from typing import Any

    from persona_evo.api import (
        Analysis,
        Budget,
        Comparison,
        EvolutionSettings,
        Finding,
        Formula,
        Game,
        Importer,
        Level,
        MatchResults,
        Metric,
        MutationOperator,
        Operator,
        Outcome,
        Persona,
        PersonaEvoError,
        Plan,
        Player,
        Policy,
        ReportSection,
        Reproduction,
        Results,
        RolloutPolicy,
        Run,
        SearchSettings,
        SelectionOperator,
        SelectionRule,
        Solution,
        check_game,
        check_levels,
        compare,
        evolve_policy,
        experiment,
        from_class,
        generate_levels,
        kept_match,
        load_game,
        load_level,
        load_levels,
        load_persona,
        load_personas,
        load_policy,
        make_players,
        parse,
        plan,
        play_match,
        player,
        playtest_levels,
        register,
        reproduce,
        resume_evolution,
        resume_playtest,
        resume_reproduction,
        run,
        save_figures,
        solve,
    )

__all__ = [
    "Analysis",
    "Budget",
    "Comparison",
    "EvolutionSettings",
    "Finding",
    "Formula",
    "Game",
    "Importer",
    "Level",
    "MatchResults",
    "Metric",
    "MutationOperator",
    "Operator",
    "Outcome",
    "Persona",
    "PersonaEvoError",
    "Plan",
    "Player",
    "Policy",
    "ReportSection",
    "Reproduction",
    "Results",
    "RolloutPolicy",
    "Run",
    "SearchSettings",
    "SelectionOperator",
    "SelectionRule",
    "Solution",
    "check_game",
    "check_levels",
    "compare",
    "evolve_policy",
    "experiment",
    "from_class",
    "generate_levels",
    "kept_match",
    "load_game",
    "load_level",
    "load_levels",
    "load_persona",
    "load_personas",
    "load_policy",
    "make_players",
    "parse",
    "plan",
    "play_match",
    "player",
    "playtest_levels",
    "register",
    "reproduce",
    "resume_evolution",
    "resume_playtest",
    "resume_reproduction",
    "run",
    "save_figures",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module("persona_evo.api"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
