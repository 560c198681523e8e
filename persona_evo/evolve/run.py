"""A run from its first generation to its policy: the evolution, its folder on disk, deadlines and Ctrl-C."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum
from pathlib import Path
from typing import Any

from persona_evo.agents.duel import League
from persona_evo.agents.skill import skill_from_dict
from persona_evo.errors import ConnectError, SettingsError
from persona_evo.evolve import genome, reopening, sampled
from persona_evo.evolve import winner as winners
from persona_evo.evolve.comparison import Comparing
from persona_evo.evolve.driving import DEADLINE, FINISHED, INTERRUPTED, Tell, drive, state_of
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec, spec_to_dict
from persona_evo.evolve.individuals import first_individuals, settled, symbols_of
from persona_evo.evolve.pools import LevelPool
from persona_evo.evolve.records import Individual
from persona_evo.evolve.reopening import VALIDATION
from persona_evo.evolve.schedule import Phase, Schedule, TellPhase
from persona_evo.evolve.setting import SkilledPlay, in_words
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.training import Training
from persona_evo.games import registry, trust
from persona_evo.games.commands import command
from persona_evo.games.core import Game, Level, closing_outside
from persona_evo.games.level_text import LevelText, check_levels
from persona_evo.jobs.workers import Workers, lent
from persona_evo.personas import Persona
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.store import checkpoints, runs
from persona_evo.store.versions import versions
from persona_evo.words import counted

HELD_OUT = "held_out"
"""Key of a run's configuration: the levels on which the winner is compared with others."""
HELD_OUT_BEST = "held_out_best"
"""Key of a run's configuration: the best known utility of each of these, where they were generated."""


@dataclass(frozen=True)
class Outcome:
    """What a run came to.

    folder: of the run. status: FINISHED, DEADLINE or INTERRUPTED. generations: how many there are. best: fittest of
    the hall of fame, or of what was evaluated where the time was up in the first generation; None if nothing was.
    policy: the policy file, None after an interruption and where nothing was evaluated.
    priority: mean of the metric that the persona is about, in the comparison at the end; utility: of the utility.
    found_in_start: the policy is one of the formulas that the first population was given, at least in its canonical
    form.
    recovered: a damaged checkpoint that the run was resumed without, in words; "" for none.
    """

    folder: Path
    status: str
    generations: int
    best: Individual | None
    policy: Path | None = None
    priority: float | None = None
    utility: float | None = None
    found_in_start: bool = False
    recovered: str = ""

    def __str__(self) -> str:
        best = "" if self.best is None else f", best {self.best.fitness:.4f} with {counted(self.best.size, 'node')}"
        after = counted(self.generations, "generation")
        return f"{self.folder}: {self.status}, {after}{best}; policy: {self.policy or 'none'}"


def evolve(
    game: Game,
    persona: Persona,
    levels: Sequence[Level],
    settings: EvolutionSettings,
    seed: int,
    *,
    root: Path = Path("runs"),
    name: str | None = None,
    search: SearchSettings | None = None,
    budget: Budget | None = None,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    deadline: float | None = None,
    progress: Tell | None = None,
    tell: TellPhase | None = None,
    game_name: str | None = None,
    league: League | None = None,
    held_out: Sequence[Level] | None = None,
    workers: Workers | None = None,
    pools: Mapping[str, LevelPool] | None = None,
    skilled: SkilledPlay | None = None,
) -> Outcome:
    """Evolve a tree policy for a persona in a new run folder.

    Args:
        game: its description.
        persona: the persona.
        levels: to train on, as loaded by `game.load`.
        settings: of the evolution.
        seed: everything follows from it.
        root: folder of run folders.
        name: of the run's folder; made of the moment, the persona and the seed if not given.
        search, budget: of each playthrough; unless given the search is the paper's for the preset `paper`, and one with
            a single list otherwise, which is what a formula is seen best by. Where an agent plays the budget is one of
            a move (the template's unless given), and the template says how it searches.
        jobs, backend, address: see `jobs.workers.Workers`; without influence on the result.
        deadline: moment on `time.monotonic` by which all is done, the last steps included. A generation that would not
            end in time is not begun, and one that does not is given up.
        progress: called after each generation. tell: called in the last steps.
        game_name: how the registry finds the game, where that is not its name ("module:object").
        league: who plays move by move; needed in a game for two. Without one a game for one is planned whole.
        held_out: levels on which the winner is compared with UCB1 and the persona's known policy; none of them compares
            on new seeds of `levels`, and None compares with nobody.
        workers: to be used instead of new ones; they are left running.
        pools: solved levels by their streams (`pools.prepared`), of which those to train on are `levels`; the held-out
            ones take the place of `held_out`. Where the settings draw levels for each generation and there are no
            pools, some levels are set apart to compare on.
        skilled: who plays from move to move, with a budget of its own; in place of `search`, `budget` and `league`.

    Raises:
        SettingsError: no levels, settings that do not fit the game, or a league that does not, or none for two; a
            skilled player beside a league or a search.
        RunError: the folder cannot be made.
    """
    if not levels:
        raise SettingsError("an evolution needs levels", found="none", expected="at least one")
    if skilled is not None:
        skilled.check(game, {"a league": league, "a search": search})
    elif league is not None:
        league.check(game)
        if search is not None:
            raise SettingsError(
                "agents that play move by move have search settings of their own",
                found="settings of the search",
                expected="none",
                hint=f"change them in agent {league.agent.name}",
            )
    elif game.players > 1:
        raise SettingsError("an evolution for a two-player game needs opponents", found=game.name, expected="a league")
    spec = specification(game, persona, levels, settings, search, budget, league, game_name, skilled)
    settings = settled(settings, spec)
    if pools:
        held_out = pools["held out"].load(game)
    with closing_outside(game), lent(workers, jobs, backend, address, alone=registry.alone(game)) as chosen:
        training = sampled.training_of(spec, settings, seed, chosen, pools, persona.lists)
        config = _configuration(game, persona, training, settings, seed, held_out)
        if pools:
            config[HELD_OUT_BEST] = list(pools["held out"].best)
        with runs.RunFolder.create(root, config, name=name) as run:
            return _work(run, training, chosen, deadline, progress, tell)


