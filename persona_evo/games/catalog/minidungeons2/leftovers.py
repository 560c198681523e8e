"""Finds ground and objects without a purpose: sealed floor, empty dead ends, useless traps and portals."""

from __future__ import annotations

from persona_evo.games.analysis import at, distances, least_cost, pockets
from persona_evo.games.catalog.minidungeons2.board import GOALS, POTION, TRAP, TREASURE, DungeonBoard, is_are, named
from persona_evo.games.catalog.minidungeons2.levels import MONSTERS
from persona_evo.games.findings import Finding, Spot, where
from persona_evo.words import capital, counted

DEEP = 4
"""The depth of a dead end, in moves, from which its emptiness is reported."""
ROOMY = 9
"""The number of tiles of a dead end from which its emptiness is reported, however short it is."""
LITTLE = 2
"""The most steps that a useless pair of portals saves."""


def sealed_floor(board: DungeonBoard) -> list[Finding]:
    """Return the finding on floor without objects that no way leads to."""
    closed = [
        piece
        for i, piece in enumerate(board.pieces)
        if i not in board.open_pieces and not any(tile in board.char for tile in piece)
    ]
    if not closed:
        return []
    tiles = sum(map(len, closed))
    spots = tuple(piece[0] for piece in closed)
    return [
        Finding(
            "unreachable_floor",
            "notice",
            board.level.name,
            f"No way leads to the {counted(tiles, 'tile')} of floor {_around(closed)}.",
            spots,
            evidence={"tiles": tiles, "areas": len(closed)},
        )
    ]


def _around(closed: list[list[Spot]]) -> str:
    """Return where closed areas are: all tiles of small ones, the first tile of large ones."""
    if all(len(piece) <= 3 for piece in closed):
        return f"at {at([tile for piece in closed for tile in piece])}"
    return f"around {at([piece[0] for piece in closed])}"


def leftovers(board: DungeonBoard) -> list[Finding]:
    """Return findings on dead ends and objects that nobody needs."""
    return [*_useless_traps(board), *_useless_potions(board), *_useless_portals(board), *_dead_ends(board)]


def _dead_ends(board: DungeonBoard) -> list[Finding]:
    """Return one notice for all empty dead ends that are worth mentioning."""
    special = {board.grid.hero, board.grid.exit}
    found = pockets(board.grid.hero, board.walk, lambda tile: tile in board.char or tile in special)
    found = [p for p in found if p.depth >= DEEP or len(p.tiles) >= ROOMY]
    if not found:
        return []
    ends = [p.end for p in found]
    tiles = sum(len(p.tiles) for p in found)
    if len(found) == 1:
        text = f"The dead end from {where(found[0].door)} to {where(ends[0])} is empty: {counted(tiles, 'tile')}"
    else:
        text = f"{len(found)} dead ends are empty, those that end at {at(ends)}: {counted(tiles, 'tile')} in all"
    return [
        Finding(
            "empty_dead_end",
            "notice",
            board.level.name,
            f"{text} with nothing to find.",
            tuple(ends),
            evidence={"dead_ends": len(found), "tiles": tiles},
        )
    ]


def _useless_traps(board: DungeonBoard) -> list[Finding]:
    """Return the finding on traps in dead ends that contain nothing else."""
    special = {board.grid.hero, board.grid.exit}
    hangs = pockets(board.grid.hero, board.walk, lambda tile: tile in special or board.char.get(tile, TRAP) != TRAP)
    traps = [tile for pocket in hangs for tile in pocket.tiles if tile in board.char]
    if not traps:
        return []
    them = "it" if len(traps) == 1 else "them"
    return [
        Finding(
            "useless_object",
            "notice",
            board.level.name,
            f"Nobody has a reason to step on {named(board, traps)}: there is nothing else in the dead end, so "
            f"players never meet {them}.",
            tuple(sorted(traps)),
            evidence={"traps": len(traps)},
        )
    ]


def _useless_potions(board: DungeonBoard) -> list[Finding]:
    """Return findings on potions that cost as many hit points as they give, and on potions where nothing hurts."""
    potions = [p for p in board.at(POTION) if p in board.survival.alive]
    if potions and not board.at(MONSTERS + TRAP):
        return [
            Finding(
                "useless_object",
                "notice",
                board.level.name,
                f"Nothing in the level hurts, so nobody needs {named(board, potions)}.",
                tuple(potions),
                evidence={"potions": len(potions)},
            )
        ]
    damage = board.survival.damage
    behind = [p for p in potions if damage[p] > 0]
    found = []
    for potion in behind:
        back = _damage_from(board, potion)
        extra = damage[potion] + back - damage[board.grid.exit]
        if extra >= 1:
            found.append((potion, extra))
    rooms = board.at(TREASURE) + [m for m in board.at(MONSTERS)]
    found = [(p, extra) for p, extra in found if not any(damage.get(r) == damage[p] for r in rooms)]
    if not found:
        return []
    spots = [p for p, _ in found]
    least = min(extra for _, extra in found)
    return [
        Finding(
            "useless_object",
            "notice",
            board.level.name,
            f"{capital(named(board, spots))} {is_are(spots)} not worth the detour: a potion gives 1 hit point, and "
            f"the traps on the way there and back cost at least {least}.",
            tuple(spots),
            evidence={"least_cost": least},
        )
    ]


def _damage_from(board: DungeonBoard, spot: Spot) -> int:
    traps = set(board.at(TRAP))
    return least_cost(spot, board.moves, lambda tile: tile in traps).get(board.grid.exit, 10**6)


def _useless_portals(board: DungeonBoard) -> list[Finding]:
    """Find pairs of portals that hardly shorten any path between start, exit, treasures, potions and monsters."""
    if not board.grid.portals or not all(p in board.reached for p in board.grid.portals):
        return []
    marks = [s for s in (board.grid.hero, *board.at(GOALS)) if s in board.reached]
    goals, saved = {*marks, board.grid.exit}, 0
    for mark in marks:
        on_foot = distances([mark], {**board.walk, board.grid.exit: ()})
        ported = distances([mark], board.moves)
        saved = max([saved, *(on_foot.get(g, 10**9) - ported[g] for g in goals if g in ported)])
    if saved > LITTLE:
        return []
    one, other = board.grid.portals
    room = sorted(board.reached.keys() - board.on_foot.keys() - {one, other}, key=lambda p: (p[1], p[0]))
    if room:
        return [_portals_to_a_room(board, room)]
    more = f" by more than {counted(saved, 'step')}" if saved else ""
    return [
        Finding(
            "useless_object",
            "notice",
            board.level.name,
            f"The portals at {where(one)} and {where(other)} lead nowhere new: they shorten no way between the "
            f"start, the exit and any object{more}.",
            (one, other),
            evidence={"steps_saved": saved},
        )
    ]


def _portals_to_a_room(board: DungeonBoard, room: list[Spot]) -> Finding:
    """Return the finding on portals that are the only way to an area where there is nothing to gain.

    Args:
        board: the board.
        room: the tiles of this area without the portals.
    """
    one, other = board.grid.portals
    things = [tile for tile in room if tile in board.char]
    what = f"a room with nothing but {named(board, things)}" if things else "an empty room"
    return Finding(
        "useless_object",
        "notice",
        board.level.name,
        f"The portals at {where(one)} and {where(other)} lead to {what}: {counted(len(room), 'tile')} around "
        f"{where(room[0])} with nothing to find.",
        (one, other, *room[:1]),
        evidence={"tiles": len(room)},
    )
