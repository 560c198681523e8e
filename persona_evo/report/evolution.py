"""Shows an evolution's folder as text and as a page: fitness over the generations, the hall of fame, and the formula.

Fitness is the value that the evolution measured, on each island's own seeds. The mean on new seeds shows how good the
final policy is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Any

from persona_evo.evolve.rivals import of_policy
from persona_evo.evolve.setting import in_words
from persona_evo.intervals import difference, vargha_delaney
from persona_evo.report import plots
from persona_evo.report.charts import Axis, Plot, Series
from persona_evo.report.figures import Drawing
from persona_evo.report.layout import clean, terminal_width
from persona_evo.report.pages import Block, Code, Document, Facts, Gallery, Heading, Lines, Section, Svg, Text
from persona_evo.report.pages import write as write_page
from persona_evo.report.tables import Table
from persona_evo.store import policies, runs
from persona_evo.store.policies import Policy
from persona_evo.words import counted, enumerated

PAGE = "index.html"

MOST_FAME = 20
"""Number of members of the hall of fame that are shown."""


@dataclass(frozen=True)
class Evolution:
    """The contents of an evolution's folder.

    Attributes:
        folder: the run's folder.
        config: its configuration.
        rows: the journal's lines, one per island and generation.
        hall: the hall of fame, best first.
        policy: the latest final policy, None if there is none yet.
    """

    folder: Path
    config: Mapping[str, Any]
    rows: tuple[Mapping[str, Any], ...]
    hall: tuple[Mapping[str, Any], ...]
    policy: Policy | None

    @property
    def generations(self) -> int:
        """Number of generations."""
        return 1 + max((int(row["generation"]) for row in self.rows), default=-1)

    @property
    def from_memory(self) -> str:
        """What was reused instead of played, "" for nothing.

        Formulas reuse the result of a duplicate, and playthroughs that of an equal playthrough.
        """
        timing = {int(row["generation"]): row.get(runs.TIMING, {}) for row in self.rows}
        formulas = sum(int(row.get("remembered", 0)) for row in self.rows)
        playthroughs = sum(int(one.get("spared", 0)) for one in timing.values())
        counts = ((formulas, "formula"), (playthroughs, "playthrough"))
        return enumerated([counted(n, what) for n, what in counts if n])

    @property
    def words(self) -> Sequence[str]:
        """The final formula, in words."""
        return () if self.policy is None else self.policy.words

    @property
    def comparison(self) -> list[str]:
        """How the policy compares with others on held-out levels, in sentences."""
        found = None if self.policy is None else of_policy(self.policy)
        return found.lines() if found is not None else []


def read(folder: Path) -> Evolution:
    """Read what an evolution's folder holds so far.

    Raises:
        RunError, PolicyError: it is not an evolution's folder, or it is damaged.
    """
    path = runs.policy_of(folder)
    return Evolution(
        folder,
        runs.read_config(folder),
        tuple(runs.read_journal(folder)),
        tuple(runs.read_hall(folder)),
        None if path is None else policies.read(path),
    )


def text(e: Evolution, width: int | None = None) -> str:
    """Format the evolution for a terminal."""
    room = width or terminal_width()
    parts = [_facts_text(e)]
    if e.words:
        parts.append("in words\n" + "\n".join(f"  {clean(line)}" for line in e.words))
    if e.comparison:
        parts.append("\n".join(map(clean, e.comparison)))
    if e.rows:
        parts.append(_course(e).render(room))
    if e.hall:
        parts.append(_fame(e, 5).render(room))
    return "\n\n".join(parts)


def _facts_text(e: Evolution) -> str:
    return "\n".join(clean(f"{name:<13} {value}") for name, value in _facts(e).items())


def _facts(e: Evolution) -> dict[str, str]:
    """Return the results, by name."""
    found = {"persona": str(e.config["persona"]["name"]), "generations": str(e.generations)}
    if e.config.get("skill"):
        found["evolved for"] = f"skill {e.config['skill']['name']}"
    if e.hall:
        found["best fitness"] = f"{float(e.hall[0]['fitness']):.4f}, {counted(int(e.hall[0]['size']), 'node')}"
    if e.from_memory:
        found["from memory"] = e.from_memory
    if e.policy is None:
        return {**found, "policy": "none yet"}
    found["lists" if e.policy.lists else "formula"] = e.policy.text.removeprefix("lists ")
    if e.policy.simplified:
        found["as evolved"] = e.policy.formula
    place = next((n for n, one in enumerate(e.hall, 1) if one["formula"] == e.policy.formula), 0)
    if place > 1:
        found["chosen"] = f"number {place} of the hall of fame, which was the best on new seeds"
    if e.policy.mean is not None:
        where = " of the validation set" if "validation" in e.policy.run else ""
        found["mean utility"] = f"{e.policy.mean:.4f} on new seeds{where}"
    return {**found, "policy": str(e.policy.file)}


def _course(e: Evolution) -> Table:
    """Tabulate best fitness, mean fitness and diversity of a few generations."""
    shown = sorted({round(k * (e.generations - 1) / 7) for k in range(8)})
    validation = any("validation" in row for row in e.rows)
    rows = []
    for generation in shown:
        own = [row for row in e.rows if row["generation"] == generation]
        mean = fsum(float(row["mean"]) for row in own) / len(own)
        diversity = fsum(float(row["diversity"]) for row in own) / len(own)
        validated = [f"{max(float(row['validation']) for row in own if 'validation' in row):.4f}"] if validation else []
        rows.append(
            [
                str(generation + 1),
                f"{max(float(row['best']) for row in own):.4f}",
                f"{mean:.4f}",
                *validated,
                f"{diversity * 100:.0f} %",
                str(sum(int(row["evaluations"]) for row in own)),
            ]
        )
    best = ["best on the validation set"] if validation else []
    return Table("fitness", ["generation", "best", "mean", *best, "different formulas", "evaluated"], rows)


def _fame(e: Evolution, most: int = MOST_FAME) -> Table:
    rows = [
        [str(n), f"{float(m['fitness']):.4f}", str(m["size"]), str(m["trials"]), str(m["born"] + 1), str(m["formula"])]
        for n, m in enumerate(e.hall[:most], 1)
    ]
    left = len(e.hall) - most
    notes = [f"{left} more are in {runs.HALL}"] if left > 0 else []
    return Table(
        "hall of fame",
        ["", "fitness", "nodes", "evaluations", "born in generation", "formula"],
        rows,
        notes,
        left=frozenset({5}),
    )


def write(e: Evolution) -> Path:
    """Write the page into the run's folder."""
    persona, game = e.config["persona"]["name"], Path(e.config["game"]).name
    under = f"{game}, {counted(len(e.config['levels']), 'level')}, seed {e.config['seed']}"
    made = {
        "levels": ", ".join(level["name"] for level in e.config["levels"]),
        "utility": str(e.config["utility"]),
        "evolved for": in_words(e.config),
        **{str(k): str(v) for k, v in e.config["evolution"].items() if not isinstance(v, (list, dict))},
        "versions": ", ".join(f"{k} {v}" for k, v in e.config["versions"].items()),
    }
    sections = [
        Section(
            "result",
            "Result",
            [Facts(_facts(e)), *([Heading("In words"), Lines(e.words)] if e.words else []), Lines(e.comparison)],
        ),
        Section("fitness", "Fitness", [Gallery("chart", [Svg(chart, caption) for chart, caption in _charts(e)])]),
        Section("fame", "Hall of fame", [Svg(_front(e)), _fame(e)] if e.hall else []),
        Section("formula", "The formula's symbols", _symbols(e)),
        Section("made", "How it was made", [Facts(made)]),
    ]
    return write_page(Document(f"Evolution of {persona}", under, sections), e.folder / PAGE)


