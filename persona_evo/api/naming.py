"""Names for objects: levels, personas, policies and players as people write them.

A level may be given by its name, file or set, and a persona by its name, abbreviation or file. A tree policy may be
"evolved", "paper", "utility", "ucb1", a policy's name, its file, a run's folder, or "formula:..." (see `tree_policy`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

from persona_evo import limits
from persona_evo.agents.agent import Agent
from persona_evo.agents.duel import League
from persona_evo.api.search_rules import SearchLike, by_utility, search_of
from persona_evo.arguments import checked
from persona_evo.errors import PolicyError, SettingsError
from persona_evo.formula import Formula
from persona_evo.games import mapsets, registry
from persona_evo.games.commands import command
from persona_evo.games.core import Game, Level
from persona_evo.games.options import level_options
from persona_evo.matches import names
from persona_evo.personas import Persona, load, named, resolve
from persona_evo.playtest import level_pairs
from persona_evo.playtest.players import Player
from persona_evo.search.tree_policy import UTILITY_POLICY, TreePolicy
from persona_evo.store import policy_library
from persona_evo.store.policies import Policy
from persona_evo.words import counted

LevelLike: TypeAlias = str | Path | Level
LevelsLike: TypeAlias = LevelLike | Sequence[LevelLike]
PersonaLike: TypeAlias = str | Path | Persona
PolicyLike: TypeAlias = str | Path | Policy | TreePolicy | Formula
PlayersLike: TypeAlias = PersonaLike | Player | Sequence[PersonaLike | Player]
LevelOption: TypeAlias = str | int | float | bool
"""An option of a game's loader."""

FORMULA = "formula:"
"""Prefix of a policy that is given as its formula."""


@checked
def load_game(name: str | Path = registry.DEFAULT) -> Game:
    """Load the game called `name`, or the one at "module:object", "FILE.py:GAME" or "FILE.toml".

    Raises:
        SettingsError: there is no such game, or its module cannot be imported.
        GameError: this is no game, or its module fails.
    """
    return registry.get(limits.name(name, "a game"))


@checked
def load_levels(*names: str | Path, game: str | Game = registry.DEFAULT, **options: LevelOption) -> list[Level]:
    """Load levels by file, folder, pattern, name or set.

    Args:
        names: names of the levels.
        game: the game of the levels.
        options: options of the game's loader, such as rules="paper".

    Raises:
        LevelError: there is no such level, or the file is not one.
        SettingsError: the game has no such option.
    """
    of = game_of(game)
    return mapsets.resolve(of, [limits.name(n, "a level") for n in names], level_options(of, options))


@checked
def load_level(name: str | Path, game: str | Game = registry.DEFAULT, **options: LevelOption) -> Level:
    """Load one level; the arguments are those of `load_levels`.

    Raises:
        LevelError: there is no such level, or the file is not one.
        SettingsError: the name stands for several levels, or the game has no such option.
    """
    found = load_levels(name, game=game, **options)
    if len(found) != 1:
        raise SettingsError("this names several levels", found=f"{name}: {len(found)} levels", expected="one level")
    return found[0]


@checked
def load_persona(name: str | Path, game: str | Game | None = None) -> Persona:
    """Load a persona by name, abbreviation or TOML file.

    Args:
        name: the name of the persona.
        game: the game that the persona is for; None for any.

    Raises:
        PersonaError: there is no such persona, the file is damaged, or it is for another game.
        FormulaError: its utility is not a formula over the game's metrics.
    """
    return load(
        name if isinstance(name, Path) else limits.name(name, "a persona"), None if game is None else game_of(game)
    )


@checked
def load_personas(*names: str, game: str | Game = registry.DEFAULT) -> list[Persona]:
    """Load personas; "all" stands for the four of the paper, or for all of the game's if it has none of these.

    Raises:
        PersonaError, FormulaError: as for `load_persona`; two personas have the same name.
    """
    return resolve([limits.name(name, "a persona") for name in names], game_of(game))


@checked
def load_policy(name: str | Path, game: str = registry.DEFAULT) -> Policy:
    """Load a policy by name or file, or the final one of a run's folder.

    Raises:
        PolicyError: there is no such policy, or the file is damaged.
    """
    return policy_library.load(name if isinstance(name, Path) else limits.name(name, "a policy"), game)


