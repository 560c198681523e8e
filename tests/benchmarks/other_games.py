"""`python -m tests.benchmarks.other_games NAME --out FOLDER`: evolved policies beside UCB1 in games that are not
MiniDungeons 2.

Names are those of STUDIES. For each, several independent runs evolve a policy on levels of one pool, all with as many
playthroughs. What they found plays levels that nobody trained on, and so do UCB1 with the usual constant and with a
constant that was tuned on the training levels.

`FOLDER/NAME.jsonl` has what each step came to: a study that was stopped goes on behind it, and steps can be made side
by side (`--only`). `FOLDER/NAME.json` has the policies and the differences with their intervals, `FOLDER/NAME.csv` the
utility of each playthrough.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from persona_evo import personas, seeds
from persona_evo.errors import PersonaEvoError
from persona_evo.evolve import pools
from persona_evo.evolve.fitness import Fitness
from persona_evo.evolve.fitness_spec import FitnessSpec
from persona_evo.evolve.pools import LevelPool
from persona_evo.evolve.searchers import method, playable, search
from persona_evo.evolve.settings import EvolutionSettings
from persona_evo.evolve.training import Training, train
from persona_evo.games import mapsets, registry
from persona_evo.games.core import Game
from persona_evo.games.level_text import LevelText
from persona_evo.games.outside import closing_outside
from persona_evo.jobs.workers import Workers
from persona_evo.playtest.bootstrap import difference
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.search.tree_policy import TreePolicy

ROOT = Path(__file__).parents[2]
SEED = 1
STREAMS = ("train", "validation", "held out")
EVOLVED, TUNED = "evolved ", "tuned ucb1"


@dataclass(frozen=True)
class Study:
    """A game and its experiment.

    Attributes:
        game: name or file of the game.
        persona: name or file of the persona.
        levels: number of levels that are drawn for each stream; or their names or folders.
        iterations: iterations of a playthrough.
        playthroughs: playthroughs of a run, and of the search for UCB1's constant.
        trials: playthroughs of each held-out level, with the same seeds for all policies.
        settings: settings of the evolution that differ from `EvolutionSettings.sampling`.
    """

    game: str
    persona: str
    levels: tuple[int, int, int] | tuple[str, str, str]
    iterations: int
    playthroughs: int
    trials: int
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The name under which the registry finds the game."""
        return str(ROOT / self.game) if "/" in self.game else self.game


SMALL = {"population": 24, "levels_a_generation": 8, "race_from": 2, "elites": 2, "migrants": 1}

STUDIES = {
    "roguelike2d": Study("roguelike2d", "forager", (40, 12, 30), 300, 2_000, 2),
    "roguelike2d-1000": Study("roguelike2d", "forager", (40, 12, 30), 1_000, 2_000, 2),
    "museum": Study(
        "tests/examples/museum.py:GAME",
        "tests/examples/thief.toml",
        (
            "runs/evolve-other-games/museum/train",
            "runs/evolve-other-games/museum/validation",
            "runs/evolve-other-games/museum/held-out",
        ),
        100,
        400,
        4,
        SMALL,
    ),
    "roguelike2d-tcp": Study(
        "unity_support/games/roguelike2d/forward.toml",
        "forager",
        ("default@6001-6024", "default@6101-6108", "default@6301-6340"),
        200,
        600,
        4,
        {
            **SMALL,
            "variables": "extended",
            "metrics": ("ST", "FD", "PR", "EA", "DT", "NX", "NF", "NM"),
        },
    ),
}


def pools_of(study: Study, game: Game, utility: Any, lists: Any, workers: Workers) -> list[LevelPool]:
    """Return the levels of the three streams, with the best known utilities if levels are drawn."""
    if isinstance(study.levels[0], int):
        counts = dict(zip(STREAMS, map(int, study.levels), strict=True))
        return list(pools.prepared(game, utility, counts, SEED, workers, lists=lists).values())
    names = [str(ROOT / name) if "/" in str(name) else str(name) for name in study.levels]
    return [LevelPool(tuple(map(LevelText.of, mapsets.resolve(game, [name]))), ()) for name in names]


