"""The report of the Puyo-Puyo study: figures 2 to 6 beside the publication's claims about them.

| file | what |
|---|---|
| index.html | the page; its pictures lie beside it |
| tables/figure2.csv to figure6.csv | the data of the figures: lowest, mean and highest score every ten drops |
| tables/claims.csv, cells.csv, games.csv | each claim, each search, each game |
| tables/comparisons.csv | searches against each other, with effect sizes |
| figures/*.svg, replay.gif, best_chain.png | figures, the game with the longest chain, its field before that chain |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from persona_evo.formula import parse
from persona_evo.formula.guards import guards
from persona_evo.intervals import mean_interval
from persona_evo.report import pages
from persona_evo.report.cell_comparisons import comparison_rows, comparison_table
from persona_evo.report.pages import Document, Facts, Section, Text
from persona_evo.report.tables import Table
from persona_evo.report.written import WrittenReport
from persona_evo.store import policies
from persona_evo.store.versions import versions
from persona_evo.studies.puyo import games as puyo
from persona_evo.studies.puyo.cells import (
    BFS,
    DFS,
    EVOLVED,
    EXHAUSTIVE,
    FLAT,
    NAMES,
    PLANNED,
    RANDOM,
    UCB1,
    PuyoSettings,
    cells,
    study,
)
from persona_evo.studies.puyo.effects import effects
from persona_evo.studies.puyo.figures import best, budget_picture, figures
from persona_evo.studies.puyo.games import PuyoGame, PuyoGames
from persona_evo.studies.puyo.numbers import budgets, csv, lasted, mean_final, spans
from persona_evo.words import counted, percent

NEAR = 0.25
"""The relative difference up to which a score counts as equal to a round number in the publication."""


def write(m: PuyoGames, progress: Callable[[str], None] | None = None) -> WrittenReport:
    """Write the report into the reproduction's folder and replace files of the same names."""
    for name in ("tables", "figures"):
        (m.folder / name).mkdir(exist_ok=True)
    csv(
        m,
        "games",
        [
            {
                "cell": p.cell,
                "game": p.game + 1,
                "drops": p.drops,
                "dead": int(p.dead),
                "score": p.final,
                "longest": p.longest,
                "actions": p.actions,
            }
            for g in m.played.values()
            for p in g
        ],
    )
    rows = cell_rows(m)
    csv(m, "cells", rows)
    said, four, budgets, plans, personas = claims(m), depths(m), by_budget(m), plan_table(m), persona_table(m)
    csv(m, "claims", [dict(zip(said.headers, row, strict=True)) for row in said.rows])
    tests = effects(m)
    csv(m, "comparisons", comparison_rows(tests))
    policies.write(m.policy, m.folder / "policy.json")
    compared = comparison_table(tests)
    parts = [
        Section("claims", "What the prose says, and the results here", [_setting(m), said], "Prose"),
        *figures(m, progress),
        Section("depths", "Every search at every depth", [four], "Depths"),
        Section("budgets", "Score against depth for several budgets", [budgets, budget_picture(m)], "Budgets"),
        Section(
            "personas",
            f"A tree policy evolved for the {m.persona.title}",
            [plans, personas, Text(_policy_words(m))],
            "Persona",
        ),
        Section("effects", "Search against search", [compared], "Effects"),
        best(m, progress),
        Section("made", "How it was made", [Facts(facts(m))]),
    ]
    games = sum(len(g) for g in m.played.values())
    under = f"{study().source}; {counted(games, 'game')} here"
    page = m.folder / "index.html"
    pages.write(Document(f"Reproduction: {study().title}", under, parts), page, embed=False)
    return WrittenReport(page, "\n\n".join(t.render() for t in (said, four, budgets, plans, personas, compared)))


# numbers


def cell_rows(m: PuyoGames) -> list[dict[str, object]]:
    """Return the numbers of each search as rows."""
    rows: list[dict[str, object]] = []
    for cell in cells(m.settings):
        games = m.played[cell.name]
        v, u = mean_interval([float(p.final) for p in games]), mean_interval([p.value for p in games])
        rows.append(
            {
                "method": cell.method,
                "depth": cell.depth,
                "budget": cell.budget,
                "persona": cell.persona,
                "games": len(games),
                "lowest": min(p.final for p in games),
                "mean": v.value,
                "mean_low": v.ends[0],
                "mean_high": v.ends[1],
                "highest": max(p.final for p in games),
                "at_the_end": "" if cell.kind == PLANNED else spans(m, games)[-1][1],
                "lasted": "" if cell.kind == PLANNED else lasted(m, games),
                "deaths": sum(p.dead for p in games),
                "drops": sum(p.drops for p in games) / len(games),
                "longest_chain": max(p.longest for p in games),
                "chain": sum(p.longest for p in games) / len(games),
                "utility": u.value if cell.persona else "",
            }
        )
    return rows


