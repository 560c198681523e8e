"""The main job in Python: the functions behind the command line, with names instead of objects where that is easier.

Wherever a level is asked for, its name, file or set does; a persona can be its name, abbreviation or file; a tree
policy "evolved", "paper", "ucb1", a policy's name, its file, a run's folder, or "formula:..." (see `tree_policy`).
Everything raises `PersonaEvoError` for what a user can get wrong.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from persona_evo.errors import PersonaEvoError, PolicyError, SettingsError
from persona_evo.evolve import run as runs_of_evolution
from persona_evo.evolve.run import Outcome
from persona_evo.evolve.run import Progress as Generation
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.start import usual
from persona_evo.formula import Formula, parse
from persona_evo.formula.guards import guards
from persona_evo.games import mapsets, registry
from persona_evo.games.commands import command
from persona_evo.games.core import Game, Level, closing_outside
from persona_evo.personas import Persona, load, named, resolve
from persona_evo.playtest import batch, require
from persona_evo.playtest import bounds as limits
from persona_evo.playtest.analysis import Analysis, analyse
from persona_evo.playtest.batch import Player
from persona_evo.playtest.compare import Row, compare_levels, headlines
from persona_evo.playtest.experiment import course as course_of_experiment
from persona_evo.playtest.experiment.one import Run, run
from persona_evo.playtest.match import names
from persona_evo.playtest.reproduce import course
from persona_evo.playtest.reproduce import published as publications
from persona_evo.playtest.reproduce import settings as reproductions
from persona_evo.playtest.reproduce.course import Material
from persona_evo.search.agents import Agent
from persona_evo.search.bounds import Solution
from persona_evo.search.bounds import solve as solve_level
from persona_evo.search.duel import League, budget_for
from persona_evo.search.plan import Plan, planner_for
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import fresh
from persona_evo.store import policies, runs
from persona_evo.store.policies import Policy
from persona_evo.words import counted, listed

if TYPE_CHECKING:
    from persona_evo.report.written import Report

__all__ = [
    "Analysis",
    "Budget",
    "Comparison",
    "EvolutionSettings",
    "Formula",
    "Game",
    "Level",
    "Outcome",
    "Persona",
    "PersonaEvoError",
    "Plan",
    "Player",
    "Policy",
    "Reproduction",
    "Results",
    "Run",
    "SearchSettings",
    "Solution",
    "compare",
    "evolve_policy",
    "experiment",
    "load_game",
    "load_level",
    "load_levels",
    "load_persona",
    "load_personas",
    "load_policy",
    "parse",
    "plan",
    "player",
    "playtest_levels",
    "reproduce",
    "resume_evolution",
    "resume_reproduction",
    "run",
    "solve",
    "tree_policy",
]

LevelLike: TypeAlias = str | Path | Level
LevelsLike: TypeAlias = LevelLike | Sequence[LevelLike]
PersonaLike: TypeAlias = str | Path | Persona
PolicyLike: TypeAlias = str | Path | Policy | TreePolicy | Formula
PlayersLike: TypeAlias = PersonaLike | Player | Sequence[PersonaLike | Player]

FORMULA = "formula:"
"""Start of a policy that is given as its formula."""


@dataclass
class Results(batch.Results):
    """A playtest's playthroughs with everything that is computed from them; printed, its summary and findings.

    command: the command line that made it, "" where none did.
    """

    command: str = ""

    @cached_property
    def analysis(self) -> Analysis:
        """Summaries, comparisons, findings and correlations."""
        return self.check()

    def check(self, *requirements: str) -> Analysis:
        """The analysis with requirements such as "runner.win_rate >= 0.95" held against it.

        Raises:
            SettingsError: a requirement cannot be read, or names what does not exist.
        """
        return analyse(
            self.game, self.levels, self.records, baselines=self.baselines, priorities=self.priorities,
            utilities={p.label: p.persona.utility for p in self.players}, bounds=self.bounds,
            requirements=require.parse_all(requirements) if requirements else (),
        )  # fmt: skip

    @property
    def facts(self) -> dict[str, str]:
        """How the playtest was made, by name, for people."""
        from persona_evo.evolve.winner import versions

        limit = ", ".join(f"{v:g} {k}" for k, v in self.budget.to_dict().items() if v is not None)
        protected = guards(p.policy.formula for p in self.players if p.policy.formula and not p.agent)
        return {
            **({"command": self.command} if self.command else {}),
            "seed": str(self.seed),
            "budget": f"{limit} a {'playthrough' if self.league is None else 'move'}",
            **({} if self.league is None else {
                "agent": ", ".join(self.movers),
                **({"opponents": ", ".join(o.name for o in self.league.opponents)} if self.league.opponents else {}),
            }),
            "search": listed(self.settings.to_dict()),
            "trials": f"{self.trials} of each player in each level",
            **{p.label: p.text for p in self.players},
            **({"formulas": protected} if protected else {}),
            "versions": ", ".join(f"{k} {v}" for k, v in versions(self.game).items()),
            "reproducible": "yes" if self.budget.reproducible else "no, the budget is one of time",
        }

    def write(
        self,
        folder: str | Path,
        *,
        analysis: Analysis | None = None,
        pictures: bool = True,
        replays: bool = True,
        progress: Callable[[str], None] | None = None,
    ) -> Path:
        """Write traces, tables, pictures and the page into a folder; the page's path.

        Args:
            analysis: one made by `check`, so that the page shows its requirements.
            pictures, replays: heatmaps and charts, animated replays.
        """
        from persona_evo.playtest import records
        from persona_evo.report import folder as report
        from persona_evo.report import page

        analysis, target = analysis or self.analysis, Path(folder)
        title = "Playtest of " + ", ".join(level.name for level in self.levels[:4])
        title += f" and {counted(len(self.levels) - 4, 'more level')}" if len(self.levels) > 4 else ""
        target.mkdir(parents=True, exist_ok=True)
        if pictures:
            return report.write(
                target, self.game, self.levels, analysis, title=title, facts=self.facts, replays=replays,
                progress=progress,
            ).page  # fmt: skip
        records.write(target / "traces.jsonl", analysis.records)
        report.write_tables(target, analysis)
        shown = page.Page(
            title, summaries=analysis.summaries, infos=analysis.infos, standings=analysis.standings,
            findings=analysis.findings, checks=analysis.checks, baseline=analysis.baseline, players=analysis.players,
            correlations=analysis.correlations, facts=self.facts,
        )  # fmt: skip
        return page.write(shown, target / "index.html")

    def __str__(self) -> str:
        from persona_evo.report.text import summary_text

        return summary_text(self.analysis)


@dataclass(frozen=True)
class Comparison:
    """Two versions of a level: rows for each player and measure, and what is worth saying; printed, the latter."""

    a: Level
    b: Level
    results: Results
    rows: Sequence[Row]

    @property
    def sentences(self) -> list[str]:
        """What differs, in words, then the win rates that do not."""
        return headlines(self.rows)

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def load_game(name: str = registry.DEFAULT) -> Game:
    """The game called `name`, or at "module:object"."""
    return registry.get(name)


def load_levels(*names: str | Path, game: str | Game = registry.DEFAULT, **options: Any) -> list[Level]:
    """Levels by file, folder, pattern, name or set; `options` go to the game's loader (rules="paper")."""
    of = _game(game)
    return mapsets.resolve(of, [str(n) for n in names], level_options(of, options))


