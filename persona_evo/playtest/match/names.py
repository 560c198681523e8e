"""From what a user types to agents.

| typed | agent |
|---|---|
| `uct_walls` | of the game's own file of agents |
| `my.toml#name` | of another file of agents |
| `bot.py` | a program of others (`persona_evo.connect.program`) |
| `bot=my/agent.py` | the same, under the name `bot` |
| `uct_walls:C=0.5,rollout=20` | the same with other constants, search settings, budget, variant |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from persona_evo.errors import Place, SettingsError, unknown
from persona_evo.games.core import Game
from persona_evo.search.agents import Agent, check, load_agents
from persona_evo.search.settings import SearchSettings

SEARCH = {f.name for f in fields(SearchSettings)}
OWN = ("seconds", "iterations", "variant", "answer", "policy", "utility")


def agents(game: Game, typed: Sequence[str]) -> list[Agent]:
    """The agents that words stand for; their names differ.

    Raises:
        SettingsError, FormulaError: there is no such agent, or two have the same name.
    """
    found = [agent(game, word) for word in typed]
    names = [a.name for a in found]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise SettingsError("two agents have the same name", found=twice,
                            hint=f"name one of them otherwise: other={twice}")  # fmt: skip
    return found


def agent(game: Game, word: str) -> Agent:
    """The agent that a word stands for (see the module's table)."""
    label, mark, rest = word.partition("=")
    if mark and label.replace("_", "").replace("-", "").isalnum() and ":" not in label:
        return replace(_of(game, rest), name=label)
    return _of(game, word)


def _of(game: Game, word: str) -> Agent:
    if word.endswith(".py"):
        path = Path(word)
        if not path.is_file():
            raise SettingsError("there is no such program", place=Place(word), expected="a Python file")
        found = Agent(path.stem, "program", f"the program {path.name}", program=str(path.resolve()))
        check(found, game)
        return found
    base, _, changes = word.partition(":")
    file, mark, name = base.rpartition("#")
    if not mark and not game.agents:
        raise SettingsError(f"{game.name} comes without agents", found=word, expected="FILE.toml#NAME or FILE.py")
    known = load_agents(Path(file if mark else game.agents), game)
    if name not in known:
        expected, hint = unknown(name, known)
        raise SettingsError("no such agent", found=name, expected=f"{expected}; FILE.toml#NAME or FILE.py", hint=hint)
    return _changed(known[name], changes, word, game) if changes else known[name]


def _changed(agent: Agent, changes: str, word: str, game: Game) -> Agent:
    constants, search, own = dict(agent.constants), dict(agent.search), {}
    for part in changes.split(","):
        key, mark, text = (p.strip() for p in part.partition("="))
        value = _value(text)
        if not mark or not (text or key == "variant"):
            raise SettingsError("a change of an agent cannot be read", found=part, expected="NAME=VALUE", hint=word)
        if key in constants:
            if isinstance(value, str):
                raise SettingsError(f"constant {key} of {agent.name} is a number", found=text, expected="a number")
            constants[key] = value
        elif key in SEARCH:
            search[key] = value
        elif key in OWN:
            own[key] = value
        else:
            expected, hint = unknown(key, {*constants, *SEARCH, *OWN})
            raise SettingsError(f"agent {agent.name} has nothing of this name", found=key, expected=expected, hint=hint)
    for key in ("seconds", "iterations"):
        value = own.get(key, 1)
        if isinstance(value, str) or (key == "iterations" and value != int(value)):
            raise SettingsError(f"{key} of {agent.name} is a number", found=str(value))
    found = replace(agent, name=word, constants=constants, search=search, **own)
    check(found, game)
    return found


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
