"""The thesis' experiments again: what it says of each pair, and what comes out here.

| in the folder | what |
|---|---|
| reproduction.json | seed and numbers, written first |
| runs/NAME/ | each experiment, a folder as `experiment.course` makes it |
"""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from persona_evo.experiments import job as course
from persona_evo.experiments.design import Experiment
from persona_evo.experiments.files import ExperimentReader
from persona_evo.experiments.job import ExperimentResults
from persona_evo.experiments.results import SIGNIFICANT, CellComparison, comparisons, p_words
from persona_evo.jobs.progress import Progress, Tell
from persona_evo.seeds import derive
from persona_evo.studies import keeping

FILE = Path(__file__).with_name("montecarlo.toml")
STUDY = "montecarlo"
RUNS = "runs"

USUAL, QUICK = (20, 5_000), (8, 600)
"""Replicates and rollouts by default, and of a first look."""

AGREES, WEAK = "as in the thesis", "the same direction, not significant"
NONE, DIFFERS = "the other direction, not significant", "the other direction"
ALIKE, UNLIKE = "none shown, as in the thesis", "a difference shows here"
"""Of pairs that do not differ in the thesis; that none shows here either is likely with few replicates."""


@dataclass(frozen=True)
class Said:
    """What the thesis says of two combinations. different: whether `a` scores more than `b`; p: as printed."""

    a: str
    b: str
    different: bool
    p: str
    why: str

    @property
    def words(self) -> str:
        """a > b or a = b."""
        return f"{self.a} {'>' if self.different else '='} {self.b}"


class Chapter(NamedTuple):
    """An experiment of the thesis. figure: its number there."""

    experiment: Experiment
    figure: str
    said: tuple[Said, ...]


@dataclass(frozen=True)
class Thesis:
    """All experiments, as published: with its own numbers of replicates and rollouts."""

    title: str
    source: str
    replicates: int
    rollouts: int
    chapters: tuple[Chapter, ...]


@dataclass(frozen=True)
class ThesisSettings:
    """How much is searched."""

    replicates: int
    rollouts: int
    seed: int


class ThesisVerdict(NamedTuple):
    """What the thesis says, what comes out here, and how they go together: AGREES, WEAK, NONE, DIFFERS, ALIKE, UNLIKE.

    comparison: with `said.a` first.
    """

    said: Said
    comparison: CellComparison
    kind: str

    @property
    def here(self) -> str:
        """a > b, a = b or a < b, with p as in the thesis: not corrected."""
        sign = "=" if self.comparison.test.p >= SIGNIFICANT else ">" if self.comparison.share > 0.5 else "<"
        return f"{self.said.a} {sign} {self.said.b}"

    def words(self) -> str:
        """In a sentence."""
        said, p = self.said, p_words(self.comparison.test.p)
        printed = f", p = {said.p}" if said.p else ""
        text = f"{said.words} in the thesis{printed}; here {self.here}, {p}: {self.kind}."
        if self.kind == WEAK:
            share = self.comparison.share
            return f"{text} {said.a} scores more in {share:.0%} of the pairs; more replicates would tell."
        return f"{text} {said.why}" if self.kind in (DIFFERS, NONE, UNLIKE) else text


@dataclass
class ThesisSearches:
    """All that was searched."""

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
    """The thesis' experiments."""
    text = FILE.read_text(encoding="utf-8")
    data = tomllib.loads(text)
    chapters = tuple(_chapter(text, row, data) for row in data["experiments"])
    return Thesis(data["title"], data["source"], data["replicates"], data["rollouts"], chapters)


def _chapter(text: str, row: Mapping[str, Any], data: Mapping[str, Any]) -> Chapter:
    plain = {k: v for k, v in row.items() if k not in ("name", "figure", "published")}
    values = {"replicates": data["replicates"], "rollouts": data["rollouts"], **plain}
    experiment = ExperimentReader(text, str(FILE), values, FILE.parent).experiment(row["name"])
    said = []
    for one in row["published"]:
        a, b = one["same"] if "same" in one else (one["higher"], one["lower"])
        said.append(Said(a, b, "same" not in one, one["p"], " ".join(one["why"].split())))
    return Chapter(experiment, row["figure"], tuple(said))


def settings_of(
    quick: bool = False, replicates: int | None = None, rollouts: int | None = None, seed: int = 1
) -> ThesisSettings:
    """What is searched by default, or with `quick` for a first look; what is given replaces single numbers."""
    usual = QUICK if quick else USUAL
    return ThesisSettings(replicates or usual[0], rollouts or usual[1], seed)


def conduct(folder: Path, settings: ThesisSettings, *, jobs: int = 1, progress: Tell | None = None) -> ThesisSearches:
    """Make all searches that are not there yet; what Ctrl-C leaves is not complete.

    Raises:
        RunError: the folder is for something else, damaged, or in use.
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

            done = course.conduct(experiment, folder / RUNS / experiment.name, jobs=jobs, progress=tell)
            material.results[experiment.name] = done
            if not done.complete:
                break
    return material


def reopen(folder: Path) -> ThesisSettings:
    """What a folder is for.

    Raises:
        RunError: it is not the folder of such a reproduction, or its file is damaged.
    """
    r = keeping.reopened(folder, STUDY)
    return ThesisSettings(r.whole("replicates"), r.whole("rollouts"), r.whole("seed"))


def verdicts(chapter: Chapter, results: ExperimentResults) -> list[ThesisVerdict]:
    """What the thesis says of an experiment's combinations and what comes out here."""
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
