"""Faults planted in sound levels of MiniDungeons 2. Each planter changes a board and proves the fault, or returns None.

Places of which one has to be named are the object itself, the tiles that wall it in, and the parts of the fault: a
reader who is shown one of them sees the fault on the map.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from random import Random

from persona_evo.games.analysis import beside

from .boards import HIT_POINTS, Board, Spot
from .dungeons import dead_ends, fetch, health, monsters, sound, there, untouched_way, win, world_of
from .exploring import dies_within, layers

TRIES = 60
"""Number of places that a planter tries on one board."""
SOON = 6
"""Number of moves within which a lethal start has to be proven."""


@dataclass(frozen=True)
class Planted:
    """A board with a fault. `before` is the original level of a pair; the other fields are as in `Case`."""

    board: Board
    kinds: tuple[str, ...]
    places: frozenset[Spot]
    proof: str
    before: Board | None = None
    options: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


Planter = Callable[[Board, Random], Planted | None]


def shuffled(rng: Random, items: Iterable[Spot]) -> list[Spot]:
    """Return a few items in a random order."""
    found = sorted(items)
    rng.shuffle(found)
    return found[:TRIES]


def winnable(board: Board) -> bool:
    """Return whether a playthrough was found that reaches the exit alive."""
    world = world_of(board)
    return world is not None and win(world, board) is not None


def winnable_with_potions(board: Board) -> bool:
    """Return whether a playthrough was found that drinks all potions on its way to the exit."""
    world = world_of(board)
    for order in itertools.permutations(board.find("P")) if world else ():
        state = world.start()
        for spot in order:
            state = None if state is None else fetch(world, board, spot, state)
        if state is not None and win(world, board, state) is not None:
            return True
    return False


def walled_in(board: Board, rng: Random) -> Planted | None:
    """Put walls on all sides of a treasure or potion."""
    for spot in shuffled(rng, board.find("TP")):
        sides = [n for n in beside(spot) if n in board.floor]
        new = board.changed(dict.fromkeys(sides, "X"))
        if any(board.cells[n] != " " for n in sides):
            continue
        ways = new.ways()
        if set(new.floor) - set(ways) == {spot} and winnable(new):
            return Planted(new, ("unreachable_object",), frozenset({spot, *sides}), "no way leads to it")
    return None


def closed_room(board: Board, rng: Random) -> Planted | None:
    """Put a wall in the door of a room with an object to collect."""
    for door in shuffled(rng, board.free):
        pocket = board.behind(door)
        if board.exit in pocket or not 2 <= len(pocket) <= 25 or not any(board.cells[s] in "TP" for s in pocket):
            continue
        new = board.changed({door: "X"})
        if winnable(new):
            places = frozenset(pocket | {door})
            kinds = ("unreachable_object", "unreachable_floor")
            return Planted(new, kinds, places, f"no way leads to {len(pocket)} tiles, among them what is to be had")
    return None


def closed_exit(board: Board, rng: Random) -> Planted | None:
    """Put a wall in the last door before the exit, or on all its sides."""
    sides = [n for n in beside(board.exit) if n in board.floor]
    around = [] if any(board.cells[n] != " " for n in sides) else [sides]
    doors = [[door] for door in shuffled(rng, board.cuts()) if len(board.behind(door)) <= 25]
    for walls in [*doors[:1], *around] if rng.random() < 0.7 else [*around, *doors[:1]]:
        new = board.changed(dict.fromkeys(walls, "X"))
        if world_of(new, allow_unreachable=True) and board.exit not in new.ways():
            return Planted(
                new,
                ("unreachable_exit",),
                frozenset({board.exit, *walls}),
                "no way leads to the exit",
                options=("--allow-unreachable",),
            )
    return None


def lethal_start(board: Board, rng: Random) -> Planted | None:
    """Put monsters around the start, so that every player is dead in a few moves."""
    way = board.ways()
    near = sorted((s for s in board.free if way.get(s, 99) <= 4), key=lambda s: (way[s], rng.random()))
    for _ in range(6):
        crowd = "".join(rng.choices("RRRRoMm", k=9))
        for count in range(5, 10):
            placed = dict(zip(near, crowd[:count], strict=False))
            new = board.changed(placed)
            world = world_of(new)
            depth = dies_within(world, SOON) if world else None
            if depth is not None:
                return Planted(
                    new, ("lethal_start",), frozenset({board.hero, *placed}), f"all states after {depth} moves are lost"
                )
    return None


def with_corridor(board: Board, rng: Random, length: int, width: int = 1) -> tuple[Board, list[Spot]] | None:
    """Move the exit to the end of a winding corridor below the board, which has at least `length` tiles.

    Return the board and the tiles of the corridor from its mouth on without the exit; of a corridor of two tiles'
    width, return those of its upper lane.
    """
    low = board.height - 1
    mouths = [(x, low) for x in range(1, board.width - 1) if board.cells[x, low - 1] == " "]
    if not mouths:
        return None
    mouth = rng.choice(mouths)
    step = 1 if mouth[0] < board.width // 2 else -1
    ends = {1: board.width - 2, -1: 1}
    lane, x, y = [mouth], mouth[0], low + 1
    while len(lane) <= length:
        stretch = [(k, y) for k in range(x, ends[step] + step, step)]
        lane += [*stretch, (ends[step], y + 1)]
        x, y, step = ends[step], y + 2, -step
    lane = lane[: length + 1]
    rows = max(y for _, y in lane) - low + 1
    new = board.taller(rows + (width - 1)).changed({board.exit: " ", **dict.fromkeys(lane, " ")})
    if width == 2:
        new = new.changed({(x, y + 1): " " for x, y in lane[1:]})
    return new.changed({lane[-1]: "e"}), lane[:-1]


def deadly_corridor(board: Board, rng: Random) -> Planted | None:
    """Lead the only way to the exit over more traps than the hero has hit points with all potions."""
    spare = rng.randint(0, 2)
    traps = HIT_POINTS + len(board.find("P")) + spare
    made = with_corridor(board, rng, traps + 2)
    if made is None:
        return None
    new, lane = made
    new = new.changed(dict.fromkeys(lane[1 : traps + 1], "t"))
    if new.most_health() > 0 or world_of(new) is None:
        return None
    places = frozenset({*lane, new.exit})
    return Planted(new, ("deadly_way",), places, f"{traps} traps on every way, {HIT_POINTS} hit points, all potions")


def deadly_field(board: Board, rng: Random) -> Planted | None:
    """Put a belt of traps across the level that nobody survives."""
    way = board.ways()
    if way[board.exit] < HIT_POINTS + 4:
        return None
    first = rng.randint(2, 4)
    for depth in range(HIT_POINTS, way[board.exit] - first):
        belt = [s for s in board.free if first <= way.get(s, 0) < first + depth]
        new = board.changed(dict.fromkeys(belt, "t"))
        if new.most_health() == 0 and world_of(new) is not None:
            return Planted(new, ("deadly_way",), frozenset({*belt, board.exit}), "no way over the traps is survived")
    return None


def scarce_potions(board: Board, rng: Random) -> Planted | None:
    """Add a corridor of traps that is survived with all potions, and remove one of them."""
    way = board.ways()
    near = shuffled(rng, [s for s in board.free if 2 <= way.get(s, 99) <= 6])
    if len(board.find("P")) > 2 or not near:
        return None
    board = board.changed({near[0]: "P"})
    traps = HIT_POINTS + len(board.find("P")) - 1
    made = with_corridor(board, rng, traps + 2)
    if made is None:
        return None
    whole, lane = made
    whole = whole.changed(dict.fromkeys(lane[1 : traps + 1], "t"))
    missing = rng.choice(board.find("P"))
    new = whole.changed({missing: " "})
    if not winnable_with_potions(whole) or new.most_health() > 0:
        return None
    places = frozenset({*lane, new.exit, *new.find("P"), missing})
    return Planted(new, ("scarce_resource", "deadly_way"), places, "won with one potion more, lost without it")


def _portals(board: Board, a: Spot, b: Spot) -> Board:
    return board.changed({a: "p", b: "p"})


def portal_shortcut(board: Board, rng: Random) -> Planted | None:
    """Add a portal from near the start to near the exit."""
    way, home = board.ways(), board.to(board.exit)
    if board.find("p") or way[board.exit] < 10:
        return None
    for a in shuffled(rng, [s for s in board.free if way.get(s, 99) <= 3]):
        for b in shuffled(rng, [s for s in board.free if home.get(s, 99) <= 3])[:8]:
            if a != b and 2 * (short := _portals(board, a, b).ways()[board.exit]) <= way[board.exit]:
                new = _portals(board, a, b)
                if set(new.ways()) == set(board.ways()) and winnable(new):
                    return Planted(
                        new, ("shortcut",), frozenset({a, b}), f"{short} moves to the exit instead of {way[board.exit]}"
                    )
    return None


def gap_shortcut(board: Board, rng: Random) -> Planted | None:
    """Make a hole in a wall that halves the way."""
    way = board.ways()[board.exit]
    for gap in shuffled(rng, [s for s, c in board.cells.items() if c == "X"]):
        new = board.changed({gap: " "})
        inner = 0 < gap[0] < board.width - 1 and 0 < gap[1] < board.height - 1
        if inner and 2 * (short := new.ways()[board.exit]) <= way and way - short >= 6 and winnable(new):
            return Planted(new, ("shortcut",), frozenset({gap}), f"{short} moves to the exit instead of {way}")
    return None


def pocket_below(board: Board, rng: Random, length: int) -> tuple[Board, list[Spot]] | None:
    """Add a corridor below the board that leads nowhere; return the board and its tiles from the mouth on."""
    made = with_corridor(board, rng, length)
    if made is None:
        return None
    new, lane = made
    return new.changed({board.exit: "e", new.exit: " "}), [*lane, new.exit]


def trap_in_dead_end(board: Board, rng: Random) -> Planted | None:
    """Put traps, and nothing else, at the end of a dead end."""
    made = pocket_below(board, rng, rng.randint(3, 5))
    if made is None:
        return None
    new, lane = made
    new = new.changed(dict.fromkeys(lane[-rng.randint(1, 2) :], "t"))
    if not any(lane[-1] in end for end in dead_ends(new)) or not winnable(new):
        return None
    return Planted(new, ("useless_object", "empty_dead_end"), frozenset(lane), "a dead end with nothing but traps")


def pointless_portals(board: Board, rng: Random) -> Planted | None:
    """Put two portals side by side, which save no move."""
    if board.find("p"):
        return None
    way = board.ways()
    for a in shuffled(rng, board.free):
        for b in beside(a):
            if board.cells.get(b) != " ":
                continue
            new = _portals(board, a, b)
            ways = new.ways()
            if set(ways) == set(way) and all(way[s] - ways[s] <= 1 for s in ways) and winnable(new):
                return Planted(new, ("useless_object",), frozenset({a, b}), "no way is shorter by more than 1")
    return None


def pointless_potions(board: Board, rng: Random) -> Planted | None:
    """Put potions into a level in which nothing hurts."""
    if not board.find("P"):
        return None
    new = board.changed(dict.fromkeys([*monsters(board), *board.find("t")], " "))
    return Planted(new, ("useless_object",), frozenset(new.find("P")), "nothing in the level costs a hit point")


def thief(board: Board, rng: Random) -> Planted | None:
    """Put an ogre beside a treasure, or a blob beside a potion, far from the start."""
    monster, loot = rng.choice(("oT", "bP"))
    way = board.ways()
    for spot in shuffled(rng, [s for s in board.free if way.get(s, 0) >= 8]):
        near = board.changed({}).to(spot)
        for post in shuffled(rng, [s for s in board.free if 1 <= near.get(s, 99) <= 3])[:6]:
            new = board.changed({spot: loot, post: monster})
            if set(new.ways()) == set(way) and (moves := _stolen(new, spot, way[spot])) and winnable(new):
                return Planted(
                    new,
                    ("stolen_object",),
                    frozenset({spot, post}),
                    f"gone after {moves} moves whatever is played, {way[spot]} moves away",
                )
    return None


def _stolen(board: Board, spot: Spot, away: int) -> int | None:
    """Return the number of moves after which an object is gone in every play before the hero can reach it."""
    world = world_of(board)
    if world is None:
        return None
    for depth, states in enumerate(layers(world, 20_000)):
        if not states or depth >= min(away, 6):
            return None
        if all(not there(world, s, spot) for s in states):
            return depth
    return None


def sealed_portal(board: Board, rng: Random) -> Planted | None:
    """Add a portal into a cell without a door, in which the hero cannot move any more."""
    if board.find("p"):
        return None
    for a in shuffled(rng, board.free):
        cell = (rng.randint(1, board.width - 2), board.height)
        new = board.taller(2).changed({a: "p", cell: "p"})
        if set(new.ways()) >= set(board.ways()) and new.moves(cell) == [] and winnable(new):
            return Planted(new, ("no_return",), frozenset({a, cell}), "no move is legal in the cell behind the portal")
    return None


def forced_trap(board: Board, rng: Random) -> Planted | None:
    """Put a trap on a tile that is on every way to the exit."""
    narrow = [s for s in board.cuts() if len(board.moves(s)) == 2]
    for spot in shuffled(rng, narrow or board.cuts()):
        new = board.changed({spot: "t"})
        if new.most_health() < HIT_POINTS + len(board.find("P")) and winnable(new):
            return Planted(new, ("forced_hazard",), frozenset({spot}), "no way to the exit with this tile closed")
    return None


def forced_traps(board: Board, rng: Random) -> Planted | None:
    """Add a corridor with a few traps before the exit."""
    traps = rng.randint(2, 5)
    made = with_corridor(board, rng, traps + 3)
    if made is None:
        return None
    new, lane = made
    spots = lane[2 : traps + 2]
    new = new.changed(dict.fromkeys(spots, "t"))
    if not winnable(new):
        return None
    return Planted(new, ("forced_hazard",), frozenset(spots), f"each of {traps} traps is on every way to the exit")


def harder_copy(board: Board, rng: Random) -> Planted | None:
    """Return a copy with one or two traps that nobody can avoid."""
    if not untouched_way(board):
        return None
    cuts = shuffled(rng, board.cuts())[: rng.randint(1, 2)]
    new = board.changed(dict.fromkeys(cuts, "t"))
    if not cuts or not winnable(new):
        return None
    return Planted(new, ("harder_copy",), frozenset(), "the original is won without a scratch, the copy is not", board)


def empty_dead_end(board: Board, rng: Random) -> Planted | None:
    """Add a dead-end corridor without any object."""
    made = pocket_below(board, rng, rng.randint(3, 6))
    if made is None or not any(made[1][-1] in end for end in dead_ends(made[0])) or not winnable(made[0]):
        return None
    return Planted(made[0], ("empty_dead_end",), frozenset(made[1]), "an end with nothing in it")


def lost_floor(board: Board, rng: Random) -> Planted | None:
    """Add a room below the board that nothing leads to."""
    left = rng.randint(1, board.width - 4)
    room = {(x, y): " " for x in range(left, left + 3) for y in (board.height, board.height + 1)}
    new = board.taller(3).changed(room)
    return Planted(new, ("unreachable_floor",), frozenset(room), "no way leads there") if winnable(new) else None


def exposed_start(board: Board, rng: Random) -> Planted | None:
    """Put monsters near the start that hit the hero in his first two moves in every play, and that he can survive."""
    near = {n for s in (board.hero, *beside(board.hero)) for n in beside(s)} & set(board.free)
    for _ in range(12):
        spots = shuffled(rng, near)[: rng.randint(1, 2)]
        placed = dict(zip(spots, rng.choice(("RR", "RM", "MR", "oR", "Ro")), strict=False))
        new = board.changed(placed)
        world = world_of(new)
        if world is None or not placed:
            continue
        full = health(world, world.start())
        after = next(itertools.islice(layers(world), 2, None), [])
        if after and all(health(world, s) < full for s in after) and sound(new, strict=False):
            return Planted(new, ("exposed_start",), frozenset({board.hero, *placed}), "no play is unhurt after 2 moves")
    return None


PLANTERS: dict[str, tuple[Planter, ...]] = {
    "walled-in objective": (walled_in, closed_room),
    "unreachable exit": (closed_exit,),
    "lethal start": (lethal_start,),
    "mandatory lethal path": (deadly_corridor, deadly_field),
    "skip-all shortcut": (portal_shortcut, gap_shortcut, portal_shortcut),
    "useless objects": (trap_in_dead_end, pointless_portals, pointless_potions),
    "stolen object": (thief,),
    "scarce resource": (scarce_potions,),
    "no return": (sealed_portal,),
    "lethal choke point": (forced_trap, forced_traps),
    "harder copy": (harder_copy,),
    "empty dead end": (empty_dead_end,),
    "unreachable floor": (lost_floor,),
    "exposed start": (exposed_start,),
}
"""Planters by kind of fault, which take turns."""
