"""What follows from looking at all states of a level, for games of which nothing but the rules is known.

Everything here rests on an exploration that was exhausted (`persona_evo.games.exploration`); where it was not, nothing
is said. Places come from `Game.locate`, and what lies there from the level's text, where the text is a map on which the
avatar stands at its own place. A cause is found by asking what would help: the level is explored again without the
tiles of one kind, or with one thing more.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from persona_evo.errors import PersonaEvoError
from persona_evo.formula import parse
from persona_evo.games.analysis import at, beside, parts
from persona_evo.games.core import LOST, RUNNING, WON, Game, Level, Metric
from persona_evo.games.exploration import MOST_STATES, Exploration, explore
from persona_evo.games.findings import Finding, Spot, ranked, where
from persona_evo.words import counted, enumerated

FEW_MOVES, VERY_FEW_MOVES = 20, 8
"""Moves within which a game that is always lost is lost at its start; within so few also if one kind of tile explains
it."""
MOST_COMPILED = 60_000
"""States looked at in games whose rules are compiled."""
SUPPOSED_STATES = 5_000
"""States looked at in a level that is supposed to differ."""
HOPELESS = 2_000
"""States after which an exploration ends that sees more and more new ones."""
MOST_HURT = 0.8
"""Share of all losses of hit points, and of games, from which on one kind of tile is what hurts."""
MOST_CULPRITS = 8
"""Tiles of a kind that a finding names at most."""
HEADER_LINES = 4
"""Lines before the map in a level's text, at most."""


@functools.lru_cache(maxsize=8)
def exploration(game: Game, level: Level) -> Exploration:
    """The exploration that findings on a level rest on."""
    if game.compiled:
        return explore(game, level, MOST_COMPILED)
    return explore(game, level, MOST_STATES, hopeless=HOPELESS)


def analyse(game: Game, level: Level) -> list[Finding]:
    """All findings on a level of a deterministic single-player game."""
    found = exploration(game, level)
    if not found.exhausted:
        return []
    seen = _Seen(game, level, found)
    if not found.has(WON):
        return _no_win(seen)
    return ranked([*(_no_return(seen) or _given_away(seen)), *_never_had(seen), *_forced(seen), *_useless(seen)])


def lost_start(game: Game, level: Level) -> list[Finding]:
    """The finding on a level that is lost, or cannot be won, whatever is played; for games without places."""
    found = exploration(game, level)
    return _no_win(_Seen(game, level, found)) if found.exhausted and not found.has(WON) else []


def hardness(game: Game, level: Level) -> dict[str, float]:
    """What makes a level harder, as numbers (see `Game.hardness`); empty where it is not known to the end."""
    found = exploration(game, level)
    if not found.exhausted or not found.has(WON):
        return {}
    won = [i for i, status in enumerate(found.status) if status == WON]
    numbers: dict[str, float] = {"moves to the first win": min(found.depth[i] for i in won)}
    metrics = _Seen(game, level, found).metrics[won]
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
    return (
        f"{counted(found.looked, 'state')} were looked at, all within {counted(found.complete, 'move')} among them, "
        "and there are more: so nothing is claimed about what is impossible"
    )


@dataclass(frozen=True)
class _Map:
    """The map in a level's text: (x, y) as the game counts them, and the character there. above: lines before it."""

    rows: tuple[str, ...]
    above: int

    def char(self, spot: Spot) -> str:
        x, y = spot[0], spot[1] + self.above
        return self.rows[y][x] if 0 <= y < len(self.rows) and 0 <= x < len(self.rows[y]) else ""

    def cells(self, char: str) -> list[Spot]:
        return [(x, y - self.above) for y, row in enumerate(self.rows) for x, c in enumerate(row)
                if c == char and y >= self.above]  # fmt: skip

    def with_char(self, spot: Spot, char: str) -> str:
        """The level's text with another character on one tile."""
        rows = list(self.rows)
        y = spot[1] + self.above
        rows[y] = rows[y][: spot[0]] + char + rows[y][spot[0] + 1 :]
        return "\n".join(rows) + "\n"

    def without(self, char: str, floor: str) -> str:
        """The level's text with floor instead of all tiles of a kind, those at the edge left out."""
        head, body = self.rows[: self.above + 1], self.rows[self.above + 1 : -1]
        inside = (row[:1] + row[1:-1].replace(char, floor) + row[-1:] for row in body)
        return "\n".join((*head, *inside, self.rows[-1])) + "\n"