def _symbols(e: Evolution) -> list[Block | None]:
    if e.policy is None:
        return [Text("There is no policy yet.")]
    lines = [e.policy.best, *(one.text for one in e.policy.lists)]
    return [Code("\n".join(filter(None, lines))), Facts(dict(e.policy.metrics))]


def drawings(e: Evolution) -> list[Drawing]:
    """Return the figures of an evolution: fitness, and size of its formulas."""
    found = [Drawing(("fitness",), plots.fitness(e.rows))] if e.rows else []
    found += [Drawing((chart.title,), chart) for chart, _ in _charts(e)]
    return found + ([Drawing(("hall of fame",), _front(e))] if e.hall else [])


def _front(e: Evolution) -> Plot:
    return plots.hall_of_fame([(int(m["size"]), float(m["fitness"])) for m in e.hall])


def _charts(e: Evolution) -> list[tuple[Plot, str]]:
    """Return charts of fitness, diversity and formula size of each island over the generations, with captions."""
    islands = sorted({int(row["island"]) for row in e.rows})
    own = {i: [row for row in e.rows if row["island"] == i] for i in islands}

    def lines(key: str) -> list[Series]:
        return [
            Series(f"island {i + 1}", [(row["generation"] + 1, float(row[key])) for row in own[i] if key in row])
            for i in islands
        ]

    return [
        (Plot(lines(key), Axis("generation", whole=True), up, title=title, width=460), caption)
        for key, up, title, caption in (
            ("best", Axis("fitness"), "Best fitness", "The best formula of each island"),
            ("mean", Axis("fitness"), "Mean fitness", "The mean of each island"),
            ("validation", Axis("fitness"), "Best fitness in validation", _ELITE),
            ("diversity", Axis("share", low=0.0, high=1.0), "Diversity", "The share of formulas that differ"),
            ("size", Axis("nodes", low=0.0), "Size", "The mean size of each island's formulas"),
        )
        if any(key in row for row in e.rows)
    ]


