"""`python -m tests.benchmarks planner`: how near the planner comes to the best known, how often it wins and proves.

It plays beside itself with each open list left out, itself without a policy, the search with a single list, and UCB1,
with the paper's four personas and the policies that ship, on levels that ship, the paper's and other designers' where
they are at hand, and generated ones; a block of its own is for generated levels that nobody looks at while tuning.

A look in a minute: `--quick`. One question: `--levels generated --count 8 --players planner single --budgets 3000`.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from .contest import (
    GROUPS,
    HELD_OUT_SEED,
    OWN_METRIC,
    PERSONAS,
    PLANNER,
    SINGLE,
    UCB1,
    UTILITY,
    Contender,
    Match,
    Pair,
    Result,
    contenders,
    levels_of,
    play,
)
from .report import Row, judge, machine, markdown
from .standings import Standing, Standings, grouped, key_of

FOLDER = Path("runs/planner")
ABLATION = "ablation"
PLAYERS = {"planner": PLANNER, "utility": UTILITY, "ucb1": UCB1, "single": SINGLE}
"""Players by their words on the command line; ABLATION stands for all others."""

REACH = {
    60_000: {"share": 0.99, "wins": 0.99, "proofs": 0.9, "cpu": 0.5},
    3_000: {"share": 0.97, "wins": 0.96, "proofs": 0.7, "cpu": 1.0},
}
"""Goals by iterations: least values, and for processor time the largest ratio to `single`."""

ON_PAPERS_MAPS = {"runner": 0.790, "monster_killer": 1.0, "treasure_collector": 0.880, "completionist": 0.937}
"""Mean utilities on the paper's maps to be reached with 60,000 iterations."""

WORST = 15
"""Number of pairs of level and persona that are named because they fall short."""


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line; --quick and --full fill in options that are not given."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks planner",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="few levels, 2 seeds, 3,000 and 20,000 iterations")
    parser.add_argument("--full", action="store_true", help="20 seeds, as the goals have it, instead of 5")
    parser.add_argument("--levels", nargs="+", choices=GROUPS, metavar="GROUP", help=f"of: {', '.join(GROUPS)}")
    parser.add_argument("--count", type=int, help="levels of a group at most")
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="levels with one of these in their names")
    parser.add_argument("--personas", nargs="+", choices=PERSONAS, default=list(PERSONAS), metavar="NAME")
    parser.add_argument(
        "--players",
        nargs="+",
        choices=(*PLAYERS, ABLATION),
        metavar="PLAYER",
        help=f"of: {', '.join(PLAYERS)}, {ABLATION} (default: all)",
    )
    parser.add_argument("--budgets", nargs="+", type=int, metavar="ITERATIONS")
    parser.add_argument("--seeds", type=int, help="playthroughs of a level, persona, player and budget")
    parser.add_argument("--ablation-seeds", type=int, help="the same with a list left out (default: at most 3)")
    parser.add_argument("--reference", type=int, help="iterations of a search for the best known alone, 0 for none")
    parser.add_argument("--held-out-seed", type=int, default=HELD_OUT_SEED, help="makes other levels never tuned on")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help=f"for README.md and the tables (default: {FOLDER}, none with --quick)",
    )
    args = parser.parse_args(arguments)
    quick = {
        "levels": ["shipped", "generated", "held_out"],
        "count": 3,
        "budgets": [3_000, 20_000],
        "seeds": 2,
        "reference": 60_000,
        "out": None,
    }
    whole = {
        "levels": list(GROUPS),
        "count": 40,
        "budgets": [300, 3_000, 20_000, 60_000],
        "seeds": 20 if args.full else 5,
        "reference": 300_000,
        "out": FOLDER,
    }
    for name, value in (quick if args.quick else whole).items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    args.players = args.players or [*PLAYERS, ABLATION]
    args.ablation_seeds = args.ablation_seeds or min(3, args.seeds)
    return args