class _Seen:
    """An exploration with the place and the metrics of each state."""

    def __init__(self, game: Game, level: Level, found: Exploration) -> None:
        self.game, self.level, self.found = game, level, found
        locate = game.locate
        self.places = [locate(level, s) if locate else None for s in found.states]
        self.metrics = np.zeros((len(found.states), len(game.metrics)))
        measure = game.rules(costly=True).measure
        for i, state in enumerate(found.states):
            measure(level.tables, state, 0, self.metrics[i])
        self.visited = {p for p in self.places if p is not None}

    @functools.cached_property
    def map(self) -> _Map | None:
        """The map that the text is, if the avatar's start shows where it begins."""
        start, rows = self.places[0], tuple(self.level.text.splitlines())
        letters = Counter("".join(rows))
        for above in range(HEADER_LINES):
            found = _Map(rows, above)
            if start is not None and letters[found.char(start)] == 1:
                return found
        return None

    @functools.cached_property
    def floor(self) -> str:
        """The character of floor: a space or a dot if there is one, else that of most tiles that can be visited."""
        assert self.map is not None
        here = self.map.char(self.places[0]) if self.places[0] is not None else ""
        counts = Counter(self.map.char(p) for p in sorted(self.visited))
        usual = [c for c in " ." if self.map.cells(c)]
        return next((c for c in (*usual, *dict(counts.most_common())) if c not in (here, "")), " ")

    @functools.cached_property
    def health(self) -> np.ndarray[Any, Any] | None:
        """Hit points left in each state, None in games without.

        Where the game does not say what they are, they are a metric that is better high, and used up in every game
        that is lost, but not by every move.
        """
        if self.game.health:
            formula, symbols = parse(self.game.health), self.game.symbols
            return np.array([formula.evaluate(dict(zip(symbols, row, strict=True))) for row in self.metrics])
        lost = [i for i, status in enumerate(self.found.status) if status == LOST]
        for k, metric in enumerate(self.game.metrics):
            values = self.metrics[:, k]
            falls = metric.better == "higher" and not metric.clock and values[0] > metric.low
            if lost and falls and (values[lost] <= metric.low).all() and not _same_step(self, values):
                return values
        return None

    @functools.cached_property
    def ground(self) -> set[Spot]:
        """The tiles that would be reached if moves never ended: over all kinds but those that nobody enters from beside.
        """
        assert self.map is not None
        inside = {p for p, status in zip(self.places, self.found.status, strict=True) if p and status == RUNNING}
        beyond = {self.map.char(q) for p in inside for q in beside(p) if q not in self.visited}
        shut = beyond - {self.map.char(p) for p in self.visited}
        found, queue = set(self.visited), list(self.visited)
        for spot in queue:
            new = [p for p in beside(spot) if p not in found and self.map.char(p) and self.map.char(p) not in shut]
            found.update(new)
            queue += new
        return found

    def kinds(self) -> list[str]:
        """The characters of the map but for the start's and the floor's, the rarest first."""
        assert self.map is not None and self.places[0] is not None
        counts = Counter(c for row in self.map.rows[self.map.above :] for c in row)
        return [c for c, _ in reversed(counts.most_common()) if c not in (self.map.char(self.places[0]), self.floor)]

    def win_of(self, text: str) -> Spot | bool | None:
        """Where the level is won if its text were this one; None without places, False if no win was found."""
        try:
            other = self.game.load(text, self.level.name, self.level.source, **self.level.options)
            found = explore(self.game, other, SUPPOSED_STATES, until=WON)
            if not found.has(WON):
                return False
            return self.game.locate(other, found.states[found.status.index(WON)]) if self.game.locate else None
        except PersonaEvoError:
            return False

    def moves(self) -> Iterator[tuple[int, int]]:
        """Every move as (state before, state after)."""
        for i, following in enumerate(self.found.after):
            for to in following:
                yield i, to


