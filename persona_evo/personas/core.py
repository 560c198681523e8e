"""Personas: kinds of players, each described by what the end of a playthrough is worth to it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_evo import limits
from persona_evo.arguments import checked_fields
from persona_evo.errors import PersonaError, Place, SettingsError, unknown
from persona_evo.formula import Formula, parse
from persona_evo.games.toml_table import TomlTable
from persona_evo.limits import MOST_SEEDS
from persona_evo.names import NAME_BYTES, is_name
from persona_evo.personas.lists import FIELDS, OpenList, how_many, readable
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.games.core import Game

CATALOG = Path(__file__).parent / "catalog"
"""The folder of the personas that ship with the project."""

PAPER = "paper"
"""The set of the four personas of the paper."""

TEXTS = ("name", "game", "title", "short", "set", "description", "priority")
KEYS = (*TEXTS, "utility", "always", "stages", "lists", "seeds")
STAGE_KEYS = ("title", "utility", "until")


@dataclass(frozen=True)
class Stage:
    """One goal of a persona whose goals change.

    Attributes:
        title: the name of the stage.
        utility: what counts during this stage; values within [0, 1] are best.
        until: the stage is over when this is above 0; None for the last stage. Only the present state counts, so a
            condition that becomes false again takes the persona back to this stage.
    """

    title: str
    utility: Formula
    until: Formula | None = None


@checked_fields("utility", "always")
@dataclass(frozen=True)
class Persona:
    """A kind of player.

    Attributes:
        name: the name in commands and files.
        game: the name of the game in the registry.
        utility: the value of a final state, over the game's metrics, as a formula or its text. With stages this is the
            one formula that all stages make together.
        priority: the metric that matters most to the persona; runs are compared by it.
        title: the name for people.
        short: an abbreviation, such as MK.
        description: a sentence about the player.
        stages: the goals of a persona whose goal changes.
        always: what counts in every stage.
        set: the group in the catalog; "paper" for the four personas of the paper.
        source: the file.
        lists: the open lists of a planner for this persona (see `lists`); without any, the planner uses its own.
        seeds: in a connected game, how many seeds other than the level's a search for this persona averages over,
            because the player cannot know what the level's seed decides; 0 for a player who knows it, None for what the
            game's description says.

    Raises:
        PersonaError: the utility or `always` is not a formula.
        FormulaError: the text of one of them is not a formula over the game's metrics.
    """

    name: str
    game: str
    utility: Formula
    priority: str
    title: str = ""
    short: str = ""
    description: str = ""
    stages: tuple[Stage, ...] = ()
    always: Formula | None = None
    set: str = ""
    source: str = ""
    lists: tuple[OpenList, ...] = ()
    seeds: int | None = None

    def __post_init__(self) -> None:
        from persona_evo.games import registry

        for text in (self.name, self.title, self.short, self.set):
            limits.label(text, "a persona")
        given: dict[str, object] = {"utility": self.utility, "always": self.always}
        for name, value in given.items():
            if isinstance(value, str):
                object.__setattr__(self, name, parse(value, registry.get(self.game).symbols))
            elif not isinstance(value, Formula) and not (value is None and name == "always"):
                raise PersonaError(
                    f"the {name} is not a formula", found=repr(value)[:200], expected='text such as "TO - DEAD"'
                )

    def stage(self, metrics: dict[str, float]) -> int:
        """Return the index of the stage that a state is in; 0 without stages."""
        for i, stage in enumerate(self.stages):
            if stage.until is None or stage.until.evaluate(metrics) <= 0.0:
                return i
        return 0


def combine(stages: Sequence[Stage], always: Formula | None = None) -> Formula:
    """Return one utility for all stages: (completed stages + utility of the current one) / number of stages + `always`.

    Raises:
        FormulaError: the result would be too large for a formula.
    """
    tokens: tuple[str | float, ...] = ()
    for done in range(len(stages) - 1, -1, -1):
        stage = stages[done]
        value = stage.utility.tokens + ((float(done), "+") if done else ())
        tokens = value if stage.until is None else stage.until.tokens + tokens + value + ("if",)
    tokens += (float(len(stages)), "/")
    if always is not None:
        tokens += (*always.tokens, "+")
    return Formula(tokens)


def load(name: str | Path, game: Game | str | None = None) -> Persona:
    """Load a persona by its name, abbreviation or file.

    Args:
        name: the path of a TOML file, a name or an abbreviation in the catalog, or the NAME of a file NAME.toml in the
            current folder.
        game: the game that it must belong to; None accepts any game.

    Raises:
        PersonaError: there is no such persona, or the file is wrong (with line and column).
        FormulaError: its utility is not a formula over the game's metrics.
    """
    text = str(name)
    path = Path(name)
    if "\0" not in text and path.exists() and not path.is_dir() and (path.suffix or isinstance(name, Path)):
        return read_persona(path, game)
    if isinstance(name, Path) or path.suffix == ".toml" or "/" in text or "\\" in text:
        raise PersonaError("no such persona file", found=text, expected="a TOML file", hint="`persona new` writes one")
    known = catalog(game)
    for persona in known:
        if _folded(text) in (_folded(persona.name), _folded(persona.short)):
            return persona
    if text == "score" and game is not None and not isinstance(game, str) and game.outside is not None:
        return _score(game)[0]
    beside = Path(f"{text}.toml")
    if "\0" not in text and beside.is_file():
        return read_persona(beside, game)
    if not known:
        raise PersonaError("no such persona", found=text, expected="a TOML file", hint=_write_one(game))
    expected, hint = unknown(text, [p.name for p in known])
    raise PersonaError("no such persona", found=text, expected=expected + ", or a TOML file", hint=hint)


def _folded(name: str) -> str:
    """Return a name for comparison: capital letters and the encoding of accents make no difference."""
    return unicodedata.normalize("NFC", name).casefold()


def named(persona: Persona) -> str:
    """Return the word for a persona in a command: its name if it ships with the project, or else its file."""
    source = Path(persona.source)
    return persona.name if not persona.source or source.parent == CATALOG else persona.source


def resolve(names: Sequence[str], game: Game | str | None = None) -> list[Persona]:
    """Load several personas, each once.

    Args:
        names: names as for `load`, names of sets in the catalog, or "all": the four personas of the paper if the game
            has them, or else the whole catalog.
        game: the game that they must belong to; None accepts any game.

    Raises:
        PersonaError: as for `load`, or two personas have the same name.
    """
    found: dict[str, Persona] = {}
    for name in names:
        known = catalog(game) if name.isidentifier() else []
        group = [p for p in known if p.set == (PAPER if name == "all" else name)]
        if not group and name == "all":
            group = known
            if not known:
                raise PersonaError("no personas to play", found=name, expected="a TOML file", hint=_write_one(game))
        for persona in group or [load(name, game)]:
            other = found.setdefault(persona.name.casefold(), persona)
            if not _same_file(other, persona):
                raise PersonaError(
                    f"two personas have the name {persona.name!r}",
                    place=Place(persona.source or persona.name),
                    found=" and ".join(p.source or p.name for p in (other, persona)),
                    expected="different names; capital and small letters count as equal",
                    hint=f"change `name` in {persona.source}, or leave one of them out",
                )
    return list(found.values())


def _same_file(a: Persona, b: Persona) -> bool:
    return a.name == b.name and (a.source == b.source or Path(a.source).resolve() == Path(b.source).resolve())


def _write_one(game: Game | str | None) -> str:
    """Return a hint for a game without personas of its own."""
    from persona_evo.games import commands, registry

    known = registry.get(game) if isinstance(game, str) else game
    if known is None:
        return "persona-evo persona new NAME writes one"
    new = commands.command(known, "persona", "new", "NAME")
    return f"{known.title} has no personas of its own: write one with  {new}"


def catalog(game: Game | str | None = None) -> list[Persona]:
    """Return the personas that ship with the project for one game, or for all; the four of the paper come first."""
    wanted = _name_of(game)
    if game is not None and not isinstance(game, str) and game.outside is not None:
        return [read_persona(Path(file), game) for file in game.outside.personas] or _score(game)
    paper = ("runner", "monster_killer", "treasure_collector", "completionist")
    files = {path.stem: path for path in sorted(CATALOG.glob("*.toml"))}
    ordered = [files.pop(name) for name in paper if name in files] + list(files.values())
    tables = [_read(path) for path in ordered]
    fitting = {wanted, _kin_of(game)}
    return [_build(t, game) for t in tables if wanted is None or t.values.get("game") in fitting]


def _score(game: Game) -> list[Persona]:
    """Return the only persona of a connected game without others: a player who wants the game's own score."""
    score = "SCORE" if "SCORE" in game.symbols else game.symbols[0]
    about = "the score that the game itself gives at its end"
    return [
        Persona("score", game.name, parse(score, game.symbols), score, title="Score", short="score", description=about)
    ]