def _configuration(
    game: Game,
    persona: Persona,
    training: Training,
    settings: EvolutionSettings,
    seed: int,
    held_out: Sequence[Level] | None,
) -> dict[str, Any]:
    """What a run's folder keeps of what decides its result; the arguments as of `evolve`."""
    spec = training.spec
    return {
        "game": spec.game,
        **trust.code_of(spec.game),
        "game_version": game.version,
        "persona": {"name": persona.name, "title": persona.title, "priority": persona.priority},
        "seed": seed,
        "target": settings.generations,
        "evolution": settings.to_dict(),
        "first": first_individuals(settings, spec, persona.lists),
        **spec_to_dict(spec),
        **({VALIDATION: training.validation.to_dict()} if training.validation.levels else {}),
        **({} if held_out is None else {HELD_OUT: [LevelText.of(level).to_dict() for level in held_out]}),
        "versions": versions(game),
    }


def specification(
    game: Game,
    persona: Persona,
    levels: Sequence[Level],
    settings: EvolutionSettings,
    search: SearchSettings | None,
    budget: Budget | None,
    league: League | None,
    game_name: str | None = None,
    skilled: SkilledPlay | None = None,
) -> FitnessSpec:
    """What an evolution plays; the arguments as of `evolve`."""
    if league is not None:
        search, budget = SearchSettings.from_dict(league.agent.search), budget or league.agent.budget
    if skilled is not None:
        search, budget = SearchSettings.single(), skilled.budget
    if search is None:
        search = SearchSettings.paper() if settings.preset == "paper" else SearchSettings.single()
    spec = FitnessSpec.of(
        game_name or game.name,
        levels,
        persona.utility,
        search,
        budget or Budget(),
        persona.priority,
        league,
        persona.lists,
    )
    return spec if skilled is None else replace(spec, skill=skilled.skill, per_legal_move=skilled.per_legal_move)


def resume(
    folder: Path,
    *,
    generations: int | None = None,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    deadline: float | None = None,
    progress: Tell | None = None,
    tell: TellPhase | None = None,
    game_name: str | None = None,
    workers: Workers | None = None,
) -> Outcome:
    """Continue a run where it stopped, or add generations to a finished one.

    Args:
        folder: of the run.
        generations: how many the run is to have in all; None for what it was going to have.
        jobs, backend, address, deadline, progress, tell, workers: as for `evolve`.
        game_name: how the registry finds the game now, where the run does not know (its file has moved).

    Raises:
        RunError: the folder is damaged, in use, or made with another version of the game's rules.
        SettingsError: fewer generations than the run has.
    """
    with contextlib.ExitStack() as stack:
        run = stack.enter_context(runs.RunFolder.resume(folder))
        if game_name is None:
            trust.check(runs.config_reader(run.folder))
        run.config = {**run.config, "game": registry.again(run.config["game"], game_name, str(folder))}
        game = registry.get(str(run.config["game"]))
        stack.enter_context(closing_outside(game))
        chosen = stack.enter_context(lent(workers, jobs, backend, address, alone=registry.alone(game)))
        training = reopening.training_of(run.folder, str(run.config["game"]))
        if generations is not None:
            done = run.checkpoint.generation + 1 if run.checkpoint else 0
            if generations < max(1, done):
                raise SettingsError(
                    "a run cannot be shortened", found=str(generations), expected=f"at least {max(1, done)}"
                )
            run.aim(generations)
        return replace(_work(run, training, chosen, deadline, progress, tell), recovered=run.recovered)


