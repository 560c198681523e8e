"""Reads the TOML file that describes a connected game, and checks each value."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from persona_evo.connect import launch
from persona_evo.connect.description import (
    CASES,
    GAME_NAME,
    MOST_SEEDS,
    MOST_SLOTS,
    SEEDS,
    SLOTS,
    WIDENING,
    Description,
    MetricWords,
)
from persona_evo.connect.launch import GYM
from persona_evo.connect.level_names import MAX_BYTES, key_place
from persona_evo.connect.pool import MOST_WORKERS
from persona_evo.connect.process_start import Limits, Timeouts
from persona_evo.connect.protocol import MOST_CHOICES, MOST_PORT
from persona_evo.connect.restarts import Restarts
from persona_evo.connect.scores import NORMALISED, RAW
from persona_evo.errors import ConnectError, has_control, unknown
from persona_evo.games import textfile
from persona_evo.games.outside import FILMED
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
    text = textfile.read_text(path, MAX_BYTES, ConnectError)
    values = textfile.toml(text, str(path), ConnectError, 'lines such as game = "Build/Game.app"')
    about = _Reader(path.resolve(), text, values).read()
    about.check_sets()
    return about


class _Reader:
    """Reads the values of a file one by one, and raises an error with the position of a value that is wrong."""

    def __init__(self, path: Path, text: str, values: Mapping[str, Any]) -> None:
        self.path, self.text, self.values = path, text, values

    def read(self) -> Description:
        for key in self.values:
            if key not in KEYS:
                expected, hint = unknown(key, KEYS)
                raise self.wrong("unknown key", key, found=key, expected=expected, hint=hint)
        name = self.word("name", self.path.stem)
        if not GAME_NAME.fullmatch(name):
            raise self.wrong("not a name for a game", "name", found=name, expected="letters, digits, _ and -")
        workers = self.whole("workers", 1, 1, MOST_WORKERS)
        timeouts, restarts, outcome = self.table("timeouts"), self.table("restarts"), self.table("outcome")
        self.only("timeouts", timeouts, ("connect", "handshake", "rollout"))
        self.only("restarts", restarts, ("a_minute", "in_all"))
        self.only("outcome", outcome, ("won", "lost"))
        logs, cases = self.word("logs", ""), self.word("cases", self.path.stem + CASES)
        game, arguments = self.game()
        return Description(
            source=self.path,
            name=name,
            game=game,
            arguments=arguments,
            folder=self.folder(),
            environment=self.environment(),
            workers=workers,
            slots=self.whole("slots", max(workers, SLOTS), 1, MOST_SLOTS),
            rollout=self.choice("rollout", ("uniform", "weights", "policy")),
            policy=self.policy(),
            widening=self.whole("widening", WIDENING, 0, MOST_CHOICES),
            priors=self.truth("priors", True),
            deterministic=self.deterministic(),
            seeds=self.whole("seeds", SEEDS, 1, MOST_SEEDS),
            constant=self.choice("constant", ("outside", "inside")),
            scores=self.choice("scores", (NORMALISED, RAW)),
            personas=self.personas(),
            logs=self.near(logs) if logs else None,
            cases=self.near(cases),
            film=self.film(),
            horizon=self.whole("horizon", 0, 0, 1_000_000),
            port=self.port(workers),
            timeouts=Timeouts(
                **{k: self.seconds(k, timeouts, getattr(Timeouts, k)) for k in ("connect", "handshake", "rollout")}
            ),
            restarts=Restarts(
                **{
                    k: self.whole(k, getattr(Restarts, k), 0, 10_000, restarts, "restarts")
                    for k in ("a_minute", "in_all")
                }
            ),
            limits=self.limits(),
            settings=self.plain("settings"),
            variants=self.variants(),
            maps=self.maps(),
            outcome=(self.word("won", "", outcome, "outcome"), self.word("lost", "", outcome, "outcome")),
            metrics=self.metrics(),
        )

    def game(self) -> tuple[Path, tuple[str, ...]]:
        """Return the program to start and its arguments."""
        text, arguments = self.word("game"), self.words("arguments")
        kind, colon, name = text.partition(":")
        if kind != "gymnasium" or not colon:
            return self.program(text), arguments
        if not name or name.startswith("-"):
            raise self.wrong("no environment is named", "game", found=text, expected='"gymnasium:FrozenLake-v1"')
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
        text = self.word("cwd", "")
        if not text:
            return None
        folder = self.near(text)
        if not folder.is_dir():
            raise self.wrong(
                "there is no such folder", "cwd", found=str(folder), expected="a folder for the game to run in"
            )
        return folder

    def environment(self) -> Mapping[str, str]:
        """Return the environment variables for the game's process."""
        found = {}
        for name in self.table("environment"):
            if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) or name.startswith(("PE_", "MC_")):
                raise self.wrong(
                    "not a variable that can be set",
                    name,
                    "environment",
                    found=textfile.shown(name),
                    expected="letters, digits and _; names with PE_ and MC_ are those of the driver",
                )
            found[name] = self.word(name, "", self.table("environment"), "environment")
        return found

    def limits(self) -> Limits:
        """Return the resource limits of a game process."""
        table, most = self.table("limits"), {"memory": 2**24, "rollouts": 2**40, "log": 2**20}
        self.only("limits", table, tuple(most))
        return Limits(**{k: self.whole(k, getattr(Limits, k), 0, high, table, "limits") for k, high in most.items()})

    def film(self) -> tuple[str, ...]:
        """Return the playthroughs that the game draws pictures of."""
        words = self.words("film") if "film" in self.values else FILMED
        for word in words:
            if word not in FILMED:
                expected, hint = unknown(word, FILMED)
                raise self.wrong("no such playthrough", "film", found=word, expected=expected, hint=hint)
        return words

    def port(self, workers: int) -> int:
        """Return the first of the ports; each worker has one."""
        port = self.whole("port", 0, 0, MOST_PORT)
        if port + workers - 1 > MOST_PORT:
            raise self.wrong(
                "port is out of range",
                "port",
                found=f"{port} with {counted(workers, 'worker')}",
                expected=f"at most {MOST_PORT + 1 - workers}: worker N listens on port + N",
            )
        return port

    def policy(self) -> str:
        """Return the policy of the rollouts, which is given if and only if `rollout = "policy"` is."""
        text = self.word("policy", "")
        if bool(text) != (self.values.get("rollout") == "policy"):
            raise self.wrong('`policy` and `rollout = "policy"` go together', "policy" if text else "rollout")
        return text

    def deterministic(self) -> bool:
        """Return whether players know everything that the seed decides; `seeds` counts only if they do not."""
        value = self.truth("deterministic", True)
        if value and "seeds" in self.values:
            raise self.wrong(
                "a deterministic game is searched with its own seed alone",
                "seeds",
                found="seeds without deterministic = false",
                expected="deterministic = false, if the seed decides what the player cannot know",
            )
        return value

    def wrong(self, what: str, key: str, table: str = "", **more: Any) -> ConnectError:
        return ConnectError(what, place=key_place(self.text, str(self.path), key, table), **more)

    def near(self, text: str) -> Path:
        """Resolve a path relative to the folder of this file."""
        path = Path(text)
        return path if path.is_absolute() else self.path.parent / path

    def word(
        self, key: str, default: str | None = None, values: Mapping[str, Any] | None = None, table: str = ""
    ) -> str:
        value = (self.values if values is None else values).get(key, default)
        if value is None:
            raise self.wrong(f"{key} is missing", key, table, expected=f'{key} = "..."')
        if (
            not isinstance(value, str)
            or not (table == "environment" or is_label(value))
            or has_control(value)
            or (not value and default is None)
        ):
            raise self.wrong(f"{key} is not text", key, table, found=textfile.shown(value), expected=f'{key} = "..."')
        return value

    def words(self, key: str, values: Mapping[str, Any] | None = None, table: str = "") -> tuple[str, ...]:
        value = (self.values if values is None else values).get(key, [])
        if not isinstance(value, list) or not all(isinstance(v, str) and not has_control(v) for v in value):
            raise self.wrong(
                f"{key} is not a list of texts",
                key,
                table,
                found=textfile.shown(value),
                expected=f'{key} = ["...", "..."]',
            )
        return tuple(value)

    def whole(
        self, key: str, default: int, low: int, high: int, values: Mapping[str, Any] | None = None, table: str = ""
    ) -> int:
        value = (self.values if values is None else values).get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.wrong(
                f"{key} is out of range",
                key,
                table,
                found=textfile.shown(value),
                expected=f"a whole number from {low} to {high}",
            )
        return value

    def seconds(self, key: str, values: Mapping[str, Any], default: float) -> float | None:
        value = values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1e6:
            raise self.wrong(
                f"the timeout {key} is out of range",
                key,
                "timeouts",
                found=textfile.shown(value),
                expected="seconds, 0 for no limit",
            )
        return float(value) or None

    def truth(self, key: str, default: bool, values: Mapping[str, Any] | None = None, table: str = "") -> bool:
        value = (self.values if values is None else values).get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(
                f"{key} is not true or false", key, table, found=textfile.shown(value), expected="true or false"
            )
        return value

    def choice(self, key: str, known: tuple[str, ...]) -> str:
        value = self.word(key, known[0])
        if value not in known:
            expected, hint = unknown(value, known)
            raise self.wrong(f"no such {key}", key, found=value, expected=expected, hint=hint)
        return value

    def table(self, key: str) -> Mapping[str, Any]:
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(f"{key} is not a table", key, found=textfile.shown(value), expected=f"[{key}]")
        return value

    def only(self, table: str, values: Mapping[str, Any], keys: tuple[str, ...]) -> None:
        for key in values:
            if key not in keys:
                expected, hint = unknown(key, keys)
                raise self.wrong(f"unknown key in [{table}]", key, table, found=key, expected=expected, hint=hint)

    def plain(self, key: str) -> Mapping[str, Any]:
        """Return a table that can be sent as JSON."""
        import json

        value = self.table(key)
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as e:
            raise self.wrong(
                f"[{key}] contains a value that JSON cannot express",
                key,
                found=str(e),
                expected="texts, numbers, true, false, lists and tables",
            ) from e
        for reserved in ("map", "variant"):
            if reserved in value:
                raise self.wrong(
                    f"{reserved} is set by the level", reserved, key, expected="names of levels such as cave:hard@3"
                )
        return value

    def variants(self) -> Mapping[str, Mapping[str, Any]]:
        value = self.plain("variants")
        for name, settings in value.items():
            if not isinstance(settings, dict) or not re.fullmatch(r"[^:@\s][^:@]*", name) or not is_label(name):
                raise self.wrong(
                    "not a variant",
                    name,
                    "variants",
                    found=textfile.shown(name),
                    expected="[variants.NAME] with settings",
                )
        return value

    def maps(self) -> Mapping[str, tuple[str, ...]]:
        found = {}
        for name, value in self.table("maps").items():
            found[name] = self.words(name, {name: value}, "maps")
            if not is_label(name):
                raise self.wrong("not a name for a set of levels", name, "maps", expected="a name on one line")
            if not found[name]:
                raise self.wrong("a set of levels is empty", name, "maps", expected=f'{name} = ["default"]')
        return found

    def personas(self) -> tuple[Path, ...]:
        found: list[Path] = []
        for pattern in self.words("personas"):
            if Path(pattern).is_absolute():
                raise self.wrong("a persona's path counts from this file's folder", "personas", found=pattern)
            try:
                hits = sorted(self.path.parent.glob(pattern))
            except (ValueError, NotImplementedError) as e:
                raise self.wrong("not a pattern", "personas", found=f"{pattern}: {e}") from e
            if not hits and not any(mark in pattern for mark in "*?["):
                raise self.wrong("there is no such persona file", "personas", found=pattern)
            found += [hit for hit in hits if hit not in found]
        return tuple(found)

    def metrics(self) -> tuple[MetricWords, ...]:
        value = self.values.get("metrics", [])
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            raise self.wrong("metrics is not a list of tables", "metrics", expected="[[metrics]]")
        found = []
        for table in value:
            self.only("metrics", table, tuple(MetricWords.__dataclass_fields__))
            given = {k: self.word(k, "", table, "metrics") for k in table if k not in ("symbol", "place")}
            place = self.truth("place", True, table, "metrics")
            words = MetricWords(self.word("symbol", None, table, "metrics"), place=place, **given)
            if words.better not in BETTER:
                expected, hint = unknown(words.better, BETTER)
                raise self.wrong(
                    "no such direction", "better", "metrics", found=words.better, expected=expected, hint=hint
                )
            found.append(words)
        return tuple(found)
