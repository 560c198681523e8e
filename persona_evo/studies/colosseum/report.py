"""The report of the Colosseum reproduction: the claims of two students' reports, and the results here.

| file | what |
|---|---|
| index.html | the page; its picture lies beside it |
| tables/claims.csv | each claim of the reports with the result |
| tables/trees.csv | table 1: breadth, depth and nodes by board, in the report and here |
| tables/pairs.csv | every pair of agents of every match: games, shares, tests, effect sizes, trees |
| tables/games.csv | every game: from it, whatever compares agents can be computed again |
| tables/ratings.csv | the round robin |
| figures/c.svg | win rate against c |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from persona_evo.games import registry
from persona_evo.intervals import Interval
from persona_evo.matches import standings
from persona_evo.matches.standings import Pair
from persona_evo.report import charts, csv_rows, pages, plots
from persona_evo.report.cell_comparisons import higher_words
from persona_evo.report.pages import Document, Facts, Lines, Section, Svg, Text
from persona_evo.report.tables import Table
from persona_evo.report.written import WrittenReport
from persona_evo.store.versions import versions
from persona_evo.studies.colosseum import findings
from persona_evo.studies.colosseum.csv_tables import claim_rows, game_rows, pair_rows, rating_rows, tree_rows, verdict
from persona_evo.studies.colosseum.findings import YES, ReportVerdict, TreeShape, name_of, share
from persona_evo.studies.colosseum.matches import (
    ALL,
    CONSTANTS,
    DEPTHS,
    EQUIVALENCE,
    FREE,
    HEURISTICS,
    LARGE,
    MIDDLE,
    OPPONENTS,
    SMALL,
    STUDY,
    ColosseumGames,
    ColosseumSettings,
    Trees,
    study,
)
from persona_evo.words import counted, percent

NONE = "–"
RESULT = "won · tied · lost"
NOTE = (
    "Three numbers with dots between them: games won, tied and lost. Shares are of the games that were not ties, with "
    "95 % intervals; p is that of the exact sign test."
)
OTHER = 2.0
"""Trees are taken for those of another program if they have this many times more or fewer nodes."""
CELLS = ("share", "p", "first scores more")
"""Heads of the columns that follow the result of a pair."""
HIGHER = (
    "first scores more: the share of all games in which the agent scores more, ties count half; its 95 % interval is "
    "for other boards"
)
DECIDED = "of the games that were not ties; 95 % intervals; p: exact sign test, not corrected"


def write(m: ColosseumGames, progress: Callable[[str], None] | None = None) -> WrittenReport:
    """Write the report into the reproduction's folder and replace files of the same names."""
    for name in ("tables", "figures"):
        (m.folder / name).mkdir(exist_ok=True)
    if progress is not None:
        progress("win rate against c")
    said = findings.verdicts(m)
    first, shapes = claims_table(m, said), trees_table(m)
    others = [
        random_table(m),
        ratings_table(m),
        matrix_table(m),
        heuristics_table(m),
        constants_table(m),
        rave_table(m),
        early_table(m),
    ]
    for name, rows in (
        ("claims", claim_rows(m, said)),
        ("trees", tree_rows(m)),
        ("pairs", pair_rows(m)),
        ("games", game_rows(m)),
        ("ratings", rating_rows(m)),
    ):
        csv_rows.write_csv(m.folder / "tables" / f"{name}.csv", rows)
    at_random, ratings, matrix, without, constants, rave, early = others
    parts = [
        Section(
            "claims",
            "What the reports say, and the results here",
            [Lines(standing(m, said)), first, Lines(details(m, said)), Text(NOTE, "dim")],
            "Reports",
        ),
        Section("trees", "Table 1: breadth and depth of trees", [shapes], "Table 1"),
        Section("random", "Against the random agent", [at_random]),
        Section("agents", "Agent against agent", [ratings, matrix]),
        Section("heuristics", "With and without each heuristic", [without], "Heuristics"),
        Section("c", "Win rate against c", [_picture(m), constants]),
        Section("rave", "RAVE", [rave]),
        Section("early", "Random games that end early", [early], "Short games"),
        Section("made", "How it was made", [Facts(facts(m))]),
    ]
    games = sum(map(len, m.played.values()))
    page = m.folder / "index.html"
    under = f"{study().source}; {counted(games, 'game')} here"
    pages.write(Document(f"Reproduction: {study().title}", under, parts), page)
    shown = [t.render() for t in (first, shapes, *others)]
    return WrittenReport(page, "\n\n".join([*shown, "\n".join([*details(m, said), *standing(m, said)])]))


