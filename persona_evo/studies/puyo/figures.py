"""The publication's figures with our data, and the game with the longest chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from persona_evo.report import charts, plots, replay
from persona_evo.report.pages import Figure, Gallery, Lines, Section, Svg, Text
from persona_evo.studies.puyo.cells import (
    BFS,
    DFS,
    EXHAUSTIVE,
    FLAT,
    NAMES,
    PLANNED,
    RANDOM,
    cells,
    study,
)
from persona_evo.studies.puyo.games import PuyoGame, PuyoGames
from persona_evo.studies.puyo.numbers import budgets, marks, mean_final, span_csv, spans
from persona_evo.words import counted


def figures(m: PuyoGames, progress: Callable[[str], None] | None) -> list[Section]:
    clock, sections = m.settings.clock, dict[int, Section]()
    under = f"{counted(clock, 'drop')} for each free row"
    for number, games, what in (
        (2, m.of(EXHAUSTIVE, 3), "exhaustive search, depth 3"),
        (3, m.of(BFS, 3, "clock", clock), f"breadth first, depth 3, {under}"),
        (5, m.of(FLAT, 4, "clock", clock), f"Monte Carlo search, depth 4, {under}"),
    ):
        rows = spans(m, games)
        span_csv(m, number, {what: games})
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
            span_csv(m, number, {what: games, f"Monte Carlo search, depth 3, {under}": three})
            beside = {"depth 3": [r[1] for r in spans(m, three)], "depth 4": [r[1] for r in rows]}
            extra = _chart(
                m, "figure5_depths", plots.curves(marks(m), beside, "drops", "mean score"), "Depth 3 and depth 4, means"
            )
        sections[number] = _figure(number, [chart, extra])
    four = {NAMES[k]: v for k, v in _four(m, clock).items()}
    span_csv(m, 4, four)
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
    span_csv(
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


def _four(m: PuyoGames, clock: int) -> Mapping[str, list[PuyoGame]]:
    return {EXHAUSTIVE: m.of(EXHAUSTIVE, 3)} | {k: m.of(k, 3, "clock", clock) for k in (BFS, RANDOM, FLAT, DFS)}


def _figure(number: int, drawn: Sequence[Svg | None]) -> Section:
    """Return a section with the publication's claims about a figure, and the charts."""
    says = Lines(f"The prose: {c.says}." for c in study().claims if c.figure == number)
    return Section(f"figure{number}", f"Figure {number}", [says, Gallery("chart", [d for d in drawn if d])])


def _chart(m: PuyoGames, name: str, chart: charts.Chart, caption: str) -> Svg:
    return Svg(charts.save(chart, m.folder / "figures" / f"{name}.svg"), caption)


def budget_picture(m: PuyoGames) -> Svg:
    deep = list(range(3, m.settings.deepest + 1))
    lines = {c.budget: [mean_final(m.of(FLAT, d, c.kind, c.limit)) for d in deep] for c in budgets(m)}
    chart = plots.curves(deep, lines, "depth limit", "mean score at the end")
    return _chart(m, "budgets", chart, "Monte Carlo search: score against depth, by budget of a move")


def best_game(m: PuyoGames) -> PuyoGame:
    """Return the game with the longest chain; of several such games, the one with the highest score."""
    played = (p for c in cells(m.settings) if c.kind != PLANNED for p in m.played[c.name])
    return max(played, key=lambda p: (p.longest, p.final))


def best(m: PuyoGames, progress: Callable[[str], None] | None) -> Section:
    """Return a section with a replay of the game with the longest chain, and its field just before that chain."""
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
