"""Template files for a game of your own: a class, and compiled rules beside it."""

from __future__ import annotations

LEVEL = """\
#########
#@.*.^..#
#.#.#.*.#
#..*..#>#
#########
"""

CLASS = '''"""{name}: a game of your own, as a class that is one state of it.

    persona-evo game check {name}.py {name}.txt
    persona-evo playtest {name}.txt --game {name}.py --personas NAME.toml --policy ucb1

Change whatever you like. `legal`, `apply`, `over` and `measure` are the rules; `copy` and `key` make them fast.
"""

from persona_evo.games.core import Metric
from persona_evo.games.python_game import from_class

MOVES = {{"up": (0, -1), "right": (1, 0), "down": (0, 1), "left": (-1, 0)}}


class {title}:
    """Collect gems (*), keep off spikes (^), which cost one of three lives, and leave by the stairs (>)."""

    actions = tuple(MOVES)
    metrics = (
        Metric("ST", "steps", "moves so far", better="lower", clock=True),
        Metric("GEMS", "gems", "share of the gems picked up", high=1, better="higher", ratio=True),
        Metric("HP", "lives", "lives left", high=3, better="higher"),
        Metric("OUT", "out", "1 on the stairs", high=1, better="higher"),
    )
    health = "HP"

    def __init__(self, grid, at, gems, hp=3, steps=0):
        self.grid, self.at, self.gems, self.hp, self.steps = grid, at, gems, hp, steps

    @classmethod
    def from_text(cls, text):
        rows = text.strip("\\n").split("\\n")
        grid = {{(x, y): c for y, row in enumerate(rows) for x, c in enumerate(row)}}
        starts = [place for place, c in grid.items() if c == "@"]
        if len(starts) != 1 or ">" not in grid.values():
            raise ValueError("a level has one @ and at least one >")
        return cls(grid, starts[0], frozenset(place for place, c in grid.items() if c == "*"))

    def copy(self):
        return {title}(self.grid, self.at, self.gems, self.hp, self.steps)

    def legal(self):
        x, y = self.at
        return [name for name, (dx, dy) in MOVES.items() if self.grid.get((x + dx, y + dy), "#") != "#"]

    def apply(self, action):
        (x, y), (dx, dy) = self.at, MOVES[action]
        if self.grid.get((x + dx, y + dy), "#") != "#":
            self.at = x + dx, y + dy
        self.gems = self.gems - {{self.at}}
        self.hp -= self.grid[self.at] == "^"
        self.steps += 1

    def over(self):
        return "lost" if self.hp <= 0 else "won" if self.grid[self.at] == ">" else None

    def measure(self):
        total = sum(c == "*" for c in self.grid.values())
        return {{"ST": self.steps, "GEMS": 1 - len(self.gems) / total if total else 1.0, "HP": self.hp,
                "OUT": float(self.grid[self.at] == ">")}}

    def key(self):
        return self.at, self.hp, tuple(sorted(self.gems))

    def position(self):
        return self.at


'''

CLASS_ALONE = """GAME = from_class({title}, name="{name}", title="{title}")
"""

COMPILED = '''CLASS = from_class({title}, name="{name}_class", title="{title}")

# The same game as compiled rules. A state is a row of whole numbers; a second row holds what a level fixes (walls, the
# places of things). Replace a rule here only after the class above has it: `persona-evo game check` compares both.

WIDTH, HEIGHT, GEMS_IN_ALL, GRID = 0, 1, 2, 3  # the tables: three numbers, then a letter for each place
AT, STEPS, HP, GEMS_LEFT, THERE = 0, 1, 2, 3, 4  # the state: four numbers, then for each place whether it has a gem
WALL, FLOOR, SPIKES, STAIRS = 0, 1, 2, 3


def read(text):
    """Return the tables and the first state of a level; this is plain Python."""
    start = {title}.from_text(text)
    rows = text.strip("\\n").split("\\n")
    width, height = max(map(len, rows)), len(rows)
    letters = "".join(row.ljust(width, "#") for row in rows)
    grid = [{{"#": WALL, "^": SPIKES, ">": STAIRS}}.get(c, FLOOR) for c in letters]
    gems = [int(c == "*") for c in letters]
    x, y = start.at
    return [width, height, sum(gems), *grid], [y * width + x, 0, 3, sum(gems), *gems]


@compiled
def goal(t, s, action):
    """Return the place that an action leads to, -1 for none; check borders first, as no index may be below 0."""
    at, width = s[AT], t[WIDTH]
    to = -1
    if action == 0 and at >= width:
        to = at - width
    if action == 1 and at % width < width - 1:
        to = at + 1
    if action == 2 and at // width < t[HEIGHT] - 1:
        to = at + width
    if action == 3 and at % width > 0:
        to = at - 1
    return to if to >= 0 and t[GRID + to] != WALL else -1


@rule("legal")
def legal(t, s, actions):
    """Write the legal actions, and return their number."""
    count = 0
    for action in range(4):
        if goal(t, s, action) >= 0:
            actions[count] = action
            count += 1
    return count


@rule("step")
def step(t, s, action, rng):
    """Make a move in place; every action must be accepted."""
    to = goal(t, s, action)
    if to >= 0:
        s[AT] = to
    if s[THERE + s[AT]]:
        s[THERE + s[AT]] = 0
        s[GEMS_LEFT] -= 1
    if t[GRID + s[AT]] == SPIKES:
        s[HP] -= 1
    s[STEPS] += 1
    return 0


@rule("over")
def over(t, s):
    """Return whether the game is over, and how."""
    if s[HP] == 0:
        return LOST
    return WON if t[GRID + s[AT]] == STAIRS else RUNNING


@rule("measure")
def measure(t, s, player, out):
    """Write the metrics in their order."""
    out[0] = s[STEPS]
    gems = 1.0 * t[GEMS_IN_ALL]
    out[1] = 1.0 - s[GEMS_LEFT] / gems if gems > 0.0 else 1.0
    out[2] = s[HP]
    out[3] = 1.0 if t[GRID + s[AT]] == STAIRS else 0.0
    return 0


def locate(level, state):
    """Return the avatar's place, for heatmaps."""
    y, x = divmod(int(state[AT]), int(level.tables[WIDTH]))
    return x, y


GAME = from_rules(
    name="{name}", title="{title}", metrics={title}.metrics, actions={title}.actions, read=read,
    legal=legal, step=step, over=over, measure=measure, clock=STEPS, health="HP", locate=locate,
)
'''


def class_file(name: str) -> str:
    """Return a game as a Python class.

    Args:
        name: an identifier.
    """
    return (CLASS + CLASS_ALONE).format(**_words(name))


def compiled_file(name: str) -> str:
    """Return a game as a Python class, and the same game as compiled rules.

    Args:
        name: an identifier.
    """
    imports = (
        "from persona_evo.compiling import compiled\n"
        "from persona_evo.games.compiled_game import from_rules\n"
        "from persona_evo.games.core import LOST, RUNNING, WON, Metric, rule\n"
    )
    return (CLASS + COMPILED).replace("from persona_evo.games.core import Metric\n", imports).format(**_words(name))


def _words(name: str) -> dict[str, str]:
    return {"name": name, "title": "".join(part.capitalize() for part in name.split("_"))}