# words


def standing(m: ColosseumGames, said: Sequence[ReportVerdict]) -> list[str]:
    """Return sentences on how many claims are confirmed, and on what is done differently here."""
    if findings.few(m):
        lines = [
            f"{counted(len(said), 'sentence')}. A first look with few or short games: nothing here confirms or "
            "refutes a report."
        ]
    else:
        kinds = [v.kind for v in said]
        tally = "; ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))
        lines = [f"{counted(len(said), 'sentence')}. Do the results here agree? {tally}.", *findings.RULES]
    timed = [s for s in (_timed(m, row.size) for row in study().trees) if s is not None]
    if timed:
        rows = study().trees
        there, here = (rows[0].nodes, rows[-1].nodes), (timed[0].nodes, timed[-1].nodes)
        other = all(v > OTHER * n or v < n / OTHER for v, n in zip(here, there, strict=True))
        lines.append(
            f"In {m.settings.seconds:g} s a move trees have {here[0]:,.0f} nodes here on {rows[0].size} x "
            f"{rows[0].size} and {here[1]:,.0f} on {rows[-1].size} x {rows[-1].size}; the published program "
            f"made {there[0]} and {there[1]} in 1.8 s. "
            + ("So table 1 under the clock is that of another program, and all else" if other else "All else")
            + " is played at equal iterations."
        )
    lines.append(
        "What is below the moves made is kept in the tree from move to move here, which the published "
        "programs did not do: trees of later moves are larger than their iterations alone would make them."
    )
    return lines


def details(m: ColosseumGames, said: Sequence[ReportVerdict]) -> list[str]:
    """Return the result of each claim, with the explanation if the result differs and has one."""
    found = []
    for v in said:
        why = ""
        if v.explained and v.kind != YES and not findings.few(m):
            why = f" {v.claim.why[0].upper()}{v.claim.why[1:]}."
        found.append(f"{v.claim.says}: {verdict(m, v)}. Here {v.here}.{why}")
    return found


def _points(s: Interval) -> str:
    return f"{percent(s.value)} ({percent(s.low)} to {percent(s.high)})"


def _cells(p: Pair) -> list[str]:
    result = f"{p.wins} · {p.ties} · {p.games - p.wins - p.ties}"
    return [result, _points(share(p)), f"{p.p:.2g}", higher_words(p.effect)]


# tables


def claims_table(m: ColosseumGames, said: Sequence[ReportVerdict]) -> Table:
    """Return a table of all claims of the reports."""
    rows = [["first" if v.claim.report == 1 else "second", verdict(m, v), v.claim.says] for v in said]
    return Table(
        "The reports and this reproduction", ["report", "so here?", "it says"], rows, left=frozenset({1, 2}), keys=3
    )


def _timed(m: ColosseumGames, size: int) -> TreeShape | None:
    return findings.shape(m, "trees-seconds", "uct_walls", size)


def _spread(s: Any) -> str:
    return NONE if s is None else str(s.text(1))


