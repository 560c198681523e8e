"""Finds games by name. A game is imported when it is first asked for."""

from __future__ import annotations

import copyreg
import functools
import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

from persona_evo.errors import GameError, PersonaEvoError, Place, SettingsError, raised, unknown
from persona_evo.games.core import Game

CATALOG = {
    "colosseum": "persona_evo.games.catalog.colosseum:GAME",
    "its_alive": "persona_evo.games.catalog.its_alive:GAME",
    "minidungeons2": "persona_evo.games.catalog.minidungeons2:GAME",
    "puyo": "persona_evo.games.catalog.puyo:GAME",
    "puyo_hidden": "persona_evo.games.catalog.puyo:HIDDEN",
    "roguelike2d": "persona_evo.games.catalog.roguelike2d:GAME",
}
"""Games that ship with the project."""

DEFAULT = "minidungeons2"

CONNECTED = "persona_evo.connect.game"
"""Module whose `load` makes a game of a description, so that only those who connect a game load what that takes."""

_OF_FILE = "persona_evo_game_"
"""How names of modules begin that are read from files."""

_addresses: dict[str, str] = {}
"""Name of a game -> what it was last asked for by, of the games outside the list of names."""

_asked: dict[str, Game] = {}
"""Where a game in Python stands -> the game: two files may hold games of the same name."""

_made: dict[str, Game] = {}
"""Name of a game that was made in this process, and that no address leads to -> the game."""


@functools.cache
def names() -> Mapping[str, str]:
    """Return all known games as name -> "module:object"."""
    from importlib.metadata import entry_points

    found = {e.name: e.value for e in entry_points(group="persona_evo.games")}
    return {**found, **CATALOG}


def get(name: str) -> Game:
    """Return the game called `name`, or at "module:object", "path/to/file.py:OBJECT" or "path/to/game.toml".

    A game that was requested by its place is also known by its own name, until another one of that name is requested.

    Raises:
        SettingsError: there is no such game, or its module cannot be imported.
        GameError: the object is not a Game, or its module fails when it is imported.
    """
    if name in CATALOG:  # without searching the installed packages
        return _at(name, CATALOG[name])
    known = names()
    if name in known:
        return _at(name, known[name])
    if name.endswith(".toml"):
        path = _absolute(name)
        stamp = _stamp(path)
        if stamp is None:
            raise SettingsError(
                "there is no such description of a game",
                found=name,
                expected="a TOML file",
                hint="persona-evo connect new NAME writes one",
            )
        game = _connected(path, stamp)
        return _remembered(game, path)
    if ":" in name or name.endswith(".py"):
        game = _at(name, _absolute(name))
        _asked[_absolute(name)] = game
        return _remembered(game, _absolute(name))
    if name in _made:
        return _made[name]
    if _addresses.get(name, "").endswith(".toml"):
        return get(_addresses[name])
    if name in _addresses:
        return _at(name, _addresses[name])
    expected, hint = unknown(name, {**known, **_addresses})
    raise SettingsError("no such game", found=name, expected=expected, hint=hint)


def known(game: str | Game) -> Game:
    """Return the game of a name, or the game itself, which is known by its own name from now on.

    Raises:
        SettingsError: as for `get`, or this is neither a name nor a game.
        GameError: as for `get`.
    """
    if isinstance(game, str):
        return get(game)
    if not isinstance(game, Game):
        raise SettingsError(
            "this is neither a game nor the name of one",
            found=repr(game)[:200],
            expected="a Game, a name, or FILE.py:GAME",
        )
    if game.outside is None and address(game) == game.name and _listed(game.name) is not game:
        place = _place(game)
        if place:
            get(place)
        else:
            _addresses.pop(game.name, None)
            _made[game.name] = game
    return game


def reachable(game: Game) -> bool:
    """Return whether another process can find the game, which is impossible for one made in a notebook."""
    return _made.get(game.name) is not game


def sent(game: Game) -> str:
    """Return the address of a game for another process.

    Raises:
        GameError: no other process can find the game.
    """
    place = address(game)
    try:
        found = get(place)
    except PersonaEvoError:
        found = None
    if found is not game or not reachable(game):
        raise GameError(
            f"the game {game.name!r} cannot be pickled: another process would not find it"
            "\n  hint: put the game into a file of its own, and load it by  load_game('FILE.py:GAME')"
        )
    return place


def alone(game: Game, cluster: bool = False) -> bool:
    """Return whether only this process can play the game.

    This holds for a game that no other process can find, such as a game of a notebook, and for one that runs in
    processes of its own, which play many rollouts at once (see `persona_evo.connect`). The workers of a `cluster` can
    start the latter on their own machines.
    """
    return not reachable(game) or (game.outside is not None and not cluster)


def _listed(name: str) -> Game | None:
    """Return the game of a listed name."""
    return get(name) if name in names() else None


def _place(game: Game) -> str:
    """Return the "module:object" of a game; "" if it is not at the top level of an importable module."""
    for name, module in list(sys.modules.items()):
        if (
            name in ("__main__", "__mp_main__")
            or name.startswith(_OF_FILE)
            or getattr(module, "__file__", None) is None
        ):
            continue
        for attribute, value in list(vars(module).items()):
            if value is game and attribute.isidentifier():
                return f"{name}:{attribute}"
    return ""


