"""The searches of Hanson and Moffat (AISB 2014) on Puyo-Puyo, game by game.

| in the folder | what |
|---|---|
| reproduction.json | everything that the result depends on, written first |
| games.jsonl | one line a game: its scores at every tenth drop and its moves |
| runs/evolution/ | the evolution of a persona's tree policy, a run folder |

The publication gives a move as long as its pair falls. The simulated clock here does the same: a search may make so
many drops of its own for each row that is free above the highest column (12 on an empty field), so it does not depend
on the machine. A game that is finished is never played again; the same call goes on after any stop.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.errors import Place, RunError, SettingsError
from persona_evo.evolve import run as evolution
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.formula import Formula, parse
from persona_evo.games import mapsets, registry
from persona_evo.games.core import LOST, Game, Level
from persona_evo.personas import Persona
from persona_evo.personas import load as load_persona
from persona_evo.search.act import Actor, play_game
from persona_evo.search.lookahead import Allowance, Lookahead
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy
from persona_evo.seeds import derive
from persona_evo.store import policies, schema
from persona_evo.store.lock import Lock
from persona_evo.store.policies import Policy

SCHEMA = 1
CONFIG, GAMES = "reproduction.json", "games.jsonl"
SCORE = "SC - 1000000 * DEAD"
"""What the publication's searches look for, where a lost game is worth nothing."""
TREE_SCORE = "SC / 1000 - 100 * DEAD"
"""The same for tree search, whose means should not be ruled by it (UCB1 wants values of about 1)."""
EVERY = 10
"""Drops between two points of a figure."""
ROWS = 12

FLAT, RANDOM, BFS, DFS, EXHAUSTIVE, UCB1, EVOLVED = "flat", "random", "bfs", "dfs", "exhaustive", "ucb1", "evolved"
NAMES = {FLAT: "Monte Carlo", RANDOM: "random", BFS: "breadth first", DFS: "depth first", EXHAUSTIVE: "exhaustive",
         UCB1: "tree, UCB1", EVOLVED: "tree, evolved policy"}  # fmt: skip


class Claim(NamedTuple):
    """A sentence of the publication on one of its figures."""

    key: str
    figure: int
    says: str


class Study(NamedTuple):
    """The publication: its title, where it appeared, what it says."""

    title: str
    source: str
    claims: tuple[Claim, ...]


