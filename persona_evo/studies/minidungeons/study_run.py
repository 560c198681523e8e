"""A reproduction from its first generation to its last playthrough.

| in the folder | what |
|---|---|
| reproduction.json | everything that the result depends on, written first |
| runs/evolution/PERSONA-N/ | the N-th evolution of a persona, a run folder |
| runs/playtest/ | the playtest of all maps, a playtest's folder |
| runs/cross/ | the data of the cross tables, run and playtest folders |

A finished part is left alone, and an unfinished one is continued. So after a kill at any moment, the same call goes on
where the killed one stopped, and the result is the same except for times. An evolution that ran out of time continues
in the next call; if this changes its policy, everything that was played with the old policy is played again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from persona_evo import seeds
from persona_evo.errors import Place, RunError
from persona_evo.evolve import driving
from persona_evo.evolve import run as evolution
from persona_evo.evolve.fitness_spec import FitnessSpec, spec_to_dict
from persona_evo.evolve.individuals import settled
from persona_evo.evolve.outcome import Outcome, best_run, ended
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.task import EvolutionTask
from persona_evo.games import registry
from persona_evo.games.core import Level
from persona_evo.jobs.progress import Progress, Tell
from persona_evo.jobs.windows import program
from persona_evo.personas import Persona
from persona_evo.personas import load as load_persona
from persona_evo.playtest import batch
from persona_evo.playtest import bounds as limits
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.players import Player
from persona_evo.search.settings import Budget
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.store import policies, runs
from persona_evo.store.policies import Policy
from persona_evo.studies.minidungeons import published as publications
from persona_evo.studies.minidungeons.material import Crossed, DungeonResults
from persona_evo.studies.minidungeons.parts import check_evolution, check_policy, make_room
from persona_evo.studies.minidungeons.settings import DungeonSettings, opened, training
from persona_evo.studies.minidungeons.study_time import EVOLUTION, StudyTime, TimeIsUp
from persona_evo.studies.minidungeons.workload import Ledger
from persona_evo.words import plural

RUNS = "runs"
"""The folder of the parts within a reproduction's folder."""