def load_level(name: str | Path, game: str | Game = registry.DEFAULT, **options: Any) -> Level:
    """One level.

    Raises:
        SettingsError: the name stands for several.
    """
    found = load_levels(name, game=game, **options)
    if len(found) != 1:
        raise SettingsError("this names several levels", found=f"{name}: {len(found)} levels", expected="one level")
    return found[0]


def load_persona(name: str | Path, game: str | Game | None = None) -> Persona:
    """A persona by name, abbreviation or TOML file."""
    return load(name, game)


def load_personas(*names: str, game: str | Game = registry.DEFAULT) -> list[Persona]:
    """Several personas; "all" stands for the four of the paper."""
    return resolve(names, _game(game))


def load_policy(name: str | Path, game: str = registry.DEFAULT) -> Policy:
    """A policy by name or file, or the final one of a run's folder.

    Raises:
        PolicyError: there is none.
    """
    path = Path(name)
    if path.is_dir() and (path / runs.CONFIG).is_file():
        final = runs.policy_of(path)
        if final is None:
            raise PolicyError(
                "the run has no policy yet", found=str(path), hint=f"finish it: persona-evo evolve --resume {path}"
            )
        path = final
    if path.is_file():
        return policies.find(path, game)
    return policies.find(str(name), game)


def tree_policy(policy: PolicyLike, persona: Persona, game: Game) -> TreePolicy:
    """The tree policy that a persona plays by.

    Args:
        policy: an object; or "ucb1", "ucb1:C" with another constant; "evolved", the policy called like the persona;
            "paper", the paper's for it; "formula:TEXT"; or what `load_policy` takes.

    Raises:
        PolicyError, FormulaError, SettingsError: there is none, or it is damaged.
    """
    if isinstance(policy, TreePolicy):
        return policy
    if isinstance(policy, Formula):
        return TreePolicy.of(policy, game)
    if isinstance(policy, Policy):
        return policy.tree_policy(game)
    text = str(policy)
    if text == "ucb1":
        return TreePolicy.ucb1()
    if text.startswith("ucb1:"):
        return TreePolicy.ucb1(_constant(text.removeprefix("ucb1:")))
    if text.startswith(FORMULA):
        return TreePolicy.of(text.removeprefix(FORMULA), game)
    if text in ("evolved", "paper"):
        name = persona.name if text == "evolved" else f"paper_{persona.name}"
        try:
            return policies.find(name, game.name).tree_policy(game)
        except PolicyError as e:
            if e.what != "no such policy":
                raise
            way = f"evolve one: {command(game, 'evolve', '--persona', named(persona))}; or play with --policy ucb1"
            raise PolicyError(
                f"there is no {text} policy for {persona.name}", found=e.found, expected=e.expected, hint=way
            ) from e
    return load_policy(policy, game.name).tree_policy(game)


