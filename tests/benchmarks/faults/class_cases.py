"""Cases of the two games that are Python classes.

The product knows their states and metrics but not their maps. So a finding need not name the place of an object; the
object's word in the game's metrics is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from persona_evo.games import registry
from persona_evo.games.analysis import beside
from persona_evo.games.core import RUNNING, WON, Game

from .cases import ALIKE, FAULT, SOUND, Case, Spot
from .dungeons import rooms
from .exploring import World, dies_within, everything

HERE = Path(__file__).resolve().parent
ATTEMPTS = 300
STATES = 12_000


@dataclass(frozen=True)
class Setting:
    """One of the games.

    Attributes:
        name: the name of its module.
        wall, floor, goal: characters of the map.
        prize, metric, word: the object to collect: its character, its metric, and its word.
        harm: the character of objects that cost hit points (strength).
        needed, needed_word: the character of a necessary object, and its word.
        life_metric, life_words: the metric of hit points (strength), and its words.
    """

    name: str
    wall: str
    floor: str
    goal: str
    prize: str
    metric: str
    word: str
    harm: str
    needed: str
    needed_word: str
    life_metric: str
    life_words: tuple[str, ...]

    @property
    def spec(self) -> str:
        """The value of `--game`."""
        return f"{HERE / self.name}.py"


VAULT = Setting(
    name="vault",
    wall="#",
    floor=" ",
    goal=">",
    prize="$",
    metric="GOLD",
    word="gold",
    harm="^",
    needed="k",
    needed_word="key",
    life_metric="HP",
    life_words=("hit points", "HP"),
)
TRAIL = Setting(
    name="trail",
    wall="#",
    floor=".",
    goal="G",
    prize="*",
    metric="GEMS",
    word="gem",
    harm="~",
    needed="f",
    needed_word="food",
    life_metric="STR",
    life_words=("strength", "STR"),
)
Cells = dict[Spot, str]


@cache
def game_of(spec: str) -> Game:
    """Load the game of a file."""
    return registry.get(spec)


def text_of(cells: Cells) -> str:
    """Return the text of the level file."""
    width, height = max(x for x, _ in cells) + 1, max(y for _, y in cells) + 1
    return "".join("".join(cells[x, y] for x in range(width)) + "\n" for y in range(height))


def world_of(setting: Setting, cells: Cells) -> World:
    """Return the level with its rules."""
    game = game_of(setting.spec)
    return World(game, game.load(text_of(cells), "level"))


@dataclass(frozen=True)
class Facts:
    """Facts from an exploration of all states of a level.

    Attributes:
        most: the largest share of collected objects in a won game; None if no game is won.
        places: places that the avatar can reach.
        stuck: places where it can be without a legal move while the game goes on.
        life: the most hit points, or strength, that can be left in a won game.
    """

    most: float | None
    places: frozenset[Spot]
    stuck: frozenset[Spot]
    life: float


def facts(setting: Setting, cells: Cells) -> Facts | None:
    """Explore all states of a level; return None if there are too many."""
    world = world_of(setting, cells)
    states = everything(world, STATES)
    if states is None:
        return None
    won = [s for s in states if world.over(s) == WON]
    running = [s for s in states if world.over(s) == RUNNING]
    return Facts(
        max((world.value(s, setting.metric) for s in won), default=None),
        frozenset(world.place(s) for s in states),
        frozenset(world.place(s) for s in running if not world.legal(s)),
        max((world.value(s, setting.life_metric) for s in won), default=0.0),
    )


def _find(cells: Cells, chars: str) -> list[Spot]:
    return sorted(s for s, c in cells.items() if c in chars)


def _level(setting: Setting, rng: Random) -> Cells:
    """Draw rooms with a start, a goal, objects to collect, necessary objects and harmful ones."""
    plan, spaces, doors = rooms(rng, small=True)
    cells = {s: setting.wall if c == "X" else setting.floor for s, c in plan.items()}

    def put(char: str, room: int) -> Spot:
        free = [s for s in spaces[room] if cells[s] == setting.floor]
        spot = rng.choice(free)
        cells[spot] = char
        return spot

    put("@", 0)
    put(setting.goal, -1)
    for char in setting.prize * 2 + setting.harm * rng.randint(0, 2):
        put(char, rng.randrange(1, len(spaces)))
    if setting is VAULT:
        locked = [door for a, b, door in doors if len(spaces) - 1 in (a, b)]
        for door in locked:
            cells[door] = "D"
            put("k", rng.randrange(len(spaces) - 1))
        if rng.random() < 0.5:
            put("g", rng.randrange(1, len(spaces)))
    else:
        put("f", rng.randrange(1, len(spaces)))
    return cells


def sound(setting: Setting, cells: Cells) -> Facts | None:
    """Return the facts of a level if it is sound; None otherwise.

    It is sound if it can be won with all objects collected and if its whole floor can be walked.
    """
    found = facts(setting, cells)
    floor = {s for s, c in cells.items() if c != setting.wall}
    return found if found and found.most == 1 and not found.stuck and floor <= found.places else None


def generated(setting: Setting, rng: Random) -> Cells:
    """Generate a sound level."""
    for _ in range(ATTEMPTS):
        cells = _level(setting, rng)
        if sound(setting, cells):
            return cells
    raise RuntimeError(f"no sound level of {setting.name}")


Found = tuple[Cells, tuple[str, ...], set[Spot], tuple[str, ...], str]
"""Cells, kinds, places, words and proof of a fault."""


def walled_prize(setting: Setting, cells: Cells, rng: Random) -> Found | None:
    """Put walls around an object to collect."""
    for spot in _find(cells, setting.prize):
        sides = [n for n in beside(spot) if cells[n] != setting.wall]
        new = {**cells, **dict.fromkeys(sides, setting.wall)}
        if all(cells[n] == setting.floor for n in sides) and (f := facts(setting, new)) and f.most == 0.5:
            return (
                new,
                ("unreachable_object", "out_of_reach"),
                {spot, *sides},
                (setting.word, setting.metric),
                "no state has it",
            )
    return None


def walled_goal(setting: Setting, cells: Cells, rng: Random) -> Found | None:
    """Put walls around the goal."""
    sides = [n for n in beside(_find(cells, setting.goal)[0]) if cells[n] != setting.wall]
    new = {**cells, **dict.fromkeys(sides, setting.wall)}
    f = facts(setting, new) if all(cells[n] == setting.floor for n in sides) else None
    return (new, ("unreachable_exit", "impossible"), set(), (), "no state is won") if f and f.most is None else None


def missing_need(setting: Setting, cells: Cells, rng: Random) -> Found | None:
    """Remove a necessary key or food."""
    for spot in _find(cells, setting.needed):
        new = {**cells, spot: setting.floor}
        if (f := facts(setting, new)) and f.most is None:
            kinds = ("scarce_resource", "impossible", "deadly_way", "unreachable_exit")
            return new, kinds, set(), (), f"no state is won; with this {setting.needed_word} it is"
    return None


def one_way(setting: Setting, cells: Cells, rng: Random) -> Found | None:
    """Add a ledge down into a room without a way out."""
    if setting is not TRAIL:
        return None
    height = max(y for _, y in cells) + 1
    for x, y in sorted(s for s, c in cells.items() if s[1] == height - 2 and c == setting.floor):
        pit = [(k, height) for k in range(x, x + 3) if (k, y) in cells]
        new = {**cells, **{(k, height + j): "#" for k in range(max(x for x, _ in cells) + 1) for j in (0, 1)}}
        new |= {(x, height - 1): "v", **{s: "." for s in pit if s[0] < max(k for k, _ in cells)}}
        if (f := facts(setting, new)) and f.most == 1:
            inside = {(x, height - 1), *(s for s in pit if new[s] == ".")}
            return new, ("no_return",), inside, (), "nothing in the pit leads out of it"
    return None


def deadly_ring(setting: Setting, cells: Cells, rng: Random) -> Found | None:
    """Put spikes on all free tiles, so that every way to the goal costs all hit points; or as much mud."""
    way = _steps(cells, setting, _find(cells, "@")[0])
    for first in range(1, 4):
        belt = [s for s in _find(cells, setting.floor) if way.get(s, 0) >= first]
        new = {**cells, **dict.fromkeys(belt, setting.harm)}
        if (f := facts(setting, new)) and f.most is None:
            depth = dies_within(world_of(setting, new), 6)
            kinds = ("deadly_way", "impossible", "lethal_start", *(("scarce_resource",) if setting is TRAIL else ()))
            if depth is None:
                return new, kinds, set(), (), "no state is won, and all games end with a death"
    return None


def deadly_start(setting: Setting, cells: Cells, rng: Random) -> Found | None:
    """Put spikes all around the start."""
    if setting is not VAULT:
        return None
    start = _find(cells, "@")[0]
    way = _steps(cells, setting, start)
    for radius in (3, 4, 5):
        belt = [s for s in _find(cells, " kD$+") if 1 <= way.get(s, 99) <= radius]
        new = {**cells, **dict.fromkeys(belt, setting.harm)}
        if (depth := dies_within(world_of(setting, new), 6)) is not None:
            kinds = ("lethal_start", "deadly_way")
            return new, kinds, set(), (), f"all states after {depth} moves are lost, over spikes on every way"
    return None


def forced_harm(setting: Setting, cells: Cells, rng: Random) -> Found | None:
    """Put spikes on a tile that is on every way to the goal."""
    if setting is not VAULT or (before := facts(setting, cells)) is None:
        return None
    start, goal = _find(cells, "@")[0], _find(cells, setting.goal)[0]
    for spot in rng.sample(_find(cells, setting.floor), len(_find(cells, setting.floor))):
        if goal not in _steps({**cells, spot: setting.wall}, setting, start):
            new = {**cells, spot: setting.harm}
            if (f := facts(setting, new)) and f.most == 1 and f.life < before.life:
                return new, ("forced_hazard",), {spot}, setting.life_words, "no way to the goal with this tile closed"
    return None


def _steps(cells: Cells, setting: Setting, start: Spot) -> dict[Spot, int]:
    found, queue = {start: 0}, [start]
    for tile in queue:
        for near in beside(tile):
            if cells.get(near, setting.wall) != setting.wall and near not in found:
                found[near] = found[tile] + 1
                queue.append(near)
    return found


FAULTS: dict[str, Callable[[Setting, Cells, Random], Found | None]] = {
    "walled-in objective": walled_prize,
    "unreachable exit": walled_goal,
    "scarce resource": missing_need,
    "no return": one_way,
    "mandatory lethal path": deadly_ring,
    "lethal start": deadly_start,
    "lethal choke point": forced_harm,
}


def class_cases(seed: int, count: int) -> Iterator[Case]:
    """Yield `count` sound levels of each game, levels with one fault of each kind, harder copies, and look-alikes."""
    for setting in (VAULT, TRAIL):
        for number in range(count):
            rng = Random(f"{setting.name} {seed} {number}")
            cells = generated(setting, rng)
            text = text_of(cells)
            yield Case(
                f"{setting.name}-sound-{number}",
                setting.spec,
                SOUND,
                "generated",
                (text,),
                proof="won with all there is to collect; all floor can be walked",
            )
            for fault, plant in FAULTS.items():
                if made := _planted(setting, plant, rng):
                    new, kinds, places, words, proof = made
                    yield Case(
                        f"{setting.name}-{fault.replace(' ', '-')}-{number}",
                        setting.spec,
                        FAULT,
                        fault,
                        (text_of(new),),
                        kinds,
                        frozenset(places),
                        words,
                        proof,
                    )
            if made := _planted(setting, forced_harm, rng, cells):
                yield Case(
                    f"{setting.name}-harder-copy-{number}",
                    setting.spec,
                    FAULT,
                    "harder copy",
                    (text, text_of(made[0])),
                    ("harder_copy",),
                    proof="fewer hit points are left at best",
                )
            yield from _alike(setting, cells, number)


def _planted(
    setting: Setting, plant: Callable[[Setting, Cells, Random], Found | None], rng: Random, cells: Cells | None = None
) -> Found | None:
    """Plant the fault in the given level, or in the first of some generated ones that can have it."""
    for _ in range(1 if cells else 12):
        if made := plant(setting, cells or generated(setting, rng), rng):
            return made
    return None


def _alike(setting: Setting, cells: Cells, number: int) -> Iterator[Case]:
    """Yield a level with spikes (mud) that can be avoided, and a pair of a level and its copy with them."""
    before = facts(setting, cells)
    for spot in _find(cells, setting.floor):
        new = {**cells, spot: setting.harm}
        after = sound(setting, new)
        if before and after and after.life == before.life:
            yield Case(
                f"{setting.name}-alike-{number}",
                setting.spec,
                ALIKE,
                "lethal choke point",
                (text_of(new),),
                proof="won with as much left as without",
            )
            return
