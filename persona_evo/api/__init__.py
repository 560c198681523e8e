"""The main job in Python: the functions behind the command line, which take names in place of objects.

| module | what it holds |
|---|---|
| naming | levels, personas, policies and players by their names |
| search_rules | settings and budgets of searches |
| evolution | the evolution of a policy |
| checks | checks of your own games, and of levels before they are played |
| formulas | reading formulas, and simplifying those of tree policies |
| frames | playthroughs as rows of tables |
| options | options with their types |
| generating | levels drawn from a seed |
| playtests | functions that play levels, compare two levels, and solve one |
| policies | descriptions, simplification, exports and installation of tree policies |
| personas | states that show what a persona's utility is worth |
| players | personas with their tree policies and baselines, by their names |
| expectations | requirements and pass rates, which are checked before levels are played |
| matches, agent_list | matches between agents of two-player games, and the agents of a game |
| live, latest | a playtest that starts again when a level changes, and the folder that shows it |
| results, comparison | the results of a playtest of levels, or of two versions of one level |
| runs | the results kept in the folders of runs, and figures of them |
| experiments | your own experiments |
| studies | published experiments that can be run again, and how they are found |

Every error that a user can make raises `PersonaEvoError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from persona_evo.api.checks import check_game, check_levels
    from persona_evo.api.comparison import Comparison
    from persona_evo.api.evolution import evolve_policy, resume_evolution
    from persona_evo.api.experiments import experiment
    from persona_evo.api.formulas import parse
    from persona_evo.api.generating import generate_levels
    from persona_evo.api.matches import MatchResults, kept_match, play_match
    from persona_evo.api.naming import (
        load_game,
        load_level,
        load_levels,
        load_persona,
        load_personas,
        load_policy,
        player,
        tree_policy,
    )
    from persona_evo.api.players import make_players
    from persona_evo.api.playtests import compare, plan, playtest_levels, resume_playtest, solve
    from persona_evo.api.policies import describe_policy, export_policy, install_policy, simplify_policy
    from persona_evo.api.results import Results
    from persona_evo.api.runs import compare_playtests, kept_playtest, save_figures
    from persona_evo.api.studies import Reproduction, reproduce, resume_reproduction
    from persona_evo.errors import PersonaEvoError
    from persona_evo.evolve.operators import MutationOperator
    from persona_evo.evolve.outcome import Outcome
    from persona_evo.evolve.selection import SelectionOperator
    from persona_evo.evolve.settings import EvolutionSettings
    from persona_evo.experiments.run import Run, run
    from persona_evo.extensions import register
    from persona_evo.formula import Formula, Operator
    from persona_evo.games.core import Game, Level, Metric
    from persona_evo.games.findings import Finding
    from persona_evo.games.importers import Importer
    from persona_evo.games.python_game import from_class
    from persona_evo.personas import Persona
    from persona_evo.playtest.analysis import Analysis
    from persona_evo.playtest.players import Player
    from persona_evo.report.added_sections import ReportSection
    from persona_evo.search.bounds import Solution
    from persona_evo.search.plan import Plan
    from persona_evo.search.rollouts import RolloutPolicy
    from persona_evo.search.selection_rules import SelectionRule
    from persona_evo.search.settings import Budget, SearchSettings
    from persona_evo.store.policies import Policy

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
    "compare_playtests",
    "describe_policy",
    "evolve_policy",
    "experiment",
    "export_policy",
    "from_class",
    "generate_levels",
    "install_policy",
    "kept_match",
    "kept_playtest",
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
    "simplify_policy",
    "solve",
    "tree_policy",
]

_NAMES = {
    "api.checks": "check_game check_levels",
    "api.evolution": "evolve_policy resume_evolution",
    "api.experiments": "experiment",
    "api.formulas": "parse",
    "api.generating": "generate_levels",
    "api.naming": "load_game load_level load_levels load_persona load_personas load_policy player tree_policy",
    "api.matches": "MatchResults kept_match play_match",
    "api.players": "make_players",
    "api.policies": "describe_policy export_policy install_policy simplify_policy",
    "api.playtests": "compare plan playtest_levels resume_playtest solve",
    "api.comparison": "Comparison",
    "api.results": "Results",
    "api.runs": "compare_playtests kept_playtest save_figures",
    "api.studies": "Reproduction reproduce resume_reproduction",
    "errors": "PersonaEvoError",
    "evolve.operators": "MutationOperator",
    "evolve.outcome": "Outcome",
    "evolve.selection": "SelectionOperator",
    "evolve.settings": "EvolutionSettings",
    "extensions": "register",
    "formula": "Formula Operator",
    "games.core": "Game Level Metric",
    "games.findings": "Finding",
    "games.importers": "Importer",
    "games.python_game": "from_class",
    "personas": "Persona",
    "playtest.analysis": "Analysis",
    "experiments.run": "Run run",
    "playtest.players": "Player",
    "report.added_sections": "ReportSection",
    "search.bounds": "Solution",
    "search.plan": "Plan",
    "search.rollouts": "RolloutPolicy",
    "search.selection_rules": "SelectionRule",
    "search.settings": "Budget SearchSettings",
    "store.policies": "Policy",
}
"""The names above by the modules that define them, which are imported at the first use of a name."""


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in _NAMES.items():
        if name in names.split():
            value = getattr(importlib.import_module(f"persona_evo.{module}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
