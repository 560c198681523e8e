"""Reads the TOML file that describes a connected game, and checks each value."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from persona_evo import limits
from persona_evo.connect import launch
from persona_evo.connect.description import (
    CASES,
    GAME_NAME,
    MOST_SLOTS,
    SEEDS,
    SLOTS,
    WIDENING,
    Description,
    MetricWords,
)
from persona_evo.connect.launch import GYM
from persona_evo.connect.pool import MOST_WORKERS
from persona_evo.connect.process_start import Limits, Timeouts
from persona_evo.connect.protocol import MOST_CHOICES, MOST_PORT
from persona_evo.connect.restarts import Restarts
from persona_evo.connect.scores import NORMALISED, RAW
from persona_evo.errors import ConnectError, json_fault, unknown
from persona_evo.games import textfile
from persona_evo.games.outside import FILMED
from persona_evo.games.toml_table import TomlTable
from persona_evo.limits import is_label
from persona_evo.words import counted

KEYS = (
    "name",
    "game",
    "arguments",
    "cwd",
    "environment",
    "workers",
    "slots",
    "rollout",
    "policy",
    "widening",
    "priors",
    "deterministic",
    "seeds",
    "constant",
    "scores",
    "personas",
    "logs",
    "cases",
    "film",
    "horizon",
    "port",
    "timeouts",
    "restarts",
    "limits",
    "settings",
    "variants",
    "maps",
    "outcome",
    "metrics",
)


BETTER = ("higher", "lower", "neutral")


def read(path: Path) -> Description:
    """Read a description from a file.

    Raises:
        ConnectError: the file is incomplete or contradicts itself; the error has the position.
    """
    table = TomlTable.read(path, ConnectError, 'lines such as game = "Build/Game.app"')
    about = _Reader(path.resolve(), table).read()
    about.check_sets()
    return about


class _Reader:
    """Reads the values of a file one by one, and raises an error with the position of a value that is wrong."""

    def __init__(self, path: Path, table: TomlTable) -> None:
        self.path, self.top = path, table

    def read(self) -> Description:
        top = self.top
        top.allow(KEYS)
        name = top.text("name", self.path.stem)
        if not GAME_NAME.fullmatch(name):
            raise top.wrong("not a name for a game", "name", found=name, expected="letters, digits, _ and -")
        workers = top.whole("workers", 1, 1, MOST_WORKERS)
        timeouts = self.only("timeouts", ("connect", "handshake", "rollout"))
        restarts, outcome = self.only("restarts", ("a_minute", "in_all")), self.only("outcome", ("won", "lost"))
        logs, cases = top.text("logs", ""), top.text("cases", self.path.stem + CASES)
        game, arguments = self.game()
        return Description(
            source=self.path,
            name=name,
            game=game,
            arguments=arguments,
            folder=self.folder(),
            environment=self.environment(),
            workers=workers,
            slots=top.whole("slots", max(workers, SLOTS), 1, MOST_SLOTS),
            rollout=top.choice("rollout", ("uniform", "weights", "policy"), "uniform"),
            policy=self.policy(),
            widening=top.whole("widening", WIDENING, 0, MOST_CHOICES),
            priors=top.truth("priors", True),
            deterministic=self.deterministic(),
            seeds=top.whole("seeds", SEEDS, 1, limits.MOST_SEEDS),
            constant=top.choice("constant", ("outside", "inside"), "outside"),
            scores=top.choice("scores", (NORMALISED, RAW), NORMALISED),
            personas=self.personas(),
            logs=self.near(logs) if logs else None,
            cases=self.near(cases),
            film=self.film(),
            horizon=top.whole("horizon", 0, 0, 1_000_000),
            port=self.port(workers),
            timeouts=Timeouts(**{k: self.seconds(timeouts, k) for k in ("connect", "handshake", "rollout")}),
            restarts=Restarts(
                **{k: restarts.whole(k, getattr(Restarts, k), 0, 10_000) for k in ("a_minute", "in_all")}
            ),
            limits=self.limits(),
            settings=self.plain("settings"),
            variants=self.variants(),
            maps=self.maps(),
            outcome=(outcome.line("won", ""), outcome.line("lost", "")),
            metrics=self.metrics(),
        )

    def game(self) -> tuple[Path, tuple[str, ...]]:
        """Return the program to start and its arguments."""
        text, arguments = self.top.text("game"), self.top.texts("arguments")
        kind, colon, name = text.partition(":")
        if kind != "gymnasium" or not colon:
            return self.program(text), arguments
        if not name or name.startswith("-"):
            raise self.top.wrong("no environment is named", "game", found=text, expected='"gymnasium:FrozenLake-v1"')
        return GYM, (name, *arguments)

    def program(self, text: str) -> Path:
        """Return the path of the program: relative to this file, or in PATH if it is a name without a folder."""
        file = self.near(text)
        if Path(text).name != text or launch.exists(file):
            return file
        found = shutil.which(text)
        return Path(found) if found is not None else file

    def folder(self) -> Path | None:
        """Return the working directory of the game; None for that of the driver."""
        text = self.top.text("cwd", "")
        if not text:
            return None
        folder = self.near(text)
        if not folder.is_dir():
            raise self.top.wrong(
                "there is no such folder", "cwd", found=str(folder), expected="a folder for the game to run in"
            )
        return folder

    def environment(self) -> Mapping[str, str]:
        """Return the environment variables for the game's process."""
        table = self.top.table("environment")
        for name in table.values:
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name.startswith(("PE_", "MC_")):
                raise table.wrong(
                    "not a variable that can be set",
                    name,
                    found=textfile.shown(name),
                    expected="letters, digits and _; names with PE_ and MC_ are those of the driver",
                )
        return {name: table.text(name, "") for name in table.values}

    def limits(self) -> Limits:
        """Return the resource limits of a game process."""
        most = {"memory": 2**24, "rollouts": 2**40, "log": 2**20}
        table = self.only("limits", tuple(most))
        return Limits(**{k: table.whole(k, getattr(Limits, k), 0, high) for k, high in most.items()})

    def film(self) -> tuple[str, ...]:
        """Return the playthroughs that the game draws pictures of."""
        words = self.top.texts("film") if "film" in self.top.values else FILMED
        for word in words:
            if word not in FILMED:
                expected, hint = unknown(word, FILMED)
                raise self.top.wrong("no such playthrough", "film", found=word, expected=expected, hint=hint)
        return words

    def port(self, workers: int) -> int:
        """Return the first of the ports; each worker has one."""
        port = self.top.whole("port", 0, 0, MOST_PORT)
        if port + workers - 1 > MOST_PORT:
            raise self.top.wrong(
                "port is out of range",
                "port",
                found=f"{port} with {counted(workers, 'worker')}",
                expected=f"at most {MOST_PORT + 1 - workers}: worker N listens on port + N",
            )
        return port

    def policy(self) -> str:
        """Return the policy of the rollouts, which is given if and only if `rollout = "policy"` is."""
        text = self.top.text("policy", "")
        if bool(text) != (self.top.values.get("rollout") == "policy"):
            raise self.top.wrong(
                '`policy` requires `rollout = "policy"`, and the reverse', "policy" if text else "rollout"
            )
        return text

    def deterministic(self) -> bool:
        """Return whether players know everything that the seed decides; `seeds` counts only if they do not."""
        value = self.top.truth("deterministic", True)
        if value and "seeds" in self.top.values:
            raise self.top.wrong(
                "a deterministic game is searched with its own seed alone",
                "seeds",
                found="seeds without deterministic = false",
                expected="deterministic = false, if the seed decides what the player cannot know",
            )
        return value

    def near(self, text: str) -> Path:
        """Resolve a path relative to the folder of this file."""
        path = Path(text)
        return path if path.is_absolute() else self.path.parent / path

    def only(self, key: str, keys: tuple[str, ...]) -> TomlTable:
        """Return a table that may have these keys."""
        table = self.top.table(key)
        table.allow(keys, f"unknown key in [{key}]")
        return table

    def seconds(self, table: TomlTable, key: str) -> float | None:
        value = table.values.get(key, getattr(Timeouts, key))
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1e6:
            found, expected = textfile.shown(value), "seconds, 0 for no limit"
            raise table.wrong(f"the timeout {key} is out of range", key, found=found, expected=expected)
        return float(value) or None

    def plain(self, key: str) -> Mapping[str, Any]:
        """Return a table that can be sent as JSON."""
        import json

        table = self.top.table(key)
        try:
            json.dumps(table.values, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as e:
            raise self.top.wrong(
                f"[{key}] contains a value that JSON cannot express",
                key,
                found=json_fault(e),
                expected="texts, numbers, true, false, lists and tables",
            ) from e
        for reserved in ("map", "variant"):
            if reserved in table.values:
                raise table.wrong(
                    f"{reserved} is set by the level", reserved, expected="names of levels such as cave:hard@3"
                )
        return table.values

    def variants(self) -> Mapping[str, Mapping[str, Any]]:
        value = self.plain("variants")
        for name, settings in value.items():
            if not isinstance(settings, dict) or not re.fullmatch(r"[^:@\s][^:@]*", name) or not is_label(name):
                raise self.top.wrong(
                    "not a variant",
                    "variants",
                    name,
                    found=textfile.shown(name),
                    expected="[variants.NAME] with settings",
                )
        return value

    def maps(self) -> Mapping[str, tuple[str, ...]]:
        table = self.top.table("maps")
        found = {name: table.texts(name) for name in table.values}
        for name, levels in found.items():
            if not is_label(name):
                raise table.wrong("not a name for a set of levels", name, expected="a name on one line")
            if not levels:
                raise table.wrong("a set of levels is empty", name, expected=f'{name} = ["default"]')
        return found

    def personas(self) -> tuple[Path, ...]:
        found: list[Path] = []
        for pattern in self.top.texts("personas"):
            if Path(pattern).is_absolute():
                raise self.top.wrong("a persona's path is relative to this file's folder", "personas", found=pattern)
            try:
                hits = sorted(self.path.parent.glob(pattern))
            except (ValueError, NotImplementedError) as e:
                raise self.top.wrong("not a pattern", "personas", found=f"{pattern}: {e}") from e
            if not hits and not any(mark in pattern for mark in "*?["):
                raise self.top.wrong("there is no such persona file", "personas", found=pattern)
            found += [hit for hit in hits if hit not in found]
        return tuple(found)

    def metrics(self) -> tuple[MetricWords, ...]:
        found = []
        for table in self.top.tables("metrics"):
            table.allow(tuple(MetricWords.__dataclass_fields__), "unknown key in [metrics]")
            given = {key: table.line(key, "") for key in table.values if key not in ("symbol", "place", "better")}
            better = table.choice("better", BETTER, MetricWords.better, "direction")
            words = MetricWords(table.line("symbol"), place=table.truth("place", True), better=better, **given)
            found.append(words)
        return tuple(found)
