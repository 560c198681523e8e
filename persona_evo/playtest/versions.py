"""Compares two versions of a level before anybody plays them: the tiles that changed, and the consequences.

The tiles come from the text of both levels, the rest from the game's analysis of each (`Game.analyse`).
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from persona_evo.games.analysis import at
from persona_evo.games.core import Game, Level
from persona_evo.games.diagnosis import diagnose
from persona_evo.games.findings import Finding, Spot
from persona_evo.games.guides import guide
from persona_evo.words import counted, plural

MOST = 5
"""Maximum number of kinds of changes that a sentence names."""

OTHER = 0.5
"""Share of differing tiles from which maps are not compared tile by tile."""

GROUND = ("wall", "floor", "empty cell")
"""Tiles that are not listed one by one."""


WAYS = ("forced_hazard", "deadly_way")
"""Kinds of findings whose evidence contains the least damage on any way."""


@dataclass(frozen=True)
class Change:
    """A tile that differs in B.

    Attributes:
        place: its place in B, or in A if B has no such tile.
        before, after: its names, "" for a tile that one version does not have.
    """

    place: Spot
    before: str
    after: str


@dataclass(frozen=True)
class Changes:
    """The differences between the texts of two levels.

    Attributes:
        tiles: the tiles that changed, row by row; empty if the levels are not maps.
        lines: lines that changed, as "before -> after", if the levels are not maps.
        offset: place of A's top left tile in B, (x, y), if one of them was extended.
        rows: the maps of A and of B, row by row; empty if the levels are not maps.
        named: whether these are different levels of a connected game, of which nothing but the names is known.
    """

    tiles: tuple[Change, ...] = ()
    lines: tuple[str, ...] = ()
    offset: Spot = (0, 0)
    rows: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    named: bool = False

    @property
    def none(self) -> bool:
        """Whether both levels have the same text."""
        return not self.tiles and not self.lines and not self.named

    @property
    def words(self) -> str:
        """The changes, in one sentence; empty for levels of a connected game."""
        if self.named:
            return ""
        if self.lines:
            return f"{counted(len(self.lines), 'line')} changed: {', '.join(_first(self.lines))}"
        if self.none:
            return "A and B are the same level, so results differ by chance only"
        if len(self.tiles) > OTHER * max(sum(map(len, rows)) for rows in self.rows):
            return "; ".join(["A and B are different levels: most of their tiles differ", *self._size])
        groups: dict[tuple[str, str], list[Spot]] = {}
        stay = [t for t in self.tiles if t.before and t.after]
        for tile in stay:
            groups.setdefault((tile.before, tile.after), []).append(tile.place)
        parts = [f"{before} -> {after} at {at(places)}" for (before, after), places in groups.items()]
        return f"{counted(len(stay), 'tile')} changed: {'; '.join([*self._size, *_first(parts)])}"

    @property
    def _size(self) -> list[str]:
        """The sizes of both maps, if they differ."""
        (wide_a, high_a), (wide_b, high_b) = ((len(rows[0]), len(rows)) for rows in self.rows)
        same = (wide_a, high_a) == (wide_b, high_b)
        return [] if same else [f"{wide_a} x {high_a} -> {wide_b} x {high_b} tiles"]


@dataclass(frozen=True)
class AnalysisDifference:
    """The differences between the analyses of both versions.

    Attributes:
        reasons: what makes B harder or easier, in words, the most important first.
        things: what else B has more or fewer of, in words; nothing says that this makes it harder or easier.
        harder: 1 if the reasons make B harder, -1 if easier, 0 if they do not say.
        problem: the first problem that only one version has, and which version ("A" or "B"); ("", "") without one.
        new: what B has and A does not, without the first problem and the hazards that `reasons` names.
        objects: name in the plural -> numbers in A and in B, of objects whose numbers differ.
        sums: names of sums of objects that differ.
    """

    reasons: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    harder: int = 0
    problem: tuple[str, str] = ("", "")
    new: tuple[Finding, ...] = ()
    objects: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    sums: frozenset[str] = frozenset()


def changes(game: Game, a: Level, b: Level) -> Changes:
    """Return the differences between the texts of two levels."""
    if a.named or b.named:
        return Changes(named=a.text != b.text)
    names, rows_a, rows_b = guide(game).tiles, a.rows, b.rows
    known = bool(names) or not guide(game).legend
    if not (known and all(_is_map(rows) for rows in (rows_a, rows_b))):
        return Changes(lines=tuple(_lines(rows_a, rows_b)))
    dx, dy = _offset(rows_a, rows_b)
    before = {(x + dx, y + dy): c for y, row in enumerate(rows_a) for x, c in enumerate(row)}
    after = {(x, y): c for y, row in enumerate(rows_b) for x, c in enumerate(row)}
    found = [
        Change(spot, _name(before.get(spot), names), _name(after.get(spot), names))
        for spot in sorted(before.keys() | after.keys(), key=lambda p: (p[1], p[0]))
        if before.get(spot) != after.get(spot)
    ]
    tiles = tuple(t for t in found if t.before != t.after)
    return Changes(tiles, (), (dx, dy), (tuple(rows_a), tuple(rows_b)))


def difference(game: Game, a: Level, b: Level) -> AnalysisDifference:
    """Compare the analysis of B with that of A; the result is empty if the game has no analysis."""
    found = [diagnose(game, [level]) for level in (a, b)]
    problems = [{f.kind: f for f in own if f.severity == "problem"} for own in found]
    new = [f for kind, f in problems[1].items() if kind not in problems[0]]
    gone = [f for kind, f in problems[0].items() if kind not in problems[1]]
    counts = [_objects(game, level) for level in (a, b)]
    forced = [_forced(game, level, own) for level, own in zip((a, b), found, strict=True)]
    least = [_least(own) for own in found]
    more = (least[1] - least[0]) or sum(forced[1].values()) - sum(forced[0].values())
    problem = ("B", new[0].text) if new else ("A", gone[0].text) if gone else ("", "")
    sign = 1 if new else -1 if gone else (more > 0) - (more < 0)
    named = _changed(*counts, *forced)
    telling = [name for name in named if (forced[1].get(name, 0) - forced[0].get(name, 0)) * sign > 0]
    reasons = [_more(name, counts, forced) for name in telling]
    if least[0] != least[1] and not reasons:
        reasons.append(f"least damage on any way to the exit {least[0]:g} -> {counted(least[1], 'hit point')}")
    rest = [f for f in _new(found[1], found[0], changes(game, a, b).offset) if f not in new[:1]]
    objects = {
        plural(2, name): (counts[0][name], counts[1][name])
        for name in sorted({**counts[0], **counts[1]})
        if counts[0][name] != counts[1][name]
    }
    return AnalysisDifference(
        tuple(reasons),
        (*(_more(name, counts, forced) for name in named if name not in telling), *_longer(game, a, b)),
        sign,
        problem,
        tuple(rest),
        objects,
        _sums(game, a, b) if objects else frozenset(),
    )


def _new(found: Sequence[Finding], before: Sequence[Finding], offset: Spot) -> list[Finding]:
    """Return the findings that share no place with an earlier finding of the same kind.

    Args:
        before: the findings of A.
        offset: place of A's top left tile in B.
    """
    told = [(f.kind, {(x + offset[0], y + offset[1]) for x, y in f.places}) for f in before]
    return [
        f
        for f in found
        if f.kind not in WAYS
        and not any(kind == f.kind and (places & set(f.places) or not f.places) for kind, places in told)
    ]


def _sums(game: Game, a: Level, b: Level) -> frozenset[str]:
    """Return the names of the numbers in the game's structure that differ."""
    one, two = (game.structure(level) if game.structure else {} for level in (a, b))
    return frozenset(key for key in one.keys() & two.keys() if one[key] != two[key])


