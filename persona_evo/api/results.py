"""The results of playtests and everything that is computed from them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo import limits
from persona_evo.agents.skill import FULL_SIGHT, LADDER, errs
from persona_evo.api import frames
from persona_evo.arguments import checked, checked_fields
from persona_evo.formula import Formula
from persona_evo.formula.guards import guards
from persona_evo.games.acceptance import Accepted
from persona_evo.games.core import Level
from persona_evo.games.diagnosis import harder_copies
from persona_evo.games.findings import Finding
from persona_evo.games.level_text import LevelText
from persona_evo.games.outside import hidden_facts
from persona_evo.jobs.workers import Workers
from persona_evo.playtest import appraisals, batch, bounds, duels, require, routes
from persona_evo.playtest.analysis import Analysis, analyse
from persona_evo.playtest.appraisals import Appraisals, LevelQuestion
from persona_evo.playtest.changes import PlaytestChanges, changes
from persona_evo.playtest.metrics import UtilityRanges, utility_ranges
from persona_evo.search.list_orders import left_out
from persona_evo.search.outlook import Outlook
from persona_evo.words import counted, listed, listed_few, percent

if TYPE_CHECKING:
    import pandas

    from persona_evo.report.figures import Drawing


@checked_fields()
@dataclass(repr=False)
class Results(batch.BatchResults):
    """The playthroughs of a playtest and everything that is computed from them; as a string, its summary and findings.

    A notebook shows it as a table; `rows`, `to_pandas` and `to_parquet` give the playthroughs.

    Attributes:
        command: the command line that made it, "" without one.
        accepted: accepted findings, which are no problems.
        requirements: conditions such as "runner.win_rate >= 95%", which `analysis` checks.
        rates: pass rates by level that were measured elsewhere, for a calibration.
        begun: computations of `look` that workers have begun.
    """

    command: str = ""
    accepted: Sequence[Accepted] = ()
    requirements: Sequence[str] = ()
    rates: Mapping[str, float] = field(default_factory=dict)
    begun: Appraisals | None = field(default=None, repr=False)

    @cached_property
    def analysis(self) -> Analysis:
        """Summaries, comparisons, findings, correlations, and which requirements hold."""
        return self.check(*self.requirements)

    @property
    def counts_findings(self) -> bool:
        """Whether a requirement is one on the number of findings."""
        return any(r.counts for r in require.parse_all(self.requirements))

    @cached_property
    def static(self) -> list[Finding]:
        """Findings of the level analysis, which does not play."""
        alone = [f for level in self.levels for f in appraisals.findings(self.game, level)]
        return [*alone, *harder_copies(self.game, self.levels)]

    @cached_property
    def outlooks(self) -> dict[str, Outlook]:
        """Whether each level that nobody has won can be won at all."""
        return {level.name: appraisals.prospect(self.game, level) for level in self._unwon}

    @property
    def _unwon(self) -> list[Level]:
        """Levels that nobody has won but that may be winnable, in games in which this can be examined."""
        won = {r.level for r in self.records if r.won} | {name for (name, _), bound in self.bounds.items() if bound.won}
        return [level for level in self.levels if self.game.planned and level.name not in won]

    def look(self, progress: bounds.Tell | None = None, workers: Workers | None = None) -> None:
        """Compute `static` and `outlooks`, which may take seconds per level; the folder keeps them.

        Args:
            progress: called with the finished and the total number of computations.
            workers: workers that compute, None for this process.
        """
        asked = [LevelQuestion(LevelText.of(level), False) for level in self.levels]
        asked += [LevelQuestion(LevelText.of(level), True) for level in self._unwon]
        begun, self.begun = self.begun, None
        for done, _ in enumerate(appraisals.appraised(self.game, asked, workers, begun, self.folder), 1):
            if progress is not None:
                progress(done, len(asked))

    @checked
    def first(self, trials: int) -> Results:
        """Keep only the first trials of each player in each level."""
        trials = limits.whole(trials, "trials", 1, limits.MOST_TRIALS)
        records = [r for r in self.records if r.trial < trials]
        return replace(self, trials=trials, records=records)

    @checked
    def check(self, *requirements: str) -> Analysis:
        """Analyse the playthroughs and check requirements such as "runner.win_rate >= 0.95".

        Raises:
            SettingsError: a requirement cannot be read, or names what does not exist.
        """
        return analyse(
            self.game,
            self.levels,
            self.records,
            baselines=self.baselines,
            priorities=self.priorities,
            utilities=self._utilities,
            bounds=self.bounds,
            requirements=require.parse_all(requirements),
            tolerances=self.tolerances,
            static=self.static,
            failures=self.failures,
            outlooks=self.outlooks,
            accepted=self.accepted,
            rates=self.rates,
        )

    @checked
    def search_bounds(self, seconds: float, **how: Any) -> None:
        """Search for the best possible utility of each persona in each level, and keep the bounds.

        Args:
            seconds: time for the solver per level and persona.
            how: further arguments of `playtest.bounds.bounds`.
        """
        personas = [player.persona for player in self.players]
        seconds = limits.number(seconds, "seconds", 0, limits.MOST_BOUND_SECONDS)
        self.bounds = bounds.bounds(
            self.game, self.levels, personas, self.records, seconds=seconds, folder=self.folder, **how
        )

    @checked
    def changes_since(self, before: Results) -> PlaytestChanges:
        """Say what differs from earlier results of the same levels."""
        return changes(before.analysis, self.analysis)

    @property
    def _utilities(self) -> dict[str, Formula]:
        """The utility of each player, by label."""
        return {p.label: p.persona.utility for p in self.players}

    @property
    def utility_ranges(self) -> UtilityRanges:
        """The range of each player's utility, by label."""
        return utility_ranges(self._utilities, self.game.metrics)

    @property
    def title(self) -> str:
        """A title that names the levels, and says if the playtest was interrupted."""
        title = f"Playtest of {listed_few([level.name for level in self.levels], 4)}"
        return f"{title}, {self.interruption}" if self.interruption else title

    @property
    def facts(self) -> dict[str, str]:
        """Facts about how the playtest was made, by name, for people."""
        from persona_evo.store.versions import versions

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
                    **(
                        {"opponents": "; ".join(filter(None, (", ".join(self.opponents), self.unmet)))}
                        if self.league.opponents
                        else {}
                    ),
                }
            ),
            "search settings": listed(self.settings.to_dict()),
            **hidden_facts(
                self.game, {p.label: self.settings.for_persona(p.persona.seeds).seeds for p in self.players}
            ),
            "trials": f"{self.trials} of each player in each level",
            **self._drawn,
            "players": "\n".join(f"{p.label}: {p.text}" for p in self.players),
            **({"formulas": protected} if protected else {}),
            "versions": ", ".join(f"{k} {v}" for k, v in versions(self.game).items()),
            "reproducible": "yes" if self.budget.reproducible else "no, because the budget limits seconds",
        }

    @property
    def _drawn(self) -> dict[str, str]:
        """A fact about players whose trials show different routes."""
        if not self.tolerances:
            return {}
        some = "" if len(self.tolerances) == len(self.players) else f" ({', '.join(self.tolerances)})"
        how = routes.within(self.settings.tolerance)
        return {"routes": f"each trial's own{some}, {how} the best plan of its search; no more searches after a proof"}

    @property
    def opponents(self) -> list[str]:
        """Names of the opponents that the players meet."""
        return duels.opponents_of(self.records) or list(duels.met(self._league_names, self.trials))

    @property
    def unmet(self) -> str:
        """A sentence on the opponents that the trials leave out of the league; "" if they leave out none."""
        return duels.meeting(self._league_names, self.trials)

    @property
    def _league_names(self) -> list[str]:
        """Names of the opponents in the league."""
        return [] if self.league is None else [o.name for o in self.league.opponents]

    @property
    def effort(self) -> str:
        """How much the players search, in words."""
        limit = self.budget.text
        if self.league is not None:
            return f"{limit} a move"
        each = {
            **{name: f"{skill.iterations} iterations for each legal move ({name})" for name, skill in LADDER.items()},
            FULL_SIGHT.name: f"{FULL_SIGHT.iterations} iterations a move ({FULL_SIGHT.name})",
        }
        return ", ".join(dict.fromkeys(each.get(p.skill, f"{limit} a playthrough") for p in self.players))

    @property
    def unused_lists(self) -> list[str]:
        """A sentence for each open list of a persona or a policy that the search does not use, with the reason."""
        if self.league is not None or not self.game.planned:
            return []
        return [
            f"{player.label}: {text}"
            for player in self.players
            if not errs(player.skill)
            for text in left_out(self.game, self.levels[0], player.persona.utility, player.policy, self.settings)
        ]

    @checked
    def write(
        self,
        folder: str | Path,
        *,
        analysis: Analysis | None = None,
        pictures: bool = True,
        replays: bool = True,
        workers: Workers | None = None,
        progress: Callable[[str], None] | None = None,
        missing: Callable[[str], None] | None = None,
    ) -> Path:
        """Write traces, tables, pictures and the page into a folder; return the page's path.

        Args:
            analysis: an analysis made by `check`, so that the page shows its requirements.
            pictures, replays: whether to draw maps and animated replays.
            workers: workers that draw, None for this process.
            progress: called with the current step in words.
            missing: called with a sentence on each film strip that is missing.
        """
        from persona_evo.playtest import records
        from persona_evo.report import folder as report
        from persona_evo.report import page

        analysis, target = analysis or self.analysis, Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        traces = not self.journaled_in(target)
        if pictures:
            written = report.write(
                target,
                self.game,
                self.levels,
                analysis,
                title=self.title,
                facts=self.facts,
                replays=replays,
                traces=traces,
                workers=workers,
                progress=progress,
            )
            for text in written.unfilmed:
                if missing is not None:
                    missing(text)
            return written.page
        if traces:
            records.write(target / "traces.jsonl", analysis.records)
        report.write_tables(target, analysis)
        return page.write(report.page_of(analysis, title=self.title, facts=self.facts), target / "index.html")

    @property
    def drawings(self) -> Iterator[Drawing]:
        """Yield the figures, which are not drawn yet."""
        from persona_evo.report import folder as report

        return report.drawings(self.game, self.levels, self.analysis)

    @checked
    def save_figures(self, folder: str | Path, form: str = "pdf") -> list[Path]:
        """Draw the figures for a publication or slides as "pdf", "png" or "svg"; return the files."""
        from persona_evo.report import figures

        return figures.save(self.drawings, folder, form)

    @checked
    def rows(self, *, states: bool = False) -> list[frames.Row]:
        """Convert the playthroughs to rows of a table.

        Args:
            states: whether to give a row for each state of each playthrough instead, from the start to the end of its
                plan: the move that led to it, the avatar's place, and the metrics. The playthroughs are played again.

        Returns:
            Dicts with the same keys; the metrics are called metric_SYMBOL.

        Raises:
            VerificationError: a playthrough cannot be played again.
        """
        if not states:
            return [frames.playthrough_row(record) for record in self.records]
        levels = {level.name: level for level in self.levels}
        return [row for r in self.records for row in frames.state_rows(self.game, levels[r.level], r)]

    @checked
    def to_pandas(self, *, states: bool = False) -> pandas.DataFrame:
        """Convert `rows` to a data frame.

        Raises:
            SettingsError: pandas is not installed.
            VerificationError: as for `rows`.
        """
        return frames.to_pandas(self.rows(states=states))

    @checked
    def to_parquet(self, file: str | Path, *, states: bool = False) -> Path:
        """Write `rows` into a Parquet file.

        Raises:
            SettingsError: pyarrow is not installed.
            VerificationError: as for `rows`.
        """
        return frames.to_parquet(self.rows(states=states), file)

    @property
    def text(self) -> str:
        """Summary and findings, in Unicode; of an interrupted playtest, this is said first."""
        from persona_evo.report.text import summary_text

        return "\n\n".join(filter(None, (self.interruption, summary_text(self.analysis))))

    def __str__(self) -> str:
        """Return `text`, in plain ASCII if standard output cannot show all of its characters."""
        from persona_evo.report.tables import printable

        return printable(self.text, sys.stdout)

    def __repr__(self) -> str:
        players = listed_few([p.label for p in self.players])
        levels = listed_few([level.name for level in self.levels])
        played = self.interruption or counted(len(self.records), "playthrough")
        return f"<Results of {self.game.name}: {played}, seed {self.seed}\n  levels: {levels}\n  players: {players}>"

    def _repr_html_(self) -> str:
        """Return the HTML for a notebook: the summary of each player in each level."""
        headers = ("level", "player", "playthroughs", "win rate", "utility")
        rows = [
            (s.level, s.player, s.trials, percent(s.win_rate.value) if s.wins else "", f"{s.utility.value:.3f}")
            for s in self.analysis.summaries
        ]
        count = len(self.analysis.findings)
        title = f"{self.title}: {counted(len(self.records), 'playthrough')}, {counted(count, 'finding')}"
        return frames.as_html(title, headers, rows)

    def __getstate__(self) -> dict[str, object]:
        """Leave out computations of workers and values that can be computed again."""
        return {f.name: None if f.name == "begun" else getattr(self, f.name) for f in fields(self)}


def as_results(played: batch.BatchResults) -> Results:
    """Convert a batch's results to results with an analysis."""
    return Results(**{name: getattr(played, name) for name in batch.BatchResults.__dataclass_fields__})
