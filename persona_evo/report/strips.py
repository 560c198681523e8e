"""Film strips: pictures that a connected game draws of a playthrough, side by side.

The game plays the playthrough again and sends a picture of each moment. A few of them, spread evenly, are kept in a
folder of their own with a list that is written last. A report that is written again, or that was interrupted, asks the
game only for the strips that are not complete.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from persona_evo.errors import ConnectError, GameError, ProtocolError, RunError, VerificationError, in_one_line
from persona_evo.games.core import Game, Level, Metric
from persona_evo.games.level_text import LevelText
from persona_evo.games.outside import MOST_SHOTS, Arrived, Film, moments
from persona_evo.jobs import files, schema
from persona_evo.playtest.analysis import Analysis
from persona_evo.playtest.metrics import grouped
from persona_evo.playtest.records import Playthrough
from persona_evo.report import replay
from persona_evo.report.game_pictures import strip_picture
from persona_evo.report.pages import Figure
from persona_evo.report.tables import Block
from persona_evo.report.written import Names
from persona_evo.words import figure

FOLDER = "strips"
"""Name of the folder of the strips, beside the page."""

_LIST = "strip.json"


@dataclass
class Strip(Block):
    """Pictures of a playthrough, in the order of play.

    Attributes:
        level: the level's name.
        caption: the line above them.
        figures: the pictures with their captions.
    """

    level: str
    caption: str
    figures: Sequence[Figure]

    def __bool__(self) -> bool:
        return bool(self.figures)


def films(
    folder: Path,
    game: Game,
    levels: Mapping[str, Level],
    analysis: Analysis,
    progress: Callable[[str], None] | None = None,
) -> tuple[list[Strip], list[str]]:
    """Return the film strips of each persona in each available level; none if the game does not send pictures.

    A game that fails, or that sends something else than pictures, is not asked again.

    Args:
        folder: the folder of all strips; the game is asked only for those that it does not hold.
        levels: levels by name.
        progress: called with a description of what is being done.

    Returns:
        The strips, and sentences on those that are missing.
    """
    if game.outside is None or not game.outside.filmed:
        return [], []
    names, found, missing, failed = Names(folder), list[Strip](), list[str](), False
    for (name, player), group in grouped(analysis.records).items():
        if player not in analysis.personas or name not in levels:
            continue
        metric = next((m for m in analysis.infos if m.symbol == analysis.priorities.get(player)), None)
        for record, words, told in replay.worth_watching(group):
            if not set(words) & set(game.outside.filmed):
                continue
            strip = StripFolder(names.file(name, player, words[0], suffix=""), game, levels[name], record)
            shots = strip.held()
            if shots is None and not failed:
                if progress is not None:
                    progress(f"asking the game for pictures: {player} in {name}")
                try:
                    shots = strip.shoot(partial(_tell_sent, progress, f"{player} in {name}"))
                except VerificationError as e:
                    missing.append(f"There is no film strip: {in_one_line(e)}")
                except (ConnectError, GameError) as e:
                    failed = True
                    missing.append(f"A film strip is missing, and the game was not asked for others: {in_one_line(e)}")
            if shots is not None:
                caption = replay.caption(game, levels[name], record, told)
                found.append(Strip(name, caption, strip.figures(shots, metric)))
    return found, list(dict.fromkeys(missing))


@dataclass(frozen=True)
class KeptShot:
    """A picture in the folder of a strip.

    Attributes:
        depth: the number of decisions before it.
        metrics: the metrics at that moment, by symbol.
        score: the game's score at the end; None before.
        digest: the digest of the picture's file.
    """

    depth: int
    metrics: dict[str, float]
    score: float | None
    digest: str


class StripFolder:
    """The pictures of one strip.

    Args:
        folder: the strip's own folder.
        game, level, record: the playthrough that it shows.
    """

    def __init__(self, folder: Path, game: Game, level: Level, record: Playthrough) -> None:
        self._folder, self._game, self._level, self._record = folder, game, level, record
        text = repr([game.name, game.version, LevelText.of(level), record.seed, record.all_actions, MOST_SHOTS])
        self._shows = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def held(self) -> list[KeptShot] | None:
        """Return what the folder holds if that is all of the strip and undamaged, None if not."""
        try:
            values = schema.read(self._folder / _LIST, RunError)[0]
            shots = [
                KeptShot(
                    int(shot["depth"]),
                    {str(symbol): float(value) for symbol, value in shot["metrics"].items()},
                    None if shot["score"] is None else float(shot["score"]),
                    shot["digest"],
                )
                for shot in values["shots"]
            ]
            whole = all(_digest(self._file(i).read_bytes()) == shot.digest for i, shot in enumerate(shots))
            return shots if whole and values["shows"] == self._shows else None
        except (RunError, OSError, LookupError, TypeError, ValueError, AttributeError):
            return None

    def shoot(self, arrived: Arrived) -> list[KeptShot]:
        """Let the game draw the pictures, write them, and return what the folder holds now.

        Args:
            arrived: told of each picture (see `Outside.film`).

        Raises:
            ConnectError, ProtocolError, GameError: the game fails, or sends no pictures, or what is no picture.
            VerificationError: the game comes to another end than when it was played.
        """
        actions, outside = self._record.all_actions, self._game.outside
        assert outside is not None
        film = outside.film(self._level.text, actions, moments(len(actions)), arrived)
        if not film.shots:
            raise ProtocolError(f"{self._game.title} has the capability `pictures`, but sent none")
        self._check(film)
        pictures = [strip_picture(shot) for shot in film.shots]
        shots = []
        self._folder.mkdir(parents=True, exist_ok=True)
        for number, (shot, picture) in enumerate(zip(film.shots, pictures, strict=True)):
            files.write_atomically(self._file(number), picture)
            score = film.score if shot.depth == len(actions) else None
            shots.append(KeptShot(shot.depth, shot.metrics, score, _digest(picture)))
        schema.write(
            self._folder / _LIST, {"schema": 1, "shows": self._shows, "shots": [asdict(shot) for shot in shots]}
        )
        return shots

    def figures(self, shots: Sequence[KeptShot], metric: Metric | None) -> list[Figure]:
        """Return the pictures with captions: the number of decisions, and a metric if the game reports it."""
        total = len(self._record.all_actions)
        return [Figure(self._file(number), _caption(shot, total, metric)) for number, shot in enumerate(shots)]

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:02}.png"

    def _check(self, film: Film) -> None:
        """Compare the end with that of the playthrough, unless the game went on after its plan."""
        record = self._record
        known = {} if record.end is not None and record.end.actions else record.metrics
        for symbol, value in film.metrics.items():
            if symbol in known and not np.isclose(value, known[symbol], atol=1e-9):
                raise VerificationError(
                    f"trial {record.trial} of {record.player} in {record.level} does not replay: {symbol} is "
                    f"{value:g}, the record has {known[symbol]:g}"
                )


def _tell_sent(progress: Callable[[str], None] | None, what: str, moment: int, total: int) -> None:
    if progress is not None:
        progress(f"asking for pictures: {moment} of {total}, {what}")


def _caption(shot: KeptShot, total: int, metric: Metric | None) -> str:
    parts = [f"{shot.depth} of {total}"]
    if metric is not None and metric.symbol in shot.metrics:
        parts.append(f"{metric.name} {figure(shot.metrics[metric.symbol])}")
    if shot.score is not None:
        parts.append(f"score {figure(shot.score)}")
    return " · ".join(parts)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
