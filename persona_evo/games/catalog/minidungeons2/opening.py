"""Analyses all first moves of a level: whether the hero survives, who attacks at once, and what monsters take.

All play of the first turns is explored with the game's own rules (`persona_evo.games.exploration`), so the findings
hold whatever the hero does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from persona_evo.games.analysis import distances
from persona_evo.games.catalog.minidungeons2 import tables as tb
from persona_evo.games.catalog.minidungeons2.board import TRAP, DungeonBoard, named
from persona_evo.games.catalog.minidungeons2.core import CORE
from persona_evo.games.catalog.minidungeons2.levels import LEGEND, MONSTERS
from persona_evo.games.core import RUNNING, WON, Level, State
from persona_evo.games.exploration import MOST_STATES, Exploration, explore, layer, layers
from persona_evo.games.findings import Finding, Spot
from persona_evo.words import counted, enumerated, plural

LARGE_STATES = 2_000
"""The number of states explored on levels whose paths are computed during play (see `tables.PAIR_FILL`)."""
FIRST_TURNS = 4
"""The number of turns within which monsters that reach the hero make a start exposed."""
UNAVOIDABLE, STANDING = 2, 4
"""Hit points that nobody keeps, or that one loses by standing still, from which on a start is exposed ..."""
SOON = 2
"""... if monsters can strike within so many moves. A monster beside the start, or a hit point that nobody keeps for so
long, suffices."""
WATCHED_TURNS = 40
"""The number of turns, with the hero standing still, in which to look for objects that others take."""
WIZARD = "R"


def opening(board: DungeonBoard) -> list[Finding]:
    """Return all findings on the first moves; none for levels that are too large to explore."""
    tiles = int(board.level.tables[tb.TILES])
    if tiles > tb.PAIR_TILES:
        return []
    most = MOST_STATES if tiles <= tb.PAIR_FILL else LARGE_STATES
    taken = _Taken(board.level)
    found = explore(CORE, board.level, most, taken)
    if found.all_die:
        return [_lethal(board, found)]
    return [*_no_win(board, found), *_exposed(board, found), *_stolen(board, found, taken.by_hero)]


def _lethal(board: DungeonBoard, found: Exploration) -> Finding:
    moves = found.longest
    spots = _attackers(board, moves)
    by = f", by {named(board, spots)}" if spots else ""
    return Finding(
        "lethal_start",
        "problem",
        board.level.name,
        f"The hero cannot survive the start: every continuation dies within {counted(moves, 'move')} (proven){by}.",
        (board.grid.hero, *spots),
        evidence={"moves": moves, "proven": True, "states": len(found.states)},
        look="Move the start or the monsters, or put walls between them.",
    )


def _no_win(board: DungeonBoard, found: Exploration) -> list[Finding]:
    """Find out why a fully explored level has no win although the traps alone would allow one."""
    if not found.exhausted or found.has(WON) or board.grid.exit not in board.survival.alive:
        return []
    spots = [s for s in board.at(MONSTERS) if board.can_meet(s)]
    if not spots:
        return [_too_many_traps(board, len(found.states))]
    return [
        Finding(
            "impossible",
            "problem",
            board.level.name,
            f"The level cannot be won: all {counted(len(found.states), 'state')} that play can come to were looked at, "
            f"and none is at the exit alive. Monsters in play: {named(board, spots)}.",
            tuple(spots),
            evidence={"states": len(found.states), "proven": True},
        )
    ]


def _too_many_traps(board: DungeonBoard, states: int) -> Finding:
    """Return the finding on a level without monsters in which the order of potions and traps leaves no way."""
    traps = [s for s in board.at(TRAP) if s in board.survival.alive]
    least = board.survival.damage[board.grid.exit]
    limit = f", which potions do not raise above {board.cap}" if board.cap else ""
    return Finding(
        "deadly_way",
        "problem",
        board.level.name,
        f"No way to the exit can be survived (proven): every way springs at least {counted(least, 'trap')}, and the "
        f"hero has {counted(board.health, 'hit point')}{limit}.",
        tuple(traps),
        evidence={
            "least_damage": least,
            "hit_points": board.health,
            "most_hit_points": board.cap,
            "states": states,
            "proven": True,
        },
    )


def _attackers(board: DungeonBoard, turns: int) -> list[Spot]:
    """Return the monsters that see the start or a tile beside it and can strike there within some turns."""
    way = distances([board.grid.hero], board.walk)
    reach = int(board.level.tables[tb.WIZARD_RANGE])
    near = [board.grid.hero, *board.walk[board.grid.hero]]
    found = []
    for spot in board.at(MONSTERS):
        if spot not in way:
            continue
        moves = way[spot] - 1
        if board.char[spot] == WIZARD:
            moves = max(0, abs(spot[0] - board.grid.hero[0]) + abs(spot[1] - board.grid.hero[1]) - reach)
        if moves <= turns and (board.char[spot] == "m" or any(board.sees(spot, tile) for tile in near)):
            found.append((moves, spot))
    return [spot for _, spot in sorted(found)]


def _exposed(board: DungeonBoard, found: Exploration) -> list[Finding]:
    """Return findings on monsters that hurt the hero before he can do anything about it."""
    turns = min(FIRST_TURNS, found.complete)
    losses = [board.health - _health(found, k, max) for k in range(turns + 1)]
    lost, standing = max(losses), _standing(board, turns)
    worst = board.health - min(_health(found, k, min) for k in range(turns + 1))
    at_once = max(losses[: SOON + 1]) > 0
    beside = any(board.char.get(tile, "") in MONSTERS for tile in board.walk[board.grid.hero] if tile in board.char)
    if not _struck(found) or not (at_once or beside or lost >= UNAVOIDABLE or standing >= STANDING):
        return []
    spots = _attackers(board, turns)
    if not spots:
        return []
    if at_once or lost >= UNAVOIDABLE:
        first = losses.index(lost)
        text = (
            f"whatever the hero does, he loses at least {lost} of {counted(board.health, 'hit point')} in "
            f"the first {_turns(first)}"
        )
    else:
        text = (
            f"a hero who hesitates loses {standing} of {counted(board.health, 'hit point')} in "
            f"the first {_turns(turns)}"
        )
        text += f", and one who plays badly {worst}" if worst > standing else ""
    return [
        Finding(
            "exposed_start",
            "notice",
            board.level.name,
            f"The start is within reach of {named(board, spots)}: {text}.",
            (board.grid.hero, *spots),
            evidence={
                "turns": turns,
                "unavoidable_damage": lost,
                "damage_standing_still": standing,
                "most_damage": worst,
                "hit_points": board.health,
            },
        )
    ]


def _struck(found: Exploration) -> bool:
    """Return whether a monster can strike within SOON moves, that is, hit points are lost without a trap."""
    first = int(found.states[0][tb.HP_AT])
    soon = (state for state, depth in zip(found.states, found.depth, strict=True) if depth <= SOON)
    return any(first - int(state[tb.HP_AT]) > int(state[tb.TRAPS_AT]) for state in soon)


def _turns(turns: int) -> str:
    """Return a number of turns in the words that follow "in the first"."""
    return "turn" if turns == 1 else f"{turns} turns"


def _health(found: Exploration, moves: int, best: Callable[..., int]) -> int:
    """Return the most or fewest (`max` or `min`) hit points left after a number of moves.

    If no line of play lasts that long, return the hit points at the start.
    """
    states = layer(found, moves)
    values = [int(found.states[i][tb.HP_AT]) - tb.HP_BIAS for i in states]
    return best(values, default=int(found.states[0][tb.HP_AT]) - tb.HP_BIAS)


def _standing(board: DungeonBoard, turns: int) -> int:
    """Return the hit points that a hero loses who does nothing."""
    states = _idle(board.level, turns)
    return int(states[0][tb.HP_AT]) - int(states[-1][tb.HP_AT])


def _idle(level: Level, turns: int) -> list[Any]:
    """Return the states of a game in which the hero does nothing, until he is dead."""
    from persona_evo.games.catalog.minidungeons2.rules import LOST_TURN, RULES

    state, rng, states = level.start.copy(), np.ones(2, dtype=np.int64), [level.start.copy()]
    for _ in range(turns):
        if RULES.over(level.tables, state) != RUNNING:
            break
        RULES.step(level.tables, state, LOST_TURN, rng)
        states.append(state.copy())
    return states


class _Taken:
    """Remembers which potions and treasures the hero takes in any move (numbers as in the tables)."""

    def __init__(self, level: Level) -> None:
        t = level.tables
        self.words = int(t[tb.WORDS])
        n, things = int(t[tb.TILES]), int(t[tb.THINGS])
        first = int(tb.offset(t, tb.BOARD_AT)) + int(t[tb.WIDTH]) * int(t[tb.HEIGHT])
        self.number = {int(t[first + k]): k for k in range(things)}
        self.next = t[tb.HEADER + 2 * n : tb.HEADER + 6 * n]
        self.by_hero: set[int] = set()

    def __call__(self, before: State, actions: Any, after: State) -> None:
        changed = (before[:, [tb.DRUNK_AT, tb.OPENED_AT]] != after[:, [tb.DRUNK_AT, tb.OPENED_AT]]).any(axis=1)
        for k in np.flatnonzero(changed & (actions >= 0) & (actions < 4)).tolist():
            self.by_hero.add(self.number[int(self.next[4 * int(before[k, tb.HERO_AT]) + int(actions[k])])])


def _gone(state: State, k: int) -> bool:
    return not int(state[tb.THINGS_AT + (k >> 4)]) >> (k & 15) & 1


def _stolen(board: DungeonBoard, found: Exploration, by_hero: set[int]) -> list[Finding]:
    """Return findings on potions and treasures that a monster always takes before the hero can."""
    level, things = board.level, int(board.level.tables[tb.THINGS])
    left = {k for k in range(things) if k not in by_hero}
    gone: dict[int, int] = {}
    for moves, states in enumerate(itertools.islice(layers(found), 1, found.complete + 1), 1):
        if not left or not states:
            break
        for k in sorted(left):
            if all(_gone(found.states[i], k) for i in states):
                gone[k] = moves
        left -= gone.keys()
    spots = _things(level)
    if gone:
        return [_stolen_finding(board, [spots[k] for k in gone], gone)]
    return _stolen_later(board, {spots[k]: k for k in left})


def _stolen_later(board: DungeonBoard, things: dict[Spot, int]) -> list[Finding]:
    """Find things that a monster takes before the hero can be there or in its sight, if no other monster stops it."""
    states = _idle(board.level, WATCHED_TURNS)
    turns: dict[Spot, int] = {}
    for spot, k in things.items():
        turn = next((i for i, state in enumerate(states) if _gone(state, k)), 0)
        if turn and board.reached.get(spot, turn + 1) > turn and not _seen_by_hero(board, states[:turn], spot):
            turns[spot] = turn
    if not turns:
        return []
    spots = list(turns)
    return [
        Finding(
            "stolen_object",
            "notice",
            board.level.name,
            f"Monsters take {named(board, spots)} within {counted(max(turns.values()), 'turn')}, before the hero can "
            "be there or in their sight.",
            tuple(spots),
            evidence={
                "turns": max(turns.values()),
                "proven": False,
                "objects": len(spots),
                "steps_of_hero": min(board.reached.get(s, 0) for s in spots),
            },
        )
    ]


def _seen_by_hero(board: DungeonBoard, states: Sequence[Any], thing: Spot) -> bool:
    """Return whether the hero could be in sight of the monster that takes an object, in an earlier turn."""
    t = board.level.tables
    n, m = int(t[tb.TILES]), int(t[tb.MONSTERS])
    first = tb.THINGS_AT + int(t[tb.WORDS])

    def where_is(state: State, i: int) -> Spot:
        tile = int(state[first + i])
        return int(t[tb.HEADER + tile]), int(t[tb.HEADER + n + tile])

    way = distances([thing], board.walk)
    taker = min(range(m), key=lambda i: way.get(where_is(states[-1], i), n))
    for turn, state in enumerate(states):
        spot = where_is(state, taker)
        near = [tile for tile, moves in board.reached.items() if moves <= turn + 1]
        if any(board.sees(tile, spot) or board.sees(spot, tile) for tile in near):
            return True
    return False


def _things(level: Level) -> list[Spot]:
    """Return the positions of the potions and treasures, by their numbers."""
    t = level.tables
    first = int(tb.offset(t, tb.BOARD_AT)) + int(t[tb.WIDTH]) * int(t[tb.HEIGHT])
    n = int(t[tb.TILES])
    tiles = [int(t[first + k]) for k in range(int(t[tb.THINGS]))]
    return [(int(t[tb.HEADER + i]), int(t[tb.HEADER + n + i])) for i in tiles]


def _plainly(board: DungeonBoard, spots: Sequence[Spot]) -> str:
    """Return objects without their places: "the treasures and the potion"."""
    names = [LEGEND[board.char[s]] for s in spots]
    return enumerated([f"the {plural(names.count(name), name)}" for name in dict.fromkeys(names)])


def _stolen_finding(board: DungeonBoard, spots: Sequence[Spot], gone: dict[int, int]) -> Finding:
    chars = {board.char[s] for s in spots}
    takers = [s for s in board.at("o" if "T" in chars else "") + board.at("b" if "P" in chars else "")]
    near = [s for s in takers if any(distances([s], board.walk).get(spot, 99) <= max(gone.values()) for spot in spots)]
    turns = max(gone.values())
    by = named(board, near or takers)
    nothing_left = "T" in chars and set(board.at("T")) <= set(spots)
    return Finding(
        "stolen_object",
        "problem" if nothing_left else "notice",
        board.level.name,
        f"The hero never gets {named(board, spots)}: {by} {'takes' if len(near) == 1 else 'take'} "
        f"{'it' if len(spots) == 1 else 'them'} within {counted(turns, 'turn')}, whatever he does (proven).",
        tuple(spots),
        evidence={
            "turns": turns,
            "proven": True,
            "objects": len(spots),
            "steps_of_hero": min(board.reached.get(s, 0) for s in spots),
        },
        look=f"Move {_plainly(board, spots)} out of the sight of {_plainly(board, near or takers)}, or nearer to the "
        "start.",
    )
