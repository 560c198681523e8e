"""The games of the Puyo-Puyo reproduction: the searches of Hanson and Moffat (AISB 2014).

| in the folder | what |
|---|---|
| reproduction.json | everything that the result depends on, written first |
| games.jsonl | one line per game: its scores at every tenth drop and its moves |
| runs/evolution/ | the evolution of a persona's tree policy, a run folder |

In the publication, a move may take as long as its pair falls. A simulated clock does the same here and does not depend
on the machine: for each free row above the highest column (12 on an empty field), a search may make a fixed number of
drops of its own. A finished game is never played again; after an interruption, the same call continues.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from persona_evo.errors import Place, RunError
from persona_evo.evolve import driving
from persona_evo.evolve import run as evolution
from persona_evo.evolve.outcome import Outcome, ended
from persona_evo.evolve.task import EvolutionTask
from persona_evo.formula import Formula, parse
from persona_evo.games import mapsets, registry
from persona_evo.games.core import LOST, Game, Level
from persona_evo.jobs.journal import Journal, LineFormat, Row, compact
from persona_evo.jobs.progress import Progress, Tell
from persona_evo.personas import Persona
from persona_evo.personas import load as load_persona
from persona_evo.search import baselines
from persona_evo.search.actor import Actor, play_game
from persona_evo.search.lookahead import Allowance, Lookahead
from persona_evo.search.plan import plan
from persona_evo.search.problem import Problem
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy, with_lists
from persona_evo.seeds import derive
from persona_evo.store import policies
from persona_evo.store.policies import Policy
from persona_evo.studies import keeping
from persona_evo.studies.puyo.cells import (
    DFS,
    EVERY,
    EVOLVED,
    EXHAUSTIVE,
    FLAT,
    PLANNED,
    UCB1,
    PuyoCell,
    PuyoSettings,
    cells,
)

GAMES = "games.jsonl"
SCORE = "SC - 1000000 * DEAD"
"""The objective of the publication's searches, in which a lost game is worth nothing."""
TREE_SCORE = "SC / 1000 - 100 * DEAD"
"""The objective of tree search, scaled so that lost games do not dominate its means (UCB1 needs values of about 1)."""
ROWS = 12
TRIALS = 5
"""Number of plans for each test level."""