_ELITE = "The best elite of each island. Early ones have played few levels and look better than they are"


def compared(a: Evolution, b: Evolution) -> str:
    """Describe the differences between two evolutions."""
    rows = [
        [name, _facts(a).get(name, "–"), _facts(b).get(name, "–")]
        for name in dict.fromkeys([*_facts(a), *_facts(b)])
        if name != "policy"
    ]
    parts = [Table("", ["", "A", "B"], rows, left=frozenset({1, 2})).render(terminal_width())]
    if a.policy is not None and b.policy is not None:
        parts.append(_levels(a.policy, b.policy))
    for letter, one in (("A", a), ("B", b)):
        if one.comparison:
            parts.append("\n".join([f"{letter} beside others", *(f"  {clean(line)}" for line in one.comparison)]))
    return "\n\n".join(filter(None, parts))


def _levels(a: Policy, b: Policy) -> str:
    """Compare the utilities of two policies in the levels on which both were measured."""
    if a.utility != b.utility:
        return f"the utilities differ, so values cannot be compared: {a.utility} and {b.utility}"
    both = [level for level in a.fitness if level in b.fitness]
    if not both:
        return "no level in common"
    rows = [
        [level, f"{a.fitness[level]:.4f}", f"{b.fitness[level]:.4f}", f"{b.fitness[level] - a.fitness[level]:+.4f}"]
        for level in both
    ]
    x, y = ([p.fitness[level] for level in both] for p in (a, b))
    change = difference(y, x)
    span = f", 95 % interval {change.low:+.4f} to {change.high:+.4f}" if change.known else ""
    note = (
        f"B - A over {counted(len(both), 'level')}: {change.value:+.4f}{span}; A12 = {vargha_delaney(y, x).value:.2f}"
    )
    return Table("mean utility on new seeds", ["level", "A", "B", "B - A"], rows, [note]).render(terminal_width())
