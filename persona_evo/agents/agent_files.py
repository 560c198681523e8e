"""Agents in TOML files.

A file has a table for each agent, with the fields of `persona_evo.agents.agent.Agent`. The agent called `evolver` is
the template of agents whose tree policy is evolved, and `league`, above all tables, names the opponents of these agents
unless a command names others. The field `constants` has names and the numbers that they stand for in formulas, so that
`NAME:C=0.5` is the same agent with another number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from persona_evo.agents.agent import Agent, checks, symbols_of
from persona_evo.errors import FormulaError, InputError, Place, SettingsError, unknown
from persona_evo.formula import PRIMITIVES
from persona_evo.games import textfile
from persona_evo.games.core import Game
from persona_evo.games.toml_table import TomlTable
from persona_evo.games.tomlplaces import Places
from persona_evo.limits import is_finite
from persona_evo.search.tree_policy import variables

EVOLVER, LEAGUE = "evolver", "league"
"""Names with a meaning in a file of agents (see the module)."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TEXT, _TABLE = 'a text in quotes, such as {} = "{}"', "a table, such as {} = {{ {} }}"
_FIELDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "kind": (str, _TEXT.format("kind", "search")),
    "about": (str, _TEXT.format("about", "what it does")),
    "utility": (str, _TEXT.format("utility", "WIN - LOSS")),
    "policy": (str, _TEXT.format("policy", "ucb1:0.5")),
    "answer": (str, _TEXT.format("answer", "visits")),
    "variant": (str, _TEXT.format("variant", "random")),
    "constants": (dict, _TABLE.format("constants", "C = 0.5")),
    "search": (dict, _TABLE.format("search", "rollout = 20")),
    "seconds": ((int, float), "a number, such as seconds = 1.5"),
    "iterations": (int, "a whole number, such as iterations = 500"),
}
"""The types of each field's values, and a description of them for messages."""


def load_agents(path: Path, game: Game) -> dict[str, Agent]:
    """Read the agents of a TOML file and check each against the game.

    Returns:
        The agents by their names, in the order of the file.

    Raises:
        SettingsError: the file cannot be read, or an agent in it is wrong; with the place.
        FormulaError: a formula does not fit the game.
    """
    table = _read(path)
    return {name: _checked(name, value, game, table.places) for name, value in table.values.items() if name != LEAGUE}


def load_league(path: Path) -> list[str]:
    """Read the names of the opponents that evolved agents play against; none if the file does not name any.

    Raises:
        SettingsError: the file cannot be read, or the league is not a list of names; with the place.
    """
    table = _read(path)
    words = table.values.get(LEAGUE, [])
    what, said = "the league is not a list of agents", 'a list of names, such as ["random", "uct"]'
    if not isinstance(words, list):
        raise table.wrong(what, LEAGUE, found=textfile.shown(words), expected=said)
    for i, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise table.wrong(what, LEAGUE, i, found=textfile.shown(word), expected=said)
    return list(words)


def agent_from(values: object, game: Game) -> Agent:
    """Return the agent that plain values describe: the inverse of `Agent.to_dict`.

    Raises:
        SettingsError, FormulaError: the values describe no agent, or one that cannot play the game.
    """
    if not isinstance(values, dict) or not isinstance(values.get("name"), str):
        raise SettingsError("not an agent", found=str(values)[:80], expected="an object with the fields of an agent")
    given = {k: v for k, v in values.items() if k not in ("name", "place") and v is not None and v != ""}
    found = _checked("agent", given, game, None)
    return replace(found, name=values["name"])


def _read(path: Path) -> TomlTable:
    return TomlTable.read(path, SettingsError, "each agent is a table: [name], then kind = ...")


def _checked(name: str, data: object, game: Game, places: Places | None) -> Agent:
    """Return the agent that a table describes.

    Args:
        name: its name.
        data: its table.
        game: the game that it has to fit.
        places: the places in its file; None for values that come from no file.

    Raises:
        SettingsError, FormulaError: a value is wrong.
    """

    def at(*path: str) -> Place | None:
        return None if places is None else places.value(name, *path)

    def key_of(*path: str) -> Place | None:
        return None if places is None else places.key(name, *path)

    if not isinstance(data, dict) or not _NAME.fullmatch(name):
        raise SettingsError(
            "not an agent",
            place=key_of(),
            found=name[:80],
            expected="a table [NAME] with its fields",
            hint="a NAME consists of letters, digits and _ and begins with a letter",
        )
    for key, value in data.items():
        if key not in _FIELDS:
            expected, hint = unknown(key, _FIELDS)
            raise SettingsError(
                f"agent {name} has no such field", place=key_of(key), found=key, expected=expected, hint=hint
            )
        kinds, words = _FIELDS[key]
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise SettingsError(
                f"agent {name}: {key} has the wrong type",
                place=at(key),
                found=textfile.shown(value),
                expected=words,
                hint=_quotes(kinds, value),
            )
    constants = data.get("constants", {})
    for key, value in constants.items():
        fresh = _NAME.fullmatch(key) and key not in variables(game, moves=True) and key not in PRIMITIVES
        if not fresh or type(value) not in (int, float) or not is_finite(value):
            raise SettingsError(
                f"agent {name}: a constant needs a new name and a finite number",
                place=at("constants", key),
                found=f"{key} = {textfile.shown(value)}",
                expected="a name that formulas do not use yet, and a number such as 0.5",
            )
    make: Callable[..., Agent] = Agent
    agent = make(name, **{"kind": "search", **data})
    for path, look in checks(agent, game):
        try:
            look()
        except FormulaError as e:
            if places is not None:
                places.formula(data[path[0]], (*symbols_of(path[0], game), *constants), name, *path)
            raise e.moved(at(*path), f"agent {name}: {e.what}", FormulaError) from e
        except InputError as e:
            raise e.moved(at(*path), f"agent {name}: {e.what}", SettingsError) from e
    return agent


def _quotes(kinds: type | tuple[type, ...], value: object) -> str:
    """Return a hint for a value of the wrong type."""
    if kinds is str:
        return "put text in quotes"
    return "write numbers without quotes" if isinstance(value, str) and kinds is not dict else "write it like this"