@dataclass(frozen=True)
class PuyoGame:
    """One game.

    Attributes:
        cell: the name of the search.
        game: the number of the game.
        scores: the scores after every tenth drop and after the last one.
        drops: number of drops.
        dead: whether the game was lost.
        longest: number of links of the longest chain.
        at: number of the drop that set off this chain, from 1.
        value: the persona's utility at the end, or the score without a persona.
        actions: the moves.
    """

    cell: str
    game: int
    scores: tuple[int, ...]
    drops: int
    dead: bool
    longest: int
    at: int
    value: float
    actions: str

    def score_at(self, drop: int) -> int:
        """Return the score after a drop; 0 if the game was lost before, as in the publication's means."""
        return 0 if drop > self.drops else self.scores[drop // EVERY - 1]

    @property
    def final(self) -> int:
        """The final score, whether or not the game was lost."""
        return self.scores[-1]


def _played(row: Row, place: Place) -> PuyoGame:
    try:
        return PuyoGame(**{**row, "scores": tuple(row["scores"])})
    except (TypeError, KeyError) as e:
        raise RunError(
            "a game cannot be read",
            place=place,
            found=str(row)[:80],
            expected="a line written by this program",
            hint=LINES.hint,
        ) from e


LINES: LineFormat[PuyoGame] = LineFormat(
    "game",
    lambda played: compact(dataclasses.asdict(played)),
    _played,
    lambda played: (played.cell, played.game),
    hint="delete the line; the game is played again",
)


@dataclass
class PuyoGames:
    """The games of a reproduction and the evolved policy.

    Attributes:
        folder: the folder of the reproduction.
        settings: its settings.
        game: the rules.
        levels: the starting positions.
        tests: the levels that are planned as a whole.
        persona: the persona whose policy is evolved.
        policy: the evolved policy.
        journal: the rows of the evolution's journal.
        played: the games by the cell's name.
    """

    folder: Path
    settings: PuyoSettings
    game: Game
    levels: list[Level]
    tests: list[Level]
    persona: Persona
    policy: Policy
    journal: list[dict[str, Any]]
    played: dict[str, list[PuyoGame]] = field(default_factory=dict)

    def of(self, method: str, depth: int, kind: str = "", limit: int = 0, persona: str = "") -> list[PuyoGame]:
        """Return the games of a cell; [] if it was not played."""
        return self.played.get(PuyoCell(method, depth, kind, limit, persona).name, [])


def run(
    folder: Path, settings: PuyoSettings, *, jobs: int = 1, backend: str = "loky", tell: Tell | None = None
) -> PuyoGames:
    """Play the missing games, and evolve the policy first if that is not done.

    Raises:
        RunError: the folder belongs to something else, is damaged, or is in use.
        KeyboardInterrupt: Ctrl-C was pressed; finished games are kept.
    """
    game = registry.get("puyo")
    levels = mapsets.resolve(game, ["positions"])[: settings.games]
    persona = load_persona(settings.persona, game)
    with keeping.opened(folder, "puyo", {"game_version": game.version, **settings.to_dict()}):
        outcome = _evolve(folder, settings, game, persona, jobs, backend, tell)
        assert outcome.policy is not None
        policy = policies.read(outcome.policy)
        from persona_evo.store import runs

        tests = mapsets.resolve(game, ["test"])
        material = PuyoGames(folder, settings, game, levels, tests, persona, policy, runs.read_journal(outcome.folder))
        games = Journal(folder / GAMES, LINES)
        known = {LINES.key(played): played for played in games.read()}
        many = {PLANNED: TRIALS * len(tests)}
        wanted = [(cell, n) for cell in cells(settings) for n in range(many.get(cell.kind, len(levels)))]
        for done, (cell, number) in enumerate(wanted):
            played = known.get((cell.name, number))
            if played is None:
                if tell is not None:
                    tell(Progress(done, len(wanted), None, cell.name))
                played = play(material, cell, number)
                games.append([played])
            material.played.setdefault(cell.name, []).append(played)
    return material


def play(m: PuyoGames, cell: PuyoCell, number: int) -> PuyoGame:
    """Play one game of a cell from a starting position."""
    game, s = m.game, m.settings
    goal = m.persona.utility if cell.persona else parse(SCORE, game.symbols)
    seed = derive(s.seed, cell.name, number)
    if cell.kind == PLANNED:
        level = m.tests[number % len(m.tests)]
        return record(game, level, cell.name, number, _planned(m, cell, level, seed), goal)
    level = m.levels[number]
    player: Any
    if cell.method in (UCB1, EVOLVED):
        player = _actor(m, cell, level, seed)
    else:
        player = Lookahead(
            game, level, goal, cell.depth, DFS if cell.method == EXHAUSTIVE else cell.method, allowance(cell), seed=seed
        ).choose
    done = play_game(game, level, [player], moves=s.drops)
    return record(game, level, cell.name, number, done.actions, goal if cell.persona else None)


def allowance(cell: PuyoCell) -> Allowance:
    """Return the budget of a cell."""
    if cell.kind == "playouts":
        return Allowance(playouts=cell.limit)
    if cell.kind == "clock":
        from persona_evo.games.catalog.puyo.tables import COLUMNS, HEIGHTS

        return Allowance(steps=lambda state: cell.limit * max(1, ROWS - int(state[HEIGHTS : HEIGHTS + COLUMNS].max())))
    return Allowance()


def _planned(m: PuyoGames, cell: PuyoCell, level: Level, seed: int) -> tuple[int, ...]:
    """Plan a whole level; flat Monte Carlo search plays as many games as tree search has iterations."""
    if cell.method == FLAT:
        problem = Problem.of(m.game, level, m.persona.utility)
        return baselines.flat(problem, cell.limit, seed=seed).plan.actions
    policy = m.policy.tree_policy(m.game) if cell.method == EVOLVED else TreePolicy.ucb1()
    rules = SearchSettings.preset(m.settings.planning)
    policy = with_lists(policy, m.persona.lists)
    return plan(m.game, level, m.persona.utility, policy, Budget(cell.limit), rules, seed).actions


def _actor(m: PuyoGames, cell: PuyoCell, level: Level, seed: int) -> Actor:
    """Return a tree search whose depth, including rollouts, is limited to that of the cell."""
    goal = m.persona.utility if cell.persona else parse(TREE_SCORE, m.game.symbols)
    policy = m.policy.tree_policy(m.game) if cell.method == EVOLVED else TreePolicy.ucb1()
    settings = dataclasses.replace(SearchSettings.single(), horizon=cell.depth, rollout=cell.depth, expansion="random")
    return Actor(m.game, level, goal, policy, Budget(cell.limit), settings, choose="max", seed=seed)


def record(
    game: Game, level: Level, cell: str, number: int, actions: tuple[int, ...], goal: Formula | None
) -> PuyoGame:
    """Return the record of a finished game."""
    states = game.replay(level, actions)
    measured = [game.measure(level, state) for state in states[1:] or states]
    marks = [k for k in range(len(measured)) if (k + 1) % EVERY == 0 or k + 1 == len(measured)]
    end = measured[-1]
    longest = int(end["LC"])
    at = next(k for k, v in enumerate(measured, 1) if v["LC"] == longest)
    names = " ".join(game.action_name(level, s, a) for s, a in zip(states, actions, strict=False))
    return PuyoGame(
        cell,
        number,
        tuple(int(measured[k]["SC"]) for k in marks),
        len(actions),
        game.over(level, states[-1]) == LOST,
        longest,
        at,
        goal.evaluate(end) if goal else end["SC"],
        names,
    )


def _evolve(
    folder: Path, s: PuyoSettings, game: Game, persona: Persona, jobs: int, backend: str, tell: Tell | None
) -> Outcome:
    where = folder / "runs" / "evolution"
    outcome = ended(where) if (where / "config.json").is_file() else None
    if outcome is not None:
        return outcome

    def progress(p: driving.GenerationProgress) -> None:
        if tell is not None:
            what = f"evolution of {persona.name}, generation {p.generation + 1}/{p.target}"
            tell(Progress(0, 1, None, what))

    if (where / "config.json").is_file():
        outcome = evolution.resume(where, jobs=jobs, backend=backend, progress=progress)
    else:
        outcome = evolution.evolve(
            EvolutionTask(
                game,
                persona,
                mapsets.resolve(game, ["train"]),
                s.evolution,
                derive(s.seed, "evolution") % 2**31,
                SearchSettings.single(),
                Budget(s.iterations),
            ),
            root=where.parent,
            name=where.name,
            jobs=jobs,
            backend=backend,
            progress=progress,
        )
    if outcome.status == driving.INTERRUPTED:
        raise KeyboardInterrupt
    return outcome


def reopen(folder: Path) -> PuyoSettings:
    """Return the settings in a reproduction's folder.

    Raises:
        RunError: this is no folder of this reproduction, or a file is damaged.
    """
    return keeping.settings(folder, "puyo", _settings)


def _settings(**values: Any) -> PuyoSettings:
    plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return PuyoSettings(**plain)