def _no_win(seen: _Seen) -> list[Finding]:
    """Why no play of the level is won: the simplest cause that explains it, or that none is known."""
    found, name = seen.found, seen.level.name
    proof = {"states": len(found.states), "proven": True}
    if not found.has(LOST) and not _says_won(seen.game):
        return []
    short = _used_up(seen)
    if short is not None:
        return [_shut(seen, proof, for_good=True) or _scarce(seen, short, proof)]
    moves = found.complete if found.all_die else FEW_MOVES + 1
    hazard = _hazard(seen) if moves > VERY_FEW_MOVES else ""
    if hazard:
        return [_deadly(seen, hazard, proof)]
    if moves <= FEW_MOVES:
        return [_lethal(seen, proof)]
    cause = _too_few(seen, proof) or _shut(seen, proof)
    if cause is not None:
        return [cause]
    return [
        Finding(
            "impossible", "problem", name,
            f"The level cannot be won: all {counted(len(found.states), 'state')} that play can come to were looked at, "
            "and none is won.", evidence=proof,
        )
    ]  # fmt: skip


def _says_won(game: Game) -> bool:
    """Whether a game's class can say that a game is won, as far as its code shows."""
    cls = getattr(getattr(game.rules(), "over", None), "__self__", None)
    cls = getattr(cls, "cls", None)
    if cls is None:
        return True
    codes = [f.__code__ for c in cls.__mro__ for f in vars(c).values() if hasattr(f, "__code__")]
    for code in codes:
        if "won" in code.co_consts:
            return True
        codes += [c for c in code.co_consts if hasattr(c, "co_consts")]
    return any("won" in (value if isinstance(value, (tuple, list)) else (value,)) for value in vars(cls).values()
               if isinstance(value, (str, tuple, list)))  # fmt: skip


def _used_up(seen: _Seen) -> Metric | None:
    """The metric of what every move uses up, if all games are lost because nothing of it is left."""
    lost = [i for i, status in enumerate(seen.found.status) if status == LOST]
    if not lost:
        return None
    for k, metric in enumerate(seen.game.metrics):
        values = seen.metrics[:, k]
        if metric.clock or metric.better == "lower" or values[0] <= metric.low or (values[lost] > metric.low).any():
            continue
        falls = [values[to] < values[i] for i, to in seen.moves()]
        if len(falls) >= 2 and np.mean(falls) > 0.5 and _same_step(seen, values):
            return metric
    return None


def _same_step(seen: _Seen, values: Any) -> bool:
    """Whether a metric goes down by the same amount in every move that takes nothing else and gives nothing."""
    drops = Counter(round(float(values[i] - values[to]), 9) for i, to in seen.moves() if values[to] < values[i])
    steps = Counter(round(float(values[i] - values[to]), 9) for i, to in seen.moves())
    return len(drops) >= 1 and steps.most_common(1)[0][0] > 0 and 0.0 not in steps


def _scarce(seen: _Seen, metric: Metric, proof: dict[str, Any]) -> Finding:
    k = seen.game.symbols.index(metric.symbol)
    start = float(seen.metrics[0, k])
    sources = sorted({p for i, to in seen.moves() if seen.metrics[to, k] > seen.metrics[i, k]
                      if (p := seen.places[to]) is not None})  # fmt: skip
    gained = f"; more of it is found at {at(sources)}" if sources else ""
    return Finding(
        "scarce_resource", "problem", seen.level.name,
        f"{metric.name.capitalize()} ({metric.symbol}) does not suffice: it is {start:g} at the start, every move uses "
        f"some, and it runs out within {counted(seen.found.complete, 'move')} whatever is played (proven){gained}.",
        tuple(sources) or ((seen.places[0],) if seen.places[0] else ()), evidence={**proof, metric.symbol: start},
    )  # fmt: skip


