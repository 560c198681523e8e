"""Look-alikes of faults in MiniDungeons 2: a sound board is changed and proven to be still sound.

On a look-alike no finding may be a problem, and every notice has to be true.
"""

from __future__ import annotations

from random import Random

from persona_evo.games.analysis import beside

from .boards import HIT_POINTS, Board, Spot
from .dungeons import fetches, health, quiet, sound, untouched_way, win, world_of
from .planted import Planted, Planter, pocket_below, shuffled, winnable, winnable_with_potions, with_corridor


def _alike(board: Board, places: set[Spot], proof: str, before: Board | None = None) -> Planted:
    return Planted(board, (), frozenset(places), proof, before)


def _all_fetched(board: Board) -> bool:
    world = world_of(board)
    return world is not None and all(fetches(world, board, spot) for spot in board.find("TP"))


def cut_off_with_portal(board: Board, rng: Random) -> Planted | None:
    """Place a treasure in a cell without a door, to which a portal leads."""
    if board.find("p"):
        return None
    for a in shuffled(rng, board.free):
        left = rng.randint(1, board.width - 4)
        room = {(left, board.height): "p", (left + 1, board.height): " ", (left + 2, board.height): "T"}
        new = board.taller(2).changed({a: "p", **room})
        if set(new.ways()) >= set(board.ways()) and sound(new, strict=False):
            return _alike(new, set(room), "a playthrough takes the treasure and reaches the exit")
    return None


def exit_with_portal(board: Board, rng: Random) -> Planted | None:
    """Place the exit in a room without a door, to which a portal leads."""
    if board.find("p"):
        return None
    home = board.to(board.exit)
    for a in shuffled(rng, [s for s in board.free if home.get(s, 99) <= 2]):
        left = rng.randint(1, board.width - 4)
        room = {(left, board.height): "p", (left + 1, board.height): " ", (left + 2, board.height): "e"}
        new = board.taller(2).changed({board.exit: " "}).changed({a: "p", **room})
        if set(board.ways()) <= set(new.ways()) and sound(new, strict=False):
            return _alike(new, set(room), "a playthrough reaches the exit")
    return None


def crowd_behind_walls(board: Board, rng: Random) -> Planted | None:
    """Place wizards near the start that do not see it, since they are in the next room."""
    around = shuffled(rng, [s for s in board.free if abs(s[0] - board.hero[0]) + abs(s[1] - board.hero[1]) <= 5])
    for _ in range(20):
        spots = rng.sample(around, min(len(around), 2))
        new = board.changed(dict.fromkeys(spots, "R"))
        world = world_of(new)
        if world and quiet(world) and sound(new, strict=False) and len(spots) == 2:
            return _alike(new, set(spots), "no play loses a hit point in its first three moves")
    return None


def traps_with_a_way_around(board: Board, rng: Random) -> Planted | None:
    """Add a corridor with as many traps as the hero has hit points, and a lane without traps beside it."""
    made = with_corridor(board, rng, 8, width=2)
    if made is None:
        return None
    new, lane = made
    spots = [s for s in lane[2:] if s[1] == lane[1][1]]
    new = new.changed(dict.fromkeys(spots, "t"))
    if new.most_health() < HIT_POINTS or not untouched_way(new) or not _all_fetched(new):
        return None
    return _alike(new, set(spots), "a playthrough reaches the exit without losing a hit point")


def portal_that_saves_little(board: Board, rng: Random) -> Planted | None:
    """Place portals far apart that hardly shorten the way to the exit."""
    if board.find("p"):
        return None
    way = board.ways()
    for a in shuffled(rng, board.free):
        for b in shuffled(rng, board.free)[:5]:
            if abs(way[a] - way[b]) > 4 or abs(a[0] - b[0]) + abs(a[1] - b[1]) < 5:
                continue
            new = board.changed({a: "p", b: "p"})
            ways = new.ways()
            if set(ways) == set(way) and 0.8 * way[board.exit] <= ways[board.exit] and sound(new, strict=False):
                return _alike(new, {a, b}, f"{ways[board.exit]} moves to the exit instead of {way[board.exit]}")
    return None


def treasure_in_dead_end(board: Board, rng: Random) -> Planted | None:
    """Add a dead end with a treasure at its end."""
    made = pocket_below(board, rng, rng.randint(3, 5))
    if made is None:
        return None
    new = made[0].changed({made[1][-1]: "T"})
    return _alike(new, set(made[1]), "a playthrough takes the treasure") if sound(new, strict=False) else None