@checked
def tree_policy(policy: PolicyLike, persona: Persona, game: Game) -> TreePolicy:
    """Find the tree policy by which a persona plays.

    Args:
        policy: an object; "ucb1", or "ucb1:C" with another constant; "utility", which scores states by the persona's
            utility; "evolved", the policy with the persona's name; "paper", the paper's policy for it; "formula:TEXT";
            or a name that `load_policy` takes.

    Raises:
        PolicyError, FormulaError, SettingsError: there is no such policy, or it is damaged.
    """
    if isinstance(policy, TreePolicy):
        return policy
    if isinstance(policy, Formula):
        return TreePolicy.of(policy, game)
    if isinstance(policy, Policy):
        return policy.tree_policy(game)
    text = limits.name(policy, "a policy")
    if text == "ucb1":
        return TreePolicy.ucb1()
    if text == UTILITY_POLICY:
        return TreePolicy.utility(persona.utility)
    if text.startswith("ucb1:"):
        return TreePolicy.ucb1(_constant(text.removeprefix("ucb1:")))
    if text.startswith(FORMULA):
        return TreePolicy.of(text.removeprefix(FORMULA), game)
    if text in ("evolved", "paper"):
        name = persona.name if text == "evolved" else f"paper_{persona.name}"
        try:
            return policy_library.find(name, game.name).tree_policy(game)
        except PolicyError as e:
            if e.what != "no such policy":
                raise
            evolve = command(game, "evolve", "--persona", named(persona))
            way = f"evolve one: {evolve}; or play with --policy utility or ucb1"
            raise PolicyError(
                f"there is no {text} policy for {persona.name}", found=e.found, expected=e.expected, hint=way
            ) from e
    return load_policy(policy, game.name).tree_policy(game)


def first_policies(named: str | Sequence[str], game: str = registry.DEFAULT) -> tuple[str, ...]:
    """Convert names of policies for the first population to the form of the evolution's settings.

    Args:
        named: "none", "ucb1", "utility", "library", "formula:TEXT", or names that `load_policy` takes.

    Raises:
        PolicyError: there is no such policy, or its file is damaged.
    """
    return tuple(_first_policy(text, game) for text in ([named] if isinstance(named, str) else named))


def _first_policy(text: str, game: str) -> str:
    if text in ("none", "ucb1", "library", "utility"):
        return text
    if text.startswith(FORMULA):
        if not text.removeprefix(FORMULA).strip():
            raise SettingsError("the formula to start from is empty", found=text, expected=f"{FORMULA}TEXT")
        return text.removeprefix(FORMULA)
    policy = load_policy(text, game)
    if policy.kind == "ucb1":
        return "ucb1"
    if policy.kind == "lists" and not policy.best:
        from persona_evo.evolve import genome

        return genome.text_of(policy.lists)
    return policy.best


def _constant(text: str) -> float:
    try:
        return float(text)
    except ValueError as e:
        raise SettingsError("UCB1's constant is not a number", found=text, expected="ucb1:C such as ucb1:0.7") from e


def usual_policy(persona: Persona, game: Game, by_utility: bool) -> TreePolicy:
    """Find a persona's default policy: its evolved one, or its utility if none has been evolved.

    Args:
        by_utility: whether a utility can guide the search (see `by_utility`).

    Raises:
        PolicyError: there is no evolved policy, and a utility cannot guide the search; or the policy is damaged.
    """
    try:
        return tree_policy("evolved", persona, game)
    except PolicyError as e:
        if not (by_utility and not_evolved(e)):
            raise
        return TreePolicy.utility(persona.utility)


def not_evolved(error: PolicyError) -> bool:
    """Return whether an error means that no policy has been evolved yet, and not that a policy is damaged."""
    return error.what.startswith("there is no evolved policy")


@checked
def player(
    persona: PersonaLike, policy: PolicyLike | Agent | None = None, label: str = "", baseline: str = ""
) -> Player:
    """Combine a persona with its tree policy, or with the agent that plays for it.

    Args:
        persona: the persona.
        policy: the policy; by default the evolved one, or the utility if none has been evolved and levels are planned
            whole.
        label: the persona's name if not given, and with UCB1 the persona's name followed by "/ucb1".
        baseline: label of the player that it is compared with.

    Raises:
        PersonaError: there is no such persona.
        PolicyError, FormulaError: there is no such policy, or it is damaged.
        SettingsError: the constant of UCB1 is not a number.
    """
    who = persona_of(persona)
    game = registry.get(who.game)
    if isinstance(policy, Agent):
        return Player.of_agent(who, policy, game, label or f"{who.name}/{policy.name}", baseline)
    chosen = usual_policy(who, game, by_utility(game)) if policy is None else tree_policy(policy, who, game)
    if not label and chosen.kind == "ucb1":
        label = f"{who.name}/ucb1"
    return Player(who, chosen, label, baseline)


