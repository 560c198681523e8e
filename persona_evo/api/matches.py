"""Matches: agents of a two-player game play each other."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from persona_evo import limits
from persona_evo.agents.program import MEGABYTES, MOVE_SECONDS, is_file, try_out
from persona_evo.api.frames import as_html
from persona_evo.api.naming import LevelsLike, game_of, levels_of
from persona_evo.arguments import checked, checked_fields
from persona_evo.errors import Place, SettingsError
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs.files import writing_in
from persona_evo.jobs.progress import Tell
from persona_evo.jobs.workers import Workers, lent
from persona_evo.matches import job, names, records, reopening
from persona_evo.matches.reopening import Kept
from persona_evo.report import match as report
from persona_evo.report import match_tables
from persona_evo.report.tables import Table
from persona_evo.report.written import WrittenReport
from persona_evo.seeds import fresh
from persona_evo.words import counted


@checked_fields()
@dataclass(repr=False)
class MatchResults(job.PlayedMatch):
    """The games of a match; as a string, its tables.

    Attributes:
        folder: keeps the games, None if nothing is kept.
    """

    folder: Path | None = None

    @property
    def tables(self) -> list[Table]:
        """Who beat whom, on each level and in all; ratings if there are several agents; how they thought."""
        agents, levels = [a.name for a in self.match.agents], [level.name for level in self.match.levels]
        return match_tables.shown(self.records, agents, levels, self.match.seed)

    @property
    def faults(self) -> Table:
        """Moves that agents lost, by agent and kind, with an example of each."""
        return match_tables.faults(self.records)

    @property
    def tied(self) -> str:
        """A sentence that explains why all games are ties; "" if they are not."""
        return match_tables.only_ties(self.records, self.match.game)

    @property
    def logs(self) -> dict[str, Path]:
        """Files with what programs printed, by the agent's name."""
        if self.folder is None:
            return {}
        found = {a.name: records.log_of(self.folder, a.name) for a in self.match.agents if a.kind == "program"}
        return {name: path for name, path in found.items() if path.is_file()}

    @checked
    def write(
        self,
        folder: str | Path,
        *,
        command: str = "",
        pictures: bool = True,
        progress: Callable[[str], None] | None = None,
    ) -> WrittenReport:
        """Write the page, its tables and pictures into a folder.

        Args:
            command: the command line that made the match, for the page.
            pictures: whether to draw games as animated pictures.
            progress: called with what is being drawn.

        Raises:
            RunError: a game cannot be played again.
            SettingsError: the folder cannot be written.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        with writing_in(target):
            return report.write(self.match, self.records, target, command, pictures, progress)

    def __str__(self) -> str:
        """Return the tables; of an interrupted match, this is said first."""
        return "\n\n".join(filter(None, (self.interruption, *(table.render() for table in self.tables))))

    def __repr__(self) -> str:
        agents = ", ".join(a.name for a in self.match.agents)
        return f"<Match in {self.match.game}: {agents}; {self._played}, seed {self.match.seed}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: who beat whom."""
        agents, table = ", ".join(a.name for a in self.match.agents), self.tables[0]
        return as_html(f"Match in {self.match.game}: {agents}; {self._played}", table.headers, table.rows)

    @property
    def _played(self) -> str:
        """The number of games in words."""
        return self.interruption or counted(len(self.records), "game")