def slow_thief(board: Board, rng: Random) -> Planted | None:
    """Place an ogre that sees a treasure which the hero can still get, or reach first."""
    way = board.ways()
    for spot in shuffled(rng, [s for s in board.free if 3 <= way.get(s, 0) <= 5]):
        near = board.to(spot)
        for post in shuffled(rng, [s for s in board.free if 4 <= near.get(s, 99) <= 8 and way.get(s, 0) >= 4])[:6]:
            new = board.changed({spot: "T", post: "o"})
            if sound(new, strict=False):
                return _alike(new, {spot, post}, "a playthrough takes the treasure and reaches the exit")
    return None


def enough_potions(board: Board, rng: Random) -> Planted | None:
    """Add a corridor that costs as many hit points as the hero has, and potions that make up for it."""
    way = board.ways()
    near = shuffled(rng, [s for s in board.free if 2 <= way.get(s, 99) <= 6])[: 3 - len(board.find("P"))]
    board = board.changed(dict.fromkeys(near, "P"))
    made = with_corridor(board, rng, HIT_POINTS + 2)
    if made is None or len(board.find("P")) > 3:
        return None
    new = made[0].changed(dict.fromkeys(made[1][1 : HIT_POINTS + 1], "t"))
    if new.most_health() < 2 or not winnable_with_potions(new):
        return None
    return _alike(new, set(made[1]), "a playthrough drinks the potions and reaches the exit alive")


def guarded_way(board: Board, rng: Random) -> Planted | None:
    """Place monsters in a corridor before the exit that a careful hero survives."""
    made = with_corridor(board, rng, 8)
    if made is None:
        return None
    new = made[0].changed(dict(zip(made[1][3:7:2], rng.choice(("Mo", "bM", "oM")), strict=False)))
    world = world_of(new)
    done = win(world, new, careful=6.0) if world else None
    if world is None or done is None or health(world, done) < 2 or not sound(new, strict=False):
        return None
    return _alike(new, set(made[1]), "a playthrough fights its way to the exit")


def portal_with_a_way_back(board: Board, rng: Random) -> Planted | None:
    """Place a portal to a room without a door, from which the same portal leads back."""
    if board.find("p"):
        return None
    for a in shuffled(rng, board.free):
        left = rng.randint(1, board.width - 4)
        room = {(left, board.height): "p", (left + 1, board.height): "P", (left + 1, board.height + 1): "T"}
        new = board.taller(3).changed({a: "p", **room})
        if set(new.ways()) >= set(board.ways()) and sound(new, strict=False):
            return _alike(new, set(room), "a playthrough takes what is there and reaches the exit")
    return None


def trap_beside_the_way(board: Board, rng: Random) -> Planted | None:
    """Place a trap in a door that another door or tile leads past."""
    for spot in shuffled(rng, [s for s in board.free if len(board.moves(s)) == 2]):
        new = board.changed({spot: "t"})
        if new.exit in new.ways(closed=[spot]) and untouched_way(new) and sound(new, strict=False):
            return _alike(new, {spot}, "a playthrough reaches the exit without losing a hit point")
    return None


def equal_copy(board: Board, rng: Random) -> Planted | None:
    """Return a copy in which a treasure is moved by one tile, as far from the start as before."""
    if not winnable(board):
        return None
    way = board.ways()
    for spot in shuffled(rng, board.find("T")):
        for aside in (n for s in beside(spot) for n in beside(s)):
            if board.cells.get(aside) != " " or way[aside] != way[spot]:
                continue
            new = board.changed({spot: " ", aside: "T"})
            same = new.ways()[new.exit] == way[board.exit] and new.most_health() == board.most_health()
            if same and sound(new, strict=False) and untouched_way(new) == untouched_way(board):
                return _alike(new, {spot, aside}, "the same way, damage and monsters; all can be had in both", board)
    return None


LOOK_ALIKES: dict[str, Planter] = {
    "walled-in objective": cut_off_with_portal,
    "unreachable exit": exit_with_portal,
    "lethal start": crowd_behind_walls,
    "mandatory lethal path": traps_with_a_way_around,
    "skip-all shortcut": portal_that_saves_little,
    "useless objects": treasure_in_dead_end,
    "stolen object": slow_thief,
    "scarce resource": enough_potions,
    "no return": portal_with_a_way_back,
    "lethal choke point": trap_beside_the_way,
    "harder copy": equal_copy,
    "deadly monsters": guarded_way,
}
"""Look-alikes by kind of fault."""
