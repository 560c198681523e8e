"""What playtests and comparisons come to, with everything that is computed from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.evolve.fitness_spec import LevelText
from persona_evo.formula import parse
from persona_evo.formula.guards import guards
from persona_evo.games.acceptance import Accepted
from persona_evo.games.core import Level
from persona_evo.games.diagnosis import harder_copies
from persona_evo.games.findings import Finding
from persona_evo.jobs.workers import Workers
from persona_evo.playtest import appraisals, batch, duels, require, routes, versions
from persona_evo.playtest import bounds as limits
from persona_evo.playtest.analysis import Analysis, analyse, told_rows
from persona_evo.playtest.answer import Answer, answer
from persona_evo.playtest.appraisals import Appraisals, Question
from persona_evo.playtest.compare import Row, compare_levels, headlines
from persona_evo.playtest.metrics import DAMAGE, EVERY
from persona_evo.playtest.versions import Changes
from persona_evo.search.outlook import Outlook
from persona_evo.words import counted, listed

if TYPE_CHECKING:
    from persona_evo.report.figures import Drawing


@dataclass
class Results(batch.Results):
    """A playtest's playthroughs with everything that is computed from them; printed, its summary and findings.

    command: the command line that made it, "" where none did. accepted: findings that fail nothing. rates: pass
    rates by level that were measured elsewhere, for a calibration. begun: what `look` has had begun by workers.
    """

    command: str = ""
    accepted: Sequence[Accepted] = ()
    rates: Mapping[str, float] = field(default_factory=dict)
    begun: Appraisals | None = field(default=None, repr=False)

    @cached_property
    def analysis(self) -> Analysis:
        """Summaries, comparisons, findings and correlations."""
        return self.check()

    @cached_property
    def static(self) -> list[Finding]:
        """What the analysis without play says of the levels."""
        alone = [f for level in self.levels for f in appraisals.findings(self.game, level)]
        return [*alone, *harder_copies(self.game, self.levels)]

    @cached_property
    def outlooks(self) -> dict[str, Outlook]:
        """Whether levels can be won that nobody has won."""
        return {level.name: appraisals.prospect(self.game, level) for level in self._unwon}

    @property
    def _unwon(self) -> list[Level]:
        """Levels that nobody has won, and that may be won, in games where that can be looked into."""
        won = {r.level for r in self.records if r.won} | {name for (name, _), bound in self.bounds.items() if bound.won}
        return [level for level in self.levels if self.game.planned and level.name not in won]

    def look(self, progress: limits.Tell | None = None, workers: Workers | None = None) -> None:
        """Work out `static` and `outlooks`, which may take seconds a level.

        Args:
            progress: told how many of how many are done.
            workers: who works them out, None for this process.
        """
        asked = [Question(LevelText.of(level), False) for level in self.levels]
        asked += [Question(LevelText.of(level), True) for level in self._unwon]
        begun, self.begun = self.begun, None
        for done, _ in enumerate(appraisals.appraised(self.game, asked, workers, begun), 1):
            if progress is not None:
                progress(done, len(asked))

    def first(self, trials: int) -> Results:
        """The same with the first trials of each player in each level alone."""
        records = [r for r in self.records if r.trial < trials]
        return replace(self, trials=trials, records=records)

    def check(self, *requirements: str) -> Analysis:
        """The analysis with requirements such as "runner.win_rate >= 0.95" held against it.

        Raises:
            SettingsError: a requirement cannot be read, or names what does not exist.
        """
        return analyse(
            self.game,
            self.levels,
            self.records,
            baselines=self.baselines,
            priorities=self.priorities,
            utilities={p.label: p.persona.utility for p in self.players},
            bounds=self.bounds,
            requirements=require.parse_all(requirements) if requirements else (),
            tolerances=self.tolerances,
            static=self.static,
            outlooks=self.outlooks,
            accepted=self.accepted,
            rates=self.rates,
        )

    @property
    def title(self) -> str:
        """What was played."""
        title = "Playtest of " + ", ".join(level.name for level in self.levels[:4])
        return title + (f" and {counted(len(self.levels) - 4, 'more level')}" if len(self.levels) > 4 else "")

    @property
    def facts(self) -> dict[str, str]:
        """How the playtest was made, by name, for people."""
        from persona_evo.evolve.winner import versions

        limit = ", ".join(f"{v:,.10g} {k}" for k, v in self.budget.to_dict().items() if v is not None)
        protected = guards(p.policy.formula for p in self.players if p.policy.formula and not p.agent)
        return {
            **({"command": self.command} if self.command else {}),
            "seed": str(self.seed),
            "budget": f"{limit} for each {'playthrough' if self.league is None else 'move'}",
            **(
                {}
                if self.league is None
                else {
                    "agent": ", ".join(self.movers),
                    **({"opponents": self._opponents} if self.league.opponents else {}),
                }
            ),
            "search settings": listed(self.settings.to_dict()),
            "trials": f"{self.trials} of each player in each level",
            **self._drawn,
            "players": "\n".join(f"{p.label}: {p.text}" for p in self.players),
            **({"formulas": protected} if protected else {}),
            "versions": ", ".join(f"{k} {v}" for k, v in versions(self.game).items()),
            "reproducible": "yes" if self.budget.reproducible else "no, the budget is one of time",
        }

    @property
    def _drawn(self) -> dict[str, str]:
        """What the trials of players show that draw their routes."""
        if not self.tolerances:
            return {}
        some = "" if len(self.tolerances) == len(self.players) else f" ({', '.join(self.tolerances)})"
        how = routes.within(self.settings.tolerance)
        return {"routes": f"each trial's own{some}, {how} the best plan of its search; no more searches after a proof"}

    @property
    def _opponents(self) -> str:
        """Whom the players met, and what their trials left out of the league."""
        names = [] if self.league is None else [o.name for o in self.league.opponents]
        there = duels.opponents_of(self.records) or list(duels.met(names, self.trials))
        return "; ".join(filter(None, (", ".join(there), duels.meeting(names, self.trials))))

    def write(
        self,
        folder: str | Path,
        *,
        analysis: Analysis | None = None,
        pictures: bool = True,
        replays: bool = True,
        workers: Workers | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Path:
        """Write traces, tables, pictures and the page into a folder; the page's path.

        Args:
            analysis: one made by `check`, so that the page shows its requirements.
            pictures, replays: maps, animated replays.
            workers: who draws, None for this process.
            progress: told what was drawn.
        """
        from persona_evo.playtest import records
        from persona_evo.report import folder as report
        from persona_evo.report import page

        analysis, target = analysis or self.analysis, Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        if pictures:
            return report.write(
                target,
                self.game,
                self.levels,
                analysis,
                title=self.title,
                facts=self.facts,
                replays=replays,
                workers=workers,
                progress=progress,
            ).page
        records.write(target / "traces.jsonl", analysis.records)
        report.write_tables(target, analysis)
        return page.write(report.page_of(analysis, title=self.title, facts=self.facts), target / "index.html")

    @property
    def drawings(self) -> Iterator[Drawing]:
        """The figures, not yet drawn."""
        from persona_evo.report import folder as report

        return report.drawings(self.game, self.levels, self.analysis)

    def save_figures(self, folder: str | Path, form: str = "pdf") -> list[Path]:
        """Draw the figures for a publication or slides as "pdf", "png" or "svg"; the files."""
        from persona_evo.report import figures

        return figures.save(self.drawings, folder, form)

    def __str__(self) -> str:
        from persona_evo.report.text import summary_text

        return summary_text(self.analysis)


@dataclass(frozen=True)
class Comparison:
    """Two versions of a level, A and B: rows for each player and measure, and the answer; printed, the latter."""

    a: Level
    b: Level
    results: Results
    rows: Sequence[Row]

    @cached_property
    def changes(self) -> Changes:
        """The tiles that changed."""
        return versions.changes(self.results.game, self.a, self.b)

    @cached_property
    def answer(self) -> Answer:
        """What differs, in five lines at most. Hit points are told as damage alone."""
        game = self.results.game
        again = parse(game.health).symbols if any(r.measure.key == DAMAGE.key for r in self.rows) else ()
        rows = [r for r in self.rows if r.measure.key not in again]
        return answer(rows, self.changes, versions.difference(game, self.a, self.b))

    @property
    def sentences(self) -> list[str]:
        """Everything that was compared, in words: what differs, then the win rates that do not."""
        return headlines(self.rows)

    def write(
        self, folder: str | Path, *, workers: Workers | None = None, progress: Callable[[str], None] | None = None
    ) -> Path:
        """Write traces, tables, pictures and the page into a folder; the page's path (as `Results.write`)."""
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
        return report.write(
            target,
            game,
            self.results.levels,
            replace(analysis, summaries=each),
            title=f"{self.a.name} (A) against {self.b.name} (B)",
            facts=self.results.facts,
            versions=shown,
            replays=False,
            workers=workers,
            progress=progress,
        ).page

    def __str__(self) -> str:
        return "\n".join(self.answer.lines)


def as_results(played: batch.Results) -> Results:
    """A batch's results with the analysis beside them."""
    return Results(**{name: getattr(played, name) for name in batch.Results.__dataclass_fields__})


def add_bounds(
    results: Results,
    seconds: float,
    jobs: int = -1,
    progress: limits.Tell | None = None,
    game_name: str | None = None,
    workers: Workers | None = None,
    then: Appraisals | None = None,
) -> None:
    """Look for the best possible utility of each persona in each level, and keep what is found beside the results
    (arguments as for `playtest.bounds.bounds`)."""
    results.bounds = limits.bounds(
        results.game,
        results.levels,
        [p.persona for p in results.players],
        results.records,
        seconds=seconds,
        jobs=jobs,
        folder=results.folder,
        progress=progress,
        game_name=game_name,
        workers=workers,
        then=then,
    )


def compared(results: Results) -> Comparison:
    """The comparison of the two levels of a playtest."""
    a, b = results.levels
    groups = [[r for r in results.records if r.level == level.name] for level in (a, b)]
    rows = compare_levels(groups[0], groups[1], results.game.metrics)
    return Comparison(a, b, results, told_rows(rows, results.game))
