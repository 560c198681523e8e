"""Runs an evolution in a folder from its first generation to its policy, with deadlines and Ctrl-C."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from persona_evo.errors import ConnectError, SettingsError
from persona_evo.evolve import genome, reopening, sampled
from persona_evo.evolve import winner as winners
from persona_evo.evolve.comparison import Comparing
from persona_evo.evolve.driving import INTERRUPTED, Tell, drive, hall_entry, state_of
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.individuals import symbols_of
from persona_evo.evolve.outcome import Outcome, best_run, in_start, policy_after
from persona_evo.evolve.records import Individual
from persona_evo.evolve.reopening import HELD_OUT, HELD_OUT_BEST
from persona_evo.evolve.schedule import Phase, Schedule, TellPhase
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.task import EvolutionTask
from persona_evo.evolve.time_plan import compiled_by
from persona_evo.evolve.training import Training
from persona_evo.games import registry, trust
from persona_evo.games.cluster_games import given_to, hired
from persona_evo.games.commands import command
from persona_evo.games.level_text import LevelText
from persona_evo.games.outside import closing_outside
from persona_evo.jobs.workers import Workers
from persona_evo.store import runs
from persona_evo.words import counted


def evolve(
    task: EvolutionTask,
    *,
    root: Path = Path("runs"),
    name: str | None = None,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    deadline: float | None = None,
    progress: Tell | None = None,
    tell: TellPhase | None = None,
    workers: Workers | None = None,
) -> Outcome:
    """Evolve a tree policy in a new run folder.

    Args:
        task: what is evolved, and how it is played. Its setting `runs` is ignored (see `evolve_runs`).
        root: the folder that contains run folders.
        name: the name of the run's folder; by default it consists of the time, the persona and the seed.
        jobs, backend, address: see `jobs.workers.Workers`; they do not influence the result.
        deadline: the moment on `time.monotonic` by which everything is done, including the last steps. A generation
            that would not end in time is not begun, and one that does not is abandoned.
        progress: called after each generation.
        tell: called in the last steps.
        workers: workers to use instead of new ones; they are left running.

    Raises:
        SettingsError: the parts of the task do not fit together.
        RunError: the folder cannot be made.
    """
    task.check()
    game = task.game
    with contextlib.ExitStack() as stack:
        stack.enter_context(closing_outside(game))
        chosen = stack.enter_context(hired(game, workers, jobs, backend, address))
        spec = replace(task.spec, home=stack.enter_context(given_to(chosen, game, task.spec.game)))
        training = sampled.training_of(spec, task.settled, task.seed, chosen, task.pools, task.persona.lists)
        with runs.RunFolder.create(root, task.configuration(training), name=name) as run, compiled_by(deadline):
            return _work(run, training, chosen, deadline, progress, tell)


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
        folder: the folder of the run.
        generations: the new total number of generations; None for the one set before.
        jobs, backend, address, deadline, progress, tell, workers: as for `evolve`.
        game_name: the game's current name in the registry, if the run does not know it (its file has moved).

    Raises:
        RunError: the folder is damaged, in use, or made with another version of the game's rules.
        SettingsError: the number is lower than the number of generations that the run has.
    """
    with contextlib.ExitStack() as stack:
        run = stack.enter_context(runs.RunFolder.resume(folder))
        if game_name is None:
            trust.check(runs.config_reader(run.folder))
        run.config = {**run.config, "game": registry.again(run.config["game"], game_name, str(folder))}
        game = registry.get(str(run.config["game"]))
        stack.enter_context(closing_outside(game))
        chosen = stack.enter_context(hired(game, workers, jobs, backend, address))
        training = reopening.training_of(run.folder, str(run.config["game"]))
        home = stack.enter_context(given_to(chosen, game, training.spec.game))
        training = replace(training, spec=replace(training.spec, home=home))
        if generations is not None:
            done = run.checkpoint.generation + 1 if run.checkpoint else 0
            if generations < max(1, done):
                raise SettingsError(
                    "a run cannot be shortened", found=str(generations), expected=f"at least {max(1, done)}"
                )
            run.aim(generations)
        stack.enter_context(compiled_by(deadline))
        return replace(_work(run, training, chosen, deadline, progress, tell), recovered=run.recovered)


