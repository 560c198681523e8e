"""Games written as ordinary Python classes: slower than compiled rules, with the same search and reports.

An instance of the class is one state of the game:

| method | what |
|---|---|
| `from_text(text, **options)` | class method: returns the state before the first move, or raises ValueError |
| `copy()` | returns an independent state; `copy.deepcopy` is used if it is left out |
| `legal()` | returns the legal actions in a fixed order: names out of the class's `actions`, or whole numbers |
| `apply(action)` | makes a move in place; `apply(action, dice)` in games of chance |
| `over()` | returns None while the game goes on, then "won", "lost", or "ended" |
| `measure()` | returns the metrics by symbol; `measure(player)` in two-player games |
| `mover()` | two-player games: returns whose turn it is, 0 or 1 |
| `key()` | optional: returns plain values (numbers, text, tuples) that are equal for states with the same future |
| `position()` | optional: returns (x, y) of the avatar, for heatmaps |
| `draw()` or `__str__` | optional: returns the state as text, for replays in a terminal |
| `reach(moves)` | optional: returns what metrics can still become, for proofs: `{"COINS": (0.5, 1.0)}` says that COINS
stays between 0.5 and 1 in this state and in all that follow within so many moves; a metric that is left out can take
any value of its range |
| `novelty()` | optional: returns whole numbers, one for each variable of the state, always in the same order:
`(self.at, self.hp)`. A search looks for states in which a variable has a value for the first time |
| `generate(rng)` | optional, static method: returns the text of a level drawn with `rng`, a `random.Random`, or None if
the attempt failed; `level generate` and `evolve --levels generate:N` need it |
| `targets()` | needed by the attribute `ways`: returns where there is something to go to,
`{"NC": [(3, 1), (7, 2)], "NX": []}` |

Class attributes that may be left out: `care` is a formula over the metrics for what keeps the player in the game; a
search looks after it beside the utility (`care = "HP"`). `health` is a formula for the hit points left, from which
playtests compute damage. `idle` names the action that stands still, so that playtests recognise players who are stuck.

`ways` names what there is to go to: `{"NC": "coin", "NX": "way out"}`. Each becomes a metric, which the game computes
from `position`, `targets` and its own rules (see `persona_evo.games.python_game.ways`): the number of moves to the
nearest one, as a share of the moves to the farthest place of the level; 0 if there is none. Searches, evolution and
reports then know how far away things are. `homing` is a formula over the metrics that grows on the way to a win:
`homing = "-NX"`.

Without `novelty`, the variables are the elements of a tuple `key()`, or else the attributes. A container stands for its
elements one by one; a set stands for whether each member that was there at the start is still there. A value that goes
up or down by one in each of the game's first moves counts moves and is left out.

Without `key`, all attributes of a state make its key. That is correct but slow, and equal states are not recognised if
an attribute counts moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from persona_evo.arguments import checked
from persona_evo.games import explored
from persona_evo.games.core import Game, Legal, Measure, Metric
from persona_evo.games.python_game.declaration import declaration_of
from persona_evo.games.python_game.levels import generator, reader
from persona_evo.games.python_game.novelty import novelty_of
from persona_evo.games.python_game.rules import Dice
from persona_evo.games.python_game.walks import ClassPlayer

__all__ = ["Dice", "from_class"]


@checked
def from_class(
    cls: type[Any],
    *,
    metrics: Sequence[Metric] | None = None,
    name: str | None = None,
    title: str | None = None,
    version: int = 1,
    players: int = 1,
    deterministic: bool = True,
    horizon: int = 200,
    max_actions: int | None = None,
    levels: str | None = None,
    level_suffixes: tuple[str, ...] = (".txt",),
) -> Game:
    """Return the game whose states are instances of `cls` (see the module).

    Args:
        cls: the class.
        metrics: in the order of formulas' variables; the class's attribute `metrics` if left out.
        name: a short name in lower case; that of the class in lower case if left out.
        title: the name that people read; that of the class if left out.
        version: raise it whenever the rules change.
        players: 1 or 2.
        deterministic: whether chance plays no part.
        horizon: the longest game that is searched, in moves.
        max_actions: the most legal actions of any state; needed where the class has no `actions`.
        levels: folder of the levels that come with the game.
        level_suffixes: how the names of level files end.

    Raises:
        GameError: the class lacks something.
    """
    declared = declaration_of(cls, metrics, players, deterministic, max_actions)
    rules = ClassPlayer(declared)
    near = ClassPlayer(declared, near=True) if declared.ways else rules
    game_name, alone = name or cls.__name__.lower(), players == 1 and deterministic
    made = Game(
        name=game_name,
        title=title or cls.__name__,
        version=version,
        metrics=declared.metrics,
        rules=lambda costly=False: near.rules if costly else rules.rules,
        load=reader(game_name, declared, rules),
        action_name=rules.action_name,
        parse_action=rules.parse_action,
        players=players,
        deterministic=deterministic,
        compiled=False,
        horizon=horizon,
        levels=levels,
        level_suffixes=level_suffixes,
        locate=rules.locate if declared.has("position") else None,
        reach=(lambda: cast(Measure, rules.reach)) if declared.has("reach") else None,
        novelty=lambda level: cast("tuple[Legal, int]", novelty_of(rules, level)),
        care=declared.care,
        health=declared.health,
        idle=declared.idle,
        homing=declared.homing,
        analyse=(lambda level: explored.analyse(made, level)) if alone else None,
        generator=(lambda: generator(rules)) if declared.has("generate") else None,
        hardness=(lambda level: explored.hardness(made, level)) if alone else None,
    )
    return made