def read_persona(path: Path, game: Game | str | None = None) -> Persona:
    """Read the persona in a file.

    Raises:
        PersonaError, FormulaError: the file is wrong, with line and column.
    """
    return _build(_read(path), game)


def _read(path: Path) -> TomlTable:
    return TomlTable.read(path, PersonaError, 'put text in quotes: title = "..."')


def _name_of(game: Game | str | None) -> str | None:
    return game if game is None or isinstance(game, str) else game.name


def _kin_of(game: Game | str | None) -> str | None:
    """Return the other game whose personas fit a game; None without one."""
    from persona_evo.games import registry

    if isinstance(game, str):
        game = registry.get(game) if game in registry.names() else None
    return (game.kin or None) if game is not None else None


def _build(table: TomlTable, game: Game | str | None) -> Persona:
    table.allow(KEYS)
    symbols = _symbols(table, game)
    stages, always = _stages(table, symbols), None
    if stages and "utility" in table.values:
        raise PersonaError("a persona has either a utility or stages", place=table.key("utility"), hint="delete one")
    if "always" in table.values:
        if not stages:
            raise PersonaError(
                "`always` is only for personas with stages",
                place=table.key("always"),
                hint="add the term to the utility itself",
            )
        always = table.formula("always", symbols)
    utility = combine(stages, always) if stages else table.formula("utility", symbols)
    priority = table.text("priority")
    if priority not in symbols:
        expected, hint = unknown(priority, symbols)
        raise PersonaError(
            "the priority is not a metric of the game",
            place=table.key("priority"),
            found=priority,
            expected=expected,
            hint=hint,
        )
    name = unicodedata.normalize("NFC", table.text("name", Path(table.source).stem))
    if not is_name(name):
        raise PersonaError(
            "not a name for a persona",
            place=table.key("name"),
            found=repr(name),
            expected="letters of any script, digits, _ and -, a letter first",
            hint=f"at most {NAME_BYTES} bytes",
        )
    return Persona(
        name=name,
        game=_name_of(game) or table.text("game"),
        utility=utility,
        priority=priority,
        stages=stages,
        always=always,
        title=table.line("title", name.replace("_", " ").title()),
        short=table.line("short", name),
        description=table.text("description", ""),
        set=table.line("set", ""),
        source=table.source,
        lists=_lists(table, symbols),
        seeds=_seeds(table, game),
    )


