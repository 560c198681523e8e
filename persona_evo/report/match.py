"""The page of a match, in its folder.

| file | content |
|---|---|
| index.html | the page, self-contained unless there are very many pictures |
| pairs.csv, games.csv | every pair on every level; every game |
| pictures/ | games worth watching as animated pictures, named by their number, which is their line in games.jsonl |
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from persona_evo.agents.agent import Agent
from persona_evo.errors import SettingsError
from persona_evo.games import registry
from persona_evo.games.core import Game
from persona_evo.matches.job import Match
from persona_evo.matches.records import LOGS, GameRecord, log_of
from persona_evo.matches.reopening import Kept
from persona_evo.matches.replays import Telling, telling
from persona_evo.matches.standings import pair, ratings
from persona_evo.report import charts, csv_rows, match_replay, match_tables, pages, tables
from persona_evo.report.figures import Drawing
from persona_evo.report.folder import EMBED
from persona_evo.report.pages import (
    Block,
    Code,
    Document,
    Facts,
    Figure,
    Folded,
    Gallery,
    Heading,
    Lines,
    Link,
    Section,
    Text,
)
from persona_evo.report.written import WrittenReport
from persona_evo.statistics import holm
from persona_evo.store.versions import versions
from persona_evo.words import counted, interrupted, plural

PAGE, PICTURES = "index.html", "pictures"

MOST_REPLAYS = 24
"""Maximum number of pictures of games on a page; more pairs have fewer pictures each."""

MOST_TOLD, MOST_SENTENCES = 3, 15
"""Largest number of agents for which the sentences of all pairs are shown, and sentences shown for more agents."""

MOST_LISTED = 1000
"""Maximum number of games that a page lists; games.csv has all."""

Tell = Callable[[str], None]


@dataclass
class _Shown:
    """A game on the page; `picture` is None if it could not be drawn."""

    number: int
    record: GameRecord
    why: str
    text: str
    picture: Path | None = None


@dataclass
class _Games:
    """The games that are shown, pair by pair, and why others are not."""

    pairs: dict[tuple[str, str], list[_Shown]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def write(
    match: Match,
    records: Sequence[GameRecord],
    folder: Path,
    command: str = "",
    pictures: bool = True,
    progress: Tell | None = None,
) -> WrittenReport:
    """Write the page and its files; existing files of the same names are replaced.

    Args:
        command: the command that made the match.
        pictures: whether to draw pictures.
        progress: called with a description of what is being drawn.

    Raises:
        RunError: a game does not replay.
    """
    names, levels = [a.name for a in match.agents], [level.name for level in match.levels]
    game = registry.get(match.game)
    csv_rows.write_csv(folder / "games.csv", match_tables.game_rows(records))
    csv_rows.write_csv(folder / "pairs.csv", match_tables.pair_rows(records, names, levels))
    kept = Kept(folder, match.game, match.levels, tuple(names), tuple(records))
    shown = _choose(kept, game, folder, pictures, progress)
    drawn = [s.picture for own in shown.pairs.values() for s in own if s.picture is not None]
    embed = sum(p.stat().st_size for p in drawn) <= EMBED
    found = match_tables.shown(records, names, levels, match.seed)
    results = found[:-1] if len(names) <= MOST_TOLD else found[-2::-1]
    lost = match_tables.faults(records)
    sides = match_tables.sides(records, names) if match.swap else None
    tied = match_tables.only_ties(records, match.game)
    warning = Text(tied, "tag") if tied else None
    parts = [
        Section("results", "Results", [warning, *_sentences(records, names, results), sides, Text(NOTE, "dim")]),
        Section("faults", "Lost moves", [lost, _anew(records, match.agents)] if lost.rows else []),
        Section("logs", "What programs printed", _logs(folder, match.agents)),
        Section("games", "Games worth looking at", [*_gallery(shown, game), Lines(shown.notes)]),
        Section("all", "All games", [Folded(counted(len(records), "game"), [_listed(records)]), Text(REPLAY, "dim")]),
        Section("thinking", "How they thought", [found[-1]]),
        Section("made", "How it was made", [Facts(facts(match, game, command))]),
    ]
    page = folder / PAGE
    played = interrupted(len(records), match.total, "game") or counted(len(records), "game")
    under = f"{played}, {counted(len(levels), 'level')}, seed {match.seed}"
    title = f"{game.title}: {' – '.join(names) if len(names) < 5 else f'{len(names)} agents'}"
    pages.write(Document(title, under, parts), page, embed)
    return WrittenReport(page, "\n\n".join(t.render() for t in found))


def drawings(kept: Kept, seed: int = 0) -> Iterator[Drawing]:
    """Yield the figures: games won in each pair, overall and per level, and ratings if there are several agents.

    Args:
        kept: the match.
        seed: seed of the match, for the intervals of ratings.
    """
    levels = [level.name for level in kept.levels]
    for level in ["", *(levels if len(levels) > 1 else [])]:
        found = [pair(kept.records, a, b, level) for a, b in itertools.combinations(kept.agents, 2)]
        rows = [(f"{p.a} – {p.b}", p.rate) for p in found if p.games]
        if rows:
            chart = charts.Bars("games won by the first named", rows, high=1, percent=True)
            yield Drawing((level or "all", "games won"), chart)
    if len(kept.agents) > 2 and kept.records:
        ranks = list(enumerate(ratings(kept.records, kept.agents, seed)))
        series = charts.Series(
            "", [(k, r.points) for k, r in ranks], "dots", 0, spans=[(k, r.low, r.high) for k, r in ranks]
        )
        across = charts.Axis(names=[r.name for _, r in ranks])
        yield Drawing(("ratings",), charts.Plot([series], across, charts.Axis("rating, Elo points")))


REPLAY = "To see any of them as a picture: persona-evo match replay FOLDER --number GAME"
NOTE = (
    "won: games won by the agent named first, with Wilson's 95 % interval; p: exact sign test of the games that were "
    "not ties, corrected by Holm's method in the sentences but not in the tables; margin: mean margin for the agent "
    "named first, ± half its 95 % interval from 5 games on; faults: moves that both agents lost by failing or being "
    "late"
)


def _sentences(
    records: Sequence[GameRecord], names: Sequence[str], results: Sequence[tables.Table]
) -> list[Block | None]:
    """Return sentences on who is better, and the tables.

    With many agents the tables come first, and differences that may be due to chance are folded.
    """
    told = sentences(records, names)
    if len(names) <= MOST_TOLD:
        return [Lines(text for _, text in told), *results]
    sure, rest = [t for s, t in told if s], [t for s, t in told if not s]
    return [
        results[0],
        Lines(sure[:MOST_SENTENCES]),
        Folded(f"{len(sure) - MOST_SENTENCES} more", [Lines(sure[MOST_SENTENCES:])]),
        Folded(f"{counted(len(rest), 'pair')} whose difference may be due to chance", [Lines(rest)]),
        *results[1:],
    ]


def sentences(records: Sequence[GameRecord], names: Sequence[str]) -> list[tuple[bool, str]]:
    """Return a sentence on who is better for each pair, and whether the difference is significant.

    The p values of all pairs are corrected together by Holm's method.
    """
    found = []
    which = " corrected" if len(names) > 2 else ""
    tested = [pair(records, a, b) for a, b in itertools.combinations(names, 2)]
    for p, corrected in zip(tested, holm([p.p for p in tested]), strict=True):
        a, b = p.a, p.b
        lost = p.games - p.wins - p.ties
        better, worse = (a, b) if p.wins >= lost else (b, a)
        score = f"{max(p.wins, lost)} : {min(p.wins, lost)}" + (f" and {counted(p.ties, 'tie')}" if p.ties else "")
        if p.wins == lost:
            found.append((False, f"{a} and {b} won equally often, {score}"))
        elif corrected < 0.05:
            found.append((True, f"{better} beat {worse} {score} (p = {corrected:.2g}{which})"))
        else:
            found.append(
                (
                    False,
                    f"{better} won more often than {worse}, {score}, which may be due to chance (p = "
                    f"{corrected:.2g}{which})",
                )
            )
    return found


def facts(match: Match, game: Game, command: str) -> dict[str, str]:
    """Return the facts on how the match was made, by name, as text."""
    times = f"{match.games} on each level" + (", each board from both sides" if match.swap else "")
    limits = [f"{match.limit:g} s a move"] if match.limit else []
    if any(a.kind == "program" for a in match.agents):
        limits.append(f"programs {match.program_seconds:g} s a move and {match.megabytes} MB")
    found = {
        "command": command,
        "game": game.name,
        "games of a pair": times,
        "seed": str(match.seed),
        "limits": ", ".join(limits),
        "agents": "\n".join(f"{a.name}: {_said(a)}" for a in match.agents),
        "again": "the same seed gives the same games"
        if match.reproducible
        else "another run may differ, because some agents have time limits or are programs",
    }
    found["versions"] = ", ".join(f"{name} {value}" for name, value in versions(game).items())
    return {k: v for k, v in found.items() if v}


def _said(agent: Agent) -> str:
    """Describe an agent in words."""
    if agent.kind == "program":
        return f"program {agent.program}"
    constants = ", ".join(f"{k} = {v:g}" for k, v in agent.constants.items())
    budget = agent.budget
    think = ", ".join(
        filter(
            None,
            (
                f"{budget.iterations} {plural(budget.iterations, 'iteration')}" if budget.iterations else "",
                f"{budget.seconds:g} s" if budget.seconds else "",
            ),
        )
    )
    think = f"{think} a move" if agent.kind in ("search", "flat") else ""
    return "; ".join(filter(None, (agent.about or agent.kind, constants, think)))


def _listed(records: Sequence[GameRecord]) -> tables.Table:
    found = match_tables.games(records[:MOST_LISTED])
    if len(records) > MOST_LISTED:
        found.notes.append(f"{len(records) - MOST_LISTED} more are in games.csv")
    return found


def _logs(folder: Path, agents: Sequence[Agent]) -> list[Link]:
    """Return links to the logs of programs."""
    found = []
    for agent in agents:
        path = log_of(folder, agent.name)
        if agent.kind == "program" and path.is_file():
            found.append(Link(f"What {agent.name} printed, and its tracebacks:", f"{LOGS}/{path.name}"))
    return found


def _anew(records: Sequence[GameRecord], agents: Sequence[Agent]) -> Text | None:
    """Explain the consequence of a program's late moves, if there were any."""
    programs = {a.name for a in agents if a.kind == "program"}
    late = sum((r.first, r.second)[who] in programs and kind == "time" for r in records for who, _, kind, _ in r.faults)
    if not late:
        return None
    return Text(
        "A program that is late is ended, and loaded again for its next move in the same game: "
        f"it lost what it kept in memory {counted(late, 'time')}.",
        "dim",
    )


