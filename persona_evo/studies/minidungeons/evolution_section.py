"""The section of the report on the evolutions: fitness, runs, and the formulas that were chosen."""

from __future__ import annotations

from pathlib import Path

from persona_evo.formula import parse
from persona_evo.formula.guards import guards
from persona_evo.report.pages import (
    Folded,
    Gallery,
    Lines,
    Section,
)
from persona_evo.report.tables import Table
from persona_evo.search.tree_policy import SEARCH_VARIABLES
from persona_evo.store import policies, policy_library
from persona_evo.studies.minidungeons import agreement, results
from persona_evo.studies.minidungeons import figures as study_figures
from persona_evo.studies.minidungeons.material import DungeonResults
from persona_evo.studies.minidungeons.paper_tables import NONE
from persona_evo.studies.minidungeons.report_files import ReportFolder, Rows
from persona_evo.studies.minidungeons.results import title


def evolution_section(folder: ReportFolder, m: DungeonResults) -> Section:
    found, figures = [], []
    rows: Rows = []
    for persona in m.personas:
        journal = m.journals[persona.name]
        if journal:  # it is empty if the time was up in the first generation
            found.append(results.convergence(persona.name, journal))
        caption = f"{title(m, persona.name)}: fitness of the run that was chosen, by island"
        figures.append(folder.chart(f"fitness_{persona.name}", study_figures.fitness(m, persona), caption))
        rows += [{"persona": persona.name, **{k: v for k, v in r.items() if k != "timing"}} for r in journal]
    folder.csv("fitness", rows)
    folder.csv(
        "convergence",
        [
            {"persona": c.persona, "generation": c.generation, "generations": c.generations, "final": c.final}
            for c in found
        ],
    )
    together = "Convergence: the best fitness so far of each persona, as a share of its final one"
    figures.insert(0, folder.chart("convergence", study_figures.convergence(m), together))
    runs_table = _runs_table(m)
    folder.layout("runs", runs_table)
    equations = equations_table(m)
    folder.layout("equations", equations)
    return Section(
        "evolution",
        "Evolution",
        [
            Lines(agreement.convergence_words(m, found)),
            Gallery("chart", figures),
            runs_table,
            equations,
            _symbols(m),
        ],
    )


def _runs_table(m: DungeonResults) -> Table:
    rows = []
    for persona in m.personas:
        for n, outcome in enumerate(m.outcomes[persona.name], 1):
            chosen = outcome is m.best[persona.name] or outcome.folder == m.best[persona.name].folder
            policy = policies.read(outcome.policy) if outcome.policy else None
            rows.append(
                [
                    f"{persona.name} {n}",
                    "yes" if chosen else "",
                    str(policy.seed if policy else NONE),
                    str(outcome.generations),
                    str(policy.run.get("evaluations", NONE) if policy else NONE),
                    persona.priority,
                    NONE if outcome.priority is None else f"{outcome.priority:.4f}",
                    NONE if outcome.utility is None else f"{outcome.utility:.4f}",
                    _minutes(m, outcome.folder),
                ]
            )
    heads = ["run", "chosen", "seed", "generations", "evaluations", "priority", "its mean", "utility", "minutes"]
    note = "means over the training levels on seeds that the evolution never used; the best by core priority is chosen"
    return Table("Evolutionary runs", heads, rows, [note], frozenset({1, 5}))


def _minutes(m: DungeonResults, folder: Path) -> str:
    from persona_evo.store import runs

    seconds = {int(r["generation"]): float(r.get("timing", {}).get("seconds", 0)) for r in runs.read_journal(folder)}
    return f"{sum(seconds.values()) / 60:.1f}"


def equations_table(m: DungeonResults) -> Table:
    """Return a table of the simplified formulas beside those of the paper."""
    rows = []
    for number, (persona, printed) in enumerate(zip(m.personas, m.published.printed, strict=True), 6):
        rows.append(
            [
                f"({number}) {persona.short}",
                policy_library.find(printed, m.game.name).formula,
                m.policies[persona.name].best,
            ]
        )
    first, notes = m.settings.evolution.first, []
    if "library" in first:
        notes.append(
            f"the evolution began with {', '.join(first)}, among them the policies that ship: what is equal "
            "to one of these was confirmed here, not found"
        )
    notes += filter(None, [guards(parse(text) for row in rows for text in row[1:])])
    head = ["persona", "paper, as printed", "here"]
    return Table("Tree policies, simplified", head, rows, notes, left=frozenset({1, 2}))


def _symbols(m: DungeonResults) -> Folded:
    """Return the meaning of the symbols in formulas and columns."""
    rows = [[metric.symbol, metric.name, metric.meaning] for metric in m.game.metrics]
    rows += [[name, "of the search", meaning] for name, meaning in SEARCH_VARIABLES.items()]
    table = Table("Symbols", ["symbol", "name", "meaning"], rows, left=frozenset({1, 2}))
    return Folded("what the symbols mean", [table])