def player(
    persona: PersonaLike, policy: PolicyLike | Agent = "evolved", label: str = "", baseline: str = ""
) -> Player:
    """A persona with its tree policy, or with the agent that plays for it.

    label: the persona's name if not given, and with UCB1 the persona's name followed by "/ucb1". baseline: label of the
    player it is compared with.
    """
    who = persona if isinstance(persona, Persona) else load(persona)
    game = registry.get(who.game)
    if isinstance(policy, Agent):
        return Player.of_agent(who, policy, game, label or f"{who.name}/{policy.name}", baseline)
    chosen = tree_policy(policy, who, game)
    if not label and chosen.kind == "ucb1":
        label = f"{who.name}/ucb1"
    return Player(who, chosen, label, baseline)


def evolve_policy(
    persona: PersonaLike,
    levels: LevelsLike = "train",
    *,
    preset: str = "modern",
    seed: int | None = None,
    iterations: int | None = None,
    seconds: float | None = None,
    jobs: int = -1,
    out: str | Path = "runs",
    duration: float | None = None,
    progress: Callable[[Generation], None] | None = None,
    league: Sequence[str] = (),
    agent: str = "",
    **settings: Any,
) -> Outcome:
    """Evolve a tree policy for a persona and keep the run in a folder below `out`.

    Args:
        preset: "modern" or "paper"; `settings` change single values, such as generations or population.
        iterations, seconds: of the search in each playthrough; 10,000 iterations if neither is given, or what the agent
            has for a move.
        jobs: cores, -1 for all; without influence on the result.
        duration: seconds after which no new generation is begun.
        league: in games for two, whom the policies play against (see `playtest.match.names`); the game's own if there
            are none.
        agent: who plays with the policies, move by move; iterations and seconds are those of a move then. Without one
            games for one are planned whole, and games for two have the game's template.

    Returns:
        The outcome; `load_policy(outcome.policy)` is what was found.
    """
    who = persona if isinstance(persona, Persona) else load(persona)
    game = registry.get(who.game)
    meeting = _league(game, who, league, agent)
    chosen = EvolutionSettings.of(preset, **{**usual(game, meeting), **settings})
    best, _ = runs_of_evolution.evolve_runs(
        game, who, _levels(game, levels), chosen, fresh() if seed is None else seed, root=Path(out),
        budget=budget_for(iterations, seconds, meeting), jobs=jobs, progress=progress, deadline=_deadline(duration),
        game_name=who.game, league=meeting,
    )  # fmt: skip
    return best


