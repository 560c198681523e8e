"""The differences between two versions of a level."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from persona_evo.api import frames
from persona_evo.api.results import Results
from persona_evo.errors import SettingsError
from persona_evo.formula import Formula, parse
from persona_evo.games.core import Game, Level
from persona_evo.jobs.workers import Workers
from persona_evo.playtest import versions
from persona_evo.playtest.analysis import told_rows
from persona_evo.playtest.answer import Answer, answer
from persona_evo.playtest.compare import ComparisonRow, compare_levels, headlines
from persona_evo.playtest.metrics import DAMAGE, EVERY
from persona_evo.playtest.versions import Changes


@dataclass(frozen=True, repr=False)
class Comparison:
    """A comparison of two versions of a level, A and B; as a string, its answer.

    Attributes:
        a, b: the two versions.
        results: the playthroughs of both; if they are not complete, there are no rows.
        rows: the comparison of each measure for each player.
    """

    a: Level
    b: Level
    results: Results
    rows: Sequence[ComparisonRow]

    @cached_property
    def changes(self) -> Changes:
        """The tiles that changed."""
        return versions.changes(self.results.game, self.a, self.b)

    @cached_property
    def answer(self) -> Answer:
        """The differences in five lines at most. Hit points appear only as damage."""
        game = self.results.game
        again = parse(game.health).symbols if any(r.measure.key == DAMAGE.key for r in self.rows) else ()
        rows = [r for r in self.rows if r.measure.key not in again]
        return answer(rows, self.changes, versions.difference(game, self.a, self.b))

    @property
    def sentences(self) -> list[str]:
        """All comparisons in words: first the differences, then the win rates without a difference."""
        return headlines(self.rows)

    def write(
        self, folder: str | Path, *, workers: Workers | None = None, progress: Callable[[str], None] | None = None
    ) -> Path:
        """Write traces, tables, pictures and the page into a folder, as `Results.write`; return the page's path."""
        from persona_evo.report import folder as report
        from persona_evo.report import versions as drawn

        target, game, analysis = Path(folder), self.results.game, self.results.analysis
        (target / "pictures").mkdir(parents=True, exist_ok=True)
        maps = (target / "pictures" / "changed-a.png", target / "pictures" / "changed-b.png")
        shown = drawn.Versions(
            self.answer,
            self.rows,
            self.changes,
            drawn.changed_maps(game, self.a, self.b, self.changes, maps),
            drawn.health_charts(self.results.records, [self.a.name, self.b.name], analysis.personas),
        )
        each = tuple(s for s in analysis.summaries if s.level != EVERY)
        found = tuple(f for f in analysis.findings if f.kind != "indistinguishable")  # versions may well be alike
        return report.write(
            target,
            game,
            self.results.levels,
            replace(analysis, summaries=each, findings=found),
            title=f"{self.a.name} (A) against {self.b.name} (B)",
            facts=self.results.facts,
            versions=shown,
            replays=False,
            workers=workers,
            progress=progress,
        ).page

    def playthroughs(self, *, states: bool = False) -> list[frames.Row]:
        """Return the rows of `Results.rows` for both versions."""
        return self.results.rows(states=states)

    def __str__(self) -> str:
        """Return the answer, in plain ASCII if standard output cannot show all of its characters."""
        from persona_evo.report.tables import printable

        return printable("\n".join(self.answer.lines), sys.stdout)

    def __repr__(self) -> str:
        return f"<Comparison of {self.a.name} (A) and {self.b.name} (B): {self.answer.lines[0]}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the answer, and the summary of each player."""
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in self.answer.lines)
        return lines + self.results._repr_html_()

    def __reduce__(self) -> tuple[Callable[[Results], Comparison], tuple[Results]]:
        """Pickle the playthroughs alone; everything else is computed again from them."""
        return compared, (self.results,)


def pair(levels: Sequence[Level]) -> tuple[Level, Level]:
    """Return the two levels of a comparison.

    Raises:
        SettingsError: there are more levels, or fewer.
    """
    if len(levels) != 2:
        raise SettingsError(
            "a comparison needs two levels",
            found=f"{len(levels)}: " + ", ".join(level.name for level in levels),
            expected="two different files or names of one level each",
        )
    return levels[0], levels[1]


def compared(results: Results) -> Comparison:
    """Compare the two levels of a playtest; nothing is compared if it was interrupted."""
    a, b = results.levels
    groups = [[r for r in results.records if r.level == level.name] for level in (a, b)]
    weighed = {p.label: _weighed(p.persona.utility, results.game) for p in results.players}
    rows = compare_levels(groups[0], groups[1], results.game.metrics, weighed=weighed) if results.complete else []
    return Comparison(a, b, results, told_rows(rows, results.game))


def _weighed(utility: Formula, game: Game) -> set[str]:
    """Return the keys of the measures that a utility contains."""
    symbols = set(utility.symbols)
    health = parse(game.health).symbols if game.health else frozenset()
    steps = {m.symbol for m in game.metrics if m.clock}
    return symbols | ({DAMAGE.key} if symbols & health else set()) | ({"steps"} if symbols & steps else set())