def evolve_runs(
    game: Game, persona: Persona, levels: Sequence[Level], settings: EvolutionSettings, seed: int, **options: Any
) -> tuple[Outcome, list[Outcome]]:
    """`settings.runs` independent runs with the seeds seed, seed + 1, ...; (the best, all).

    The best is that whose winner has the best mean of the persona's core priority on fresh seeds (see `best_run`).
    A deadline or Ctrl-C ends the series.
    """
    outcomes: list[Outcome] = []
    for k in range(settings.runs):
        outcomes.append(evolve(game, persona, levels, settings, seed + k, **options))
        if outcomes[-1].status != FINISHED:
            break
    return best_run(outcomes, game, persona.priority), outcomes


def best_run(outcomes: Sequence[Outcome], game: Game, priority: str) -> Outcome:
    """The outcome with the best core priority, of equals the one with the best utility, of these the first.

    Those without a policy count as worst.
    """
    sign = -1.0 if any(m.symbol == priority and m.better == "lower" for m in game.metrics) else 1.0
    worst = float("-inf")

    def rank(o: Outcome) -> tuple[float, float]:
        return worst if o.priority is None else sign * o.priority, worst if o.utility is None else o.utility

    return max(outcomes, key=rank)


def ended(folder: Path) -> Outcome | None:
    """The outcome of a run that has come to a policy, at its target or at a deadline; None before that.

    Raises:
        RunError, PolicyError: a file is damaged.
    """
    config = runs.read_config(folder)
    checkpoint, _ = checkpoints.usable_checkpoint(folder, checkpoints.digest(config))
    if checkpoint is None:
        return None
    before = _policy_of(folder, checkpoint.generation + 1)
    if before is None:
        return None
    state = reopening.state_of(folder, config, checkpoint)
    status = FINISHED if state.generation + 1 >= checkpoint.target else DEADLINE
    return Outcome(folder, status, state.generation + 1, state.hall[0], *before)


def _work(
    run: runs.RunFolder,
    training: Training,
    workers: Workers,
    deadline: float | None,
    progress: Tell | None,
    tell: TellPhase | None,
) -> Outcome:
    game = registry.get(training.spec.game)
    if game.outside is not None:
        game.outside.keep_in(run.folder)
    settings = EvolutionSettings.from_dict(run.config["evolution"])
    fitness, cases = Fitness(training.with_validation(settings.wins), workers), sampled.CaseCounts.of(training)
    try:
        schedule, comparing = _schedule(run, fitness, cases, settings, deadline)
        fitness.stop = schedule.generations_until()
        if tell and run.checkpoint is None:
            _warn(fitness, cases, settings, tell)
        status = drive(
            run,
            fitness,
            symbols_of(settings, training.spec),
            cases.train,
            validation=cases.validation,
            deadline=fitness.stop,
            progress=progress,
        )
    except ConnectError as e:
        made = counted(run.checkpoint.generation + 1 if run.checkpoint else 0, "generation")
        again = command(game, "evolve", "--resume", run.folder)
        raise e.hinting(f"kept in {run.folder}: {made}; go on with: {again}") from e
    except KeyboardInterrupt:
        status = INTERRUPTED
    state = state_of(run)
    hall = _evaluated(fitness, run.config.get("first", ())) if state is None else state.hall
    done = 0 if state is None else state.generation + 1
    best = hall[0] if hall else None
    if status == INTERRUPTED or best is None:
        return Outcome(run.folder, status, done, best if done else None)
    before = _policy_of(run.folder, done) if done else None
    if before is not None:
        return Outcome(run.folder, status, done, best, *before, _in_start(run, before[0]))
    try:
        seed, until = int(run.config["seed"]), schedule.choosing_until()
        if settings.levels_a_generation:
            played = 0 if state is None else state.playthroughs
            winner = sampled.choose(hall, training, settings, seed, fitness, played, until, tell)
        else:
            winner = winners.choose(hall, settings, seed, fitness, until, tell)
        if not winner.scores:
            return Outcome(run.folder, status, done, None)
        about = winners.describe(winner, fitness, comparing, schedule, tell)
        evaluations = len(fitness.finished) if state is None else state.evaluations
        text = winners.policy_text(winner, about, run.config, fitness, run.folder.name, done, evaluations)
        policy = run.finish(text, done)
    except KeyboardInterrupt:
        return Outcome(run.folder, INTERRUPTED, done, best)
    return Outcome(run.folder, status, done, best, policy, winner.priority, winner.utility, _in_start(run, policy))


