"""The report of the Puyo-Puyo study: figures 2 to 6 beside what the publication's prose says of them.

| file | what |
|---|---|
| index.html | the page; its pictures lie beside it |
| tables/figure2.csv to figure6.csv | what the figures are drawn from: lowest, mean, highest score every ten drops |
| tables/claims.csv, cells.csv, games.csv | each sentence of the prose, each way to search, each game |
| figures/*.svg, replay.gif, best_chain.png | figures, the game with the longest chain, its field before that chain |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from persona_evo.formula import parse
from persona_evo.formula.guards import guards
from persona_evo.report import charts, csv_rows, pages, plots, replay
from persona_evo.report.pages import Document, Facts, Figure, Gallery, Lines, Section, Svg, Text
from persona_evo.report.tables import Table
from persona_evo.report.written import Report
from persona_evo.statistics import mean_interval
from persona_evo.store import policies
from persona_evo.store.versions import versions
from persona_evo.studies.puyo import games as puyo
from persona_evo.studies.puyo.cells import (
    BFS,
    DFS,
    EVERY,
    EVOLVED,
    EXHAUSTIVE,
    FLAT,
    NAMES,
    PLANNED,
    RANDOM,
    UCB1,
    Cell,
    Settings,
    cells,
    study,
)
from persona_evo.studies.puyo.games import Material, Played
from persona_evo.words import counted

NEAR = 0.25
"""A score that the prose gives in round numbers is met within this share."""


def write(m: Material, progress: Callable[[str], None] | None = None) -> Report:
    """Write the report into the reproduction's folder; files of the same names are written anew."""
    for name in ("tables", "figures"):
        (m.folder / name).mkdir(exist_ok=True)
    _csv(
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
    _csv(m, "cells", rows)
    said, four, budgets, plans, personas = claims(m), depths(m), by_budget(m), plan_table(m), persona_table(m)
    _csv(m, "claims", [dict(zip(said.headers, row, strict=True)) for row in said.rows])
    policies.write(m.policy, m.folder / "policy.json")
    parts = [
        Section("claims", "What the prose says, and what came out", [_setting(m), said], "Prose"),
        *_figures(m, progress),
        Section("depths", "Every search at every depth", [four], "Depths"),
        Section("budgets", "Score against depth for several budgets", [budgets, _budget_picture(m)], "Budgets"),
        Section(
            "personas",
            f"A tree policy evolved for the {m.persona.title}",
            [plans, personas, Text(_policy_words(m))],
            "Persona",
        ),
        _best(m, progress),
        Section("made", "How it was made", [Facts(facts(m))]),
    ]
    games = sum(len(g) for g in m.played.values())
    under = f"{study().source}; {counted(games, 'game')} here"
    page = m.folder / "index.html"
    pages.write(Document(f"Reproduction: {study().title}", under, parts), page, embed=False)
    return Report(page, "\n\n".join(t.render() for t in (said, four, budgets, plans, personas)))


# numbers


def marks(m: Material) -> list[int]:
    """The drops that figures show."""
    return list(range(EVERY, m.settings.drops + 1, EVERY))


def spans(m: Material, games: Sequence[Played]) -> list[tuple[float, float, float]]:
    """(lowest, mean, highest) score of the games at each mark; lost games contribute nothing."""
    found = []
    for drop in marks(m):
        scores = [p.score_at(drop) for p in games]
        found.append((float(min(scores)), sum(scores) / len(scores), float(max(scores))))
    return found


def mean_final(games: Sequence[Played]) -> float:
    """Mean score at the end, where lost games keep what they had."""
    return sum(p.final for p in games) / len(games)


def lasted(m: Material, games: Sequence[Played]) -> int:
    """How many games made all drops."""
    return sum(p.drops >= m.settings.drops and not p.dead for p in games)


def cell_rows(m: Material) -> list[dict[str, object]]:
    """Each way to search in numbers."""
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


def judged(m: Material, key: str, clock: int) -> tuple[str, bool]:
    """A sentence of the prose under a clock: what came out, and whether that agrees."""

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
        return f"{end(BFS, 3):,.0f}, {share:.0%}", 0.5 - NEAR <= share <= 0.5 + NEAR
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


def claims(m: Material) -> Table:
    """Each sentence of the prose with what came out under each clock."""
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


def _shown(m: Material, games: Sequence[Played]) -> str:
    if not games:
        return "–"
    most = max(p.final for p in games)
    text = f"{min(p.final for p in games):,} · {mean_final(games):,.0f} · {most:,}"
    return text + ("" if lasted(m, games) == len(games) else f" ({lasted(m, games)} lasted)")


def depths(m: Material) -> Table:
    """Lowest, mean and highest score of each search by depth, under the first clock."""
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


def by_budget(m: Material) -> Table:
    """Monte Carlo search: mean score and games that lasted, by depth and budget."""
    deep = range(3, m.settings.deepest + 1)
    rows = []
    for cell in _budgets(m):
        games = [m.of(FLAT, d, cell.kind, cell.limit) for d in deep]
        rows.append([cell.budget, *(f"{mean_final(g):,.0f} ({lasted(m, g)})" for g in games)])
    heads = ["budget of a move", *(f"depth {d}" for d in deep)]
    return Table("Monte Carlo search, mean score (games that lasted)", heads, rows)


def _budgets(m: Material) -> list[Cell]:
    clocks = [Cell(FLAT, 3, "clock", c) for c in m.settings.clocks]
    return [*clocks, *(Cell(FLAT, 3, "playouts", n) for n in m.settings.playouts)]


def persona_table(m: Material) -> Table:
    """The persona with flat Monte Carlo, UCB1 and its evolved policy at the same budget, move by move."""
    s = m.settings
    note = f"utility {m.persona.utility.text}; {s.compared} playouts a move, depth {s.compared_depth}, 95 % intervals"
    return _compared(m, s.compared_depth, "playouts", s.compared, f"{m.persona.title}, move by move", note)


def plan_table(m: Material) -> Table:
    """The same for one plan of each test level."""
    note = (
        f"utility {m.persona.utility.text}; {puyo.TRIALS} plans of each of "
        f"{counted(len(m.tests), 'level')} that the evolution did not see, "
        f"{counted(m.settings.iterations, 'iteration')} or games a plan, 95 % intervals"
    )
    return _compared(m, 0, PLANNED, m.settings.iterations, f"{m.persona.title}, whole levels as one plan", note)


def _compared(m: Material, depth: int, kind: str, limit: int, title: str, note: str) -> Table:
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


def _policy_words(m: Material) -> str:
    s = m.settings
    return (
        f"Evolved on short levels that are planned as one (the set train, "
        f"{counted(s.generations, 'generation')} of {s.population}, {counted(s.iterations, 'iteration')} a "
        f"playthrough): {m.policy.best}. {guards([parse(m.policy.best)])}"
    )


# figures


def _figures(m: Material, progress: Callable[[str], None] | None) -> list[Section]:
    clock, sections = m.settings.clock, dict[int, Section]()
    under = f"{counted(clock, 'drop')} for each free row"
    for number, games, what in (
        (2, m.of(EXHAUSTIVE, 3), "exhaustive search, depth 3"),
        (3, m.of(BFS, 3, "clock", clock), f"breadth first, depth 3, {under}"),
        (5, m.of(FLAT, 4, "clock", clock), f"Monte Carlo search, depth 4, {under}"),
    ):
        rows = spans(m, games)
        _span_csv(m, number, {what: games})
        if progress is not None:
            progress(f"figure {number}")
        chart = _chart(
            m,
            f"figure{number}",
            plots.ranges(marks(m), rows, "drops", "score"),
            f"Figure {number}: {what}; lowest, mean and highest",
        )
        extra = None
        if number == 5:
            three = m.of(FLAT, 3, "clock", clock)
            _span_csv(m, number, {what: games, f"Monte Carlo search, depth 3, {under}": three})
            beside = {"depth 3": [r[1] for r in spans(m, three)], "depth 4": [r[1] for r in rows]}
            extra = _chart(
                m, "figure5_depths", plots.curves(marks(m), beside, "drops", "mean score"), "Depth 3 and depth 4, means"
            )
        sections[number] = _figure(number, [chart, extra])
    four = {NAMES[k]: v for k, v in _four(m, clock).items()}
    _span_csv(m, 4, four)
    means = {name: [r[1] for r in spans(m, games)] for name, games in four.items()}
    sections[4] = _figure(
        4,
        [
            _chart(
                m,
                "figure4",
                plots.curves(marks(m), means, "drops", "mean score"),
                f"Figure 4: all searches at depth 3, means, {under}; a lost game counts nothing",
            )
        ],
    )
    pictures = []
    for one in m.settings.clocks:
        lines = {f"depth {d}": m.of(FLAT, d, "clock", one) for d in range(3, m.settings.deepest + 1)}
        means = {k: [r[1] for r in spans(m, g)] for k, g in lines.items()}
        caption = f"Figure 6: Monte Carlo search, {counted(one, 'drop')} for each free row"
        drawn = plots.curves(marks(m), means, "drops", "mean score")
        pictures.append(_chart(m, f"figure6_clock{one}", drawn, caption))
    _span_csv(
        m,
        6,
        {
            f"depth {d}, {counted(c, 'drop')} a row": m.of(FLAT, d, "clock", c)
            for c in m.settings.clocks
            for d in range(3, m.settings.deepest + 1)
        },
    )
    sections[6] = _figure(6, pictures)
    return [sections[number] for number in sorted(sections)]


def _four(m: Material, clock: int) -> Mapping[str, list[Played]]:
    return {EXHAUSTIVE: m.of(EXHAUSTIVE, 3)} | {k: m.of(k, 3, "clock", clock) for k in (BFS, RANDOM, FLAT, DFS)}


def _figure(number: int, drawn: Sequence[Svg | None]) -> Section:
    """A figure of the publication: what its prose says, and the charts."""
    says = Lines(f"The prose: {c.says}." for c in study().claims if c.figure == number)
    return Section(f"figure{number}", f"Figure {number}", [says, Gallery("chart", [d for d in drawn if d])])


def _chart(m: Material, name: str, chart: charts.Chart, caption: str) -> Svg:
    return Svg(charts.save(chart, m.folder / "figures" / f"{name}.svg"), caption)


def _budget_picture(m: Material) -> Svg:
    deep = list(range(3, m.settings.deepest + 1))
    lines = {c.budget: [mean_final(m.of(FLAT, d, c.kind, c.limit)) for d in deep] for c in _budgets(m)}
    chart = plots.curves(deep, lines, "depth limit", "mean score at the end")
    return _chart(m, "budgets", chart, "Monte Carlo search: score against depth, by budget of a move")


def _span_csv(m: Material, number: int, lines: Mapping[str, Sequence[Played]]) -> None:
    rows: list[dict[str, object]] = []
    for name, games in lines.items():
        for drop, (low, mean, high) in zip(marks(m), spans(m, games), strict=True):
            alive = sum(p.drops >= drop for p in games)
            rows.append({"line": name, "drop": drop, "lowest": low, "mean": mean, "highest": high, "games": alive})
    _csv(m, f"figure{number}", rows)


def _csv(m: Material, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    csv_rows.write_csv(m.folder / "tables" / f"{name}.csv", rows)


def best_game(m: Material) -> Played:
    """The game with the longest chain, of those the one with the most points."""
    played = (p for c in cells(m.settings) if c.kind != PLANNED for p in m.played[c.name])
    return max(played, key=lambda p: (p.longest, p.final))


def _best(m: Material, progress: Callable[[str], None] | None) -> Section:
    """The game with the longest chain as a replay, and its field just before that chain."""
    if progress is not None:
        progress("the best game")
    draw: Any = plots.drawing(m.game)
    played = best_game(m)
    level = m.levels[played.game]
    names = played.actions.split()
    actions = [m.game.parse_action(level, level.start, name) for name in names]
    states = m.game.replay(level, actions)
    captions = [f"{k}/{len(names)} {names[k - 1] if k else 'start'}" for k in range(len(states))]
    frames = replay.film(m.game, level, states, actions, captions, scale=20, step_ms=350)
    replay.save_gif(frames, m.folder / "replay.gif")
    before, after = states[played.at - 1], states[played.at]
    draw.state_image(level, before, scale=32, caption=f"drop {played.at}: {names[played.at - 1]} to come").save(
        m.folder / "best_chain.png"
    )
    gain = m.game.measure(level, after)["LS"]
    cell = next(c for c in cells(m.settings) if c.name == played.cell)
    how = f"{NAMES[cell.method]}, depth {cell.depth}, budget of a move: {cell.budget}"
    words = f"{how}; {level.name}: drop {played.at} ({names[played.at - 1]}) sets off a chain of "
    words += f"{played.longest} for {gain:,.0f} points; {played.final:,} points in {counted(played.drops, 'drop')}."
    pictures = [
        Figure(m.folder / "best_chain.png", "The field before its best chain"),
        Figure(m.folder / "replay.gif", "The whole game"),
    ]
    return Section("best", "The longest chain", [Text(words), Gallery("pair", pictures)], "Best chain")


# how it was made


def _setting(m: Material) -> Text:
    s = m.settings
    return Text(
        f"{counted(len(m.levels), 'starting position')}, up to {counted(s.drops, 'drop')}, 4 colours, pairs "
        "uniform. The publication states neither colours nor clock nor playouts a move."
    )


def facts(m: Material) -> dict[str, str]:
    """Seeds, budgets, versions."""
    s = m.settings
    first = Settings.of(quick=s.quick)
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