class StudyRun:
    """One call, which goes through the parts in their order.

    Args:
        jobs, backend: see `jobs.workers.Workers`; they do not change results.
        seconds: time for this call, its report included; evolutions share what the rest leaves.
        tell: called with the progress from time to time.
    """

    def __init__(
        self,
        folder: Path,
        settings: DungeonSettings,
        levels: Sequence[Level],
        *,
        jobs: int = 1,
        backend: str = "loky",
        seconds: float | None = None,
        tell: Tell | None = None,
    ) -> None:
        self.folder, self.settings, self.levels = folder, settings, list(levels)
        self.published = publications.load(settings.study)
        self.game = registry.get(self.published.game)
        self.personas = [load_persona(name, self.game) for name in self.published.personas]
        self.training = training(self.published, self.levels)
        self.jobs, self.backend = jobs, backend
        self.ledger = Ledger(self._parts(), tell)
        searched = bool(self.published.differing(self.levels))
        self.time = StudyTime(folder, settings, self.game, self.levels, self.personas, jobs, searched, self.ledger)
        self.time.limit(seconds)

    def run(self, halfway: Callable[[DungeonResults], object] | None = None) -> DungeonResults:
        """Do what is missing.

        Args:
            halfway: called with everything except the cross tables, before work on these begins.

        Raises:
            RunError: the folder belongs to something else, is damaged, or is in use.
            KeyboardInterrupt: Ctrl-C was pressed; finished work is kept.
        """
        with opened(self.folder, self.settings, self.game, self.levels):
            outcomes = {p.name: self._evolutions(p) for p in self.personas}
            best = self._best(outcomes)
            chosen = {name: _policy(outcome) for name, outcome in best.items()}
            played = self._playtest("playtest", "playtest", self._players(chosen), self.settings.trials)
            bounds = self._limits(bool(self.published.differing(self.levels)), played)
            material = self._material(outcomes, best, played, bounds)
            if self.settings.cross is not None:
                if halfway is not None:
                    halfway(material)
                material.crossed = self._cross(chosen)
        return material

    def kept(self) -> DungeonResults:
        """Return the present contents of the folder without the cross tables; nothing is evolved or played.

        Raises:
            RunError: a part is missing or damaged.
        """
        found: dict[str, list[Outcome]] = {}
        for persona in self.personas:
            for folder in self._evolution_folders(persona):
                outcome = ended(folder) if (folder / runs.CONFIG).is_file() else None
                if outcome is None:
                    raise self._unfinished(folder)
                found.setdefault(persona.name, []).append(outcome)
        played = batch.kept(self.folder / RUNS / "playtest")
        if not played.complete:
            raise self._unfinished(self.folder / RUNS / "playtest")
        published = not self.published.differing(self.levels)
        bounds = (
            publications.proven(self.published, self.game, self.personas)
            if published
            else limits.bounds(self.game, self.levels, self.personas, played.records, seconds=0, folder=played.folder)
        )
        return self._material(found, self._best(found), played, bounds)

    def _unfinished(self, part: Path) -> RunError:
        return RunError(
            "part of the reproduction is not finished",
            place=Place(str(part)),
            hint=f"finish it first: {program('reproduce', self.settings.study, '--resume', self.folder)}",
        )

    def _best(self, outcomes: Mapping[str, Sequence[Outcome]]) -> dict[str, Outcome]:
        return {p.name: best_run(outcomes[p.name], self.game, p.priority) for p in self.personas}

    def _material(
        self,
        outcomes: dict[str, list[Outcome]],
        best: dict[str, Outcome],
        played: batch.BatchResults,
        bounds: dict[tuple[str, str], Bound],
    ) -> DungeonResults:
        journals = {name: runs.read_journal(outcome.folder) for name, outcome in best.items()}
        return DungeonResults(
            self.folder,
            self.settings,
            self.published,
            self.game,
            self.levels,
            self.training,
            self.published.differing(self.levels),
            self.personas,
            outcomes,
            best,
            journals,
            {name: _policy(outcome) for name, outcome in best.items()},
            played,
            bounds,
        )

    # evolutions

    def _evolution_folders(self, persona: Persona) -> list[Path]:
        base = self.folder / RUNS / "evolution"
        return [base / f"{persona.name}-{n}" for n in range(1, self.settings.runs + 1)]

    def _evolutions(self, persona: Persona) -> list[Outcome]:
        found = []
        for n, folder in enumerate(self._evolution_folders(persona), 1):
            name = f"{EVOLUTION} of {persona.name}, run {n} of {self.settings.runs}"
            seed = seeds.derive(self.settings.seed, "evolution", persona.name, n) % 2**31
            budget = self.settings.budget
            outcome = self._evolve(name, folder, persona, self.training, self.settings.evolution, seed, budget)
            found.append(outcome)
        return found

    def _evolve(
        self,
        name: str,
        folder: Path,
        persona: Persona,
        levels: Sequence[Level],
        settings: EvolutionSettings,
        seed: int,
        budget: Budget,
    ) -> Outcome:
        begun = (folder / runs.CONFIG).is_file()
        outcome = None
        if begun:
            check_evolution(folder, self._expected(persona, levels, settings, seed, budget))
            outcome = ended(folder)
        if outcome is None or outcome.status == driving.DEADLINE:
            end = self.time.of_evolution() if name.startswith(EVOLUTION) else None
            tell = self.ledger.teller(name, end, fresh=not begun)

            def progress(p: driving.GenerationProgress) -> None:
                tell(
                    (p.generation + 1) / p.target,
                    f"generation {p.generation + 1}/{p.target}, best {p.best.fitness:.3f}",
                )

            if begun:
                outcome = evolution.resume(
                    folder, jobs=self.jobs, backend=self.backend, deadline=end, progress=progress
                )
            else:
                outcome = evolution.evolve(
                    EvolutionTask(self.game, persona, levels, settings, seed, self.settings.search, budget),
                    root=folder.parent,
                    name=folder.name,
                    jobs=self.jobs,
                    backend=self.backend,
                    deadline=end,
                    progress=progress,
                )
            if outcome.status == driving.INTERRUPTED:
                raise KeyboardInterrupt
        if outcome.policy is None:
            raise RunError(
                f"time ran out before any formula was evaluated: {name}",
                place=Place(str(self.folder)),
                hint="use --resume, without --for or with more time",
            )
        self.ledger.close(name)
        check_policy(outcome.policy, persona.name, folder.name)
        return outcome

    def _expected(
        self, persona: Persona, levels: Sequence[Level], settings: EvolutionSettings, seed: int, budget: Budget
    ) -> dict[str, Any]:
        """Return the configuration that an evolution's folder has to have."""
        spec = FitnessSpec.of(
            self.game.name,
            levels,
            persona.utility,
            self.settings.search,
            budget,
            persona.priority,
            lists=persona.lists,
        )
        about = {
            "game": self.game.name,
            "seed": seed,
            "evolution": settled(settings, spec).to_dict(),
            **spec_to_dict(spec),
        }
        return {"persona": persona.name, **about}

    # playtests

    def _players(self, chosen: Mapping[str, Policy]) -> list[Player]:
        found = []
        for persona in self.personas:
            label = f"{persona.name}/ucb1"
            found.append(Player(persona, chosen[persona.name].tree_policy(self.game), persona.name, label))
            found.append(Player(persona, TreePolicy.ucb1(), label))
        return found

    def _playtest(
        self, name: str, folder: str, players: Sequence[Player], trials: int, budget: Budget | None = None
    ) -> batch.BatchResults:
        make_room(self.folder / RUNS / folder, players)
        tell = self.ledger.teller(name, fresh=not (self.folder / RUNS / folder).exists())

        def told(p: Progress) -> None:
            tell(p.done / p.total, f"{p.done}/{p.total} {plural(p.total, 'playthrough')}")
            if p.done < p.total:
                self.time.check(name)

        played = batch.playtest(
            self.game,
            self.levels,
            players,
            trials,
            seed=seeds.derive(self.settings.seed, folder) % 2**31,
            budget=budget or self.settings.playtest_budget,
            settings=self.settings.playtest_search,
            jobs=self.jobs,
            backend=self.backend,
            folder=self.folder / RUNS / folder,
            continuation=0.0,
            progress=told,
        )
        if not played.complete:
            raise KeyboardInterrupt
        self.ledger.close(name)
        return played

    def _limits(self, search: bool, played: batch.BatchResults) -> dict[tuple[str, str], Bound]:
        if not search:
            return publications.proven(self.published, self.game, self.personas)
        tell = self.ledger.teller("limits")

        def told(done: int, total: int) -> None:
            tell(done / total, f"limits {done}/{total}")
            if done < total:
                self.time.check("limits")

        def found(seconds: float) -> dict[tuple[str, str], Bound]:
            records, folder = played.records, played.folder
            where = (self.game, self.levels, self.personas, records)
            return limits.bounds(*where, seconds=seconds, jobs=self.jobs, folder=folder, progress=told)

        try:
            known = found(self.settings.bound_seconds)
        except TimeIsUp:
            known = found(0.0)  # those that were found, and the best playthroughs
        self.ledger.close("limits")
        return known

    # cross tables

    def _cross(self, chosen: Mapping[str, Policy]) -> Crossed:
        assert self.settings.cross is not None
        cross = self.settings.cross
        players, pairs = [], {}
        for theirs in self.personas:
            policy = chosen[theirs.name].tree_policy(self.game)
            for persona in self.personas:
                label = f"{persona.name} by {theirs.name}"
                players.append(Player(persona, policy, label))
                pairs[label] = (theirs.name, persona.name)
        found = Crossed(self._playtest("cross: policies", "cross/policies", players, cross.trials), pairs)
        for times in cross.times:
            ucb1 = [Player(p, TreePolicy.ucb1(), f"{p.name}/ucb1") for p in self.personas]
            budget = Budget(self.settings.playtest_iterations * times)
            name = f"cross: UCB1 at {times} times"
            found.more[times] = self._playtest(name, f"cross/budget-{times}", ucb1, cross.trials, budget)
        for persona in self.personas:
            learned = []
            for number, level in enumerate(self.levels, 1):
                label = f"{persona.name} of {level.name}"
                name = f"cross: evolution of {persona.name} on {level.name}"
                folder = self.folder / RUNS / "cross" / "evolution" / f"{persona.name}-{number:02d}"
                seed = seeds.derive(self.settings.seed, "cross", persona.name, level.name) % 2**31
                budget = Budget(cross.iterations)
                outcome = self._evolve(name, folder, persona, [level], cross.evolution, seed, budget)
                learned.append(Player(persona, _policy(outcome).tree_policy(self.game), label))
                found.sources[label] = level.name
            name = f"cross: transfer of {persona.name}"
            found.transfer[persona.name] = self._playtest(name, f"cross/transfer-{persona.name}", learned, cross.trials)
        return found

    def _parts(self) -> dict[str, float]:
        """Return the work of every part in iterations of the search, in the order of the parts."""
        s, many = self.settings, len(self.levels)
        parts: dict[str, float] = {}
        for p in self.personas:
            for n in range(1, s.runs + 1):
                work = _work(s.evolution, len(self.training), s.iterations)
                parts[f"{EVOLUTION} of {p.name}, run {n} of {s.runs}"] = work
        played = s.trials * s.playtest_iterations * many * len(self.personas)
        parts["playtest"] = 2.0 * played
        parts["limits"] = 0.0
        if s.cross is not None:
            part = s.cross.trials * s.playtest_iterations * many * len(self.personas)
            parts["cross: policies"] = float(part * len(self.personas))
            parts |= {f"cross: UCB1 at {t} times": float(part * t) for t in s.cross.times}
            for p in self.personas:
                for level in self.levels:
                    work = _work(s.cross.evolution, 1, s.cross.iterations)
                    parts[f"cross: evolution of {p.name} on {level.name}"] = work
                parts[f"cross: transfer of {p.name}"] = float(part * many / len(self.personas))
        return parts


def _work(settings: EvolutionSettings, levels: int, iterations: int) -> float:
    bred = settings.population * settings.generations * settings.trials
    return float((bred + settings.final_candidates * settings.final_trials) * levels * iterations)


def _policy(outcome: Outcome) -> Policy:
    assert outcome.policy is not None  # only an interrupted run has none
    return policies.read(outcome.policy)