def match_of(args: argparse.Namespace) -> Match:
    """Return the players, numbers of seeds and budgets."""
    chosen = [c for c in contenders() if _chosen(c, args.players)]
    named = set(PLAYERS.values())
    seeds = {c.name: args.seeds if c.name in named else args.ablation_seeds for c in chosen}
    return Match(tuple(chosen), tuple(sorted(args.budgets)), seeds, args.reference)


def _chosen(contender: Contender, players: Sequence[str]) -> bool:
    word = next((word for word, name in PLAYERS.items() if name == contender.name), ABLATION)
    return word in players


def pairs_of(args: argparse.Namespace) -> list[Pair]:
    """Return the levels and personas to be played."""
    found = []
    for group in args.levels:
        levels = levels_of(group, args.count, args.held_out_seed)
        if not levels:
            print(f"no levels: {GROUPS[group]}", file=sys.stderr)
        for level in levels:
            if not args.only or any(text in level.name for text in args.only):
                found += [Pair(group, level.name, level.text, persona) for persona in args.personas]
    return found


def played(pairs: Sequence[Pair], match: Match, jobs: int) -> list[Result]:
    """Play all playthroughs and show the progress; after Ctrl-C, return those that are finished."""
    from joblib import Parallel, delayed

    began, results = time.perf_counter(), []
    work = Parallel(n_jobs=jobs, batch_size=1, return_as="generator")(delayed(play)(pair, match) for pair in pairs)
    try:
        for number, found in enumerate(work, 1):
            results += found
            if number == len(pairs) or number % max(1, len(pairs) // 20) == 0:
                took = time.perf_counter() - began
                print(f"{number} of {len(pairs)} pairs of level and persona, {took:.0f} s", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        if not results:
            raise
        print("stopped: the tables are of what was finished", file=sys.stderr)
    return results


def grid(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join("| " + " | ".join(row) + " |" for row in (headings, ["---"] * len(headings), *rows))


def percent(value: float) -> str:
    """Format a share for people."""
    return "" if value != value else f"{100 * value:.2f}"


STANDINGS = (
    "player",
    "iterations",
    *(f"share {short}" for short in PERSONAS.values()),
    "wins",
    "wins where the best wins",
    "proofs",
    "CPU s",
    "CPU / single",
    "pairs below UCB1",
)


def cells(standing: Standing) -> list[str]:
    """Return a line of a block's table."""
    behind = "" if standing.behind is None else str(len(standing.behind))
    ratio = "" if standing.cpu_ratio != standing.cpu_ratio else f"{standing.cpu_ratio:.2f}"
    return [
        standing.player,
        f"{standing.iterations:,}",
        *map(percent, standing.shares.values()),
        percent(standing.wins),
        percent(standing.wins_where),
        percent(standing.proofs),
        f"{standing.cpu:.4f}",
        ratio,
        behind,
    ]


def block(standings: Standings, match: Match, group: str) -> str:
    """Return the tables of one group of levels."""
    found = [
        standing
        for iterations in match.budgets
        for contender in match.contenders
        if (standing := standings.standing(group, contender.name, iterations))
    ]
    pairs = {key: best for key, best in standings.best.items() if key[0] == group}
    levels = len({level for _, level, _ in pairs})
    proven = sum(best.proven for best in pairs.values())
    parts = [
        f"## {GROUPS[group].capitalize()}",
        f"{levels} levels; the best known of {proven} of {len(pairs)} pairs of level and persona is proven.",
        grid(STANDINGS, map(cells, found)),
    ]
    return "\n\n".join([*parts, *details(standings, match, group)])


def details(standings: Standings, match: Match, group: str) -> list[str]:
    """Return, for the largest budget, who has more of another's metric, and the pairs that fall short or behind."""
    found, largest = [], match.budgets[-1]
    for player in (c.name for c in match.contenders if c.name in (PLANNER, SINGLE)):
        found.append(crossed(standings, group, player, largest))
    if low := standings.worst(group, PLANNER, largest, WORST):
        pairs = ", ".join(f"{key[1]} {PERSONAS[key[2]]} {percent(share)}" for key, share in low)
        found.append(f"Lowest mean shares of the {PLANNER} ({largest:,} iterations): {pairs}.")
    for iterations in match.budgets:
        if behind := standings.behind(group, PLANNER, iterations):
            pairs = ", ".join(f"{level} {PERSONAS[persona]}" for level, persona in behind)
            found.append(f"Below UCB1 with {iterations:,} iterations: {pairs}.")
    return found


def crossed(standings: Standings, group: str, player: str, iterations: int) -> str:
    """Return the means of all personas in the metrics of all, and the personas that are overtaken."""
    table = standings.crossed(group, player, iterations)
    rows = [[PERSONAS[persona], *(f"{value:.3f}" for value in means.values())] for persona, means in table.items()]
    over = standings.overtaken(group, player, iterations)
    said = ", ".join(f"{PERSONAS[other]} is above {PERSONAS[own]} in {OWN_METRIC[own]}" for own, other in over)
    return (
        f"Own metrics, {player}, {iterations:,} iterations ({said or 'nobody is above a persona in its own'}):\n\n"
        + grid(["", *OWN_METRIC.values()], rows)
    )


def goals(standings: Standings, match: Match, group: str) -> list[Row]:
    """Compare the planner with its goals on levels that it was not tuned on."""
    rows = []
    for iterations, aim in REACH.items():
        standing = standings.standing(group, PLANNER, iterations)
        if standing is None:
            continue
        what = f"planner, {iterations:,} iterations, {GROUPS[group]}"
        present = {p: share for p, share in standing.shares.items() if share == share}
        persona, share = min(present.items(), key=lambda item: item[1])
        rows += [
            judge(
                f"{what}: share of the best known",
                f">= {aim['share']:.0%} for each persona",
                f"lowest {share:.2%} ({PERSONAS[persona]})",
                share / aim["share"],
            ),
            judge(
                f"{what}: wins where the best known wins",
                f">= {aim['wins']:.0%}",
                f"{standing.wins_where:.2%}",
                standing.wins_where / aim["wins"],
            ),
            judge(
                f"{what}: results with a proof",
                f">= {aim['proofs']:.0%}",
                f"{standing.proofs:.2%}",
                standing.proofs / aim["proofs"],
            ),
        ]
        if standing.cpu_ratio == standing.cpu_ratio:
            rows.append(
                judge(
                    f"{what}: CPU against single",
                    f"<= {aim['cpu']}",
                    f"{standing.cpu_ratio:.2f}",
                    aim["cpu"] / standing.cpu_ratio,
                )
            )
        if standing.behind is not None:
            rows.append(
                judge(f"{what}: pairs below UCB1", "none", f"{len(standing.behind)}", 1.0 - len(standing.behind))
            )
    if len(standings.personas(group)) == len(PERSONAS):
        over = standings.overtaken(group, PLANNER, match.budgets[-1])
        rows.append(
            judge(
                f"planner, {match.budgets[-1]:,} iterations, {GROUPS[group]}: personas with less of their "
                "own metric than another",
                "none",
                f"{len(over)}",
                1.0 - len(over),
            )
        )
    return rows


def on_papers_maps(standings: Standings) -> list[Row]:
    """Compare the mean utilities on the paper's maps with those known to be possible there."""
    rows = []
    for persona, aim in ON_PAPERS_MAPS.items():
        results = [r for r in standings.of("paper", PLANNER, 60_000) if r.persona == persona]
        if len({r.level for r in results}) == 11:
            mean = standings.mean(results, lambda r: r.utility)
            rows.append(
                judge(
                    f"planner, 60,000 iterations, {GROUPS['paper']}: {persona}",
                    f">= {aim:.3f}",
                    f"{mean:.4f}",
                    (mean + 5e-4) / aim,
                )
            )
    return rows


def rows_of(standings: Standings, match: Match) -> list[Row]:
    """Return all goals, and whether any proof was wrong."""
    wrong = standings.contradicted
    proofs = sum(result.proven for result in standings.results)
    rows = [judge("proofs that something better contradicts", "none", f"{len(wrong)} of {proofs}", 1.0 - len(wrong))]
    if PLANNER not in {contender.name for contender in match.contenders}:
        return rows
    for group in standings.groups:
        rows += goals(standings, match, group)
    return rows + on_papers_maps(standings)


def document(standings: Standings, match: Match, command: str) -> str:
    """Return the README.md of the run."""
    facts = ", ".join(f"{k} {v}" for k, v in machine().items())
    seeds = ", ".join(f"{name}: {count}" for name, count in match.seeds.items())
    more = f" (and, where nothing was proven, searches of {match.reference:,} iterations)" if match.reference else ""
    wrong = [
        f"- {r.level}, {r.persona}, {r.player}, {r.iterations:,} iterations, seed {r.seed}: proven {r.utility!r}, "
        f"but {standings.best[key_of(r)].utility!r} was found"
        for r in standings.contradicted
    ]
    parts = [
        "# The planner beside other searches",
        f"Made with `{command}` on {facts}.",
        "Shares are of the best known utility of a level and persona, which is the best that any of these playthroughs "
        f"found{more}: utility / best, or 1 - (best - utility) where best < .1. Figures are in percent, means over "
        "levels of means over seeds. CPU: processor seconds of one playthrough. Below UCB1: fewer wins by Fisher's "
        "exact test, one-sided, p < .01; empty where there are too few playthroughs to tell.",
        f"Playthroughs of each level, persona and budget: {seeds}.",
        markdown(rows_of(standings, match)),
        *(["## Wrong proofs", "\n".join(wrong)] if wrong else []),
        *(block(standings, match, group) for group in sorted(standings.groups, key=lambda g: g != "held_out")),
        "`pairs.csv` has the means of each level and persona.",
    ]
    return "\n\n".join(parts) + "\n"


PAIRS = (
    "group",
    "level",
    "persona",
    "player",
    "iterations",
    "trials",
    "utility",
    "share",
    "wins",
    "proofs",
    "cpu",
    "best",
    "best_won",
    "best_proven",
)


def write_pairs(path: Path, standings: Standings) -> None:
    """Write one line for each level, persona, player and budget."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(PAIRS)
        for (*key, player, iterations), results in grouped(
            standings.results, lambda r: (*key_of(r), r.player, r.iterations)
        ).items():
            best, n = standings.best[key_of(results[0])], len(results)
            means = (sum(r.utility for r in results) / n, sum(map(standings.share, results)) / n)
            counts = (sum(r.won for r in results), sum(r.proven for r in results))
            out.writerow(
                [
                    *key,
                    player,
                    iterations,
                    n,
                    *(f"{v:.6f}" for v in means),
                    *counts,
                    f"{sum(r.cpu for r in results) / n:.5f}",
                    f"{best.utility:.6f}",
                    int(best.won),
                    int(best.proven),
                ]
            )


def run(arguments: Sequence[str] | None = None) -> tuple[list[Row], str]:
    """Play and write; return the goals and the whole document."""
    args = options(arguments)
    match, pairs = match_of(args), pairs_of(args)
    if not pairs:
        raise SystemExit("no levels to play")
    standings = Standings(played(pairs, match, args.jobs))
    command = " ".join(["python -m tests.benchmarks planner", *(arguments or ())])
    text = document(standings, match, command)
    if args.out:
        args.out.mkdir(parents=True, exist_ok=True)
        (args.out / "README.md").write_text(text, encoding="utf-8")
        write_pairs(args.out / "pairs.csv", standings)
    return rows_of(standings, match), text


def measure(quick: bool, full: bool) -> list[Row]:
    """Return the goals for the table of all benchmarks."""
    return run(["--quick"] if quick else ["--full"] if full else [])[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark as a command with all options."""
    print(run(arguments)[1])
    return 0