def _league(game: Game, persona: Persona, words: Sequence[str], agent: str = "") -> League | None:
    """Who plays move by move, None in games for one without an agent."""
    if game.players > 1 or agent:
        return names.league(game, persona.utility.text, agent, words)
    if words:
        raise SettingsError("a league is for games for two", found=f"{game.name}, for one")
    return None


def resume_evolution(
    folder: str | Path,
    *,
    generations: int | None = None,
    jobs: int = -1,
    duration: float | None = None,
    progress: Callable[[Generation], None] | None = None,
) -> Outcome:
    """Continue an evolution where it stopped, or add generations to a finished one."""
    return runs_of_evolution.resume(
        Path(folder), generations=generations, jobs=jobs, deadline=_deadline(duration), progress=progress
    )


def plan(
    level: LevelLike,
    persona: PersonaLike,
    policy: PolicyLike = "evolved",
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    search: str | SearchSettings = "anytime",
    seed: int = 0,
) -> Plan:
    """One playthrough of a level: the best plan that a search finds."""
    who = persona if isinstance(persona, Persona) else load(persona)
    game = registry.get(who.game)
    budget = budget_for(iterations, seconds)
    planner = planner_for(game, _levels(game, level)[0], _search(search), batch.room(budget))
    with closing_outside(game):
        found: Plan = planner.plan(who.utility, tree_policy(policy, who, game), budget, seed)
    return found


def playtest_levels(
    levels: LevelsLike,
    players: PlayersLike = "all",
    *,
    trials: int = 50,
    iterations: int | None = None,
    seconds: float | None = None,
    search: str | SearchSettings = "anytime",
    seed: int | None = None,
    jobs: int = -1,
    folder: str | Path | None = None,
    bound_seconds: float = 0.0,
    progress: batch.Tell | None = None,
    league: Sequence[str] = (),
    agent: str = "",
) -> Results:
    """Let players play levels many times.

    Args:
        players: made by `player`, or personas, which then play by their evolved policies; "all" for the paper's four.
        iterations, seconds: of the search in each playthrough; 10,000 iterations if neither is given, or what the agent
            has for a move.
        folder: where playthroughs are kept as they are made; the same call continues a batch that was stopped.
        bound_seconds: time to look for the best possible utility of each persona in each level; 0 not to.
        league, agent: as for `evolve_policy`.
    """
    chosen = _players(players)
    game = registry.get(chosen[0].persona.game) if chosen else load_game()
    loaded = _levels(game, levels)
    target = Path(folder) if folder is not None else None
    meeting = _league(game, chosen[0].persona, league, agent) if chosen else None
    played = batch.playtest(
        game, loaded, chosen, trials, seed=fresh() if seed is None else seed,
        budget=budget_for(iterations, seconds, meeting),
        settings=_search(search), jobs=jobs, folder=target, progress=progress,
        game_name=chosen[0].persona.game if chosen else None,
        league=meeting,
    )  # fmt: skip
    results = as_results(played)
    if bound_seconds > 0:
        add_bounds(results, bound_seconds, jobs)
    return results