def measure(
    name: str, steps: Sequence[str], only: Sequence[str], playthroughs: int, out: Path, so_far: bool = False
) -> None:
    """Do the missing steps of a study; when all are done, play the held-out levels and write both files.

    Args:
        steps: "evolved N" or TUNED; each finds a policy, which is written to `NAME.jsonl` at once.
        only: steps to do now; all missing steps if empty.
        so_far: whether to do no step, and to report on the finished ones.
    """
    study = STUDIES[name]
    game = registry.get(study.address)
    persona = personas.load(str(ROOT / study.persona) if "/" in study.persona else study.persona, game)
    out.mkdir(parents=True, exist_ok=True)
    with Workers(1, "threading") as workers, closing_outside(game):
        drawn, validation, held_out = pools_of(study, game, persona.utility, persona.lists, workers)
        spec = FitnessSpec(
            registry.address(game),
            drawn.levels,
            persona.utility.text,
            persona.priority,
            SearchSettings.single(),
            Budget(study.iterations),
        )
        training = Training(replace(spec, best=drawn.best), validation, persona.lists)
        settings = EvolutionSettings.sampling(
            **{"terms": "random", **study.settings}
        )  # as the records in runs/ were made
        for step in () if so_far else only or steps:
            if step in _made(out / f"{name}.jsonl"):
                continue
            began = time.process_time()
            if step == TUNED:
                found = search(method("ucb1", training, settings), training, SEED, playthroughs, workers)
            else:
                seed = seeds.derive(SEED, "run", int(step.removeprefix(EVOLVED)))
                found = train(training, settings, seed, playthroughs, workers)
            line = {
                "step": step,
                "policy": found.policy,
                "start": found.curve[0].policy,
                "core seconds": round(time.process_time() - began, 1),
            }
            with (out / f"{name}.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            say(f"{name} {step}: {found.policy}")
        made = _made(out / f"{name}.jsonl")
        steps = [step for step in steps if step in made] if so_far else steps
        if all(step in made for step in steps):
            policies = {"ucb1": "ucb1:1.4142135623730951"}
            for step in steps:
                policies[step] = made[step]["policy"]
                if step != TUNED:
                    policies[step.replace(EVOLVED, "start ")] = made[step]["start"]
            utilities = play(policies, held_out, spec, study.trials, workers)
            report(name, study, policies, utilities, held_out, playthroughs, out)


def _made(file: Path) -> dict[str, dict[str, Any]]:
    """Return the lines of the finished steps."""
    if not file.exists():
        return {}
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return {line["step"]: line for line in lines}


def play(
    found: dict[str, str], held_out: LevelPool, spec: FitnessSpec, trials: int, workers: Workers
) -> dict[str, list[list[tuple[float, float]]]]:
    """Return (utility, won) by [level][trial] for each policy; equal policies play once."""
    plan = [
        [seeds.derive(SEED, "held out", level, trial) for trial in range(trials)]
        for level in range(len(held_out.levels))
    ]
    fitness = Fitness(replace(spec, levels=held_out.levels, best=()), workers)
    texts = list(dict.fromkeys(found.values()))
    policies: list[str | TreePolicy] = [playable(text) for text in texts]
    played = dict(zip(texts, fitness.trials(policies, [plan] * len(texts), 0, trials), strict=True))
    return {
        key: [[(s.utility, float(s.won)) for s in level] for level in played[text] or []] for key, text in found.items()
    }


def report(
    name: str,
    study: Study,
    found: dict[str, str],
    utilities: dict[str, list[list[tuple[float, float]]]],
    held_out: LevelPool,
    playthroughs: int,
    out: Path,
) -> None:
    """Write both files and print a line for each comparison."""
    means = {key: [sum(u for u, _ in level) / len(level) for level in levels] for key, levels in utilities.items()}
    groups = {
        kind: [means[key] for key in means if key.startswith(kind)]
        for kind in ("evolved", "start", "ucb1", "tuned ucb1")
    }
    compared = {
        f"evolved - {other}": difference(groups["evolved"], groups[other])
        for other in ("ucb1", "tuned ucb1", "start")
        if groups[other]
    }
    plays = {key: [pair for level in levels for pair in level] for key, levels in utilities.items()}
    result = {
        "game": study.game,
        "persona": study.persona,
        "iterations": study.iterations,
        "playthroughs": playthroughs,
        "held out levels": len(held_out.levels),
        "trials": study.trials,
        "best known": sum(held_out.best) / len(held_out.best) if held_out.best else None,
        "policies": {
            key: {
                "policy": text,
                "utility": sum(u for u, _ in plays[key]) / len(plays[key]),
                "win rate": sum(w for _, w in plays[key]) / len(plays[key]),
            }
            for key, text in found.items()
        },
        "differences": {key: {"value": d.value, "low": d.low, "high": d.high} for key, d in compared.items()},
    }
    (out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    with (out / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["policy", "level", "trial", "utility", "won"])
        for key, levels in utilities.items():
            for level, trials in zip(held_out.levels, levels, strict=True):
                rows.writerows([key, level.name, k, f"{u:.6g}", f"{w:g}"] for k, (u, w) in enumerate(trials))
    for key, d in compared.items():
        say(f"{name} {key}: {d.value:+.3f} ({d.low:+.3f} to {d.high:+.3f})")


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.other_games", description=__doc__)
    parser.add_argument("names", nargs="+", choices=sorted(STUDIES), metavar="NAME", help=", ".join(STUDIES))
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--runs", type=int, default=5, help="independent runs (default: 5)")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="STEP",
        help=f"make this step, such as '{EVOLVED}3' or '{TUNED}'; may be repeated (default: all)",
    )
    parser.add_argument("--so-far", action="store_true", help="report on the steps that are there already")
    parser.add_argument("--playthroughs", type=int, default=0, help="of a run (default: the study's)")
    args = parser.parse_args(arguments)
    try:
        for name in args.names:
            steps = [*(f"{EVOLVED}{number}" for number in range(1, args.runs + 1)), TUNED]
            measure(name, steps, args.only, args.playthroughs or STUDIES[name].playthroughs, args.out, args.so_far)
    except PersonaEvoError as e:
        print(e, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