def _schedule(
    run: runs.RunFolder,
    fitness: Fitness,
    cases: sampled.CaseCounts,
    settings: EvolutionSettings,
    deadline: float | None,
) -> tuple[Schedule, Comparing | None]:
    """How the time is shared, and what the winner is to be compared with."""
    config, comparing = run.config, None
    if HELD_OUT in config:
        held_out = [LevelText.of_dict(level) for level in config[HELD_OUT]]
        trials, best = settings.final_trials, config.get(HELD_OUT_BEST, ())
        if best or settings.levels_a_generation:
            trials = sampled.trials_beside_others(settings, len(held_out) or len(fitness.spec.cases))
        comparing = Comparing(fitness, held_out, str(config["persona"]["name"]), int(config["seed"]), trials, best)
    if deadline is None:
        return Schedule(None, 0.0, 0.0), comparing
    slowness = 1.0
    if registry.get(fitness.spec.game).outside is None:
        slowness = fitness.time_one(fitness.spec.utility)
    if settings.levels_a_generation:
        tuning = settings.tuning * max(0.0, deadline - time.monotonic())
        choosing = fitness.seconds(cases.ending) + tuning
    else:
        choosing = fitness.seconds(settings.final_candidates * settings.final_trials * len(fitness.spec.cases))
    others = fitness.seconds(comparing.playthroughs) if comparing else 0.0
    return Schedule(deadline, choosing, others, slowness), comparing


def _warn(fitness: Fitness, cases: sampled.CaseCounts, settings: EvolutionSettings, tell: TellPhase) -> None:
    """Tell where the first generation will take longer than there is time for it."""
    if fitness.stop is None:
        return
    plays = settings.islands * settings.population * settings.trials * len(fitness.spec.cases)
    if settings.levels_a_generation:
        plays = cases.first_generation(settings)
    needed, left = fitness.seconds(plays), max(0.0, fitness.stop - time.monotonic())
    if needed > left:
        tell(Phase("the first generation", 0, plays, needed, left))


def _evaluated(fitness: Fitness, first: Sequence[str]) -> list[Individual]:
    """What was evaluated of a first generation that could not be finished, best first; the formulas that it starts
    from where nothing was."""
    if not fitness.finished:
        return [Individual(text, genome.size(text), key=text) for text in first]
    found = [
        Individual(text, genome.size(text), utilities, trials, key=text)
        for text, (utilities, trials) in fitness.finished.items()
    ]
    return sorted(found, key=lambda i: (-i.fitness, i.size, i.formula))


def _in_start(run: runs.RunFolder, path: Path) -> bool:
    """Whether a policy is one of those that joined the first population."""
    from persona_evo.store import policies

    policy = policies.read(path)
    found = genome.canonical_form(policy.formula or policy.run["as_evolved"]["lists"])
    return any(found == genome.canonical_form(text) for text in run.config.get("first", ()))


def _policy_of(folder: Path, generations: int) -> tuple[Path, float, float | None] | None:
    """The policy that a run ended with, its core priority and its utility, if no generation has come since."""
    from persona_evo.store import policies

    path = runs.policy_of(folder)
    if path is None:
        return None
    policy = policies.read(path)
    if policy.run.get("generations") != generations:
        return None
    values = policy.run.get("priority", {}).values()
    return path, fsum(values) / max(1, len(values)), policy.mean


def summary_of(folder: Path) -> str:
    """One line on a run, for people.

    Raises:
        RunError: its configuration is damaged.
    """
    r = runs.config_reader(folder)
    reopening.settings_of(folder)
    r.object("evolution").text_of("preset")
    reopening.budget_at(r)
    check_levels(r)
    if "skill" in r.data:
        r.made("skill", skill_from_dict)
    if "league" in r.data:
        for opponent in r.object("league").items("opponents"):
            opponent.text_of("name")
    return summary(r.data)


def summary(config: Mapping[str, Any]) -> str:
    """One line on a run's configuration, for people."""
    others = ", ".join(o["name"] for o in config["league"]["opponents"]) if "league" in config else ""
    return (
        f"{config['persona']['name']} on {counted(len(config['levels']), 'level')} of {config['game']}, "
        f"seed {config['seed']}, preset {config['evolution']['preset']}, {in_words(config)}"
        f"{', against ' if others else ''}{others}"
    )