def _remembered(game: Game, place: str) -> Game:
    """Return the game, and from now on find it by its own name, too."""
    _addresses[game.name] = place
    _made.pop(game.name, None)
    return game


def address(game: Game) -> str:
    """Return what another process finds this game by: its name if that is listed, otherwise its place.

    A connected game may have the name of a listed one, whose twin it is; its place is that of its description.
    """
    if game.name in names() and game.outside is None:
        return game.name
    place = next((place for place, asked in _asked.items() if asked is game), None)
    return place or _addresses.get(game.name, game.name)


def again(recorded: str, now: str | None, folder: str) -> str:
    """Return what finds the game of a job that is continued: `now` if it is given, otherwise what its folder recorded.

    Raises:
        SettingsError: the game is no longer there; the error says where it was.
    """
    if now is not None:
        return _absolute(get(now).name if now in names() else now)
    try:
        get(recorded)
    except SettingsError as e:
        raise SettingsError(
            "the game is no longer where it was when this began",
            place=Place(folder),
            found=f"{recorded}: {e.what}",
            hint="say where it is now: --game FILE.py:GAME (or FILE.toml)",
        ) from e
    return recorded


def in_module(module: str, file: str, name: str) -> Game:
    """Return the game called `name` in a module, which is imported, or else read from its file.

    Raises:
        SettingsError: there is no such module.
        GameError: the module has no such game.
    """
    if module in sys.modules and module != "__main__":
        found = sys.modules[module]
    else:
        try:
            if module == "__main__":
                raise ImportError("the main program has no file to load it from")
            found = importlib.import_module(module)
        except ImportError as e:
            if not file:
                raise SettingsError(f"game {name!r} cannot be loaded: {e}", found=module) from e
            found = _from_file(file)
    for value in vars(found).values():
        if isinstance(value, Game) and value.name == name:
            return value
    raise GameError(f"{file or module} has no Game called {name!r} at its top level")


def _absolute(target: str) -> str:
    """Return a target with the path of its file made absolute and its object named."""
    file, colon, attribute = target.rpartition(":")
    if not colon or not file.endswith(".py"):
        file, attribute = (target, "GAME") if target.endswith(".py") else ("", "")
    try:
        if target.endswith(".toml"):
            return str(Path(target).resolve())
        return f"{Path(file).resolve()}:{attribute}" if file else target
    except (OSError, RuntimeError, ValueError) as e:
        raise _not_loaded(target, target, e) from e


@functools.cache
def _connected(path: str, stamp: tuple[int, int]) -> Game:
    """Return the game of a description, one for each state of the file, because it has processes of its own."""
    game: Game = importlib.import_module(CONNECTED).load(Path(path))
    return game


def _stamp(path: str) -> tuple[int, int] | None:
    """Return the time when a file was written, and its size; None if there is no file."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


@functools.cache
def _at(name: str, target: str) -> Game:
    module, _, attribute = target.rpartition(":")
    file = module if module.endswith(".py") else ""
    if not file and not all(part.isidentifier() for part in module.split(".")):
        raise _not_loaded(name, target, ValueError(f"{module!r} is not the name of a module"))
    try:
        found = _from_file(file) if file else importlib.import_module(module)
    except PersonaEvoError:
        raise
    except (ImportError, SyntaxError) as e:
        raise _not_loaded(name, target, e) from e
    except (Exception, SystemExit) as e:
        raise GameError(
            f"{raised(e, file)}: game {name!r} cannot be loaded: its module raises {type(e).__name__}: {e}"
            "\n  hint: importing the module must only define the game"
        ) from e
    game = getattr(found, attribute, None) if attribute.isidentifier() else None
    if game is None:
        raise _not_loaded(name, target, AttributeError(f"it does not define {attribute!r}"))
    if not isinstance(game, Game):
        hint = ""
        if isinstance(game, type):
            hint = (
                "\n  hint: add  from persona_evo.games.python_game import from_class  and, below the class,  "
                f"GAME = from_class({attribute}); then name it with :GAME"
            )
        raise GameError(f"{target} is a {type(game).__name__}, expected a persona_evo.games.core.Game{hint}")
    return game


def _not_loaded(name: str, target: str, error: Exception) -> SettingsError:
    return SettingsError(
        f"game {name!r} cannot be loaded: {error}",
        found=target,
        expected='"module:object" of an importable module, or "path/to/file.py:OBJECT"',
        hint="check the path, and whether the game's package is installed in this environment",
    )


def _from_file(file: str) -> ModuleType:
    """Return the module in a file, under a name of its own that is the same in every process."""
    path = Path(file).resolve()
    if not path.is_file():
        raise ImportError(f"{path} is not a file")
    name = f"{_OF_FILE}{hashlib.sha256(str(path).encode()).hexdigest()[:12]}_{path.stem}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _pickled(game: Game) -> tuple[Callable[[str], Game], tuple[str]]:
    """Pickle a game as the address at which another process finds it."""
    return get, (sent(game),)


copyreg.pickle(Game, _pickled)
