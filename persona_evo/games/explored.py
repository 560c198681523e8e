"""What follows from looking at all states of a level, for games of which nothing but the rules is known.

Everything here rests on an exploration that was exhausted (`persona_evo.games.exploration`); where it was not, nothing
is said. Places come from `Game.locate`, and what lies there from the level's text (`persona_evo.games.seen`).
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
from persona_evo.words import capital, counted, enumerated

MOST_OF_A_CLASS = 10_000
"""States looked at in a game written as a Python class."""
MOST_COMPILED = 60_000
"""States looked at in games whose rules are compiled."""
HOPELESS = 2_000
"""States after which an exploration ends that sees more and more new ones."""
HELD_OF_A_CLASS = 100_000
"""States of a class that an exploration holds; those of a game with very many actions come from a few moves."""


@functools.lru_cache(maxsize=4)
def exploration(game: Game, level: Level) -> Exploration:
    """The exploration that findings on a level rest on."""
    if game.compiled:
        return explore(game, level, MOST_COMPILED, held=2 * MOST_COMPILED)
    return explore(game, level, MOST_OF_A_CLASS, hopeless=HOPELESS, held=HELD_OF_A_CLASS)


def analyse(game: Game, level: Level) -> list[Finding]:
    """All findings on a level of a deterministic single-player game."""
    found = exploration(game, level)
    if not found.exhausted:
        return []
    seen = SeenLevel(game, level, found)
    if not found.has(WON):
        return no_win(seen)
    return ranked([*(_no_return(seen) or _given_away(seen)), *_never_had(seen), *_forced(seen), *_useless(seen)])


def lost_start(game: Game, level: Level, usual: int = 0) -> list[Finding]:
    """The finding on a level that is lost, or cannot be won, whatever is played; for games without places.

    Args:
        usual: moves that a whole game may take, so that it is no matter of the start if it is lost by then.
    """
    found = exploration(game, level)
    return no_win(SeenLevel(game, level, found), usual) if found.exhausted and not found.has(WON) else []


def hardness(game: Game, level: Level) -> dict[str, float]:
    """What makes a level harder, as numbers (see `Game.hardness`); empty where it is not known to the end."""
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
    """What an exploration that was not exhausted means, for people; "" where it was."""
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
    """Places that can be entered, that no play leaves, and from which none is won, though the game goes on.

    Who only dies because every move uses something up could have left.
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
    """Moves after which the level cannot be won any more though the game can go on for ever, and where they lead.

    Moves of those who have lost hit points are left out: they have been warned.
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
    """Things that add to a metric in no play, and metrics that never reach what they could."""
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
        limit = f"{most:.0%}".replace("%", " %") if metric.high == 1 else f"{most:.3g} of {metric.high:g}"
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
    """Tiles on which a metric never rises though it does on others of their kind, the kind, and whether they can be
    visited."""
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
    """Kinds of tiles none of which can be visited, the commonest (a wall) left out, if there is only one more."""
    assert seen.map is not None
    kinds = [c for c in seen.kinds() if not any(p in seen.visited for p in seen.map.cells(c))]
    return kinds[:-1] if len(kinds) == 2 else []


def _forced(seen: SeenLevel) -> list[Finding]:
    """Tiles that cost hit points and that every play that is won passes."""
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
            f"Every play that is won passes {named}; at most {left:g} of {counted(round(start), 'hit point')} are left "
            "at its end.",
            tuple(forced),
            evidence={"most_health_left": left, "hit_points": start, "tiles": len(forced)},
        )
    ]


def _won_without(seen: SeenLevel, spot: Spot) -> bool:
    """Whether the level can be won without coming to a tile."""
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
    """Things that can be taken, count for nothing in themselves, are never used, and whose absence changes nothing."""
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
    """Whether a level without the tiles of a kind is as hard as it is with them."""
    assert seen.map is not None
    try:
        other = seen.game.load(seen.map.without(char, seen.floor), seen.level.name, **seen.level.options)
        return bool(hardness(seen.game, seen.level)) and hardness(seen.game, other) == hardness(seen.game, seen.level)
    except PersonaEvoError:
        return False