def trees_table(m: ColosseumGames) -> Table:
    """Return table 1, and the numbers with the prior against three walls."""
    rows = []
    for row in study().trees:
        equal, timed = findings.shape(m, f"trees-{row.size}", "uct_walls", row.size), _timed(m, row.size)
        rows.append(_tree_row(f"{row.size}", row, equal, timed))
    for row in study().prior:
        equal = findings.shape(m, f"trees-free-{row.size}", name_of(FREE), row.size)
        rows.append(_tree_row(f"{row.size}, other", row, equal, None))
    seconds = f"here in {m.settings.seconds:g} s"
    heads = [
        "board",
        "breadth",
        "its program",
        "here, equal",
        seconds,
        "depth",
        "its program",
        "here, equal",
        seconds,
        "nodes, its program",
        seconds,
    ]
    notes = [
        "means over games of the largest breadth and depth in a game against the random agent, without the root",
        "breadth, depth: as the report has them; its program: the published one, measured on another machine in 1.8 s "
        "of CPU a move; equal: with as many iterations a move as its trees had nodes there",
        "other: a second pair of numbers that the report gives for the prior of 20 lost games; here without it",
    ]
    return Table("Table 1: trees of uct_walls", heads, rows, notes)


def _tree_row(name: str, row: Trees, equal: TreeShape | None, timed: TreeShape | None) -> list[str]:
    def both(k: int, there: float) -> list[str]:
        here = [_spread(s and s[k]) for s in (equal, timed)]
        return [f"{there:g}", f"{row.measured[k]:g}" if row.nodes else NONE, *here]

    nodes = [str(row.nodes) if row.nodes else NONE, NONE if timed is None else f"{timed.nodes:,.0f}"]
    return [name, *both(0, row.breadth), *both(1, row.depth), *nodes]


def random_table(m: ColosseumGames) -> Table:
    """Return a table of every agent against the random one."""
    said = {"uct_walls": "50 of 50", "killer_moves": "all", "two_ply": "about 90 %"}
    rows = []
    for name in ALL[1:]:
        p = findings.pair(m, "all", name, ALL[0])
        rows.append([name, said.get(name, NONE), *_cells(p)])
    note = f"6 x 6, {_each(m)}; shares {DECIDED}"
    return Table("Against the random agent", ["", "report", RESULT, *CELLS], rows, [note, HIGHER])


def ratings_table(m: ColosseumGames) -> Table:
    """Return a table of the round robin's ratings."""
    rows = [
        [r.name, f"{r.points:+.0f}", r.interval, percent(r.score), str(r.games)]
        for r in standings.ratings(m.played["all"], ALL, m.settings.seed)
    ]
    note = f"Bradley and Terry, 400 points are odds of 10 to 1; 6 x 6, {_each(m)}"
    return Table("Ratings", ["", "points", "95 %", "score", "games"], rows, [note])


def matrix_table(m: ColosseumGames) -> Table:
    """Return a table of the round robin's pairs; the better agents come first."""
    order = [r.name for r in standings.ratings(m.played["all"], ALL, m.settings.seed)]
    rows = []
    for a in order:
        cells = [NONE if a == b else percent(share(findings.pair(m, "all", a, b)).value) for b in order]
        rows.append([a, *cells])
    note = f"games won by the agent of the row, {m.settings.games} a pair, without ties"
    return Table("Every pair", ["", *order], rows, [note])


def heuristics_table(m: ColosseumGames) -> Table:
    """Return a table of agents against themselves without one of their parts."""
    rows = []
    for name, (whole, what, word) in HEURISTICS.items():
        row = [whole, what]
        for n in (SMALL, LARGE):
            row += _cells(findings.pair(m, f"without-{name}-{n}", whole, name_of(word)))
        rows.append(row)
    heads = ["agent", "against itself without", f"6 x 6, {RESULT}", *CELLS, f"12 x 12, {RESULT}", *CELLS]
    return Table("What each heuristic is worth", heads, rows, [_budgets(m), HIGHER], left=frozenset({1}), keys=2)


def constants_table(m: ColosseumGames) -> Table:
    """Return a table of uct_walls by its c."""
    found = {other: findings.constants(m, other) for other in OPPONENTS}
    rows = [[f"{c:g}", *(cell for other in OPPONENTS for cell in _cells(found[other][c]))] for c in CONSTANTS]
    heads = ["c", *(head for other in OPPONENTS for head in (f"against {other}", *CELLS))]
    note = f"uct_walls on 6 x 6, {_each(m)}; {RESULT}; shares {DECIDED}. The opponent uct_walls has c = 0.1"
    return Table("Win rate against c", heads, rows, [note, HIGHER])


