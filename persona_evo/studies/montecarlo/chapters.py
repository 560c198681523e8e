"""The thesis' experiments run again: its findings on each pair, and the results here.

| in the folder | what |
|---|---|
| reproduction.json | seed and numbers, written first |
| runs/NAME/ | each experiment, a folder in the format of `persona_evo.experiments` |
"""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.errors import SettingsError
from persona_evo.experiments import job
from persona_evo.experiments.design import Experiment
from persona_evo.experiments.files import ExperimentReader
from persona_evo.experiments.job import ExperimentResults
from persona_evo.experiments.results import SIGNIFICANT, CellComparison, comparisons, p_words
from persona_evo.games.toml_table import TomlTable
from persona_evo.games.tomlplaces import Places
from persona_evo.jobs.progress import Progress, Tell
from persona_evo.seeds import derive
from persona_evo.studies import keeping
from persona_evo.words import percent

FILE = Path(__file__).with_name("montecarlo.toml")
STUDY = "montecarlo"
RUNS = "runs"

USUAL, QUICK = (20, 5_000), (8, 600)
"""Replicates and rollouts by default, and those of a first look."""

AGREES, WEAK = "as in the thesis", "the same direction, not significant"
NONE, DIFFERS = "the opposite direction, not significant", "the opposite direction"
ALIKE, UNLIKE = "none shown, as in the thesis", "a difference shows here"
"""Verdicts on pairs without a difference in the thesis. With few replicates, ALIKE is likely in any case."""


@dataclass(frozen=True)
class Said:
    """The thesis' finding on two combinations.

    Attributes:
        a, b: the two combinations.
        different: whether `a` scores more than `b`.
        p: the p value as printed.
        why: an explanation in case the result here is different.
    """

    a: str
    b: str
    different: bool
    p: str
    why: str

    @property
    def words(self) -> str:
        """The finding as a text: a > b or a = b."""
        return f"{self.a} {'>' if self.different else '='} {self.b}"


class Chapter(NamedTuple):
    """An experiment of the thesis.

    Attributes:
        experiment: the searches.
        figure: the number of its figure in the thesis.
        said: the thesis' findings.
    """

    experiment: Experiment
    figure: str
    said: tuple[Said, ...]


@dataclass(frozen=True)
class Thesis:
    """All experiments as published, with the thesis' own numbers of replicates and rollouts."""

    title: str
    source: str
    replicates: int
    rollouts: int
    chapters: tuple[Chapter, ...]


@dataclass(frozen=True)
class ThesisSettings:
    """The settings of a reproduction: numbers of replicates and rollouts, and the seed."""

    replicates: int
    rollouts: int
    seed: int


class ThesisVerdict(NamedTuple):
    """A verdict on a finding of the thesis.

    Attributes:
        said: the finding.
        comparison: the comparison here, with `said.a` first.
        kind: the verdict: AGREES, WEAK, NONE, DIFFERS, ALIKE or UNLIKE.
    """

    said: Said
    comparison: CellComparison
    kind: str

    @property
    def here(self) -> str:
        """The result as a text: a > b, a = b or a < b, with p, which is not corrected, as in the thesis."""
        sign = "=" if self.comparison.test.p >= SIGNIFICANT else ">" if self.comparison.share > 0.5 else "<"
        return f"{self.said.a} {sign} {self.said.b}"

    def words(self) -> str:
        """Return the verdict as a sentence."""
        said, p = self.said, p_words(self.comparison.test.p)
        printed = f", p = {said.p}" if said.p else ""
        text = f"{said.words} in the thesis{printed}; here {self.here}, {p}: {self.kind}."
        if self.kind == WEAK:
            share = self.comparison.share
            return f"{text} {said.a} scores more in {percent(share)} of the pairs; more replicates would tell."
        return f"{text} {said.why}" if self.kind in (DIFFERS, NONE, UNLIKE) else text


