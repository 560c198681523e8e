"""The differences between two versions of a level, or of several levels."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.api import frames
from persona_evo.api.results import Results
from persona_evo.arguments import checked, checked_fields
from persona_evo.formula import Formula, parse
from persona_evo.games.core import Game, Level
from persona_evo.jobs.workers import Workers
from persona_evo.playtest import versions
from persona_evo.playtest.analysis import told_rows
from persona_evo.playtest.answer import Answer, answer
from persona_evo.playtest.compare import ComparisonRow
from persona_evo.playtest.compare_versions import compare_levels, headlines
from persona_evo.playtest.level_pairs import LevelPairs, compare_each, compare_pairs
from persona_evo.playtest.metrics import DAMAGE, EVERY
from persona_evo.playtest.versions import AnalysisDifference, Changes

if TYPE_CHECKING:
    from persona_evo.report.level_pairs import PairedVersions
    from persona_evo.report.versions import Versions


@checked_fields()
@dataclass(frozen=True, repr=False)
class Comparison:
    """A comparison of two versions of a level, or of several levels, A and B; as a string, its answer.

    Attributes:
        results: the playthroughs of both; if they are not complete, there are no rows.
        rows: the comparison of each measure for each player; over all pairs if there are several.
        pairs: the levels of A, each with its counterpart in B.
    """

    results: Results
    rows: Sequence[ComparisonRow]
    pairs: Sequence[tuple[Level, Level]]

    @property
    def a(self) -> Level:
        """The first version; of several levels, the first."""
        return self.pairs[0][0]

    @property
    def b(self) -> Level:
        """The second version of that level."""
        return self.pairs[0][1]

    @cached_property
    def changes(self) -> Changes | LevelPairs:
        """The tiles that changed; of several levels, which were compared."""
        if len(self.pairs) > 1:
            return named_pairs(self.pairs)
        return versions.changes(self.results.game, self.a, self.b)

    @cached_property
    def answer(self) -> Answer:
        """The differences in five lines at most. Hit points appear only as damage."""
        game = self.results.game
        again = parse(game.health).symbols if any(r.measure.key == DAMAGE.key for r in self.rows) else ()
        rows = [r for r in self.rows if r.measure.key not in again]
        several = len(self.pairs) > 1
        maps = AnalysisDifference() if several else versions.difference(game, self.a, self.b)
        return answer(rows, self.changes, maps)

    @property
    def sentences(self) -> list[str]:
        """All comparisons in words: first the differences, then the win rates without a difference."""
        return headlines(self.rows)

    @checked
    def write(
        self, folder: str | Path, *, workers: Workers | None = None, progress: Callable[[str], None] | None = None
    ) -> Path:
        """Write traces, tables, pictures and the page into a folder, as `Results.write`; return the page's path."""
        from persona_evo.report import folder as report

        target, analysis = Path(folder), self.results.analysis
        (target / "pictures").mkdir(parents=True, exist_ok=True)
        each = tuple(s for s in analysis.summaries if s.level != EVERY)
        found = tuple(f for f in analysis.findings if f.kind != "indistinguishable")  # versions may well be alike
        return report.write(
            target,
            self.results.game,
            self.results.levels,
            replace(analysis, summaries=each, findings=found),
            title=", ".join(filter(None, (f"{self._title(0)} against {self._title(1)}", self.results.interruption))),
            facts=self.results.facts,
            versions=self._shown(target / "pictures"),
            replays=False,
            workers=workers,
            progress=progress,
        ).page

    def _title(self, side: int) -> str:
        """Return the name of A or B."""
        more = f" and {len(self.pairs) - 1} more" if len(self.pairs) > 1 else ""
        return f"{self.pairs[0][side].name}{more} ({'AB'[side]})"

    @property
    def _lines(self) -> Sequence[str]:
        """The answer, or that there is none."""
        stopped = self.results.interruption
        return [f"{stopped}; nothing is compared"] if stopped else self.answer.lines

    def _shown(self, pictures: Path) -> Versions | PairedVersions:
        """Return what the page shows; maps are drawn into the folder of pictures."""
        from persona_evo.report import versions as drawn
        from persona_evo.report.level_pairs import PairedVersions

        game, records = self.results.game, self.results.records
        changes = self.changes
        if isinstance(changes, LevelPairs):
            each = told_rows(compare_each(records, changes, game.metrics, self.results.utility_ranges), game)
            return PairedVersions(self.answer, self.rows, each, changes)
        maps = (pictures / "changed-a.png", pictures / "changed-b.png")
        return drawn.Versions(
            self.answer,
            self.rows,
            changes,
            drawn.changed_maps(game, self.a, self.b, changes, maps),
            drawn.health_charts(records, [self.a.name, self.b.name], self.results.analysis.personas),
        )

    @checked
    def playthroughs(self, *, states: bool = False) -> list[frames.Row]:
        """Return the rows of `Results.rows` for both versions."""
        return self.results.rows(states=states)

    def __str__(self) -> str:
        """Return the answer, in plain ASCII if standard output cannot show all of its characters."""
        from persona_evo.report.tables import printable

        return printable("\n".join(self._lines), sys.stdout)

    def __repr__(self) -> str:
        return f"<Comparison of {self._title(0)} and {self._title(1)}: {self._lines[0]}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the answer, and the summary of each player."""
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in self._lines)
        return lines + self.results._repr_html_()

    def __reduce__(self) -> tuple[Callable[[Results], Comparison], tuple[Results]]:
        """Pickle the playthroughs alone; everything else is computed again from them."""
        return compared, (self.results,)


def compared(results: Results) -> Comparison:
    """Compare the levels of a playtest, in which each level of A is followed by its counterpart in B.

    Nothing is compared if the playtest was interrupted.
    """
    game, records, levels = results.game, results.records, results.levels
    pairs = list(zip(levels[::2], levels[1::2], strict=True))
    rows: list[ComparisonRow] = []
    if results.complete and len(pairs) > 1:
        rows = compare_pairs(records, named_pairs(pairs), game.metrics, worth=results.utility_ranges)
    elif results.complete:
        groups = [[r for r in records if r.level == level.name] for level in levels]
        weighed = {p.label: _weighed(p.persona.utility, game) for p in results.players}
        rows = compare_levels(groups[0], groups[1], game.metrics, worth=results.utility_ranges, weighed=weighed)
    return Comparison(results, told_rows(rows, game), pairs)


def _weighed(utility: Formula, game: Game) -> set[str]:
    """Return the keys of the measures that a utility contains."""
    symbols = set(utility.symbols)
    health = parse(game.health).symbols if game.health else frozenset()
    steps = {m.symbol for m in game.metrics if m.clock}
    return symbols | ({DAMAGE.key} if symbols & health else set()) | ({"steps"} if symbols & steps else set())


def named_pairs(pairs: Sequence[tuple[Level, Level]]) -> LevelPairs:
    """Return the names of levels in pairs, with what the levels of a pair have in common."""
    return LevelPairs(tuple((a.name, b.name) for a, b in pairs))