def rave_table(m: ColosseumGames) -> Table:
    """Return a table of uct_rave against uct_walls by its K."""
    rows = [
        [
            f"{k:,}",
            *(cell for n in (SMALL, MIDDLE) for cell in _cells(findings.pair(m, f"rave-{k}-{n}", "rave", "uct_walls"))),
        ]
        for k in EQUIVALENCE
    ]
    notes = [
        "uct_rave is uct_walls whose means are mixed with those of all iterations in which the move was made at any "
        "later turn, at the weight sqrt(K / (3 P + K)), P the visits of the parent (Gelly and Silver 2011)",
        f"{_each(m)}; shares {DECIDED}",
        HIGHER,
    ]
    heads = ["K", f"6 x 6, {RESULT}", *CELLS, f"8 x 8, {RESULT}", *CELLS]
    return Table("uct_rave against uct_walls", heads, rows, notes)


def early_table(m: ColosseumGames) -> Table:
    """Return a table of killer_depth against killer_moves by the length of its random games."""
    rows = []
    for depth in DEPTHS:
        row = ["to the end" if depth == max(DEPTHS) else str(depth)]
        for name in (f"depth-{depth}-6", f"depth-{depth}-12", f"depth-{depth}-short"):
            row += _cells(findings.pair(m, name, "early", "killer_moves"))[:2]
        rows.append([*row, f"{findings.speed(m, depth):,.0f}"])
    heads = [
        "moves",
        f"6 x 6, {RESULT}",
        "share",
        f"12 x 12, {RESULT}",
        "share",
        f"12 x 12, {m.settings.short:g} s a move",
        "share",
        "iterations/s",
    ]
    notes = [
        f"killer_depth against killer_moves; a random game that is not over by then is judged by reach and walls. "
        f"{_budgets(m)}"
    ]
    return Table("Random games of so many moves", heads, rows, notes)


def _each(m: ColosseumGames) -> str:
    return f"{counted(m.settings.iterations, 'iteration')} a move"


def _budgets(m: ColosseumGames) -> str:
    return f"{_each(m)} on 6 x 6, {m.settings.tenth} on 12 x 12; {RESULT}; shares {DECIDED}"


def _picture(m: ColosseumGames) -> Svg:
    lines = {f"against {other}": [share(p) for p in findings.constants(m, other).values()] for other in OPPONENTS}
    chart = plots.rates(CONSTANTS, lines, "c", "games won, % of those decided", findings.USUAL)
    return Svg(
        charts.save(chart, m.folder / "figures" / "c.svg"),
        "Games won by uct_walls on 6 x 6 against c, with 95 % intervals; c = 0.1 dashed",
    )


# rows of files


def facts(m: ColosseumGames) -> dict[str, str]:
    """Return seeds, budgets and versions."""
    s = m.settings
    usual = ColosseumSettings.of(quick=s.quick)
    given = [
        f"--{name} {getattr(s, name)}"
        for name in ("games", "iterations", "seconds")
        if getattr(s, name) != getattr(usual, name)
    ]
    return {
        "command": " ".join(["persona-evo reproduce colosseum", f"--seed {s.seed}", *["--quick"] * s.quick, *given]),
        "seed": str(s.seed),
        "games": f"{s.games} of each pair in the round robin, {2 * s.games} of single pairs on 6 x 6; each board "
        "twice, the sides exchanged, all pairs on the same boards",
        "not reproducible": f"table 1 in {s.seconds:g} s a move ({counted(s.timed, 'game')} a size) and games of "
        f"{s.short:g} s a move depend on the machine; all else follows from the seed",
        "versions": ", ".join(f"{k} {v}" for k, v in versions(registry.get(STUDY)).items()),
    }
