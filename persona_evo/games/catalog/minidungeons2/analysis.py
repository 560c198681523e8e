"""Analyses a level of MiniDungeons 2 without playing it (see `persona_evo.games.findings`).

| module | contents |
|---|---|
| board | who can walk where, and how things are called |
| survival | what can be reached alive over the traps |
| opening | the first moves, all of them: a start that kills, monsters upon the hero, objects that others take |
| ways | ways to the exit: shortcuts, and what lies on every way |
| harm | what every play loses to monsters |
| leftovers | ground and objects that nobody has a reason to go to |

A problem holds whatever the monsters do, since their actions can only cost hit points and objects.
"""

from __future__ import annotations

from collections.abc import Sequence

from persona_evo.games.analysis import at, beside, leading_to, on_every_way
from persona_evo.games.catalog.minidungeons2 import harm, leftovers, opening, ways
from persona_evo.games.catalog.minidungeons2.board import MINITAUR, POTION, TRAP, DungeonBoard, is_are, named
from persona_evo.games.catalog.minidungeons2.levels import LEGEND, MONSTERS, PORTAL
from persona_evo.games.core import Level
from persona_evo.games.findings import Finding, Spot, ranked, where
from persona_evo.words import capital, counted

NO_WIN = ("lethal_start", "deadly_way", "impossible")
"""The kinds of findings that mean that nobody reaches the exit alive."""


def analyse(level: Level) -> list[Finding]:
    """Return all findings, the most important first."""
    board = DungeonBoard(level)
    found = [*unreachable_exit(board), *unreachable_objects(board), *leftovers.sealed_floor(board)]
    if board.grid.exit in board.reached:
        deadly = deadly_way(board)
        first = opening.opening(board)
        alone = [f for f in first if f.kind == "lethal_start" and f.places == (board.grid.hero,)]
        found += deadly + [f for f in first if not (deadly and f in alone)]
        if not deadly:
            found += [*no_return(board), *ways.forced(board)]
        if not any(f.kind in NO_WIN for f in found):
            told = [int(f.evidence["unavoidable_damage"]) for f in first if f.kind == "exposed_start"]
            found += harm.forced_monsters(board, max(told, default=0))
        found += [*ways.shortcuts(board), *leftovers.leftovers(board)]
    return ranked(found)


def hardness(level: Level) -> dict[str, float]:
    """Return numbers that measure how hard a level is (see `Game.hardness`)."""
    board = DungeonBoard(level)
    goal = board.grid.exit
    if goal not in board.reached or goal not in board.survival.alive:
        return {}
    monsters = {f"{name}s": len(board.at(char)) for char, name in LEGEND.items() if char in MONSTERS}
    return {
        "traps that every way springs": board.survival.damage[goal],
        "traps": len(board.at(TRAP)),
        "steps to the exit": board.reached[goal],
        "-potions within reach": len(board.survival.drinkable),
        **monsters,
    }


def unreachable_exit(board: DungeonBoard) -> list[Finding]:
    """Return the finding on an exit that no way leads to."""
    goal = board.grid.exit
    if goal in board.reached:
        return []
    around = board.pieces[board.piece_of[goal]]
    why = (
        "walls are on all sides of it"
        if len(around) == 1
        else (f"it lies among {counted(len(around), 'tile')} that no way leads to")
    )
    wall = _thin_wall(board, around)
    return [
        Finding(
            "unreachable_exit",
            "problem",
            board.level.name,
            f"The exit at {where(goal)} cannot be reached: {why}.",
            (goal,),
            evidence={"tiles_in_reach": len(board.reached), "tiles_around_exit": len(around)},
            look=f"Open the wall at {where(wall)}." if wall else "",
        )
    ]


def _thin_wall(board: DungeonBoard, area: Sequence[Spot]) -> Spot | None:
    """Return a wall tile between the hero's ground and an area."""
    for tile in area:
        for wall in beside(tile):
            if wall not in board.walk and any(n in board.reached and n != board.grid.exit for n in beside(wall)):
                return wall
    return None


def unreachable_objects(board: DungeonBoard) -> list[Finding]:
    """Return findings on objects that the hero can never touch, one per cause, except those cut off with the exit."""
    grid = board.grid
    lost = [
        (x, y)
        for char, x, y in grid.objects
        if (x, y) != grid.exit and not (board.can_meet((x, y)) if char in MONSTERS else board.touches((x, y)))
    ]
    groups: dict[int, list[Spot]] = {}
    for spot in lost:
        groups.setdefault(board.piece_of[spot], []).append(spot)
    shut = None if grid.exit in board.reached else board.piece_of[grid.exit]
    found = [_out_of_reach(board, piece, spots) for piece, spots in groups.items() if piece != shut]
    if grid.exit in board.reached:
        deadly = [
            (x, y)
            for char, x, y in grid.objects
            if char not in MONSTERS and (x, y) in board.reached and (x, y) not in board.survival.alive
        ]
        found += _only_dying(board, deadly)
    return found


