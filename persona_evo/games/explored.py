"""Derives findings from all states of a level, for games of which only the rules are known.

All findings need an exploration that was exhausted (`persona_evo.games.exploration`); without one there are none.
Places come from `Game.locate`; the objects there come from the level's text (`persona_evo.games.seen`).
"""

from __future__ import annotations

import functools
from collections import Counter

from persona_evo.errors import PersonaEvoError
from persona_evo.games.analysis import at, leading_to, parts
from persona_evo.games.causes import no_win, used_up
from persona_evo.games.core import LOST, RUNNING, WON, Game, Level
from persona_evo.games.exploration import Exploration, explore
from persona_evo.games.findings import Finding, Spot, ranked
from persona_evo.games.seen import SeenLevel
from persona_evo.words import capital, counted, enumerated, percent

MOST_OF_A_CLASS = 10_000
"""The largest number of states explored in a game that is written as a Python class."""
MOST_COMPILED = 60_000
"""The largest number of states explored in a game whose rules are compiled."""
HOPELESS = 2_000
"""The number of states after which an exploration ends if the number of new states keeps growing."""
HELD_OF_A_CLASS = 100_000
"""The largest number of states that an exploration of a Python class holds; with very many actions, a few moves already
lead to that many."""


@functools.lru_cache(maxsize=4)
def exploration(game: Game, level: Level) -> Exploration:
    """Return the exploration that findings on a level are based on."""
    if game.compiled:
        return explore(game, level, MOST_COMPILED, held=2 * MOST_COMPILED)
    return explore(game, level, MOST_OF_A_CLASS, hopeless=HOPELESS, held=HELD_OF_A_CLASS)


def analyse(game: Game, level: Level) -> list[Finding]:
    """Return all findings on a level of a deterministic single-player game."""
    found = exploration(game, level)
    if not found.exhausted:
        return []
    seen = SeenLevel(game, level, found)
    if not found.has(WON):
        return no_win(seen)
    return ranked([*(_no_return(seen) or _given_away(seen)), *_never_had(seen), *_forced(seen), *_useless(seen)])


def lost_start(game: Game, level: Level, usual: int = 0) -> list[Finding]:
    """Return the finding on a level that is lost, or cannot be won, in any case; for games without places.

    Args:
        game: the game.
        level: the level.
        usual: the number of moves that a complete game may take; a loss by then is not blamed on the start.
    """
    found = exploration(game, level)
    return no_win(SeenLevel(game, level, found), usual) if found.exhausted and not found.has(WON) else []


def hardness(game: Game, level: Level) -> dict[str, float]:
    """Return numbers that measure how hard a level is (see `Game.hardness`).

    The result is empty if the exploration was not exhausted, or found no win.
    """
    found = exploration(game, level)
    if not found.exhausted or not found.has(WON):
        return {}
    won = [i for i, status in enumerate(found.status) if status == WON]
    numbers: dict[str, float] = {"moves to the first win": min(found.depth[i] for i in won)}
    metrics = SeenLevel(game, level, found).metrics[won]
    for k, metric in enumerate(game.metrics):
        if metric.better == "higher":
            numbers[f"-{metric.name} ({metric.symbol}) at a win at best"] = float(metrics[:, k].max())
        elif metric.better == "lower" and not metric.clock:
            numbers[f"{metric.name} ({metric.symbol}) at a win at best"] = float(metrics[:, k].min())
    return numbers


def said(game: Game, level: Level) -> str:
    """Return a sentence for people on what an exploration that was not exhausted means; "" if it was exhausted."""
    found = exploration(game, level)
    if found.exhausted:
        return ""
    hint = (
        ""
        if callable(getattr(level.start[0], "key", None))
        else (" (a method key() that is equal for states with the same future leaves fewer of them)")
    )
    return (
        f"the analysis explored {counted(found.looked, 'state')}, all that {counted(found.complete, 'move')} can lead "
        f"to, and the level has more; so it says nothing about what is impossible{hint}"
    )


