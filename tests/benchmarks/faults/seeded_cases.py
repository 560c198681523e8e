"""Cases of 2D Roguelike and It's Alive!, whose levels are a seed and a few settings: a fault is another setting.

The planted faults are those that these levels can have: too few pieces for a win, and a day on which an enemy hits
every player. Food never runs out for a player who searches for it, so that is not a fault of 2D Roguelike. The levels
have no objects drawn on a map, so no place has to be named.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from random import Random

from persona_evo.games import registry
from persona_evo.games.catalog.its_alive import layout as layouts
from persona_evo.games.catalog.roguelike2d import layout, rules
from persona_evo.games.core import WON

from .cases import ALIKE, FAULT, SOUND, Case
from .exploring import State, World, never_won, reached

TINY_STATES = 30_000
TRIES = 60
DAYS = 16
"""Number of days of levels with faults: enough for three and four enemies a day."""


def _roguelike(seed: int, days: int, player: str) -> str:
    return f"seed = {seed}\ndays = {days}\nvariant = default\nplayer = {player}\n"


def _alive(seed: int, field: str, design: str, player: str) -> str:
    return f"seed = {seed}\nfield = {field}\ndesign = {design}\nplayer = {player}\nchoices = flat\n"


def _world(name: str, text: str) -> World:
    game = registry.get(name)
    return World(game, game.load(text, "level"))


def day_after(world: World, day: int, food: int, hits: bool = True, most: int = 60_000) -> int | None:
    """Return the most food at the end of a day for a player who only goes forward; 0 if none survives.

    More food is never worse, and the start of a day does not depend on earlier days, so days can be examined one by
    one. Tiles behind the player, and damage to walls there, cannot matter any more. None means too many states.

    Args:
        food: food at the start of the day.
        hits: False to count only plays in which no enemy hits.
    """
    state = world.start()
    rules.dawn(world.level.tables, state, day)
    state[rules.FOOD_AT] = food
    laid = world.level.facts["days"][day - 1]
    best = {_ahead(state, laid): food}
    queue, count, most_left = [(-food, 0, state)], 0, 0
    while queue:
        health, _, state = heapq.heappop(queue)
        if best[_ahead(state, laid)] > -health:
            continue
        for child in world.children(state):
            left = int(child[rules.FOOD_AT])
            if child[rules.FLAGS_AT] == rules.IS_DEAD or (not hits and child[rules.HITS_AT] > 0):
                continue
            if child[rules.DAY_AT] != day or child[rules.FLAGS_AT] == rules.HAS_WON:
                most_left = max(most_left, left)
            elif best.get(key := _ahead(child, laid), 0) < left:
                best[key] = left
                count += 1
                heapq.heappush(queue, (-left, count, child))
        if count > most:
            return None
    return most_left


def _ahead(state: State, laid: layout.DayLayout) -> tuple[int, ...]:
    """Return the part of a state, except for the food, that decides the rest of the day for such a player."""
    side, cell = layout.SIDE, int(state[rules.CELL_AT])
    x, y = cell % side, cell // side
    walls = []
    for k, at in enumerate(laid.walls):
        left = int(state[rules.WALLS_AT + (k >> 2)]) >> 4 * (k & 3) & 15
        walls.append(left if at % side >= x and at // side >= y else min(left, 1))
    items = sum(
        1 << k
        for k, (at, _) in enumerate(laid.items)
        if int(state[rules.ITEMS_AT]) >> k & 1 and at % side >= x and at // side >= y
    )
    enemies = (int(e) for e in state[rules.ENEMIES_AT : rules.STEPS_AT])
    return cell, int(state[rules.TURN_AT]), items, *walls, *enemies


def _won(world: World) -> State | None:
    """Search for a won state of 2D Roguelike, moving toward the exit and away from harm."""
    days = len(world.level.facts["days"])

    def rank(s: State) -> float:
        return 0.02 * world.value(s, "MV") + 0.2 * world.value(s, "DT") - 14 * days * world.value(s, "PR")

    return reached(world, lambda s: world.over(s) == WON, rank)


def roguelike_sound(seed: int, count: int) -> Iterator[Case]:
    """Yield levels that are won without a hit."""
    for number in range(count):
        text = _roguelike(1000 * seed + number, 2 + number % 4, "unrestricted")
        done = _won(world := _world("roguelike2d", text))
        if done is not None and world.value(done, "HT") == 0:
            yield Case(
                f"roguelike-sound-{number}", "roguelike2d", SOUND, "generated", (text,), proof="won without a hit"
            )


def roguelike_faults(seed: int, count: int) -> Iterator[Case]:
    """Yield levels that a player who only goes forward survives, but not without a hit on the last day."""
    hit = 0
    for sown in range(1000 * seed, 1000 * seed + TRIES * count):
        text = _roguelike(sown, DAYS, "forward_only")
        world = _world("roguelike2d", text)
        if day_after(world, DAYS, 1_000, hits=False) == 0 and _won(world) is not None:
            hit += 1
            yield Case(
                f"roguelike-hit-{sown}",
                "roguelike2d",
                FAULT,
                "lethal choke point",
                (text,),
                ("forced_hazard",),
                proof="on the last day every way to the exit is hit",
            )
        if hit == count:
            return


def alive_cases(seed: int, count: int) -> Iterator[Case]:
    """Yield tiny fields that can be won, and variants that cannot, as all of their games show."""
    rng, found = Random(f"alive {seed}"), {SOUND: 0, FAULT: 0, ALIKE: 0}
    for _ in range(TRIES * count):
        sown, design, player = rng.randrange(10_000), rng.choice(layouts.DESIGNS[:2]), rng.choice(layouts.PLAYERS)
        text = _alive(sown, "2x3", design, player)
        if not _won_alive(text):
            continue
        others = [_alive(sown, "2x3", d, p) for d in layouts.DESIGNS[:2] for p in layouts.PLAYERS]
        for other in others:
            if found[FAULT] < count and never_won(_world("its_alive", other), TINY_STATES):
                found[FAULT] += 1
                yield Case(
                    f"alive-impossible-{sown}",
                    "its_alive",
                    FAULT,
                    "scarce resource",
                    (other,),
                    ("impossible", "scarce_resource"),
                    proof="no game whatever is won",
                )
                break
        role = SOUND if found[SOUND] <= found[ALIKE] else ALIKE
        if found[role] < count:
            found[role] += 1
            yield Case(
                f"alive-{role}-{sown}",
                "its_alive",
                role,
                "generated" if role == SOUND else "scarce resource",
                (text,),
                proof="a won game was found",
            )
        if min(found.values()) == count:
            return


def _won_alive(text: str) -> bool:
    """Return whether a won game is found soon."""
    world = _world("its_alive", text)

    def rank(s: State) -> float:
        return -3 * world.value(s, "MC") - world.value(s, "LV") - world.value(s, "LG") + world.value(s, "FI")

    return reached(world, lambda s: world.over(s) == WON, rank, most=3_000) is not None