@dataclass
class ThesisSearches:
    """All searches of a reproduction."""

    folder: Path
    settings: ThesisSettings
    thesis: Thesis
    results: dict[str, ExperimentResults]

    @property
    def complete(self) -> bool:
        """Whether nothing is missing."""
        chapters = self.thesis.chapters
        return len(self.results) == len(chapters) and all(r.complete for r in self.results.values())


@functools.cache
def load() -> Thesis:
    """Load the thesis' experiments."""
    text = FILE.read_text(encoding="utf-8")
    data = tomllib.loads(text)
    places = Places(text, str(FILE))
    chapters = tuple(_chapter(places, row, data) for row in data["experiments"])
    return Thesis(data["title"], data["source"], data["replicates"], data["rollouts"], chapters)


def _chapter(places: Places, row: Mapping[str, Any], data: Mapping[str, Any]) -> Chapter:
    plain = {k: v for k, v in row.items() if k not in ("name", "figure", "published")}
    values = {"replicates": data["replicates"], "rollouts": data["rollouts"], **plain}
    experiment = ExperimentReader(TomlTable(values, places, SettingsError), FILE.parent).experiment(row["name"])
    said = []
    for one in row["published"]:
        a, b = one["same"] if "same" in one else (one["higher"], one["lower"])
        said.append(Said(a, b, "same" not in one, one["p"], " ".join(one["why"].split())))
    return Chapter(experiment, row["figure"], tuple(said))


def settings_of(
    quick: bool = False, replicates: int | None = None, rollouts: int | None = None, seed: int = 1
) -> ThesisSettings:
    """Return the usual settings, or with `quick` those of a first look; given values replace single ones."""
    usual = QUICK if quick else USUAL
    return ThesisSettings(replicates or usual[0], rollouts or usual[1], seed)


def conduct(folder: Path, settings: ThesisSettings, *, jobs: int = 1, progress: Tell | None = None) -> ThesisSearches:
    """Run the missing searches; after Ctrl-C, return those that are finished.

    Raises:
        RunError: the folder belongs to something else, is damaged, or is in use.
    """
    thesis = load()
    material = ThesisSearches(folder, settings, thesis, {})
    with keeping.opened(folder, STUDY, dataclasses.asdict(settings)):
        for number, chapter in enumerate(thesis.chapters, 1):
            experiment = chapter.experiment.smaller(settings.replicates, settings.rollouts)
            experiment = dataclasses.replace(experiment, seed=derive(settings.seed, experiment.name))
            tell = None
            if progress is not None:

                def tell(p: Progress, part: str = f"{number}/{len(thesis.chapters)} {experiment.title}") -> None:
                    progress(p._replace(part=part))

            done = job.conduct(experiment, folder / RUNS / experiment.name, jobs=jobs, progress=tell)
            material.results[experiment.name] = done
            if not done.complete:
                break
    return material


def reopen(folder: Path) -> ThesisSettings:
    """Return the settings in a reproduction's folder.

    Raises:
        RunError: the folder does not belong to such a reproduction, or its file is damaged.
    """
    r = keeping.reopened(folder, STUDY)
    return ThesisSettings(r.whole("replicates"), r.whole("rollouts"), r.whole("seed"))


def verdicts(chapter: Chapter, results: ExperimentResults) -> list[ThesisVerdict]:
    """Return the verdicts on the thesis' findings of one experiment."""
    found = comparisons(results)
    return [_verdict(said, _between(found, said)) for said in chapter.said]


def _between(found: Sequence[CellComparison], said: Said) -> CellComparison:
    for c in found:
        if (c.a, c.b) == (said.a, said.b):
            return c
        if (c.b, c.a) == (said.a, said.b):
            return c.reversed
    raise ValueError(f"nothing was searched for {said.words}")


def _verdict(said: Said, c: CellComparison) -> ThesisVerdict:
    clear = c.test.p < SIGNIFICANT
    if said.different:
        right = c.share > 0.5
        kind = (AGREES if right else DIFFERS) if clear else WEAK if right else NONE
    else:
        kind = UNLIKE if clear else ALIKE
    return ThesisVerdict(said, c, kind)
