"""The tree policies or agents by which the personas of a command play, and their baselines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from persona_evo.errors import SettingsError

if TYPE_CHECKING:
    from persona_evo.agents.agent import Agent
    from persona_evo.games.core import Game
    from persona_evo.personas import Persona
    from persona_evo.playtest.players import Player
    from persona_evo.search.tree_policy import TreePolicy

AGENT = "agent:"
"""Prefix of a policy that is an agent."""


def with_baseline(own: Player, baseline: Player, mean: bool) -> list[Player]:
    """Return a player and its baseline, or the player alone, with a note, if both play by the same policy.

    Args:
        own: the player.
        baseline: its baseline.
        mean: whether the value of the search is the mean (see `same_policy`).
    """
    from dataclasses import replace

    from persona_evo.cli.say import note
    from persona_evo.playtest.players import same_policy

    if not same_policy(own, baseline, mean):
        return [own, baseline]
    note(f"{own.label} has no baseline: the baseline is the policy itself ({baseline.text})")
    return [replace(own, baseline="")]


def own_policy(wanted: Mapping[str, str], persona: Persona, game: Game, by_utility: bool) -> TreePolicy | Agent:
    """Return the policy or agent by which a persona plays.

    This is the policy that was asked for, or else the persona's evolved policy. Without that, a note says which policy
    takes its place.

    Args:
        wanted: the policies that were asked for (see `by_persona`).
        persona, game: who plays what.
        by_utility: whether the persona's utility takes the place of a missing policy, and not UCB1.
    """
    from persona_evo import api
    from persona_evo.api.naming import not_evolved
    from persona_evo.cli.say import note
    from persona_evo.errors import PolicyError
    from persona_evo.games.commands import command
    from persona_evo.personas import named

    asked = wanted.get(persona.name, wanted.get(""))
    if asked is not None:
        return read_policy(asked, persona, game)
    try:
        return api.tree_policy("evolved", persona, game)
    except PolicyError as e:
        if not not_evolved(e):
            raise
        evolve = command(game, "evolve", "--persona", named(persona), *_trained(game))
        what = "its utility" if by_utility else "UCB1"
        note(f"{persona.name} plays by {what}: no policy has been evolved for it yet ({evolve})")
        return api.tree_policy("utility" if by_utility else "ucb1", persona, game)


def tell_of_agents(policy: str, persona: Persona, game: Game) -> None:
    """Print a note if a policy was evolved for play from move to move, but is about to plan whole levels."""
    from persona_evo.api.naming import load_policy
    from persona_evo.cli.say import note
    from persona_evo.errors import PolicyError

    name = persona.name if policy == "evolved" else policy
    try:
        agent = load_policy(name, game.name).agent
    except PolicyError:  # no file, or a damaged one, which is reported when it is loaded for play
        return
    if agent:
        note(
            f"{name} was evolved to play move by move, but plans whole levels here; "
            f"to play as it was evolved: --agent {name}"
        )


def read_policy(policy: str, persona: Persona, game: Game) -> TreePolicy | Agent:
    """Return the tree policy or the agent that a word stands for."""
    from persona_evo import api
    from persona_evo.matches import names

    if policy.startswith(AGENT):
        with no_programs():
            return names.agent(game, policy.removeprefix(AGENT))
    return api.tree_policy(policy, persona, game)


@contextlib.contextmanager
def no_programs() -> Iterator[None]:
    """Leave programs out of what errors list as expected, for agents that cannot be programs."""
    from persona_evo.matches import names

    try:
        yield
    except SettingsError as e:
        if not e.expected or names.FORMS not in e.expected:
            raise
        expected = e.expected.replace(names.FORMS, names.FORMS.replace(", or FILE.py", "").replace(", a ", ", or a "))
        raise type(e)(e.what, place=e.place, found=e.found, expected=expected, hint=e.hint) from e


def _trained(game: Game) -> Sequence[str]:
    """Return the option that names levels in a command that evolves; none if the game has default levels."""
    from persona_evo.games import mapsets

    return () if "train" in mapsets.shipped(game).sets else ("--levels", "YOUR_LEVELS")


def by_persona(given: Sequence[str], personas: Sequence[Persona]) -> dict[str, str]:
    """Return the policy of each persona by its name; "" stands for all personas."""
    by_word = {word.lower(): p.name for p in personas for word in (p.name, p.short)}
    found: dict[str, str] = {}
    for text in given:
        who, mark, policy = text.partition("=")
        if mark and who.strip().isidentifier() and not text.startswith("formula:"):
            name = by_word.get(who.strip().lower())
            if name is None:
                from persona_evo.errors import unknown

                expected, hint = unknown(who.strip(), [p.name for p in personas])
                raise SettingsError(
                    "--policy names a persona that is not among the players", found=who, expected=expected, hint=hint
                )
        else:
            name, policy = "", text
        if name in found:
            raise SettingsError("--policy is given twice" + (f" for {name}" if name else ""), found=text)
        found[name] = policy
    return found


def short(policy: str) -> str:
    """Return a policy as a part of a label: a file without its folder and `.json`, and all else as it is written."""
    from pathlib import Path

    if policy.startswith(AGENT):
        return policy.removeprefix(AGENT)
    return "formula" if policy.startswith("formula:") else Path(policy).name.removesuffix(".json") or policy