def compare(
    a: LevelLike, b: LevelLike, players: PlayersLike = "all", *, trials: int = 50, **options: Any
) -> Comparison:
    """Play two versions of a level and say what differs (options as for `playtest_levels`)."""
    chosen = _players(players)
    game = registry.get(chosen[0].persona.game) if chosen else load_game()
    both = _levels(game, [a, b])
    if len(both) != 2:
        raise SettingsError("a comparison needs two levels", found=f"{len(both)}", expected="two different files")
    return compared(playtest_levels(both, chosen, trials=trials, **options))


def solve(level: LevelLike, persona: PersonaLike, *, seconds: float = 10.0) -> Solution:
    """The best plan that can be found for a persona in a level, and whether it is proven to be the best."""
    who = persona if isinstance(persona, Persona) else load(persona)
    game = registry.get(who.game)
    (chosen,) = _levels(game, level)[:1]
    limits.warm_up(game, chosen)
    return solve_level(game, chosen, who.utility, seconds=seconds)


def experiment(
    file: str | Path,
    folder: str | Path,
    *,
    replicates: int | None = None,
    rollouts: int | None = None,
    jobs: int = 1,
    progress: Callable[[course_of_experiment.Progress], None] | None = None,
) -> Report:
    """Make the searches of an experiment's TOML file and write the page; the same call goes on after any stop.

    Args:
        file: see `persona_evo.playtest.experiment.reading`. folder: for everything.
        replicates, rollouts: instead of what the file says.
        jobs: cores, for games that are played in this program; without influence on the result.
        progress: told now and then.

    Raises:
        KeyboardInterrupt: Ctrl-C; what was made up to then is kept.
    """
    from persona_evo.playtest.experiment import reading
    from persona_evo.report import experiment as report

    design = reading.read(Path(file)).smaller(replicates, rollouts)
    results = course_of_experiment.conduct(design, Path(folder), jobs=jobs, progress=progress)
    if not results.complete:
        raise KeyboardInterrupt
    return report.write(results, Path(folder))


@dataclass(frozen=True)
class Reproduction:
    """A published experiment, run again: everything that was evolved and played, the page, and a summary."""

    material: Material
    page: Path
    text: str

    def __str__(self) -> str:
        return self.text


def reproduce(
    study: str = "minidungeons",
    protocol: str = "paper",
    levels: str | Path | None = None,
    *,
    folder: str | Path | None = None,
    jobs: int = -1,
    backend: str = "loky",
    duration: float | None = None,
    progress: Callable[[course.Progress], None] | None = None,
    drawing: Callable[[str], None] | None = None,
    **settings: Any,
) -> Reproduction:
    """Run a published experiment again and write a report on it; the same call goes on after any stop.

    Args:
        study: "minidungeons".
        protocol: "paper" or "modern".
        levels: a folder with the publication's maps; without it levels of the project stand in.
        folder: for everything; `reproduction-<study>-<protocol>` if not given.
        jobs, backend: of `playtest_levels`; without influence on the result.
        duration: seconds; evolutions share what the playtests leave of it.
        progress: told how far everything is. drawing: told what is being drawn.
        settings: quick, cross, seed, runs, trials, generations, population, iterations, playtest_iterations,
            bound_seconds (see `playtest.reproduce.settings`).
    """
    chosen = reproductions.Settings.of(study, protocol, **settings)
    published = publications.load(study)
    loaded = reproductions.levels_for(published, registry.get(published.game), levels)
    target = Path(folder) if folder is not None else Path(f"reproduction-{study}-{protocol}")
    return _reproduce(target, chosen, loaded, jobs, backend, duration, progress, drawing)


