"""Sound levels of MiniDungeons 2: rooms out of a seed, and the proof that a level is sound.

A level is sound if playthroughs were found, move by move with the game's rules, that open each treasure, drink each
potion, and reach the exit alive after that; if one of them reaches the exit without a trap and with hit points to
spare; if nothing hits the hero in his first moves; if there is no shortcut, no floor that cannot be walked to, and no
dead end without anything in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

from persona_evo.errors import LevelError
from persona_evo.games.analysis import beside
from persona_evo.games.catalog.minidungeons2 import tables
from persona_evo.games.catalog.minidungeons2.rules import is_there
from persona_evo.games.core import LOST, WON, Level
from persona_evo.games.mapsets import resolve

from ..levels import game, shared
from .boards import MONSTERS, Board, Spot
from .exploring import State, World, layers, reached

ATTEMPTS = 400
QUIET_MOVES = 3
"""Number of first moves in which nothing can hit the hero of a sound level."""
SHORTCUT = 0.6
"""In a sound level, no portal shortens the way to the exit below this share of it."""


def world_of(board: Board, allow_unreachable: bool = False) -> World | None:
    """Return the level with its rules; None if the game refuses it."""
    try:
        return World(game(), game().load(board.text, "level", allow_unreachable=allow_unreachable))
    except LevelError:
        return None


def there(world: World, state: State, spot: Spot) -> bool:
    """Return whether the potion or treasure of a tile is still there."""
    t = world.level.tables
    x, y = spot
    tile = t[int(tables.offset(t, tables.BOARD_AT)) + y * int(t[tables.WIDTH]) + x]
    thing = int(t[tables.HEADER + 7 * int(t[tables.TILES]) + tile])
    return bool(is_there(state, thing >> 3))


def _taken(world: World, board: Board, state: State) -> float:
    return world.value(state, "TO") * len(board.find("T")) + world.value(state, "PD") * len(board.find("P"))


def health(world: World, state: State) -> float:
    """Return the remaining hit points."""
    return 10 * world.value(state, "HL")


def win(
    world: World,
    board: Board,
    begin: State | None = None,
    careful: float = 2.0,
    most: int = 20_000,
    untouched: bool = False,
) -> State | None:
    """Search for a won state.

    Args:
        careful: number of moves that a hit point is worth.
        untouched: whether no hit point may be lost.
    """
    way = board.to(board.exit)
    full = health(world, world.start())

    def rank(state: State) -> float:
        lost = full - health(world, state)
        if world.over(state) == LOST or (untouched and world.value(state, "DT") > 0):
            return float("inf")
        return way.get(world.place(state), 99) + 0.3 * world.value(state, "ST") + careful * lost

    return reached(world, lambda s: world.over(s) == WON and rank(s) < float("inf"), rank, begin, most)


def untouched_way(board: Board) -> bool:
    """Return whether a playthrough was found that reaches the exit without losing a hit point."""
    world = world_of(board)
    return world is not None and win(world, board, untouched=True) is not None


def fetch(world: World, board: Board, spot: Spot, begin: State | None = None, most: int = 10_000) -> State | None:
    """Search for a state in which the hero himself has just taken the potion or treasure of a tile."""
    way = board.to(spot)
    goal = board.to(board.exit)
    full = health(world, world.start())

    def mine(state: State) -> bool:
        return not there(world, state, spot) and world.place(state) == spot and world.over(state) != LOST

    def rank(state: State) -> float:
        if world.over(state) == LOST or goal.get(world.place(state)) is None:
            return float("inf")
        gone = not there(world, state, spot)
        if gone and world.place(state) != spot:
            return float("inf")
        return way.get(world.place(state), 99) + 0.3 * world.value(state, "ST") + 2 * (full - health(world, state))

    return reached(world, mine, rank, begin, most)


def fetches(world: World, board: Board, spot: Spot) -> bool:
    """Return whether a playthrough was found that takes the object on a tile and then reaches the exit alive."""
    state = fetch(world, board, spot)
    return state is not None and win(world, board, state) is not None


def quiet(world: World, moves: int = QUIET_MOVES) -> bool:
    """Return whether no play loses a hit point or springs a trap within `moves` moves."""
    full = health(world, world.start())
    for depth, states in enumerate(layers(world)):
        if any(health(world, s) < full for s in states):
            return False
        if depth == moves:
            break
    return True


def dead_ends(board: Board) -> list[list[Spot]]:
    """Return dead-end corridors: their tiles from the end to the branch, with the objects on them."""
    found = []
    for tile in sorted(board.floor):
        near = [n for n in beside(tile) if n in board.floor]
        if len(near) != 1:
            continue
        lane, before = [tile], None
        while len(onward := [n for n in beside(lane[-1]) if n in board.floor and n != before]) == 1:
            before = lane[-1]
            lane.append(onward[0])
            if len(lane) > len(board.floor):
                break
        found.append(lane[:-1] if len(lane) > 1 else lane)
    return found


def tidy(board: Board) -> bool:
    """Return whether all floor is used: no part cut off, no empty dead end, no portal that skips the level."""
    if set(board.ways()) != set(board.floor) | {board.hero}:
        return False
    if any(all(board.cells[s] in " X" for s in lane) for lane in dead_ends(board)):
        return False
    way, afoot = board.ways()[board.exit], board.changed(dict.fromkeys(board.find("p"), " ")).ways().get(board.exit)
    return way >= 6 and (afoot is None or way > SHORTCUT * afoot)


def sound(board: Board, strict: bool = True) -> World | None:
    """Return the level if it is proven to be sound (see the module).

    Args:
        strict: False to require only that everything can be taken and the level won.
    """
    world = world_of(board)
    if world is None or (strict and not (tidy(board) and quiet(world))):
        return None
    done = win(world, board, careful=6.0)
    if done is None or (strict and (world.value(done, "TS") > 0 or health(world, done) < 4)):
        return None
    if all(fetches(world, board, spot) for spot in board.find("TP")):
        return world
    return None


def rooms(rng: Random, small: bool = False) -> tuple[dict[Spot, str], list[list[Spot]], list[tuple[int, int, Spot]]]:
    """Return cells, the tiles of each room, and (room, room, tile) of each door."""
    columns, rows = rng.choice(((2, 2), (3, 1)) if small else ((2, 2), (3, 2), (3, 2), (3, 3), (4, 2)))
    widest = 4 if small else 5
    widths, heights = ([rng.randint(3, widest) for _ in range(columns)], [rng.randint(2, 3) for _ in range(rows)])
    lefts = [1 + sum(widths[:i]) + i for i in range(columns)]
    tops = [1 + sum(heights[:i]) + i for i in range(rows)]
    cells = {(x, y): "X" for y in range(tops[-1] + heights[-1] + 1) for x in range(lefts[-1] + widths[-1] + 1)}
    spaces = []
    for j in range(rows):
        for i in range(columns):
            spaces.append(
                [(x, y) for y in range(tops[j], tops[j] + heights[j]) for x in range(lefts[i], lefts[i] + widths[i])]
            )
            cells.update(dict.fromkeys(spaces[-1], " "))
    pairs = [(k, k + 1) for k in range(columns * rows) if (k + 1) % columns]
    pairs += [(k, k + columns) for k in range(columns * (rows - 1))]
    rng.shuffle(pairs)
    joined, doors = {0}, []
    while len(joined) < columns * rows:
        pair = next(p for p in pairs if (p[0] in joined) != (p[1] in joined))
        joined |= set(pair)
        doors.append(pair)
    doors += [p for p in pairs if p not in doors][: rng.choice((0, 0, 1, 2))]
    found = []
    for a, b in doors:
        walls = [
            s
            for s, c in cells.items()
            if c == "X" and any(n in spaces[a] for n in beside(s)) and any(n in spaces[b] for n in beside(s))
        ]
        door = rng.choice(walls)
        cells[door] = " "
        found.append((a, b, door))
    return cells, spaces, found


def _furnished(rng: Random) -> Board:
    """Draw rooms with a hero, an exit far from him, an object in each dead-end room, and monsters between."""
    cells, spaces, doors = rooms(rng)
    cells[rng.choice(spaces[0])] = "H"
    board = Board(max(x for x, _ in cells) + 1, max(y for _, y in cells) + 1, cells)
    way = board.changed({}).changed({rng.choice(spaces[-1]): "e"}).ways()
    away = [max((way.get(s, 0) for s in space), default=0) for space in spaces]
    last = max(range(1, len(spaces)), key=lambda k: (away[k], k))
    cells[rng.choice([s for s in spaces[last] if cells[s] == " "])] = "e"

    def put(char: str, room: int) -> None:
        free = [
            s
            for s in spaces[room]
            if cells[s] == " " and not any(cells[n] != " " and cells[n] != "X" for n in beside(s))
        ]
        if free:
            cells[rng.choice(free)] = char

    degree = [sum(k in (a, b) for a, b, _ in doors) for k in range(len(spaces))]
    for k in range(1, len(spaces)):
        if degree[k] == 1 and k != last:
            put(rng.choice("TTP"), k)
    others = list(range(1, len(spaces)))
    for char in "T" + "P" * rng.randint(0, 2):
        put(char, rng.choice(others))
    for char in rng.choices("MMRob", k=rng.randint(1, 3)) + ["t"] * rng.randint(0, 2):
        put(char, rng.choice(others))
    return Board(board.width, board.height, cells)


def dungeon(seed: int, number: int) -> Board:
    """Return sound level `number` of a seed."""
    rng = Random(f"dungeon {seed} {number}")
    for _ in range(ATTEMPTS):
        board = _furnished(rng)
        if sound(board):
            return board
    raise RuntimeError(f"no sound level out of seed {seed}, number {number}")


def drawn() -> Iterator[tuple[str, Level]]:
    """Yield levels by designers: those that ship, and the paper's and others if they are available."""
    yield from (("ships", level) for level in resolve(game(), ["train", "test"]))
    for where in ("levels/md2", "levels/md2/extra"):
        folder = shared(where)
        files = [] if folder is None else sorted(str(p) for p in folder.glob("*.txt"))
        yield from (("shared", level) for level in (resolve(game(), files) if files else ()))


@cache
def sound_drawn() -> tuple[tuple[str, str, Board], ...]:
    """Return (source, name, board) of the levels by designers that are proven to be sound."""
    found = []
    for source, level in drawn():
        board = Board.of(level.text)
        if sound(board, strict=False):
            found.append((source, level.name, board))
    return tuple(found)


def monsters(board: Board) -> list[Spot]:
    """Return the tiles of the monsters."""
    return board.find(MONSTERS)