def judged(m: PuyoGames, key: str, clock: int) -> tuple[str, bool]:
    """Check a claim under a clock; return the result in words, and whether it confirms the claim."""

    def end(method: str, depth: int) -> float:
        return spans(m, m.of(method, depth, "clock", clock))[-1][1]

    def kept(depth: int) -> int:
        return lasted(m, m.of(FLAT, depth, "clock", clock))

    limit, games = m.of(EXHAUSTIVE, 3), len(m.levels)
    mean, best = mean_final(limit), float(max(p.final for p in limit))
    if key == "exhaustive_mean":
        return f"{mean:,.0f}", abs(mean - 70_000) <= NEAR * 70_000
    if key == "exhaustive_best":
        return f"{best:,.0f}", best > 100_000
    if key == "bfs_half":
        share = end(BFS, 3) / mean
        return f"{end(BFS, 3):,.0f}, {percent(share)}", 0.5 - NEAR <= share <= 0.5 + NEAR
    if key == "alike":
        ends = [end(method, 3) for method in (BFS, RANDOM, FLAT)]
        return " | ".join(f"{v:,.0f}" for v in ends), max(ends) <= 1.5 * min(ends)
    if key == "dfs_fails":
        gone = games - lasted(m, m.of(DFS, 3, "clock", clock))
        return f"{end(DFS, 3):,.0f}, {gone} of {games} lost", end(DFS, 3) < 0.2 * end(FLAT, 3) and gone > games / 2
    if key == "four_better":
        three, four = end(FLAT, 3), end(FLAT, 4)
        return f"{three:,.0f} → {four:,.0f}", 50_000 * (1 - NEAR) < four < mean and four > three
    if key == "five_worse":
        return f"{end(FLAT, 3):,.0f} → {end(FLAT, 5):,.0f}", end(FLAT, 5) < end(FLAT, 3)
    depth, low, high = {"four_lasts": (4, 1.0, 1.0), "five_half": (5, 0.3, 0.7), "six_fails": (6, 0.0, 0.4)}[key]
    return f"{kept(depth)} of {games}", low * games <= kept(depth) <= high * games


# tables


def claims(m: PuyoGames) -> Table:
    """Return a table of the claims with the result under each clock."""
    rows = []
    for claim in study().claims:
        found = [judged(m, claim.key, clock) for clock in m.settings.clocks]
        whole = (m.settings.games, m.settings.drops) == (10, 150)
        cellsof = [f"{text} {('yes' if agrees else 'no') if whole else '(too short)'}" for text, agrees in found]
        rows.append([str(claim.figure), claim.says, *cellsof])
    heads = ["figure", "the prose", *(f"{counted(clock, 'drop')} a row" for clock in m.settings.clocks)]
    notes = ["The clock lets a search make so many drops of its own for each free row above the highest column"]
    if (m.settings.games, m.settings.drops) == (10, 150):
        notes.insert(0, "yes: agrees; round numbers within a quarter, half of the games from 30 to 70 %")
    else:
        notes.append("fewer or shorter games than in the publication: nothing here confirms or refutes it")
    return Table("The prose and this reproduction", heads, rows, notes, left=frozenset({1}), keys=2)


def _shown(m: PuyoGames, games: Sequence[PuyoGame]) -> str:
    if not games:
        return "–"
    most = max(p.final for p in games)
    text = f"{min(p.final for p in games):,} · {mean_final(games):,.0f} · {most:,}"
    return text + ("" if lasted(m, games) == len(games) else f" ({lasted(m, games)} lasted)")


