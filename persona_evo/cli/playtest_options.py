"""The options and help texts of `playtest`, including those that it shares with `compare` and `watch`."""

from __future__ import annotations

import argparse

from persona_evo import limits
from persona_evo.agents.skill import FULL_SIGHT, LADDER, PERFECT
from persona_evo.agents.skill import SKILLS as SKILLS
from persona_evo.cli import options
from persona_evo.cli.parser import names, number, whole
from persona_evo.words import percent

REQUIREMENTS = """\
requirements: [PLAYER[@LEVEL].]MEASURE OPERATOR NUMBER
  runner.win_rate >= 95%          all of the runner's trials together, whatever the level
  runner@test02.win_rate >= 95%   in one level; runner@* means in every level
  deaths == 0                     without a player, or with *: for every persona; a baseline is judged only if it is
                                  named, such as runner/ucb1.win_rate > 0
  problems == 0                   findings that are not accepted: problems, notices, or a kind of finding such as
                                  no_return; problems@test02 == 0 in one level, problems@* == 0 in every level
  crashes == 0                    a connected game failed in no rollout, and in none of the regression cases of
                                  connect shrink, which are played first; the value counts findings, one for each
                                  message in a level, however many rollouts failed, and one for each case
  measures: win_rate; deaths, losses (both count lost playthroughs), unfinished and stuck, each of them also as a share:
  death_rate, loss_rate, unfinished_rate, stuck_rate; damage and health (hit points lost, and left at the end); steps,
  utility, best_utility, bound_ratio (mean utility / limit), seconds, trials; or a metric's symbol, for its mean
  deaths and stuck always count playthroughs, although two kinds of findings have the same names
  operators: >= <= > < == !=      repeat --require for several requirements, or separate them by ;
"""

SKILL_TABLE = f"""\
levels of skill (--skill): players who search again before each move, and make mistakes
  level   iterations    moves   errors   temperature
          (each legal   ahead
          move)
{
    "".join(
        f"  {s.name:<8}{s.iterations:<14}{s.sight:<8}{percent(s.errors):<9}{s.temperature:g}" + chr(10)
        for s in LADDER.values()
    )
}\
  {FULL_SIGHT.name}: also searches again before each move, with {
    FULL_SIGHT.iterations
} iterations per move; looks ahead to the end of
  the game and makes no errors
  {PERFECT}: plans the whole game in one search with --iterations, and makes mistakes only where the search does
  The column errors is the chance that a move is an error: a random move, drawn with a probability proportional to
  exp(value / temperature), where the values of all moves are scaled to the range from 0 to 1. The seed determines all
  errors. Players who make mistakes cause no findings except narrow escapes, and a requirement applies to them only if
  it names them, such as 'runner (novice).win_rate >= 30%'. All numbers describe these simulated players; --calibrate
  compares them with people.
"""
FEWEST_LEVELS = 4
"""The same as `playtest.calibration.FEWEST`."""
BOUND_SECONDS = 3.0
CONTINUATION = 0.1
"""The same as `playtest.playing.CONTINUATION`."""


def add_playing(parser: argparse.ArgumentParser) -> None:
    """Add the options that `playtest` and `compare` share."""
    options.add_personas(parser)
    options.add_policies(parser)
    parser.add_argument(
        "--skill",
        default=[],
        type=names,
        metavar="LEVELS",
        help="levels of skill at which each persona plays, separated by commas: "
        f"{', '.join(SKILLS)} (see below; default: only perfect)",
    )
    parser.add_argument(
        "--trials",
        type=whole(1, limits.MOST_TRIALS),
        default=50,
        metavar="N",
        help="playthroughs of each player in each level (default: %(default)s)",
    )
    options.add_budget(
        parser,
        each="playthrough, or per move with an agent; levels of skill but perfect have their own",
        default="10000, or the agent's",
    )
    options.add_search(parser)
    parser.add_argument(
        "--continuation",
        type=number(0, 1),
        default=CONTINUATION,
        metavar="SHARE",
        help="extra budget for playing on, move by move, from the end of a plan to the end of the game, as a "
        "share of the budget of a playthrough; with 0, playthroughs end with the plan (default: "
        "%(default)s)",
    )
    options.add_league(
        parser, "the personas play against, in turn and from both sides", "with the personas' tree policies"
    )
    options.add_jobs(parser)
    options.add_backend(parser)
    options.add_seed(parser)
    options.add_level_options(parser)
