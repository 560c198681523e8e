"""Mutated inputs of every kind: each is read and used, or refused with its place, in moderate time and memory."""

from __future__ import annotations

import functools
import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from persona_evo import personas
from persona_evo.agents import agent_files
from persona_evo.cli.connect_new import text_for
from persona_evo.connect import description_file, traces
from persona_evo.errors import InputError, PersonaEvoError
from persona_evo.experiments import files as experiments
from persona_evo.formula import parse
from persona_evo.formula.export import KINDS, export
from persona_evo.games import mapsets, registry
from persona_evo.games.core import RUNNING, Game, Level
from persona_evo.games.level_ranges import LevelEntry
from persona_evo.games.textfile import read_text
from persona_evo.personas.doubts import warnings
from persona_evo.store import policies
from tests.harness.mutations import MUTATIONS
from tests.harness.trials import Finding, Part, Trial
from tests.shared import ROOT

GAMES = ("minidungeons2", "colosseum", "its_alive", "roguelike2d", "puyo")
MOVES = 12
"""Moves that are made in a level that could be read."""
MOST_CHARACTERS = 4_000
"""Of a message."""
PACKAGE = ROOT / "persona_evo"
FORMULAS = (
    "R + sqrt(2) * sqrt(log(PN) / N)",
    "if(HL < 3, PE - 0.01*ST, max(TO, 2 * MS)) + 0.5 ^ 2",
    "min(1, abs(-x / (y - 1e-3))) * (a >= b) # a comment\n + 3",
)
WEIRD = (
    *("0", "-1", "1e400", "-0.0", "nan", "inf", "true", "null", "2000-01-01", "18446744073709551616", "9" * 5000),
    *('""', '"x"', "''", '"\\u0000"', '"\\u001b[31m"', '"' + "a" * 3000 + '"', '"../../etc/passwd"', '"é🎲"'),
    *(
        "[]",
        "[1, [2]]",
        "{}",
        "{a = 1}",
        "[" * 2000,
        "(" * 2000,
        "((1))",
        "x ^ 99999",
        "/",
        "- -",
        "if(",
        "#",
        "\n",
        "\t",
    ),
)
"""What is put in place of a value."""


class InputKind(NamedTuple):
    """A kind of input.

    Attributes:
        name: for the table.
        bases: sound inputs.
        suffixes: one of them is that of the file.
        use: reads the file and uses what it holds.
    """

    name: str
    bases: tuple[bytes, ...]
    suffixes: tuple[str, ...]
    use: Callable[[Path], object]


def token(data: bytearray, dice: random.Random) -> None:
    """Put something else in place of a number, a word or a text."""
    places = [m.span() for m in re.finditer(rb'"[^"\n]*"|[\w.]+|[^\s\w]', bytes(data))]
    if places:
        start, end = dice.choice(places)
        data[start:end] = dice.choice(WEIRD).encode()


def moved(data: bytearray, dice: random.Random) -> None:
    """Put a copy of one piece in place of another."""
    a, b = dice.randrange(len(data)), dice.randrange(len(data))
    data[b : b + dice.randint(0, 20)] = data[a : a + dice.randint(1, 20)]


def multiplied(data: bytearray, dice: random.Random) -> None:
    """Repeat a piece many times."""
    at = dice.randrange(len(data))
    data[at:at] = bytes(data[at : at + dice.randint(1, 30)]) * dice.choice((2, 30, 2000))


CHANGES = (*MUTATIONS, token, token, token, token, moved, moved, multiplied)


def level_of(game: Game, path: Path) -> None:
    """Read a level and make some moves in it."""
    level = mapsets.load(game, LevelEntry(path), "mutated", {})
    _moves(game, level)


def _moves(game: Game, level: Level) -> None:
    dice, made, state = random.Random(1), list[int](), game.start(level, 1)
    for _ in range(MOVES):
        if game.over(level, state) != RUNNING:
            break
        made.append(dice.choice(game.legal(level, state)))
        state = game.replay(level, made, seed=1)[-1]
        if not all(value == value for value in game.measure(level, state).values()):
            raise Finding("a metric is no number")


def set_of(game: Game, path: Path) -> None:
    """Look up the sets of a file."""
    for name in ("train", "test", "all"):
        mapsets.find(game, [f"{path}#{name}"])


def persona(path: Path) -> None:
    """Read a persona and say what is doubtful in it."""
    named = re.search(rb'^game *= *"(\w+)"', path.read_bytes(), re.MULTILINE)
    name = named[1].decode() if named else GAMES[0]
    game = registry.get(name if name in GAMES else GAMES[0])
    warnings(game, personas.read_persona(path, game))