def _hazard(seen: _Seen) -> str:
    """The kind of tile on which players are hurt, and without which the level could be won; "" if there is none."""
    if seen.map is None:
        return ""
    hurts: Counter[str] = Counter()
    for i, to in seen.moves():
        place = seen.places[to]
        if place is not None and (seen.found.status[to] == LOST or (
            seen.health is not None and seen.health[to] < seen.health[i]
        )):
            hurts[seen.map.char(place)] += 1
    for char, count in hurts.most_common(1):
        if char in seen.kinds() and count >= MOST_HURT * sum(hurts.values()):
            return char if seen.win_of(seen.map.without(char, seen.floor)) is not False else ""
    return ""


def _deadly(seen: _Seen, char: str, proof: dict[str, Any]) -> Finding:
    """The finding on tiles that hurt and cannot be avoided."""
    assert seen.map is not None
    cells = [p for p in seen.map.cells(char) if p in seen.visited]
    goal = seen.win_of(seen.map.without(char, seen.floor))
    end = f" at {where(goal)}" if isinstance(goal, tuple) else ""
    has = f" (the player has {seen.health[0]:g} hit points)" if seen.health is not None else ""
    return Finding(
        "deadly_way", "problem", seen.level.name,
        f"No way to the end{end} can be survived{has}: without the '{char}' at {at(cells)} the level could be won, "
        "with them no play is (proven).", tuple(cells),
        evidence={**proof, "hit_points": float(seen.health[0])} if seen.health is not None else proof,
    )  # fmt: skip


def _lethal(seen: _Seen, proof: dict[str, Any]) -> Finding:
    """The finding on a level in which every continuation is lost soon."""
    start, moves = seen.places[0], seen.found.complete
    culprits: list[Spot] = []
    char = ""
    if seen.map is not None:
        char = next((c for c in seen.kinds() if seen.win_of(seen.map.without(c, seen.floor)) is not False), "")
        culprits = seen.map.cells(char) if 0 < len(seen.map.cells(char)) <= MOST_CULPRITS else []
    by = f"; without the '{char}' at {at(culprits)} it could be won" if culprits else ""
    return Finding(
        "lethal_start", "problem", seen.level.name,
        f"Every continuation from the start{f' at {where(start)}' if start else ''} is lost within "
        f"{counted(moves, 'move')} (proven){by}.", (*((start,) if start else ()), *culprits),
        evidence={**proof, "moves": moves},
    )  # fmt: skip


def _too_few(seen: _Seen, proof: dict[str, Any]) -> Finding | None:
    """The kind of thing of which one more, near the start, would make the level one that can be won."""
    if seen.map is None:
        return None
    free = [p for p in dict.fromkeys(seen.places) if p is not None and seen.map.char(p) == seen.floor]
    for char in seen.kinds() if free else ():
        cells = seen.map.cells(char)
        won = seen.win_of(seen.map.with_char(free[0], char))
        if won is False or won == free[0]:
            continue
        shut = [p for p in cells if p not in seen.visited]
        if shut:
            text = f"The '{char}' at {at(shut)} cannot be reached, and the level cannot be won without it (proven)."
            return Finding("unreachable_object", "problem", seen.level.name, text, tuple(shut), evidence=proof)
        text = f"The level cannot be won: there are too few '{char}' ({at(cells)}); with one more it could be (proven)."
        return Finding("scarce_resource", "problem", seen.level.name, text, tuple(cells),
                       evidence={**proof, "there": len(cells)})  # fmt: skip
    return None