def resume_reproduction(
    folder: str | Path,
    *,
    jobs: int = -1,
    backend: str = "loky",
    duration: float | None = None,
    progress: Callable[[course.Progress], None] | None = None,
    drawing: Callable[[str], None] | None = None,
) -> Reproduction:
    """Continue a reproduction with nothing but its folder (arguments as for `reproduce`)."""
    settings, levels = reproductions.reopen(Path(folder))
    return _reproduce(Path(folder), settings, levels, jobs, backend, duration, progress, drawing)


def _reproduce(
    folder: Path, settings: reproductions.Settings, levels: Sequence[Level], jobs: int, backend: str,
    duration: float | None, progress: course.Tell | None, drawing: Callable[[str], None] | None,
) -> Reproduction:  # fmt: skip
    from persona_evo.report import reproduction as report

    material = course.Course(
        folder, settings, levels, jobs=jobs, backend=backend, seconds=duration, tell=progress
    ).run(halfway=lambda so_far: report.write(so_far, drawing))
    written = report.write(material, drawing)
    return Reproduction(material, written.page, written.text)


def as_results(played: batch.Results) -> Results:
    """A batch's results with the analysis beside them."""
    return Results(**{name: getattr(played, name) for name in batch.Results.__dataclass_fields__})


def add_bounds(
    results: Results, seconds: float, jobs: int = -1, progress: limits.Tell | None = None, game_name: str | None = None
) -> None:
    """Look for the best possible utility of each persona in each level, and keep what is found beside the results."""
    results.bounds = limits.bounds(
        results.game, results.levels, [p.persona for p in results.players], results.records, seconds=seconds,
        jobs=jobs, folder=results.folder, progress=progress, game_name=game_name,
    )  # fmt: skip


def compared(results: Results) -> Comparison:
    """The comparison of the two levels of a playtest."""
    a, b = results.levels
    names = (a.name, b.name)
    groups = [[r for r in results.records if r.level == name] for name in names]
    return Comparison(a, b, results, compare_levels(groups[0], groups[1], results.game.metrics, names))


def level_options(game: Game, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options for the game's loader, checked.

    Raises:
        SettingsError: the loader does not take one of them.
    """
    import inspect

    from persona_evo.errors import unknown

    parameters = inspect.signature(game.load).parameters.values()
    known = [p.name for p in parameters if p.kind == p.KEYWORD_ONLY]
    for name in options:
        if name not in known and not any(p.kind == p.VAR_KEYWORD for p in parameters):
            expected, hint = unknown(name, known)
            raise SettingsError(
                f"{game.title} has no such option for levels", found=name, expected=expected, hint=hint
            )
    return dict(options)


def _game(game: str | Game) -> Game:
    return registry.get(game) if isinstance(game, str) else game


def _levels(game: Game, levels: LevelsLike) -> list[Level]:
    named = [levels] if isinstance(levels, (str, Path, Level)) else list(levels)
    found: list[Level] = []
    waiting: list[str] = []
    for level in [*named, None]:
        if isinstance(level, (str, Path)):
            waiting.append(str(level))
            continue
        if waiting:
            found += mapsets.resolve(game, waiting)
            waiting = []
        if level is not None:
            found.append(level)
    return found


def _players(players: PlayersLike) -> list[Player]:
    named = [players] if isinstance(players, (str, Path, Persona, Player)) else list(players)
    found: list[Player] = []
    for one in named:
        if isinstance(one, Player):
            found.append(one)
        else:
            several = [one] if isinstance(one, Persona) else resolve([str(one)])
            found += [Player(p, tree_policy("evolved", p, registry.get(p.game))) for p in several]
    return found


def _search(search: str | SearchSettings) -> SearchSettings:
    return search if isinstance(search, SearchSettings) else SearchSettings.preset(search)


def _constant(text: str) -> float:
    try:
        return float(text)
    except ValueError as e:
        raise SettingsError("UCB1's constant is no number", found=text, expected="ucb1:C such as ucb1:0.7") from e


def _deadline(duration: float | None) -> float | None:
    return None if duration is None else time.monotonic() + duration