def game_of(game: str | Path | Game) -> Game:
    """Convert a name to a game; return a game as it is.

    Raises:
        SettingsError, GameError: as for `load_game`.
    """
    return registry.known(str(game) if isinstance(game, Path) else game)


def persona_of(persona: PersonaLike) -> Persona:
    """Convert a name to a persona; return a persona as it is."""
    if isinstance(persona, Persona):
        return persona
    limits.name(persona, "a persona")
    return load_persona(persona)


def listed(values: object, what: str, single: tuple[type, ...]) -> list[Any]:
    """Convert one value or several values to a list.

    Raises:
        SettingsError: it is neither.
    """
    if isinstance(values, single):
        return [values]
    try:
        return list(values)  # type: ignore[call-overload, no-any-return]
    except TypeError:  # also of an array without dimensions
        raise SettingsError(
            f"this is not the name of {what}", found=repr(values)[:200], expected="a name, a file, or a list"
        ) from None


def levels_of(game: Game, levels: LevelsLike, **options: LevelOption) -> list[Level]:
    """Convert names to levels; levels among them are kept as they are.

    Raises:
        LevelError: there is no such level, or the file is not one.
        SettingsError: one of them is neither a name nor a level.
    """
    named = listed(levels, "a level", (str, Path, Level))
    for one in named:
        if not isinstance(one, Level):
            limits.name(one, "a level")
    found: list[Level] = []
    waiting: list[str] = []
    for level in [*named, None]:
        if isinstance(level, (str, Path)):
            waiting.append(str(level))
            continue
        if waiting:
            found += mapsets.resolve(game, waiting, options)
            waiting = []
        if level is not None:
            found.append(level)
    return found


def one_level(game: Game, level: LevelsLike) -> Level:
    """Convert the name of a level; a level is kept as it is.

    Raises:
        LevelError: there is no such level, or the file is not one.
        SettingsError: it is not one level.
    """
    found = levels_of(game, level)
    if len(found) != 1:
        raise SettingsError("this is for one level", found=counted(len(found), "level"), expected="one level")
    return found[0]


def paired_levels(game: Game, a: LevelsLike, b: LevelsLike, /, **options: LevelOption) -> list[tuple[Level, Level]]:
    """Convert the names of two versions to pairs of levels; the options are those of the game's loader.

    Raises:
        SettingsError: there are not equally many, or a level belongs to both.
    """
    sides = [listed(side, "a level", (str, Path, Level)) for side in (a, b)]
    first, second = (sum(1 if isinstance(n, Level) else mapsets.count(game, [n]) for n in side) for side in sides)
    return level_pairs.paired(levels_of(game, [*sides[0], *sides[1]], **options), first, second)


def players_of(players: PlayersLike, search: SearchLike = "anytime", agent: str = "") -> list[Player]:
    """Convert names and personas to players; players among them are kept as they are.

    Raises:
        PersonaError, PolicyError: as for `player`.
        SettingsError: one of them is neither a name, a persona nor a player.
    """
    found: list[Player] = []
    for one in listed(players, "a persona", (str, Path, Persona, Player)):
        if isinstance(one, Player):
            found.append(one)
        else:
            several = [one] if isinstance(one, Persona) else resolve([limits.name(one, "a persona")])
            for p in several:
                game = registry.get(p.game)
                found.append(Player(p, usual_policy(p, game, by_utility(game, search_of(search), agent))))
    return found


def league_of(
    game: Game, persona: Persona, words: Sequence[str], agent: str = "", option: str = "a league"
) -> League | None:
    """Find the league that plays move by move; None in single-player games without an agent.

    Args:
        words: the opponents.
        option: what names them, for messages.
    """
    if words and game.players == 1:
        raise SettingsError(
            f"{option} is for two-player games",
            found=f"{game.name}, a single-player game",
            hint=f"leave {option.replace('a ', 'the ')} out",
        )
    if game.players == 1 and not agent:
        return None
    return names.league(game, persona.utility.text, agent, words)