@checked
def play_match(
    game: str | Game,
    agents: Sequence[str],
    levels: LevelsLike | None = None,
    *,
    games: int = 50,
    sizes: Sequence[int] | None = None,
    swap: bool = False,
    iterations: int | None = None,
    seconds: float | None = None,
    limit: float | None = None,
    memory: int = MEGABYTES,
    seed: int | None = None,
    jobs: int = -1,
    folder: str | Path | None = None,
    workers: Workers | None = None,
    progress: Tell | None = None,
    begun: Callable[[MatchResults], None] | None = None,
) -> MatchResults:
    """Let agents of a two-player game play each other: each pair plays a number of games on each level.

    Args:
        game: the game.
        agents: two or more agents: names of the game's own, FILE.toml#NAME, policies, programs (FILE.py);
            NAME:KEY=VALUE,... changes values of one, and LABEL=... gives it another name.
        levels: names, files or loaded levels; the game's own training levels if None.
        games: games of each pair on each level.
        sizes: board sizes in place of the levels' own, for games whose loader has an option size.
        swap: whether each board is played twice, with the sides exchanged.
        iterations, seconds: budget of each agent for a move; by default each agent's own.
        limit: seconds for a move, after which it is replaced and counted; if not given, 2 for programs alone.
        memory: memory limit of a program in MB, 0 for none.
        seed: everything random follows from it. If None, that of the match in the folder, or else a new one.
        jobs, workers, progress: as for `playtest_levels`.
        folder: folder in which each game is kept; the same call continues a match that was interrupted.
        begun: called before the first game, with the games that the folder has.

    Returns:
        The games; after Ctrl-C, those that were finished.

    Raises:
        SettingsError, FormulaError, PolicyError, LevelError: there is no such thing, or a number is out of range.
        RunError: the folder belongs to something else, is damaged, or is in use.
    """
    games, jobs = limits.whole(games, "the number of games", 1, 100_000), limits.jobs(jobs)
    limit = None if limit is None else limits.number(limit, "limit", 0, 3600, above=True)
    memory = limits.whole(memory, "memory", 0, 1_000_000)
    records.even(games, swap)
    for word in agents:
        _check_file(word)
    of = game_of(game)
    chosen = [a.with_budget(iterations, seconds) for a in names.agents(of, agents)]
    boards = _boards(of, levels, sizes)
    for agent in chosen:
        if agent.kind == "program":
            try_out(of, boards[0], Path(agent.program))
    target = None if folder is None else Path(folder)
    if seed is None:
        known = None if target is None else records.seed_in(target)
        seed = fresh() if known is None else known
    match = job.Match(
        registry.address(of),
        tuple(LevelText.of(level) for level in boards),
        tuple(chosen),
        games,
        swap,
        limits.seed(seed),
        limit,
        limit or MOVE_SECONDS,
        memory,
    )

    def tell(played: job.PlayedMatch) -> None:
        if begun is not None:
            begun(MatchResults(played.match, played.records, folder=target))

    with lent(workers, jobs, alone=registry.alone(of)) as lent_workers:
        played = job.play(match, workers=lent_workers, folder=target, progress=progress, begun=tell)
    return MatchResults(played.match, played.records, played.complete, target)


@checked
def kept_match(folder: str | Path) -> Kept:
    """Read the games of a match from its folder; nothing is played.

    Raises:
        RunError: this is no folder of a match, or it is damaged.
        SettingsError: no game has been played yet.
    """
    kept = reopening.reopen(Path(folder))
    if not kept.records:
        raise SettingsError(
            "no game has been played yet",
            place=Place(str(folder)),
            found="no game",
            expected="at least one",
            hint="play the match first",
        )
    return kept


def _check_file(word: str) -> None:
    """Check, before anything is loaded, that the file of a program exists."""
    label, mark, rest = word.partition("=")
    file = rest if mark and ":" not in label else word
    if file.endswith(".py"):
        is_file(Path(file), file)


def _boards(game: Game, levels: LevelsLike | None, sizes: Sequence[int] | None) -> list[Level]:
    """Return the named levels, or the game's own, in each requested size."""
    shipped = mapsets.shipped(game).sets
    own = next((s for s in ("train", "all") if s in shipped), "")
    if levels is None and not own:
        raise SettingsError(f"{game.name} has no levels of its own", expected="--levels LEVEL ...")
    sized = "size" in inspect.signature(game.load).parameters
    if sizes is None:
        try:
            return levels_of(game, own if levels is None else levels)
        except SettingsError as e:
            if not sized or " " not in (e.found or "") or not e.what.startswith("no such level"):
                raise
            raise SettingsError(
                e.what,
                place=e.place,
                found=e.found,
                expected=e.expected,
                hint="the text of a level is in a file (persona-evo level new NAME --game "
                f"{registry.address(game)}); other random boards in each game: --size 8 or --size 6..12",
            ) from e
    if not sized:
        raise SettingsError(f"boards of {game.name} have a fixed size", found=f"sizes {', '.join(map(str, sizes))}")
    (base, *more) = levels_of(game, own if levels is None else levels)
    if more and levels is not None:
        raise SettingsError("board sizes replace the size of one level", found=", ".join(v.name for v in (base, *more)))
    loaded: Any = game.load
    return [loaded(base.text, f"size{n}", base.source, size=n) for n in sizes]
