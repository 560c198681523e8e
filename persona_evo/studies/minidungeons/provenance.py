"""The origin of a reproduction's numbers: settings, seeds and versions, and reservations about citing them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from persona_evo.evolve.outcome import Outcome
from persona_evo.formula import parse
from persona_evo.games.mapsets import shipped
from persona_evo.jobs.windows import command_line
from persona_evo.search.tree_policy import UCB1_FORMULA
from persona_evo.store.versions import versions
from persona_evo.studies.minidungeons.material import DungeonResults
from persona_evo.words import counted, listed

FEW = 10
"""Number of playthroughs of a map below which tests have next to no power."""


def facts(m: DungeonResults) -> dict[str, str]:
    """Return seeds, budgets and versions."""
    s, e = m.settings, m.settings.evolution
    search = listed(s.search.to_dict())
    found = {
        "command": " ".join(_command(m)),
        "seed": str(s.seed),
        "protocol": f"{s.protocol}: {counted(s.runs, 'run')} of each persona, "
        f"{counted(e.generations, 'generation')} of {e.population} on {counted(e.islands, 'island')}",
        "training levels": ", ".join(level.name for level in m.training),
        "evolution": f"{counted(s.iterations, 'iteration')} a playthrough",
        "playtest": f"{counted(s.trials, 'trial')} of each player in each level, "
        f"{counted(s.playtest_iterations, 'iteration')} a playthrough",
        "search": search,
        "first population": ", ".join(e.first) or "random",
    }
    if short := _cut_short(m):
        found["ended early"] = ", ".join(f"{o.folder.name} after {counted(o.generations, 'generation')}" for o in short)
    if s.cross is not None:
        c = s.cross
        found["cross tables"] = (
            f"{counted(c.trials, 'trial')}; policies of a single map from "
            f"{counted(c.evolution.generations, 'generation')} of "
            f"{c.evolution.population} with {counted(c.iterations, 'iteration')} a playthrough"
        )
    if m.differing:
        found["limits"] = (
            f"best plans that the solver found in {s.bound_seconds:g} s for each level and persona, or that were played"
            if s.bound_seconds
            else "best playthroughs of the playtest; the solver was not asked"
        )
    else:
        found["limits"] = "proven for the paper's maps, plans of up to 200 turns"
    found["levels"] = ", ".join(f"{level.name} {digest}" for level, digest in zip(m.levels, _digests(m), strict=True))
    found["versions"] = ", ".join(f"{k} {v}" for k, v in versions(m.game).items())
    return found


def _command(m: DungeonResults) -> Iterator[str]:
    s = m.settings
    yield f"persona-evo reproduce {s.study} --protocol {s.protocol} --seed {s.seed} --runs {s.runs}"
    yield f"--trials {s.trials} --generations {s.evolution.generations} --population {s.evolution.population}"
    yield f"--iterations {s.iterations} --playtest-iterations {s.playtest_iterations}"
    yield f"--bound-seconds {s.bound_seconds:g}"
    yield from ("--quick",) * s.quick
    yield from ("--cross",) * (s.cross is not None)
    if not m.differing or m.levels[0].name not in shipped(m.game).levels:
        yield f"--levels {command_line([_named(m)])}"


def _named(m: DungeonResults) -> str:
    """Return the option value that names the levels again: their file or folder."""
    files = [Path(level.source) for level in m.levels]
    return str(files[0] if len(files) == 1 else files[0].parent)


def _digests(m: DungeonResults) -> list[str]:
    """Return the beginning of the SHA-256 of each level's text."""
    return [hashlib.sha256(level.text.encode()).hexdigest()[:8] for level in m.levels]


def reservations(m: DungeonResults) -> list[str]:
    """Return sentences that a reader has to know before citing a number."""
    said, s = [], m.settings
    if m.differing:
        said.append(
            f"These are not all of the paper's maps ({m.differing[0]}): other levels stand in, so the paper's columns "
            "are for reference only, and nothing here can confirm or refute them."
        )
    if s.quick:
        said.append("Made with --quick, from budgets that show what the report looks like: not a reproduction.")
    plain = [
        p.name
        for p in m.personas
        if m.policies[p.name].kind == "ucb1"
        or (m.policies[p.name].best == parse(UCB1_FORMULA).text and s.search.value == "mean")
    ]
    if plain:
        said.append(
            f"The evolved policy of {', '.join(plain)} is UCB1 itself: its baseline is the policy itself, and "
            "what differs between them is chance."
        )
    short = _cut_short(m)
    if short:
        said.append(
            f"{len(short)} of {sum(map(len, m.outcomes.values()))} evolutions had to end for lack of time, the "
            f"first after {min(o.generations for o in short)} of "
            f"{counted(s.evolution.generations, 'generation')}; the same command goes on with "
            "them."
        )
    if s.trials < FEW:
        said.append(
            f"A map has {counted(s.trials, 'playthrough')}, which is little: hardly a difference can be "
            "significant, so that directions that the tables do not have say little."
        )
    return said


def _cut_short(m: DungeonResults) -> list[Outcome]:
    return [o for p in m.personas for o in m.outcomes[p.name] if o.generations < m.settings.evolution.generations]
