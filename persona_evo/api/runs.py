"""The results in the folders of runs: playtests to read again and compare, and figures of all runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.api.results import Results, as_results
from persona_evo.api.studies import study_of
from persona_evo.arguments import checked
from persona_evo.errors import Place, RunError, SettingsError
from persona_evo.jobs.windows import program
from persona_evo.playtest import batch, bounds, journal
from persona_evo.playtest.changes import PlaytestChanges, changes
from persona_evo.playtest.records import Playthrough
from persona_evo.store import folders
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.report.figures import Drawing
    from persona_evo.store.folders import RunEntry


@checked
def kept_playtest(folder: str | Path, game_name: str | None = None) -> Results:
    """Read the present results of a playtest's folder, with the bounds that were found; nothing is played.

    Raises:
        RunError: this is no folder of a playtest, or it is damaged.
    """
    where = Path(folder)
    results = as_results(batch.kept(where, game_name=game_name))
    if not results.records:
        raise RunError(
            "the playtest has no playthroughs yet",
            place=Place(str(where / journal.TRACES)),
            hint=f"continue it: {program('playtest', '--resume', where)}",
        )
    if results.game.outside is None and (where / bounds.FILE).is_file():
        results.search_bounds(0, game_name=game_name)
    return results


def playthrough(results: Results, number: int) -> Playthrough:
    """Return a playthrough by its number for people: its line in traces.jsonl, from 1.

    Raises:
        SettingsError: there is no such line.
    """
    if not 1 <= number <= len(results.records):
        raise SettingsError(
            "there is no such playthrough", found=f"--trace {number}", expected=f"1 to {len(results.records)}"
        )
    return results.records[number - 1]


@checked
def compare_playtests(a: Results, b: Results) -> PlaytestChanges:
    """Compare two playtests of the same levels, or of two versions of a level.

    Raises:
        SettingsError: they are of different games, or have no level or no player in common.
    """
    if a.game.name != b.game.name:
        raise SettingsError(
            "the playtests are of different games",
            found=f"{a.game.name} and {b.game.name}",
            expected="two playtests of one game",
        )
    names = [{level.name for level in one.levels} for one in (a, b)]
    renamed: dict[str, str] = {}
    if not names[0] & names[1]:
        if len(a.levels) > 1 or len(b.levels) > 1:
            raise SettingsError(
                "the playtests have no level in common",
                found=f"{counted(len(a.levels), 'level')} and {counted(len(b.levels), 'level')}",
                expected="levels of the same names, or one level each",
            )
        renamed = {a.levels[0].name: b.levels[0].name}
    found = changes(a.analysis, b.analysis, renamed)
    if not found.rates:
        raise SettingsError(
            "the playtests have no player in common",
            found=", ".join(p.label for p in (*a.players, *b.players)),
            expected="the same personas in both",
        )
    return found


@checked
def save_figures(
    run: str | Path,
    folder: str | Path,
    form: str = "pdf",
    *,
    game_name: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Path]:
    """Draw the figures of a run for a publication or slides.

    Args:
        run: the folder of a playtest, a match, an experiment, an evolution, or a study with figures.
        folder: the folder for the files.
        form: "pdf", "png" (300 dots per inch) or "svg".
        game_name: the present name of the game, if its file has moved.
        progress: called with each file's name.

    Returns:
        The files.

    Raises:
        RunError: this is no run's folder, it is damaged, or there is nothing to draw.
        SettingsError: an unknown format, or a kind of run without figures.
    """
    from persona_evo.report import figures

    entry = folders.read(Path(run))
    if entry is None or entry.problem:
        raise RunError(
            "this is not the folder of a run" if entry is None else "the run cannot be read",
            place=Place(str(run)),
            found=None if entry is None else entry.problem,
        )
    return figures.save(_drawings(entry, game_name), folder, form, progress)


def _drawings(entry: RunEntry, game_name: str | None) -> Iterable[Drawing]:
    """Return the figures of a run of any kind."""
    if entry.kind in ("playtest", "watch"):
        return kept_playtest(entry.folder, game_name).drawings
    if entry.kind == "evolution":
        from persona_evo.report import evolution

        return evolution.drawings(evolution.read(entry.folder))
    if entry.kind == "match":
        from persona_evo.matches.reopening import reopen
        from persona_evo.report import match

        return match.drawings(reopen(entry.folder), entry.seed or 0)
    if entry.kind == "experiment":
        from persona_evo.api.experiments import kept_experiment
        from persona_evo.report import experiment

        return experiment.drawings(kept_experiment(entry.folder))
    if entry.kind == "reproduction":
        drawings = study_of(entry.folder)[1].drawings
        if drawings is not None:
            return drawings(entry.folder)
    hint = f"its charts are in {entry.folder / 'figures'}, and its parts in {entry.folder / 'runs'} have figures"
    raise SettingsError(
        "this kind of run has no figures",
        place=Place(str(entry.folder)),
        found=entry.title,
        hint=hint if entry.kind == "reproduction" else None,
    )
