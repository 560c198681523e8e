"""The output of `evolve`: a line for each generation, the last steps, and the results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import fsum
from typing import TYPE_CHECKING

from persona_evo.cli import policy as policy_command
from persona_evo.cli.options import PRESETS
from persona_evo.cli.playtest_options import SKILLS
from persona_evo.cli.say import StatusLine, duration, note, say
from persona_evo.jobs.windows import command_line
from persona_evo.words import aligned, counted, enumerated, percent

if TYPE_CHECKING:
    from persona_evo.evolve.driving import GenerationProgress
    from persona_evo.evolve.outcome import Outcome
    from persona_evo.evolve.schedule import Phase
    from persona_evo.games.core import Game
    from persona_evo.store.policies import Policy

GAMES = 4
"""Games of each pair in the recommended match, which is a first look; more games make a measurement."""
AMPLE = 5
"""The recommended time after one that was too short, as a multiple of the first generation's time."""


def teller() -> Callable[[GenerationProgress], None]:
    """Return a function that shows each generation on one line."""
    line = StatusLine()

    def tell(p: GenerationProgress) -> None:
        mean = fsum(row.mean for row in p.rows) / len(p.rows)
        busy = f", cores {percent(p.usage.share)} busy" if p.usage is not None and p.usage.workers else ""
        known = [counted(n, what) for n, what in ((p.remembered, p.bred), (p.spared, "playthrough")) if n]
        memory = f", {enumerated(known)} from memory" if known else ""
        where = " in validation" if p.best.validation else ""
        line.show(
            f"generation {p.generation + 1}/{p.target}: best {p.best.fitness:.4f}{where} "
            f"({counted(p.best.size, 'node')}), mean {mean:.4f}, {p.rate:.1f} {p.bred}s/s{memory}{busy}, "
            f"{duration(p.eta)} to go",
            last=p.generation + 1 == p.target,
        )

    return tell


def phase_teller() -> Callable[[Phase], None]:
    """Return a function that shows the last steps of an evolution, each on its own line."""
    lines: dict[str, StatusLine] = {}
    wanted: dict[str, int] = {}

    def tell(p: Phase) -> None:
        if p.left is not None:
            note(
                f"{p.name} takes about {duration(p.eta)}, and the time allows {duration(p.left)}: increase --for, or "
                "reduce --population"
            )
            return
        last, most = p.done >= p.total, wanted.setdefault(p.name, p.total)
        cut = f", there was no time for the other {most - p.total:,}" if p.total < most else ""
        ended = f"done{cut}" if p.total else "there was no time for it"
        share = ended if last else f"{percent(p.done / p.total)}, {duration(p.eta)} to go at most"
        of = f" ({counted(p.total, 'playthrough')})" if p.total > 1 else ""
        lines.setdefault(p.name, StatusLine()).show(f"{p.name}{of}: {share}", last=last)

    return tell


def finish(outcome: Outcome, game: Game, persona: str = "", levels: Sequence[str] = ()) -> int:
    """Print the results and the next commands; return the exit code.

    Args:
        persona, levels: the names on the command line.
    """
    from persona_evo.games import registry
    from persona_evo.games.commands import command, unseen
    from persona_evo.store import policies

    if outcome.interrupted:
        note(f"stopped after {counted(outcome.generations, 'generation')}; all of them are kept in {outcome.folder}")
        note(f"resume with: {command(game, 'evolve', '--resume', outcome.folder)}")
        return 130
    if outcome.policy is None:
        needed = outcome.first_generation
        takes = "" if needed is None else f"; the first generation alone takes about {duration(needed)}"
        note(f"the time ran out before a formula was evaluated, so there is no policy{takes}")
        longer = "" if needed is None else f" --for {max(1, math.ceil(AMPLE * needed / 60))}m"
        note(f"resume with: {command(game, 'evolve', '--resume', outcome.folder)}{longer}")
        return 1
    policy = policies.read(outcome.policy)
    _tell_policy(policy, outcome)
    if policy.agent and game.players > 1:
        against = (
            "match",
            registry.address(game),
            outcome.policy,
            *policy.run.get("opponents", ()),
            "--levels",
            *unseen(game, tuple(levels)),
            *_budget(policy),
            "--games",
            GAMES,
            "--swap",
        )
        say(f"play:       {command_line(['persona-evo', *map(str, against)])}")
    who = persona or policy.persona
    skilled = policy.skill.get("name") in SKILLS
    play = (
        "playtest",
        *unseen(game, tuple(levels)),
        "--personas",
        who,
        "--policy",
        outcome.policy,
        *(("--agent", outcome.policy) if policy.agent and game.players == 1 else ()),
        *(("--skill", policy.skill["name"]) if skilled else ("--baseline", "ucb1", *_search(policy, game))),
    )
    say(f"playtest:   {command(game, *play)}")
    if "simplification" in policy.unfinished:
        say(f"simplify:   {command(game, 'policy', 'simplify', outcome.policy)}")
    say(f"keep it:    {command(game, 'policy', 'install', outcome.folder)}")
    from persona_evo.report import evolution

    say(f"page:       {evolution.write(evolution.read(outcome.folder))}")
    return 0


def _search(policy: Policy, game: Game) -> list[str]:
    """Return the options that give a playtest the search and the budget that a policy was bred for."""
    preset = str(policy.search.get("preset", ""))
    named = ["--search", preset] if game.planned and not policy.agent and preset in PRESETS else []
    return [*named, *_budget(policy)]


def _budget(policy: Policy) -> list[str]:
    """Return the options that give a command the budget of a policy's playthroughs."""
    budget = [(k, policy.budget.get(k)) for k in ("iterations", "seconds")]
    return [word for k, v in budget if v for word in (f"--{k}", f"{v:.12g}")]


def _tell_policy(policy: Policy, outcome: Outcome) -> None:
    """Print the policy that an evolution found, and how good it is."""
    if not outcome.generations:
        n = policy.run["evaluations"]
        best = f"the best of the {counted(n, 'formula')} evaluated so far" if n else "one of those it starts from"
        say(f"The time ran out in the first generation, so nothing was evolved: this policy is {best}.")
    say(f"persona     {policy.persona}   {policy.utility}")
    policy_command.tell_formulas(policy)
    if outcome.found_in_start:
        what = "these are lists" if policy.lists else "this is a formula"
        bred = "none that it bred did better" if outcome.generations else "nothing was bred"
        say(f"            {what} that the evolution started from: {bred}")
    policy_command.tell_words(policy.words)
    for line in aligned(policy.metrics):
        say(line)
    trials = policy.run.get("trials")
    levels = "level of the validation set" if "validation" in policy.run else "level"
    seeds = f"{counted(trials, 'trial')} per {levels} on new seeds" if trials else "as the evolution measured it"
    say(f"mean utility {policy.mean:.4f}, {seeds}")
    policy_command.tell_levels(policy)
    if "tuning" in policy.unfinished:
        say("time ran out before all constants were tuned, so the same seed may give another policy")
    policy_command.tell_comparison(policy)
    if outcome.generations:
        made = counted(outcome.generations, "generation")
        if outcome.status != "finished":
            made = f"{outcome.generations} of {policy.evolution['generations']} generations, as the time was up"
        say(f"seed {policy.seed}, {made}")
    say(f"policy:     {outcome.policy}")