def _first(parts: Sequence[str]) -> list[str]:
    """Return the first MOST parts, and how many more there are."""
    return [*parts[:MOST], *([f"and {len(parts) - MOST} more"] if len(parts) > MOST else [])]


def _is_map(rows: Sequence[str]) -> bool:
    return bool(rows) and len({len(row) for row in rows}) == 1


def _lines(a: Sequence[str], b: Sequence[str]) -> list[str]:
    """List the lines that differ, in pairs if as many were removed as added; comments are ignored."""
    a, b = ([line for line in lines if line.strip() and not line.startswith("# ")] for lines in (a, b))
    found = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind != "equal":
            gone, come = a[i:j], b[k:m]
            length = max(len(gone), len(come))
            pairs = zip([*gone, *[""] * (length - len(gone))], [*come, *[""] * (length - len(come))], strict=True)
            found += [f"{x.strip() or 'nothing'} -> {y.strip() or 'nothing'}" for x, y in pairs]
    return found


def _offset(a: Sequence[str], b: Sequence[str]) -> Spot:
    """Return the place of A's top left tile in B for which the fewest tiles differ, as after adding a row above."""
    wide, high = len(b[0]) - len(a[0]), len(b) - len(a)

    def same(shift: Spot) -> int:
        dx, dy = shift
        return sum(
            0 <= x + dx < len(b[0]) and 0 <= y + dy < len(b) and b[y + dy][x + dx] == c
            for y, row in enumerate(a)
            for x, c in enumerate(row)
        )

    shifts = [(dx, dy) for dx in sorted({0, wide}, key=abs) for dy in sorted({0, high}, key=abs)]
    return max(shifts, key=same)


