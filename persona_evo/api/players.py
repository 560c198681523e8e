"""The players of a playtest: personas with the tree policies or agents by which they play, and their baselines."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from persona_evo.agents.agent import Agent
from persona_evo.api.naming import game_of, load_policy, not_evolved, player, tree_policy
from persona_evo.api.options import Notice
from persona_evo.api.search_rules import SearchLike, by_utility, search_of
from persona_evo.arguments import checked
from persona_evo.errors import PolicyError, SettingsError, unknown
from persona_evo.games import mapsets, registry
from persona_evo.games.commands import command
from persona_evo.games.core import Game
from persona_evo.jobs.windows import command_line
from persona_evo.matches import names
from persona_evo.personas import Persona, catalog, named, resolve
from persona_evo.playtest.players import Player, check_ladder, same_policy, with_skills
from persona_evo.search.tree_policy import TreePolicy

AGENT = "agent:"
"""Prefix of a policy that is an agent."""


@checked
def make_players(
    personas: Sequence[str] = ("all",),
    game: str | Game = registry.DEFAULT,
    *,
    policies: Sequence[str] = (),
    baseline: str | None = None,
    search: SearchLike | None = None,
    agent: str = "",
    skills: Sequence[str] = (),
    notice: Notice = warnings.warn,
) -> list[Player]:
    """Combine personas with tree policies by their names; each player is followed by its baseline if it has one.

    Args:
        personas: names, abbreviations or files; "all" as for `load_personas`.
        game: the game of the personas.
        policies: "PERSONA=POLICY" for one persona, or "POLICY" for the others; a policy as for `tree_policy`, or
            "agent:NAME". A persona without one plays by its evolved policy, or else by its utility, or by UCB1 where a
            utility cannot guide the search.
        baseline: a policy by which each persona plays, too, for comparison; None for no baselines.
        search: the rules of the search, as for `playtest_levels`.
        agent: the agent that plays move by move, "" for none.
        skills: levels of skill at which each player plays (see `persona_evo.agents.skill`); none for `perfect` alone
            without its name in the label.
        notice: called with remarks, such as which policy takes the place of a missing one; they are warnings by
            default.

    Raises:
        PersonaError, PolicyError, FormulaError: there is no such thing, or its file is damaged.
        SettingsError: there is no such game, agent or level of skill, or a policy is given twice or for nobody.
    """
    of = game_of(game)
    check_ladder(skills, of)
    chosen = resolve(list(personas), of)
    left = [p.name for p in catalog(of) if p not in chosen] if list(personas) == ["all"] else []
    if left:
        notice(
            f"all: {', '.join(p.name for p in chosen)}; not {', '.join(left)}, nor personas of your own: name them to "
            "play them, too"
        )
    wanted = by_persona(policies, chosen)
    rules = search_of("anytime" if search is None else search)
    planned = of.players == 1 and not agent
    found: list[Player] = []
    for persona in chosen:
        beside = f"{persona.name}/{short(baseline)}" if baseline else ""
        if planned:
            _tell_of_agents(wanted.get(persona.name, wanted.get("", "evolved")), persona, of, notice)
        own = player(
            persona, _own_policy(wanted, persona, of, by_utility(of, rules, agent), notice), persona.name, beside
        )
        if not baseline:
            found.append(own)
            continue
        other = player(persona, _policy(baseline, persona, of), beside)
        found += with_baseline(own, other, planned and rules.preset_name != "paper", notice)
    return with_skills(found, skills, of)


def with_baseline(own: Player, baseline: Player, mean: bool, notice: Notice) -> list[Player]:
    """Return a player and its baseline, or the player alone, with a notice, if both play by the same policy.

    Args:
        own: the player.
        baseline: its baseline.
        mean: whether the value of the search is the mean (see `same_policy`).
    """
    if not same_policy(own, baseline, mean):
        return [own, baseline]
    notice(f"{own.label} has no baseline: the baseline is the policy itself ({baseline.text})")
    return [replace(own, baseline="")]


def _own_policy(
    wanted: Mapping[str, str], persona: Persona, game: Game, by_utility: bool, notice: Notice
) -> TreePolicy | Agent:
    """Return the policy or agent by which a persona plays.

    This is the policy that was asked for, or else the persona's evolved policy. Without that, a notice says which
    policy takes its place.

    Args:
        wanted: the policies that were asked for (see `by_persona`).
        by_utility: whether the persona's utility takes the place of a missing policy, and not UCB1.
    """
    asked = wanted.get(persona.name, wanted.get(""))
    if asked is not None:
        return _policy(asked, persona, game)
    try:
        return tree_policy("evolved", persona, game)
    except PolicyError as e:
        if not not_evolved(e):
            raise
        levels = () if "train" in mapsets.shipped(game).sets else ("--levels", "YOUR_LEVELS")
        evolve = command(game, "evolve", "--persona", named(persona), *levels)
        what = "its utility" if by_utility else "UCB1"
        notice(f"{persona.name} plays by {what}: no policy has been evolved for it yet ({evolve})")
        return tree_policy("utility" if by_utility else "ucb1", persona, game)


def _tell_of_agents(policy: str, persona: Persona, game: Game, notice: Notice) -> None:
    """Give notice of a policy that was evolved for play from move to move, but is about to plan whole levels."""
    name = persona.name if policy == "evolved" else policy
    try:
        agent = load_policy(name, game.name).agent
    except PolicyError:  # no file, or a damaged one, which is reported when it is loaded for play
        return
    if agent:
        notice(
            f"{name} was evolved to play move by move, but plans whole levels here; "
            f"to play as it was evolved: {command_line(['--agent', name])}"
        )


def _policy(policy: str, persona: Persona, game: Game) -> TreePolicy | Agent:
    """Return the tree policy or the agent that a word stands for."""
    if policy.startswith(AGENT):
        return names.agent(game, policy.removeprefix(AGENT), names.BUILT_IN)
    return tree_policy(policy, persona, game)


def by_persona(given: Sequence[str], personas: Sequence[Persona]) -> dict[str, str]:
    """Return the policy of each persona by its name; "" stands for all personas.

    Raises:
        SettingsError: a policy is given twice, or for a persona that does not play.
    """
    by_word = {word.lower(): p.name for p in personas for word in (p.name, p.short)}
    found: dict[str, str] = {}
    for text in given:
        who, mark, policy = text.partition("=")
        if mark and who.strip().isidentifier() and not text.startswith("formula:"):
            name = by_word.get(who.strip().lower())
            if name is None:
                expected, hint = unknown(who.strip(), [p.name for p in personas])
                raise SettingsError(
                    "a policy is given for a persona that is not among the players",
                    found=who,
                    expected=expected,
                    hint=hint,
                )
        else:
            name, policy = "", text
        if name in found:
            raise SettingsError("a policy is given twice" + (f" for {name}" if name else ""), found=text)
        found[name] = policy
    return found


def short(policy: str) -> str:
    """Return a policy as a part of a label: a file without its folder and `.json`, and all else as it is written."""
    if policy.startswith(AGENT):
        return policy.removeprefix(AGENT)
    return "formula" if policy.startswith("formula:") else Path(policy).name.removesuffix(".json") or policy