def _no_return(seen: SeenLevel) -> list[Finding]:
    """Return the finding on places that can be entered but never left, and where play goes on without a possible win.

    A player who dies only because every move uses something up counts as able to leave.
    """
    found = seen.found
    after: dict[Spot, set[Spot]] = {}
    home = {seen.places[i] for i, status in enumerate(found.status) if status == WON}
    tired = used_up(seen) is not None
    for i, to in seen.moves():
        a, b = seen.places[i], seen.places[to]
        if a is not None and b is not None and (tired or found.status[to] != LOST):
            after.setdefault(a, set()).add(b)
    back = leading_to((p for p in home if p is not None), after)
    running = {seen.places[i] for i, status in enumerate(found.status) if status == RUNNING}
    stuck = [p for p in running if p is not None and p not in back]
    if not stuck or None in home or seen.places[0] in stuck:
        return []
    doors = sorted({p for p in stuck if any(p in after.get(q, ()) for q in back)})
    tiles = parts(stuck)
    return [
        Finding(
            "no_return",
            "problem",
            seen.level.name,
            f"Whoever enters {at(doors)} can never leave again and can no longer win "
            f"({counted(sum(map(len, tiles)), 'tile')}, proven).",
            tuple(doors),
            evidence={"tiles": len(stuck), "states": len(found.states), "proven": True},
        )
    ]


def _given_away(seen: SeenLevel) -> list[Finding]:
    """Return the finding on moves after which the level cannot be won, though the game can go on forever.

    Moves of players who have lost hit points are left out, because those players have been warned.
    """
    found = seen.found
    winnable = found.leading_to([i for i, status in enumerate(found.status) if status == WON])
    endless = found.can_last()
    spots: Counter[Spot] = Counter()
    for i, to in seen.moves():
        place = seen.places[to]
        warned = seen.health is not None and seen.health[to] < seen.health[0]
        if i in winnable and to not in winnable and to in endless and place is not None and not warned:
            spots[place] += 1
    if not spots:
        return []
    places = sorted(spots, key=lambda p: (p[1], p[0]))
    return [
        Finding(
            "no_return",
            "notice",
            seen.level.name,
            f"A move to {at(places)} can give the win away: play goes on, but no way leads to a win any more (proven).",
            tuple(places),
            evidence={"places": len(places), "states": len(found.states), "proven": True},
        )
    ]


def _never_had(seen: SeenLevel) -> list[Finding]:
    """Return findings on objects that never add to a metric, and on metrics that never reach their upper bound."""
    found = []
    for k, metric in enumerate(seen.game.metrics):
        values = seen.metrics[:, k]
        if metric.better != "higher" or metric.clock or not metric.high < float("inf"):
            continue
        most = float(values.max())
        if most >= metric.high - 1e-9:
            continue
        spots, char, stolen = _left_lying(seen, k)
        if not spots and not (metric.ratio or metric.high == 1):
            continue
        proof = {"most": most, "high": metric.high, "metric": metric.symbol, "states": len(values), "proven": True}
        limit = percent(most) if metric.high == 1 else f"{most:.3g} of {metric.high:g}"
        short = f"{metric.name} ({metric.symbol}) cannot exceed {limit}"
        if spots:
            why = "others take it first or it cannot be taken" if stolen else "no way leads there"
            text = f"Nobody ever gets the '{char}' at {at(spots)}: {why}, so {short} (proven)."
        else:
            text = f"{capital(short)}, however it is played (proven)."
        found.append(
            Finding(
                "stolen_object" if stolen else "unreachable_object",
                "problem",
                seen.level.name,
                text,
                tuple(spots),
                evidence=proof,
            )
        )
    return found