def policy(path: Path) -> None:
    """Read a policy and make the search's tree policy of it."""
    found = policies.read(path)
    found.to_text()
    if found.game in registry.names():  # a policy may be of a game that is not installed
        found.tree_policy(registry.get(found.game))


def formula(path: Path) -> None:
    """Read a formula, compute it, and write it in every form."""
    found = parse(read_text(path, 1 << 20, InputError))
    value = found.evaluate(dict.fromkeys(found.symbols, 0.5))
    if value != value or parse(found.text) != found:
        raise Finding(f"{found.text[:200]} is not the same again, or no number")
    for kind in KINDS:
        export(found, kind)


def agents_of(game: Game, path: Path) -> None:
    """Read the agents of a file and whom evolved ones play against."""
    agent_files.load_agents(path, game)
    agent_files.load_league(path)


def connected(path: Path) -> None:
    """Read the description of a connected game and name its levels."""
    about = description_file.read(path)
    about.unchecked(about.levels(["train"]))


def _bytes(*patterns: str) -> tuple[bytes, ...]:
    found = sorted(path for pattern in patterns for path in ROOT.glob(pattern))
    assert found, patterns
    return tuple(path.read_bytes() for path in found if path.stat().st_size < 100_000)


def _levels(game: str) -> list[InputKind]:
    levels = f"persona_evo/games/catalog/{game}/levels"

    def read(path: Path) -> None:
        level_of(registry.get(game), path)

    def sets(path: Path) -> None:
        set_of(registry.get(game), path)

    return [
        InputKind(f"level of {game}", _bytes(f"{levels}/*.txt"), (".txt", ".txt", ".csv", ""), read),
        InputKind(f"set of {game}", _bytes(f"{levels}/sets.toml"), (".toml",), sets),
    ]


def _trace() -> bytes:
    """Return a playthrough of a connected game as the search keeps it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "best.json"
        traces.Trace("ladder", "default", 2.0, 2.0, {"HEIGHT": 2.0, "TURN": 2.0}, ((1, 2), (0, 2))).save(path)
        return path.read_bytes()


def _agents(game: str) -> InputKind:
    def read(path: Path) -> None:
        agents_of(registry.get(game), path)

    return InputKind(f"agents of {game}", _bytes(f"persona_evo/games/catalog/{game}/agents.toml"), (".toml",), read)


@functools.cache
def kinds() -> tuple[InputKind, ...]:
    """Return all kinds, with the sound inputs that ship with the package."""
    brief = text_for("game", Path())
    full = re.sub(r'^# (?!game|arguments = \["|personas)', "", brief, flags=re.MULTILINE)
    return (
        *(kind for game in GAMES for kind in _levels(game)),
        InputKind("persona", _bytes("persona_evo/personas/catalog/*.toml"), (".toml",), persona),
        InputKind("policy", _bytes("policies/*/*.json"), (".json",), policy),
        InputKind("formula", tuple(text.encode() for text in FORMULAS), (".txt",), formula),
        *(_agents(game) for game in ("colosseum", "puyo")),
        InputKind("experiment", (experiments.TEMPLATE.encode(),), (".toml",), experiments.read),
        InputKind("connected game", (brief.encode(), full.encode()), (".toml",), connected),
        InputKind("trace", (_trace(),), (".json",), traces.load),
    )


def run(trial: Trial) -> str:
    """Mutate a sound input and use it."""
    kind = kinds()[trial.number % len(kinds())]
    data = bytearray(trial.dice.choice(kind.bases))
    made = [trial.dice.choice(CHANGES) for _ in range(trial.dice.choice((1, 1, 1, 2, 3)))]
    for change in made:
        if data:
            change(data, trial.dice)
    path = trial.folder / f"mutated{trial.dice.choice(kind.suffixes)}"
    path.write_bytes(bytes(data))
    trial.what = f"{kind.name}: {', '.join(change.__name__ for change in made)}"
    try:
        kind.use(path)
    except PersonaEvoError as e:
        if len(str(e)) > MOST_CHARACTERS:
            raise Finding(f"a message of {len(str(e)):,} characters: {str(e)[:300]}") from e
        if kind.name != "formula" and path.name not in str(e):
            raise Finding(f"refused without the file: {e}") from e
        return f"{kind.name}: refused"
    return f"{kind.name}: fine"


def prepare() -> None:
    """Use every sound input once."""
    for kind in kinds():
        with tempfile.TemporaryDirectory() as folder:
            for base in kind.bases:
                path = Path(folder) / f"sound{kind.suffixes[0]}"
                path.write_bytes(base)
                kind.use(path)


PART = Part("inputs", 10_000, "inputs", 1, run, prepare)