def _out_of_reach(board: DungeonBoard, piece: int, spots: list[Spot]) -> Finding:
    area = board.pieces[piece]
    if len(area) == 1:
        why = "walls are on all sides"
    elif piece in board.open_pieces:
        why = f"only the exit at {where(board.grid.exit)} leads there, and it ends the game"
    else:
        why = f"walls are around the {counted(len(area), 'tile')} there"
    wall = _thin_wall(board, area)
    chars = {board.char[s] for s in spots}
    return Finding(
        "unreachable_object",
        "notice" if chars <= {TRAP, MINITAUR} else "problem",
        board.level.name,
        f"{capital(named(board, spots))} cannot be reached: {why}.",
        tuple(spots),
        evidence={"objects": len(spots), "tiles": len(area)},
        look=f"Open the wall at {where(wall)}." if wall and piece not in board.open_pieces else "",
    )


def _only_dying(board: DungeonBoard, spots: list[Spot]) -> list[Finding]:
    """Return the finding on objects behind more traps than the hero survives, unless the exit is behind them, too."""
    spots = [s for s in spots if board.char[s] not in (TRAP, PORTAL) and s != board.grid.exit]
    if not spots or board.grid.exit not in board.survival.alive:
        return []
    least = min(board.survival.damage[s] for s in spots)
    return [
        Finding(
            "unreachable_object",
            "problem",
            board.level.name,
            f"{capital(named(board, spots))} cannot be reached alive: every way there springs at least "
            f"{counted(least, 'trap')}, and the hero has {counted(board.health, 'hit point')}.",
            tuple(spots),
            evidence={"objects": len(spots), "least_damage": least, "hit_points": board.health},
        )
    ]


def deadly_way(board: DungeonBoard) -> list[Finding]:
    """Return the finding on an exit behind more traps than the hero survives."""
    goal, lives = board.grid.exit, board.survival
    if goal in lives.alive:
        return []
    least = lives.damage[goal]
    forced = [s for s in on_every_way(board.grid.hero, goal, board.moves) if board.char.get(s) == TRAP]
    spots = forced or ways.a_layer(board)
    has = f"the hero has {counted(board.health, 'hit point')}"
    if lives.drinkable:
        has += f" and can drink at most {counted(len(lives.drinkable), 'potion')} before (at {at(lives.drinkable)})"
    elif board.at(POTION):
        has += f" and gets to none of the {counted(len(board.at(POTION)), 'potion')} before"
    told = f"those at {at(forced)} are on every way" if len(forced) > 1 else f"for example at {at(spots)}"
    return [
        Finding(
            "deadly_way",
            "problem",
            board.level.name,
            f"No way to the exit at {where(goal)} can be survived: every way springs at least "
            f"{counted(least, 'trap')} of 1 hit point each ({told}), and {has}.",
            tuple(spots),
            evidence={
                "least_damage": least,
                "hit_points": board.health,
                "potions": len(lives.drinkable),
                "forced_traps": len(forced),
            },
            look="Remove some of the traps, open a way around them, or put more potions before them.",
        )
    ]


def no_return(board: DungeonBoard) -> list[Finding]:
    """Return findings on ground that the hero can enter but never leave, or not leave alive."""
    goal, hero = board.grid.exit, board.grid.hero
    back = leading_to([goal], {tile: board.moves[tile] for tile in board.reached})
    stuck = [t for t in board.reached if t not in back]
    dying = [t for t in board.survival.alive - board.survival.leaves if t in back]
    found = []
    if stuck:
        doors = sorted({t for t in stuck if any(t in board.moves[b] for b in back if b in board.reached)})
        names = [s for s in stuck if s in board.char]
        holds = f" (there {is_are(names)} {named(board, names)})" if names and set(names) != set(doors) else ""
        found.append(
            Finding(
                "no_return",
                "problem",
                board.level.name,
                f"Whoever gets to {at(doors)} can never leave again{holds}: no way leads on to the exit.",
                tuple(doors),
                evidence={"tiles": len(stuck)},
            )
        )
    goods = [t for t in dying if board.char.get(t) not in (None, TRAP)]
    if dying and hero not in dying:
        over = sorted(t for t in dying if board.char.get(t) == TRAP)
        least = min(board.survival.damage[t] for t in dying)
        holds = f", with {named(board, goods)}," if goods else ""
        spots = goods or over[:1]
        found.append(
            Finding(
                "no_return",
                "problem" if goods else "notice",
                board.level.name,
                f"The ground behind the traps at {at(over)}{holds} can be entered, but not left alive: "
                f"{counted(least, 'trap')} or more on the way in, and too few hit points for the way out.",
                tuple(spots),
                evidence={"least_damage": least, "hit_points": board.health},
            )
        )
    return found