def _left_lying(seen: SeenLevel, k: int) -> tuple[list[Spot], str, bool]:
    """Find tiles on which a metric never rises, though it does on other tiles of their kind.

    Returns:
        The tiles, their kind, and whether they can be visited.
    """
    if seen.map is None:
        return [], "", False
    values = seen.metrics[:, k]
    had = {p for i, to in seen.moves() if values[to] > values[i] and (p := seen.places[to]) is not None}
    kinds = Counter(seen.map.char(p) for p in sorted(had))
    chars = [c for c, _ in kinds.most_common(1)] or _unvisited_kinds(seen)
    for char in chars:
        if char in (seen.floor, seen.wall):
            continue
        left = [p for p in seen.map.cells(char) if p not in had]
        shut = [p for p in left if p not in seen.visited]
        if shut:
            return shut, char, False
        if left:
            return left, char, True
    return [], "", False


def _unvisited_kinds(seen: SeenLevel) -> list[str]:
    """Return the one kind of tile, besides the most common one (a wall), of which no tile can be visited.

    The list is empty if there is no such kind, or more than one.
    """
    assert seen.map is not None
    kinds = [c for c in seen.kinds() if not any(p in seen.visited for p in seen.map.cells(c))]
    return kinds[:-1] if len(kinds) == 2 else []


def _forced(seen: SeenLevel) -> list[Finding]:
    """Return the finding on tiles that cost hit points and lie on every way to win."""
    if seen.health is None or seen.map is None:
        return []
    hurts = sorted(
        {p for i, to in seen.moves() if seen.health[to] < seen.health[i] and (p := seen.places[to]) is not None}
    )
    hurts = [p for p in hurts if seen.map.char(p) != seen.floor][:20]
    forced = [p for p in hurts if not _won_without(seen, p)]
    won = [i for i, status in enumerate(seen.found.status) if status == WON]
    left, start = float(seen.health[won].max()), float(seen.health[0])
    if not forced:
        return []
    kinds = sorted({seen.map.char(p) for p in forced})
    named = enumerated([f"the '{c}' at {at([p for p in forced if seen.map.char(p) == c])}" for c in kinds])
    return [
        Finding(
            "forced_hazard",
            "notice",
            seen.level.name,
            f"Every line of play that wins passes {named}; at most {left:g} of {counted(round(start), 'hit point')} "
            "are left at its end.",
            tuple(forced),
            evidence={"most_health_left": left, "hit_points": start, "tiles": len(forced)},
        )
    ]


def _won_without(seen: SeenLevel, spot: Spot) -> bool:
    """Return whether the level can be won without entering a tile."""
    reached, queue = {0}, [0]
    for i in queue:
        for to in seen.found.after[i]:
            if to not in reached and seen.places[to] != spot:
                if seen.found.status[to] == WON:
                    return True
                reached.add(to)
                queue.append(to)
    return False


def _useless(seen: SeenLevel) -> list[Finding]:
    """Return findings on objects that can be taken but count for nothing, are never used, and change nothing."""
    if seen.map is None:
        return []
    found = []
    moves = list(seen.moves())
    for k, metric in enumerate(seen.game.metrics):
        values = seen.metrics[:, k]
        if metric.better != "neutral" or metric.clock or any(values[to] < values[i] for i, to in moves):
            continue
        taken = {p for i, to in moves if values[to] > values[i] and (p := seen.places[to]) is not None}
        kinds = {seen.map.char(p) for p in taken}
        if len(kinds) != 1 or not kinds <= set(seen.kinds()) or not _changes_nothing(seen, *kinds):
            continue
        char, spots = kinds.pop(), sorted(taken)
        found.append(
            Finding(
                "useless_object",
                "notice",
                seen.level.name,
                f"Nobody needs the '{char}' at {at(spots)}: {metric.name} ({metric.symbol}) are never used, and "
                "nothing is harder without it (proven).",
                tuple(spots),
                evidence={"metric": metric.symbol, "proven": True},
            )
        )
    return found


def _changes_nothing(seen: SeenLevel, char: str) -> bool:
    """Return whether a level is equally hard without the tiles of a kind."""
    assert seen.map is not None
    try:
        other = seen.game.load(seen.map.without(char, seen.floor), seen.level.name, **seen.level.options)
        return bool(hardness(seen.game, seen.level)) and hardness(seen.game, other) == hardness(seen.game, seen.level)
    except PersonaEvoError:
        return False
