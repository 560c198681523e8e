"""Sentences on where the results agree with the publication."""

from __future__ import annotations

import math
from collections.abc import Sequence

from persona_evo.playtest.compare import p_shown
from persona_evo.statistics import ALPHA, Correlation
from persona_evo.studies.minidungeons.magnitudes import direction_words
from persona_evo.studies.minidungeons.material import DungeonResults
from persona_evo.studies.minidungeons.published import BASELINE, EVOLVED, Named
from persona_evo.studies.minidungeons.results import (
    NEAR,
    ROUNDING,
    Convergence,
    Difference,
    PersonaPair,
    ScoreCell,
    sign,
    title,
)
from persona_evo.words import counted, percent


def agreement(
    m: DungeonResults, scores: Sequence[ScoreCell], cells: Sequence[Difference], pairs: Sequence[PersonaPair]
) -> list[str]:
    """Return sentences on where the results agree with the publication."""
    return [
        *_against_baseline(m, cells),
        *direction_words(cells),
        *_between(m, pairs),
        *_claims(m, scores),
        *_limits(m, scores),
        *beaten(m),
    ]


def _against_baseline(m: DungeonResults, cells: Sequence[Difference]) -> list[str]:
    found, same, decided = [], 0, 0
    for persona in m.personas:
        own = [c for c in cells if c.persona == persona.name and sign(c.paper)]
        other = [c for c in own if sign(c.here) != sign(c.paper)]
        same, decided = same + len(own) - len(other), decided + len(own)
        text = f"{title(m, persona.name)}: against UCB1 the same direction as in the paper in {len(own) - len(other)} "
        text += f"of {counted(len(own), 'measure')}"
        if other:
            text += "; not in " + ", ".join(
                f"{c.row.short.lower()} (paper {c.paper[0]} maps above and {c.paper[1]} below, here {c.here[0]} and "
                f"{c.here[1]} of {c.levels})"
                for c in other
            )
        found.append(text)
    start = f"Table III: {same} of the {decided} comparisons of evolved personas with UCB1 that have a direction in "
    return [start + "the paper have the same here (a direction is more maps above than below, or the reverse)", *found]


def _between(m: DungeonResults, pairs: Sequence[PersonaPair]) -> list[str]:
    by_key = {(c.row.key, c.persona, c.other): c for c in pairs if c.kind == EVOLVED}
    same = opposite = undecided = 0
    names = [p.name for p in m.personas]
    for row in m.published.rows:
        for i, a in enumerate(names):
            for b in names[i + 1 :]:
                x, y = by_key[row.key, a, b], by_key[row.key, b, a]
                if x.paper is None or y.paper is None or x.paper == y.paper:
                    continue
                ours = sign((x.here, y.here))
                same += ours == sign((x.paper, y.paper))
                opposite += ours == -sign((x.paper, y.paper))
                undecided += ours == 0
    return [
        f"Table IV: of {counted(same + opposite + undecided, 'pair')} of evolved personas and measures in which the "
        f"paper has a direction, {same} have the same here, {opposite} the opposite one, {undecided} none"
    ]


def _claims(m: DungeonResults, scores: Sequence[ScoreCell]) -> list[str]:
    """Return sentences on whether the persona of each measure has the highest value of it, as expected."""
    found = []
    keys = {row.key: row for row in m.published.rows}
    for persona in m.personas:
        row = keys.get(persona.priority)
        if row is None:
            continue
        own = [s for s in scores if s.kind == EVOLVED and s.row.key == row.key]
        here = max(own, key=lambda s: s.here.value)
        paper = max(own, key=lambda s: s.paper[0] if s.paper else -math.inf)
        mine = next(s for s in own if s.persona == persona.name)
        text = f"{row.short} are what the {title(m, persona.name)} is about: "
        if here.here.value <= mine.here.value:
            text += f"it has the most here ({mine.here.value:.1f} %)"
        else:
            most = f"{here.here.value:.1f} % against {mine.here.value:.1f} %"
            text += f"the {title(m, here.persona)} has more here ({most})"
        if paper.persona == persona.name:
            text += ", as it has in the paper" if here.here.value <= mine.here.value else ", not so in the paper"
        else:
            text += f"; in the paper the {title(m, paper.persona)} has the most"
        found.append(text)
    return found


def _limits(m: DungeonResults, scores: Sequence[ScoreCell]) -> list[str]:
    words = []
    for persona in m.personas:
        own = {s.kind: s for s in scores if s.persona == persona.name and s.row.key == "utility"}
        limit = own[EVOLVED].limit
        if limit is not None:
            words.append(
                f"{title(m, persona.name)} {own[EVOLVED].here.value:.3f} evolved and {own[BASELINE].here.value:.3f} "
                f"with UCB1 of {limit:.3f}{'' if own[EVOLVED].proven else ' (best known)'}"
            )
    return ["Mean utility against the limit: " + ", ".join(words)] if words else []


def beaten(m: DungeonResults) -> list[str]:
    """Return a sentence for each playthrough that is better than a proven limit, which is an error."""
    worst: dict[tuple[str, str], float] = {}
    for r in m.played.records:
        bound = m.bounds.get((r.level, r.persona))
        if bound is not None and bound.proven and r.best_utility > bound.utility + ROUNDING:
            worst[r.level, r.persona] = max(r.best_utility, worst.get((r.level, r.persona), -math.inf))
    return [
        f"ERROR: {title(m, persona)} in {level} reaches {value:.4f}, above the proven limit "
        f"{m.bounds[level, persona].utility:.4f}: the rules or the limit are wrong"
        for (level, persona), value in worst.items()
    ]


def convergence_words(m: DungeonResults, found: Sequence[Convergence]) -> list[str]:
    """Return sentences on the convergence of fitness, which the publication describes."""
    lines = [
        f"{title(m, c.persona)}: the best fitness stays within {percent(NEAR)} of its final {c.final:.3f} from "
        f"generation {c.generation} of {c.generations} on"
        for c in found
    ]
    by = sum(c.generation <= m.published.converged for c in found)
    enough = bool(found) and all(c.generations > m.published.converged for c in found)
    close = f"the paper says that fitness changes little after about {counted(m.published.converged, 'generation')}"
    if enough:
        lines.append(f"{close}; here that is so for {by} of {counted(len(found), 'persona')}")
    else:
        lines.append(f"{close}, which runs of so few generations cannot show")
    return lines


def correlation_words(m: DungeonResults, rows: Sequence[tuple[Named, Correlation]]) -> list[str]:
    """Describe the named correlations in sentences."""
    found = []
    for named, ours in rows:
        same = ours.r * named.r > 0
        if ours.note:
            verdict = f"cannot be seen here ({ours.note})"
        elif ours.p < ALPHA:
            verdict = "is found here, too" if same else "is the opposite here"
        else:
            verdict = "is not significant here" + ("" if same else " and has the opposite sign")
        found.append(
            f"{named.words}: r = {named.r:.2f} in the paper, {ours.r:.2f} here ({p_shown(ours.p)}, "
            f"{counted(ours.n, 'level')}); it {verdict}"
        )
    return found