def _symbols(table: TomlTable, game: Game | str | None) -> tuple[str, ...]:
    """Return the metrics that a persona may use, and check that it is for this game."""
    from persona_evo.games import registry

    written, wanted = table.text("game"), _name_of(game)
    if wanted is not None and written not in (wanted, _kin_of(game)):
        files = "FILE.toml, the description of that game if it is connected, or --game FILE.py:GAME, its Python file"
        raise PersonaError(
            "the persona is for another game",
            place=table.key("game"),
            found=written,
            expected=wanted + (", the default game" if wanted == registry.DEFAULT else ""),
            hint=f"add --game {written if written in registry.names() else files}",
        )
    if game is not None and not isinstance(game, str):
        return game.symbols
    try:
        return registry.get(written).symbols
    except SettingsError as e:
        raise e.moved(table.key("game"), error=PersonaError) from e


def _stages(table: TomlTable, symbols: tuple[str, ...]) -> tuple[Stage, ...]:
    stages = []
    parts = table.tables("stages")
    for i, part in enumerate(parts):
        part.allow(STAGE_KEYS)
        last = i == len(parts) - 1
        if last and "until" in part.values:
            raise PersonaError(
                "the last stage has no end", place=part.key("until"), hint="delete its `until`, or add a stage"
            )
        until = None if last else part.formula("until", symbols)
        stages.append(Stage(part.line("title", f"stage {i + 1}"), part.formula("utility", symbols), until))
    return tuple(stages)


def _lists(table: TomlTable, symbols: tuple[str, ...]) -> tuple[OpenList, ...]:
    """Return the open lists in a persona's file."""
    parts = table.tables("lists")
    expected = how_many(len(parts)) if "lists" in table.values else None
    if expected is not None:
        raise PersonaError(
            "the number of open lists is out of range",
            place=table.key("lists"),
            found=counted(len(parts), "list"),
            expected=expected,
        )
    return tuple(_list(part, readable(symbols)) for part in parts)


def _seeds(table: TomlTable, game: Game | str | None) -> int | None:
    if "seeds" not in table.values:
        return None
    if game is not None and not isinstance(game, str) and game.outside is None:
        raise PersonaError(
            "`seeds` is only for personas of connected games",
            place=table.key("seeds"),
            hint="searches of other games of chance take new dice for each iteration",
        )
    return table.whole("seeds", 0, 0, MOST_SEEDS)


def _list(part: TomlTable, symbols: tuple[str, ...]) -> OpenList:
    part.allow(FIELDS)
    found = OpenList(part.formula("score", symbols))
    for key in ("weight", "novel"):
        if key in part.values:
            try:
                value: Any = part.values[key]
                found = replace(found, **{key: value})
            except SettingsError as e:
                raise e.moved(part.key(key), error=PersonaError) from e
    return found