def _name(char: str | None, names: Mapping[str, str]) -> str:
    return "" if char is None else names.get(char) or repr(char)


def _objects(game: Game, level: Level) -> Counter[str]:
    """Count the tiles of each name in a level, without walls and floor."""
    names = guide(game).tiles
    if not names:
        return Counter()
    found = Counter(_name(c, names) for row in level.rows for c in row)
    return Counter({name: n for name, n in found.items() if name not in GROUND})


def _forced(game: Game, level: Level, findings: Sequence[Finding]) -> Counter[str]:
    """Count the hazards of each name that nobody can avoid."""
    names, rows = guide(game).tiles, level.rows
    places = dict.fromkeys(p for f in findings if f.kind == "forced_hazard" for p in f.places)
    return Counter(_name(rows[y][x], names) for x, y in places if y < len(rows) and x < len(rows[y]))


def _least(findings: Sequence[Finding]) -> int:
    """Return the least damage on any way to the exit, as far as the analysis shows."""
    return max(
        (int(f.evidence["least_damage"]) for f in findings if "least_damage" in f.evidence and f.kind in WAYS),
        default=0,
    )


def _changed(
    a: Mapping[str, int], b: Mapping[str, int], forced_a: Mapping[str, int], forced_b: Mapping[str, int]
) -> list[str]:
    """Return the names of objects whose numbers differ: forced hazards first, then the largest changes."""

    def weight(name: str) -> tuple[int, int]:
        return (-abs(forced_b.get(name, 0) - forced_a.get(name, 0)), -abs(b.get(name, 0) - a.get(name, 0)))

    return [name for name in sorted({**a, **b, **forced_a, **forced_b}, key=weight) if weight(name) != (0, 0)]


def _more(name: str, counts: Sequence[Mapping[str, int]], forced: Sequence[Mapping[str, int]]) -> str:
    """State how many more or fewer of an object there are: "4 more traps, all forced", "one trap fewer"."""
    more = counts[1].get(name, 0) - counts[0].get(name, 0)
    bound = forced[1].get(name, 0) - forced[0].get(name, 0)
    if not more:
        word = "more" if bound > 0 else "fewer"
        return f"{abs(bound)} {word} {plural(abs(bound), name)} {plural(abs(bound), 'is', 'are')} forced"
    n, share = abs(more), min(abs(more), abs(bound)) if more * bound > 0 else 0
    if n == 1:
        thing = f"forced {name}" if share else name
        return f"one more {thing}" if more > 0 else f"one {thing} fewer"
    text = f"{n} {'more' if more > 0 else 'fewer'} {plural(n, name)}"
    return f"{text}, {'all' if share == n else f'{share} of them'} forced" if share else text


def _longer(game: Game, a: Level, b: Level) -> list[str]:
    """Describe how the shortest way changed, if the game's structure has one."""
    if game.structure is None:
        return []
    one, two = game.structure(a), game.structure(b)
    key = next((k for k in ("path_portals", "path") if k in one and k in two), "")
    if not key or one[key] == two[key] or one[key] != one[key] or two[key] != two[key]:
        return []
    return [f"a shortest way of {two[key]:g} instead of {counted(int(one[key]), 'move')}"]