def _shut(seen: _Seen, proof: dict[str, Any], for_good: bool = False) -> Finding | None:
    """A kind of tile that stands between the player and the place where the level would be won without it.

    for_good: only if no tiles of kinds that can be entered lead there, however many moves there are.
    """
    for char in seen.kinds() if seen.map is not None else ():
        assert seen.map is not None
        won = seen.win_of(seen.map.without(char, seen.floor))
        if won is False:
            continue
        cells = seen.map.cells(char)
        if for_good and (not isinstance(won, tuple) or won in seen.ground):
            continue
        if not isinstance(won, tuple) or won in seen.visited:
            text = f"The level cannot be won: the '{char}' at {at(cells)} cannot be passed (proven)."
            return Finding("impossible", "problem", seen.level.name, text, tuple(cells), evidence=proof)
        near = _opening(seen, char, won)
        named = f"the '{char}' at {at(near or cells)}" if near or len(cells) <= MOST_CULPRITS else f"'{char}'"
        return Finding(
            "unreachable_exit", "problem", seen.level.name,
            f"The end at {where(won)} cannot be reached (proven): {named} shuts it off.", (won, *near), evidence=proof,
            look=f"Open the way at {where(near[0])}." if near else "",
        )  # fmt: skip
    return None


def _opening(seen: _Seen, char: str, won: Spot) -> list[Spot]:
    """One tile that would open the way to where the level is won, the nearest to it."""
    assert seen.map is not None
    around = {n for p in seen.visited for n in beside(p)}
    cells = [p for p in seen.map.cells(char) if p in around]
    cells.sort(key=lambda p: (abs(p[0] - won[0]) + abs(p[1] - won[1]), p))
    for cell in cells[:8]:
        if seen.win_of(seen.map.with_char(cell, seen.floor)) is not False:
            return [cell]
    return []


def _no_return(seen: _Seen) -> list[Finding]:
    """Places that can be entered, that no play leaves, and from which none is won, though the game goes on.

    Who only dies because every move uses something up could have left.
    """
    found = seen.found
    places: dict[Spot, set[Spot]] = {}
    home = {seen.places[i] for i, status in enumerate(found.status) if status == WON}
    tired = _used_up(seen) is not None
    for i, to in seen.moves():
        a, b = seen.places[i], seen.places[to]
        if a is not None and b is not None and (tired or found.status[to] != LOST):
            places.setdefault(b, set()).add(a)
    back = {p for p in home if p is not None}
    queue = list(back)
    for spot in queue:
        new = [p for p in places.get(spot, ()) if p not in back]
        back.update(new)
        queue += new
    running = {seen.places[i] for i, status in enumerate(found.status) if status == RUNNING}
    stuck = [p for p in running if p is not None and p not in back]
    if not stuck or None in home or seen.places[0] in stuck:
        return []
    doors = sorted({p for p in stuck if any(q in back for q in places.get(p, ()))})
    tiles = parts(stuck)
    return [
        Finding(
            "no_return", "problem", seen.level.name,
            f"Whoever enters {at(doors)} never gets out again and cannot win any more "
            f"({counted(sum(map(len, tiles)), 'tile')}, proven).", tuple(doors),
            evidence={"tiles": len(stuck), "states": len(found.states), "proven": True},
        )
    ]  # fmt: skip


def _given_away(seen: _Seen) -> list[Finding]:
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
            "no_return", "notice", seen.level.name,
            f"A move to {at(places)} can give the win away: play goes on, and no way leads to a win any more (proven).",
            tuple(places), evidence={"places": len(places), "states": len(found.states), "proven": True},
        )
    ]  # fmt: skip


def _never_had(seen: _Seen) -> list[Finding]:
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
        short = f"{metric.name} ({metric.symbol}) never gets above {most:g} of {metric.high:g}"
        if spots:
            why = "others take it first or it cannot be taken" if stolen else "no way leads there"
            text = f"Nobody ever gets the '{char}' at {at(spots)}: {why}, so {short} (proven)."
        else:
            text = f"{short[:1].upper()}{short[1:]} in any play (proven)."
        found.append(
            Finding("stolen_object" if stolen else "unreachable_object", "problem", seen.level.name, text,
                    tuple(spots), evidence=proof)
        )  # fmt: skip
    return found