# games worth watching


def _choose(kept: Kept, game: Game, folder: Path, pictures: bool, progress: Tell | None) -> _Games:
    """Choose games of each pair and draw them."""
    found = _Games()
    pairs = list(itertools.combinations(kept.agents, 2))
    most = max(1, min(4, MOST_REPLAYS // len(pairs)))
    if len(pairs) > MOST_REPLAYS:
        found.notes.append(f"games of the first {MOST_REPLAYS} of {len(pairs)} pairs are shown")
    for a, b in pairs[:MOST_REPLAYS]:
        if progress is not None and pictures:
            progress(f"{a} – {b}")
        own = [
            _shown(kept, game, t, folder if pictures else None, found.notes) for t in telling(kept.records, a, b, most)
        ]
        found.pairs[a, b] = own
    return found


def _shown(kept: Kept, game: Game, chosen: Telling, folder: Path | None, notes: list[str]) -> _Shown:
    """Describe a game in words and, with a folder, as a picture."""
    record = kept.records[chosen.number - 1]
    level, place = kept.level(game, chosen.number), kept.place(chosen.number)
    shown = _Shown(chosen.number, record, chosen.why, "")
    both = match_replay.sides(game, record)
    score = match_replay.standing(game, level, record, place)
    if folder is not None:
        shown.picture = match_replay.save(game, level, record, picture_of(folder, chosen.number), place)
        if shown.picture is None and not notes:
            notes.append(f"no pictures: {game.title} does not draw its games")
    first, second = [f"{s.name} ({s.word})" for s in both] if both else [record.first, record.second]
    shown.text = f"game {chosen.number} ({chosen.why}): {first} – {second} in {record.level}: " + ", ".join(
        filter(
            None,
            (
                score,
                match_tables.winner(record),
                f"{record.plies} moves",
                f"{len(record.faults)} lost" if record.faults else "",
            ),
        )
    )
    return shown


def picture_of(folder: Path, number: int) -> Path:
    """Return the path of a game's picture, whose folder is created."""
    path = folder / PICTURES / f"game-{number}.gif"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _gallery(shown: _Games, game: Game) -> list[Block | None]:
    """Return the pictures of each pair, followed by the moves of these games."""
    parts: list[Block | None] = []
    for (a, b), own in shown.pairs.items():
        if not own:
            continue
        drawn = [Figure(s.picture, s.text) for s in own if s.picture is not None]
        both = match_replay.sides(game, own[0].record)
        words = f"{both[0].word}: named first below a picture; {both[1].word}: second" if both and drawn else ""
        moves = [block for s in own for block in (Text(s.text), Code(s.record.actions))]
        parts += [
            Heading(f"{a} – {b}"),
            Text(words, "dim") if words else None,
            Gallery("match", drawn),
            Folded("their moves", moves),
        ]
    return parts


def draw(kept: Kept, number: int, target: Path) -> tuple[str, Path | None]:
    """Describe a game of a match by its line in the file of games, with a picture if the game draws its states.

    Raises:
        SettingsError: there is no such game.
        RunError: it does not replay.
    """
    if not 1 <= number <= len(kept.records):
        raise SettingsError(
            "the match has no such game",
            found=str(number),
            expected=f"1 to {len(kept.records)}",
            hint="games.csv and the page list them",
        )
    game = registry.get(kept.game)
    record, level, place = kept.records[number - 1], kept.level(game, number), kept.place(number)
    path = match_replay.save(game, level, record, target, place)
    both = match_replay.sides(game, record)
    first, second = [f"{s.name} ({s.word})" for s in both] if both else [record.first, record.second]
    score = match_replay.standing(game, level, record, place)
    end = ", ".join(filter(None, (score, match_tables.winner(record))))
    return f"game {number}: {first} – {second} in {record.level}: {end}, {record.plies} moves", path
