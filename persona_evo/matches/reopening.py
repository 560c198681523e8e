"""Reads a played match from its folder; everything in it is checked before any of it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from persona_evo.agents.agent import Agent
from persona_evo.agents.agent_files import agent_from
from persona_evo.errors import InputError, PersonaEvoError, Place, RunError
from persona_evo.games import registry, trust
from persona_evo.games.core import Game, Level
from persona_evo.games.level_text import LevelText
from persona_evo.jobs import json_text, schema
from persona_evo.matches.records import GAMES, KIND, GameRecord, games

T = TypeVar("T")


@dataclass(frozen=True)
class Kept:
    """A match as stored in its folder: the game's name in the registry, its levels, the agents' names and all games."""

    folder: Path
    game: str
    levels: tuple[LevelText, ...]
    agents: tuple[str, ...]
    records: tuple[GameRecord, ...]

    @property
    def closest(self) -> int:
        """The number of the game with the smallest margin; of several, the longest of these."""
        return 1 + min(range(len(self.records)), key=lambda i: (abs(self.records[i].margin), -self.records[i].plies))

    def place(self, number: int) -> Place:
        """Return the place of a game in its file, by its line number."""
        return Place(str(self.folder / GAMES), number)

    def level(self, game: Game, number: int) -> Level:
        """Return the level of a game.

        Raises:
            RunError: the match has no such level.
        """
        name = self.records[number - 1].level
        text = next((t for t in self.levels if t.name == name), None)
        if text is None:
            raise RunError(
                f"game {number} is on a level that the match does not have",
                place=self.place(number),
                found=name,
                expected="one of " + ", ".join(t.name for t in self.levels),
                hint=json_text.RESTORE,
            )
        return text.load(game)


def reopen(folder: Path) -> Kept:
    """Read a match's folder, without a lock.

    Raises:
        RunError: it is not a match's folder, a file is damaged, or the rules of the game have changed since this match.
    """
    r = KIND.reader(folder)
    name = r.text_of("game")
    trust.check(r)
    game = _made(r, ("game",), lambda: registry.get(name))
    if r.whole("game_version") != game.version:
        raise r.fail(
            "the rules of the game have changed since this match",
            "game_version",
            found=r.whole("game_version"),
            expected=f"{game.version}, the version of {game.name} here",
            hint="use the version of the game that the match was played with",
        )
    _settings(r)
    agents = [_agent(r, i, game) for i in range(len(r.items("agents")))]
    levels = [_level(r, i, game) for i in range(len(r.items("levels")))]
    return Kept(folder, name, tuple(levels), tuple(a.name for a in agents), tuple(games(folder).read()))


def _settings(r: schema.Reader) -> None:
    """Check that the other values have the right types."""
    for key, least in (("games", 1), ("seed", 0), ("megabytes", 0)):
        if r.whole(key) < least:
            raise r.fail(
                "is out of range", key, found=r.data[key], expected=f"at least {least}", hint=json_text.RESTORE
            )
    r.get("swap", bool, "true or false")
    r.get("limit", (int, float, type(None)), "seconds, or null")
    r.number("program_seconds")
    r.words("programs", {})


def _agent(r: schema.Reader, i: int, game: Game) -> Agent:
    values = dict(r.data["agents"][i])
    program = values.pop("program", "")
    if not isinstance(program, str):
        raise r.fail(
            "has the wrong type", "agents", i, "program", found=program, expected="a text", hint=json_text.RESTORE
        )
    return replace(_made(r, ("agents", i), lambda: agent_from(values, game)), program=program)


def _level(r: schema.Reader, i: int, game: Game) -> LevelText:
    one = r.items("levels")[i]
    level = LevelText(
        one.text_of("name"),
        one.text_of("text"),
        one.text_of("source"),
        tuple(one.get("options", dict, "an object").items()),
    )
    _made(r, ("levels", i), lambda: level.load(game))
    return level


def _made(r: schema.Reader, path: tuple[str | int, ...], make: Callable[[], T]) -> T:
    """Return the result of `make` for the value at a path; if it refuses the value, the error names its place."""
    try:
        return make()
    except InputError as e:
        raise r.fail(e.what, *path, said=e.found, expected=e.expected or "", hint=e.hint or json_text.RESTORE) from e
    except (PersonaEvoError, TypeError, ValueError, KeyError, AttributeError) as e:
        raise r.fail("is damaged", *path, said=f"{type(e).__name__}: {e}"[:200], hint=json_text.RESTORE) from e