def evolve_runs(
    task: EvolutionTask,
    *,
    root: Path = Path("runs"),
    workers: Workers | None = None,
    jobs: int = 1,
    deadline: float | None = None,
    progress: Tell | None = None,
    tell: TellPhase | None = None,
) -> tuple[Outcome, list[Outcome]]:
    """Make `settings.runs` independent runs with the seeds seed, seed + 1, ..., and return (the best, all).

    The best run is the one whose winner has the best mean of the persona's core priority on fresh seeds (see
    `best_run`). The runs share the time up to the deadline equally. Ctrl-C ends the series. The arguments are those of
    `evolve`.
    """
    outcomes: list[Outcome] = []
    count = task.settings.runs
    for k in range(count):
        now = time.monotonic()
        end = None if deadline is None else now + (deadline - now) / (count - k)
        own = replace(task, seed=task.seed + k)
        outcomes.append(evolve(own, root=root, workers=workers, jobs=jobs, deadline=end, progress=progress, tell=tell))
        if outcomes[-1].status == INTERRUPTED:
            break
    return best_run(outcomes, task.game, task.persona.priority), outcomes


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
    needed = None
    try:
        schedule, comparing = _schedule(run, fitness, cases, settings, deadline)
        fitness.stop = schedule.generations_until()
        if run.checkpoint is None:
            needed = _warned(fitness, cases, settings, tell)
        status = drive(
            run,
            fitness,
            symbols_of(settings, training.spec),
            cases.train,
            validation=cases.validation,
            game=game,
            deadline=fitness.stop,
            progress=progress,
        )
    except ConnectError as e:
        made = counted(run.checkpoint.generation + 1 if run.checkpoint else 0, "generation")
        resume_command = command(game, "evolve", "--resume", run.folder)
        raise e.hinting(f"kept in {run.folder}: {made}; resume with: {resume_command}") from e
    except KeyboardInterrupt:
        status = INTERRUPTED
    state = state_of(run)
    if state is not None and not (run.folder / runs.HALL).exists():  # somebody deleted it
        run.write_hall(state.generation, [hall_entry(i) for i in state.hall])
    hall = _evaluated(fitness, run.config.get("first", ())) if state is None else state.hall
    done = 0 if state is None else state.generation + 1
    best = hall[0] if hall else None
    if status == INTERRUPTED or best is None:
        return Outcome(run.folder, status, done, best if done else None, first_generation=needed)
    before = policy_after(run.folder, done) if done else None
    if before is not None:
        return Outcome(run.folder, status, done, best, *before, in_start(run.config, before[0]))
    try:
        seed, until = int(run.config["seed"]), schedule.choosing_until()
        if settings.levels_a_generation:
            played = 0 if state is None else state.playthroughs
            winner = sampled.choose(hall, training, settings, seed, fitness, played, until, tell)
        else:
            winner = winners.choose(hall, settings, seed, fitness, until, tell)
        if not winner.scores:
            return Outcome(run.folder, status, done, None, first_generation=needed)
        about = winners.describe(winner, fitness, comparing, schedule, tell, _start(run.folder) if done > 1 else "")
        evaluations = len(fitness.finished) if state is None else state.evaluations
        text = winners.policy_text(winner, about, run.config, fitness, run.folder.name, done, evaluations)
        policy = run.finish(text, done)
    except KeyboardInterrupt:
        return Outcome(run.folder, INTERRUPTED, done, best)
    found = in_start(run.config, policy)
    return Outcome(run.folder, status, done, best, policy, winner.priority, winner.utility, found)


def _start(folder: Path) -> str:
    """Return the fittest formula of a run's first generation."""
    rows = (row for row in runs.read_journal(folder) if row["generation"] == 0)
    return str(max(rows, key=lambda row: float(row["best"]))["formula"])


def _schedule(
    run: runs.RunFolder,
    fitness: Fitness,
    cases: sampled.CaseCounts,
    settings: EvolutionSettings,
    deadline: float | None,
) -> tuple[Schedule, Comparing | None]:
    """Return how the time is shared, and the comparison to be made with the winner."""
    config, comparing = run.config, None
    if HELD_OUT in config:
        held_out = [LevelText.of_dict(level) for level in config[HELD_OUT]]
        trials, best = settings.final_trials, config.get(HELD_OUT_BEST, ())
        if best or settings.levels_a_generation:
            trials = sampled.trials_beside_others(settings, len(held_out) or len(fitness.spec.cases))
        comparing = Comparing(fitness, held_out, str(config["persona"]["name"]), int(config["seed"]), trials, best)
    if deadline is None:
        return Schedule(None, 0.0, 0.0), comparing
    slowness = fitness.time_one(fitness.spec.utility)
    if settings.levels_a_generation:
        tuning = settings.tuning * max(0.0, deadline - time.monotonic())
        choosing = fitness.seconds(cases.measuring(settings)) + tuning
    else:
        choosing = fitness.seconds(settings.final_candidates * settings.final_trials * len(fitness.spec.cases))
    others = fitness.seconds(comparing.playthroughs) if comparing else 0.0
    return Schedule(deadline, choosing, others, slowness), comparing


def _warned(
    fitness: Fitness, cases: sampled.CaseCounts, settings: EvolutionSettings, tell: TellPhase | None
) -> float | None:
    """Warn if there is no time for the first generation, and return the seconds it takes; else return None."""
    if fitness.stop is None:
        return None
    plays = cases.first_generation(settings)
    needed, left = fitness.seconds(plays), max(0.0, fitness.stop - time.monotonic())
    if needed <= left:
        return None
    if tell:
        tell(Phase("the first generation", 0, plays, needed, left))
    return needed


def _evaluated(fitness: Fitness, first: Sequence[str]) -> list[Individual]:
    """Return the evaluated individuals of an unfinished first generation, best first.

    If nothing was evaluated, these are the formulas that it starts from.
    """
    if not fitness.finished:
        return [Individual(text, genome.size(text), key=text) for text in first]
    found = [
        Individual(text, genome.size(text), utilities, trials, key=text)
        for text, (utilities, trials) in fitness.finished.items()
    ]
    return sorted(found, key=lambda i: (-i.fitness, i.size, i.formula))