def _left_lying(seen: _Seen, k: int) -> tuple[list[Spot], str, bool]:
    """Tiles on which a metric never rises though it does on others of their kind, the kind, and whether they can be
    visited."""
    if seen.map is None:
        return [], "", False
    values = seen.metrics[:, k]
    had = {p for i, to in seen.moves() if values[to] > values[i] and (p := seen.places[to]) is not None}
    kinds = Counter(seen.map.char(p) for p in sorted(had))
    chars = [c for c, _ in kinds.most_common(1)] or _unvisited_kinds(seen)
    for char in chars:
        if char == seen.floor:
            continue
        left = [p for p in seen.map.cells(char) if p not in had]
        shut = [p for p in left if p not in seen.visited]
        if shut:
            return shut, char, False
        if left:
            return left, char, True
    return [], "", False


def _unvisited_kinds(seen: _Seen) -> list[str]:
    """Kinds of tiles none of which can be visited, the commonest (a wall) left out, if there is only one more."""
    assert seen.map is not None
    kinds = [c for c in seen.kinds() if not any(p in seen.visited for p in seen.map.cells(c))]
    return kinds[:-1] if len(kinds) == 2 else []


def _forced(seen: _Seen) -> list[Finding]:
    """Tiles that cost hit points and that every play that is won passes."""
    if seen.health is None or seen.map is None:
        return []
    hurts = sorted({p for i, to in seen.moves() if seen.health[to] < seen.health[i]
                    and (p := seen.places[to]) is not None})  # fmt: skip
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
            "forced_hazard", "notice", seen.level.name,
            f"Every play that is won passes {named}; at most {left:g} of {counted(round(start), 'hit point')} are left "
            "at its end.", tuple(forced),
            evidence={"most_health_left": left, "hit_points": start, "tiles": len(forced)},
        )
    ]  # fmt: skip


def _won_without(seen: _Seen, spot: Spot) -> bool:
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


def _useless(seen: _Seen) -> list[Finding]:
    """Things that are counted and picked up, and without which all that can be reached, had and won is the same."""
    found = []
    for k, metric in enumerate(seen.game.metrics):
        if metric.better != "neutral" or metric.clock or seen.map is None:
            continue
        values = seen.metrics[:, k]
        spots = {p for i, to in seen.moves() if values[to] > values[i] and (p := seen.places[to]) is not None}
        things = sorted((p for p in spots if seen.map.char(p) != seen.floor), key=lambda p: (p[1], p[0]))
        if not things or len(things) > MOST_CULPRITS or len(spots) > len(things):
            continue
        if _worth(seen, range(len(values)), k, spots) != _worth(seen, _without_rise(seen, values), k, spots):
            continue
        chars = sorted({seen.map.char(p) for p in things})
        named = enumerated([f"the '{c}' at {at([p for p in things if seen.map.char(p) == c])}" for c in chars])
        found.append(
            Finding(
                "useless_object", "notice", seen.level.name,
                f"Nobody needs {named}: without {'it' if len(things) == 1 else 'them'} players get to the same places, "
                f"and win as well and as soon (proven). Nothing but {metric.name} ({metric.symbol}) changes.",
                tuple(things), evidence={"metric": metric.symbol, "states": len(values), "proven": True},
            )
        )  # fmt: skip
    return found


def _without_rise(seen: _Seen, values: Any) -> list[int]:
    """The states that play comes to in which a metric never rises."""
    reached, queue = {0}, [0]
    for i in queue:
        new = [to for to in seen.found.after[i] if to not in reached and values[to] <= values[i]]
        reached.update(new)
        queue += new
    return queue


def _worth(seen: _Seen, states: Iterable[int], but: int, spots: set[Spot]) -> tuple[Any, ...]:
    """What some states allow: places (but for `spots`), moves to a win, and the best of each metric but one at a win."""
    states = list(states)
    won = [i for i in states if seen.found.status[i] == WON]
    best = []
    for k, metric in enumerate(seen.game.metrics):
        if k != but and metric.better != "neutral" and not metric.clock and won:
            values = seen.metrics[won, k]
            best.append(float(values.max() if metric.better == "higher" else values.min()))
    return {seen.places[i] for i in states} - spots, min((seen.found.depth[i] for i in won), default=None), best