def depths(m: PuyoGames) -> Table:
    """Return a table of the lowest, mean and highest score of each search by depth, under the first clock."""
    deepest = range(1, m.settings.deepest + 1)
    rows = [[NAMES[EXHAUSTIVE], *(_shown(m, m.of(EXHAUSTIVE, d)) for d in deepest)]]
    for method in (BFS, DFS, RANDOM, FLAT):
        rows.append([NAMES[method], *(_shown(m, m.of(method, d, "clock", m.settings.clock)) for d in deepest)])
    most = max(m.settings.playouts)
    rows.append([f"{NAMES[FLAT]}, {most} playouts", *(_shown(m, m.of(FLAT, d, "playouts", most)) for d in deepest)])
    rows.append([f"{NAMES[UCB1]}, {most} playouts", *(_shown(m, m.of(UCB1, d, "playouts", most)) for d in deepest)])
    note = (
        f"lowest · mean · highest of {counted(len(m.levels), 'game')}; "
        f"{counted(m.settings.clock, 'drop')} for each free row where no other budget is named; "
        "exhaustive search has no clock"
    )
    return Table("Score at the end", ["", *(f"depth {d}" for d in deepest)], rows, [note])


def by_budget(m: PuyoGames) -> Table:
    """Return a table of Monte Carlo search: mean score and games that made all drops, by depth and budget."""
    deep = range(3, m.settings.deepest + 1)
    rows = []
    for cell in budgets(m):
        games = [m.of(FLAT, d, cell.kind, cell.limit) for d in deep]
        rows.append([cell.budget, *(f"{mean_final(g):,.0f} ({lasted(m, g)})" for g in games)])
    heads = ["budget of a move", *(f"depth {d}" for d in deep)]
    return Table("Monte Carlo search, mean score (games that lasted)", heads, rows)


def persona_table(m: PuyoGames) -> Table:
    """Return a table of the persona with flat Monte Carlo, UCB1 and its evolved policy, move by move, at one budget."""
    s = m.settings
    note = f"utility {m.persona.utility.text}; {s.compared} playouts a move, depth {s.compared_depth}, 95 % intervals"
    return _compared(m, s.compared_depth, "playouts", s.compared, f"{m.persona.title}, move by move", note)


def plan_table(m: PuyoGames) -> Table:
    """Return a table of the same players with one plan for each test level."""
    note = (
        f"utility {m.persona.utility.text}; {puyo.TRIALS} plans of each of "
        f"{counted(len(m.tests), 'level')} that the evolution did not see, "
        f"{counted(m.settings.iterations, 'iteration')} or games a plan, 95 % intervals"
    )
    return _compared(m, 0, PLANNED, m.settings.iterations, f"{m.persona.title}, whole levels as one plan", note)


def _compared(m: PuyoGames, depth: int, kind: str, limit: int, title: str, note: str) -> Table:
    rows = []
    for method in (FLAT, UCB1, EVOLVED):
        games = m.of(method, depth, kind, limit, m.settings.persona)
        value, chain = mean_interval([p.value for p in games]), mean_interval([float(p.longest) for p in games])
        rows.append(
            [
                NAMES[method],
                value.text(3),
                chain.text(1),
                f"{mean_final(games):,.0f}",
                f"{sum(p.dead for p in games)} of {len(games)}",
            ]
        )
    return Table(title, ["", "utility", "longest chain", "score", "deaths"], rows, [note])


def _policy_words(m: PuyoGames) -> str:
    s = m.settings
    return (
        f"Evolved on short levels that are planned as one (the set train, "
        f"{counted(s.generations, 'generation')} of {s.population}, {counted(s.iterations, 'iteration')} a "
        f"playthrough): {m.policy.best}. {guards([parse(m.policy.best)])}"
    )


# figures


# how it was made


def _setting(m: PuyoGames) -> Text:
    s = m.settings
    return Text(
        f"{counted(len(m.levels), 'starting position')}, up to {counted(s.drops, 'drop')}, 4 colours, pairs "
        "uniform. The publication states neither colours nor clock nor playouts a move."
    )


def facts(m: PuyoGames) -> dict[str, str]:
    """Return seeds, budgets and versions."""
    s = m.settings
    first = PuyoSettings.of(quick=s.quick)
    given = [
        f"--{name} {getattr(s, name)}"
        for name in ("games", "drops", "clock", "generations", "population")
        if getattr(s, name) != getattr(first, name)
    ]
    return {
        "command": " ".join(["persona-evo reproduce puyo", f"--seed {s.seed}", *["--quick"] * s.quick, *given]),
        "seed": str(s.seed),
        "clocks": ", ".join(
            f"{counted(c, 'drop')} of the search for each free row above the highest column" for c in s.clocks
        ),
        "searches": f"look for {puyo.SCORE}, ties at random; tree search for {puyo.TREE_SCORE}",
        "versions": ", ".join(f"{k} {v}" for k, v in versions(m.game).items()),
    }