@cache
def study() -> Study:
    """What stands in the file beside this module."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return Study(data["title"], data["source"], tuple(Claim(**claim) for claim in data["claims"]))


@dataclass(frozen=True)
class Settings:
    """A reproduction.

    games: starting positions. drops: of a game. clocks: drops that a search may make for each free row, the first being
    that of figures 3 to 5. playouts: fixed budgets a move. deepest: depth limit of Monte Carlo search at most.
    persona: whose tree policy is evolved, in so many generations of a population, iterations a playthrough; its games
    are played with compared playouts a move, as deep as compared_depth.
    """

    seed: int = 1
    games: int = 10
    drops: int = 150
    clocks: tuple[int, ...] = (100, 30, 10)
    playouts: tuple[int, ...] = (3, 11, 22, 100, 220)
    deepest: int = 6
    persona: str = "chain_builder"
    generations: int = 20
    population: int = 60
    iterations: int = 2_000
    compared: int = 220
    compared_depth: int = 4
    quick: bool = False

    def __post_init__(self) -> None:
        for name, low, high in (("games", 1, 10), ("drops", EVERY, 150), ("deepest", 4, 12)):
            if not low <= getattr(self, name) <= high:
                raise SettingsError(f"{name} is out of range", found=str(getattr(self, name)),
                                    expected=f"from {low} to {high}")  # fmt: skip
        if not self.clocks or min(self.clocks) < 1:
            raise SettingsError("a clock that stands still", found=str(min(self.clocks, default=0)),
                                expected="at least one drop for each row")  # fmt: skip

    @classmethod
    def of(cls, *, quick: bool = False, clock: int | None = None, **given: int | None) -> Settings:
        """The usual settings or those of a first look; what is given replaces single values."""
        small: dict[str, Any] = {"games": 3, "drops": 60, "clocks": (100, 10), "playouts": (11, 100), "generations": 3,
                                 "population": 20, "iterations": 200}  # fmt: skip
        usual = cls(**small, quick=True) if quick else cls()
        values: dict[str, Any] = {k: v for k, v in given.items() if v is not None}
        if clock is not None:
            values["clocks"] = tuple(dict.fromkeys((clock, *usual.clocks)))
        return dataclasses.replace(usual, **values)

    @property
    def clock(self) -> int:
        """That of figures 3 to 5."""
        return self.clocks[0]

    @property
    def evolution(self) -> EvolutionSettings:
        """Of the persona's policy."""
        elites = max(1, self.population // 20)
        return EvolutionSettings.of("modern", generations=self.generations, population=self.population, elites=elites,
                                    migrants=elites, final_candidates=4, final_trials=4)  # fmt: skip


class Cell(NamedTuple):
    """One way to search. limit: drops for each free row (`clock`), playouts a move (`playouts`), or "" for no end.

    persona: by whose utility, "" for the score.
    """

    method: str
    depth: int
    kind: str = ""
    limit: int = 0
    persona: str = ""

    @property
    def budget(self) -> str:
        """In words."""
        return f"{self.limit} drops a row" if self.kind == "clock" else f"{self.limit} playouts" if self.kind else "all"

    @property
    def name(self) -> str:
        """Of the row in files."""
        who = f", {self.persona}" if self.persona else ""
        return f"{self.method} {self.depth}, {self.budget}{who}"


def cells(s: Settings) -> list[Cell]:
    """Every way to search, each once."""
    found = [Cell(EXHAUSTIVE, d) for d in (1, 2, 3)]
    for clock in s.clocks:
        depths = (1, 2, 3) if clock == s.clock else (3,)
        found += [Cell(m, d, "clock", clock) for m in (BFS, DFS, RANDOM) for d in depths]
        first = 1 if clock == s.clock else 3
        found += [Cell(FLAT, d, "clock", clock) for d in range(first, s.deepest + 1)]
    found += [Cell(FLAT, d, "playouts", n) for n in s.playouts for d in range(3, s.deepest + 1)]
    found += [Cell(UCB1, d, "playouts", max(s.playouts)) for d in range(3, s.deepest + 1)]
    found += [Cell(m, s.compared_depth, "playouts", s.compared, s.persona) for m in (FLAT, UCB1, EVOLVED)]
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Played:
    """One game. scores: after every tenth drop that was made, and after the last one. longest: links of its longest
    chain, set off by drop number `at` (from 1). value: the persona's utility at the end, the score where there is none.
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
        """Points after a drop; a game that was lost before contributes nothing, as in the publication's means."""
        return 0 if drop > self.drops else self.scores[drop // EVERY - 1]

    @property
    def final(self) -> int:
        """Points at the end, of whatever end."""
        return self.scores[-1]


@dataclass
class Material:
    """All games by the cell's name, and the policy that was evolved."""

    folder: Path
    settings: Settings
    game: Game
    levels: list[Level]
    persona: Persona
    policy: Policy
    journal: list[dict[str, Any]]
    played: dict[str, list[Played]] = field(default_factory=dict)

    def of(self, method: str, depth: int, kind: str = "", limit: int = 0, persona: str = "") -> list[Played]:
        """The games of a cell, [] where it was not played."""
        return self.played.get(Cell(method, depth, kind, limit, persona).name, [])


Tell = Callable[[str, float], None]
"""Told what is being done and the share of it that is done."""


def run(
    folder: Path, settings: Settings, *, jobs: int = 1, backend: str = "loky", tell: Tell | None = None
) -> Material:
    """Do what is not done yet.

    Raises:
        RunError: the folder is for something else, damaged, or in use.
        KeyboardInterrupt: Ctrl-C; everything up to then is kept.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise RunError("the folder cannot be made", place=Place(str(folder)), found=e.strerror,
                       hint="name another: --out") from e  # fmt: skip
    game = registry.get("puyo")
    levels = mapsets.resolve(game, ["positions"])[: settings.games]
    persona = load_persona(settings.persona, game)
    with Lock(folder):
        _claim(folder, settings, game)
        outcome = _evolve(folder, settings, game, persona, jobs, backend, tell)
        assert outcome.policy is not None
        policy = policies.read(outcome.policy)
        from persona_evo.store import runs

        material = Material(folder, settings, game, levels, persona, policy, runs.read_journal(outcome.folder))
        known = {(p.cell, p.game): p for p in _kept(folder / GAMES)}
        wanted = [(cell, number) for cell in cells(settings) for number in range(len(levels))]
        for done, (cell, number) in enumerate(wanted):
            played = known.get((cell.name, number))
            if played is None:
                if tell is not None:
                    tell(cell.name, done / len(wanted))
                played = play(material, cell, number)
                row = json.dumps(dataclasses.asdict(played), separators=(",", ":"))
                schema.append_lines(folder / GAMES, [row])
            material.played.setdefault(cell.name, []).append(played)
    return material


def play(m: Material, cell: Cell, number: int) -> Played:
    """One game of a cell on a starting position."""
    game, level, s = m.game, m.levels[number], m.settings
    goal = m.persona.utility if cell.persona else parse(SCORE, game.symbols)
    seed = derive(s.seed, cell.name, number)
    player: Any
    if cell.method in (UCB1, EVOLVED):
        player = _actor(m, cell, level, seed)
    else:
        player = Lookahead(game, level, goal, cell.depth, DFS if cell.method == EXHAUSTIVE else cell.method,
                           allowance(cell), seed=seed).choose  # fmt: skip
    done = play_game(game, level, [player], moves=s.drops)
    return record(game, level, cell.name, number, done.actions, goal if cell.persona else None)


def allowance(cell: Cell) -> Allowance:
    """The budget of a cell."""
    if cell.kind == "playouts":
        return Allowance(playouts=cell.limit)
    if cell.kind == "clock":
        from persona_evo.games.catalog.puyo.tables import COLUMNS, HEIGHTS

        return Allowance(steps=lambda state: cell.limit * max(1, ROWS - int(state[HEIGHTS : HEIGHTS + COLUMNS].max())))
    return Allowance()


def _actor(m: Material, cell: Cell, level: Level, seed: int) -> Actor:
    """Tree search no deeper than the cell's limit, rollouts included."""
    goal = m.persona.utility if cell.persona else parse(TREE_SCORE, m.game.symbols)
    policy = m.policy.tree_policy(m.game) if cell.method == EVOLVED else TreePolicy.ucb1()
    settings = SearchSettings(horizon=cell.depth, rollout=cell.depth, expansion="random")
    return Actor(m.game, level, goal, policy, Budget(cell.limit), settings, choose="max", seed=seed)


def record(
    game: Game, level: Level, cell: str, number: int, actions: tuple[int, ...], goal: Formula | None
) -> Played:
    """What came of a game."""
    states = game.replay(level, actions)
    measured = [game.measure(level, state) for state in states[1:]]
    marks = [k for k in range(len(actions)) if (k + 1) % EVERY == 0 or k + 1 == len(actions)]
    end = measured[-1]
    longest = int(end["LC"])
    at = next(k for k, v in enumerate(measured, 1) if v["LC"] == longest)
    names = " ".join(game.action_name(level, s, a) for s, a in zip(states, actions, strict=False))
    return Played(
        cell, number, tuple(int(measured[k]["SC"]) for k in marks), len(actions),
        game.over(level, states[-1]) == LOST, longest, at, goal.evaluate(end) if goal else end["SC"], names,
    )  # fmt: skip


def _kept(path: Path) -> Iterator[Played]:
    """The games of a file; a last line that was torn when the program was killed is cut off."""
    if not path.is_file():
        return
    text = schema.read_text(path, RunError)
    whole, _, torn = text.rpartition("\n")
    if torn:
        schema.write_atomically(path, whole + "\n" if whole else "")
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            row = json.loads(line)
            yield Played(**{**row, "scores": tuple(row["scores"])})
        except (ValueError, TypeError, KeyError) as e:
            raise RunError("a game cannot be read", place=Place(str(path), number), found=line[:80],
                           expected="a line as this program wrote it",
                           hint="delete the line; the game is played again") from e  # fmt: skip


def _evolve(
    folder: Path, s: Settings, game: Game, persona: Persona, jobs: int, backend: str, tell: Tell | None
) -> evolution.Outcome:
    where = folder / "runs" / "evolution"
    outcome = evolution.ended(where) if (where / "config.json").is_file() else None
    if outcome is not None:
        return outcome

    def progress(p: evolution.Progress) -> None:
        if tell is not None:
            tell(f"evolution of {persona.name}, generation {p.generation + 1}/{p.target}", 0.0)

    if (where / "config.json").is_file():
        outcome = evolution.resume(where, jobs=jobs, backend=backend, progress=progress)
    else:
        outcome = evolution.evolve(
            game, persona, mapsets.resolve(game, ["train"]), s.evolution, derive(s.seed, "evolution") % 2**31,
            root=where.parent, name=where.name, search=SearchSettings.anytime(), budget=Budget(s.iterations), jobs=jobs,
            backend=backend, progress=progress,
        )  # fmt: skip
    if outcome.status == evolution.INTERRUPTED:
        raise KeyboardInterrupt
    return outcome


def _claim(folder: Path, settings: Settings, game: Game) -> None:
    config = json.loads(json.dumps({"schema": SCHEMA, "study": "puyo", "game_version": game.version,
                                    **dataclasses.asdict(settings)}))  # fmt: skip
    path = folder / CONFIG
    if not path.exists():
        schema.write_atomically(path, schema.dump(config))
        return
    known, _ = schema.read(path, RunError)
    different = sorted(k for k in {**known, **config} if known.get(k) != config.get(k))
    if different:
        key = different[0]
        raise RunError(
            "the folder holds another reproduction", place=Place(str(path)), found=f"{key} {known.get(key)}",
            expected=f"{key} {config.get(key)}",
            hint=f"go on with it as it is: --resume {folder}; or name another folder with --out",
        )  # fmt: skip


def reopen(folder: Path) -> Settings:
    """What a folder is for.

    Raises:
        RunError: no folder of this reproduction, or a damaged file.
    """
    path = folder / CONFIG
    if not path.is_file():
        raise RunError("this is not the folder of a reproduction", place=Place(str(folder)),
                       expected=f"a folder with {CONFIG}", hint="name the folder that --out named")  # fmt: skip
    data, text = schema.read(path, RunError)
    data = schema.migrate(data, text, str(path), RunError, SCHEMA, {})
    if data.get("study") != "puyo":
        raise RunError("the folder holds another reproduction", place=Place(str(path)),
                       found=f"study {data.get('study')}", expected="study puyo")  # fmt: skip
    try:
        return _settings({k: v for k, v in data.items() if k not in ("schema", "study", "game_version")})
    except (TypeError, ValueError, SettingsError) as e:
        raise RunError("the reproduction's file is damaged", place=Place(str(path)), found=str(e).partition("\n")[0],
                       expected="as this program wrote it", hint="restore the file from a copy") from e  # fmt: skip


def _settings(values: Mapping[str, Any]) -> Settings:
    plain: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items()}
    return Settings(**plain)
