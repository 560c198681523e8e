"""Manages the processes of a connected game across its levels, and remembers what is known about its states.

A game with the capability `maps` changes levels within the same processes. For other games there are processes for each
map and variant; the most recently used ones are kept.

A state of a connected game is identified by the choices that lead to it. What the game reported about a state (its
metrics and the number of choices) is remembered; what is still unknown is asked for with a rollout from that state.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from persona_evo.connect import protocol as p
from persona_evo.connect import watchdog
from persona_evo.connect.description import Description
from persona_evo.connect.findings import (
    CHANCE,
    MOST_FINDINGS,
    FailingRollout,
    completed,
    group_similar,
    replay_differences,
)
from persona_evo.connect.findings_file import FINDINGS, as_findings, read_findings, write_findings
from persona_evo.connect.level_names import LevelName
from persona_evo.connect.pool import ProcessPool
from persona_evo.connect.process_start import Start, View
from persona_evo.errors import ConnectError, GameError, SettingsError
from persona_evo.formula import parse
from persona_evo.games.findings import Finding
from persona_evo.words import counted

if TYPE_CHECKING:
    from persona_evo.connect.ordering import FinishedRollout

KEPT = 3
"""The number of maps and variants whose processes are kept, for a game without the capability `maps`."""

MOST_KNOWN = 200_000
"""The number of remembered states above which all of them are forgotten."""


class KnownState(NamedTuple):
    """Holds what the game reported about a state.

    Attributes:
        choices: the number of choices; 0 where the game is over.
        metrics: the metrics in this state, in the game's order.
        score: the game's score if the game is over, otherwise 0.
    """

    choices: int
    metrics: tuple[float, ...]
    score: float = 0.0


class Session:
    """A connected game that is being played.

    Args:
        about: the game's description.
        view: whether the game is seen.
        all_at_once: whether to start all processes of a level together, and not one to ask and the others to play.
    """

    def __init__(self, about: Description, view: View = View.HIDDEN, all_at_once: bool = False) -> None:
        self.about, self._view, self._all_at_once = about, view, all_at_once
        self.mode = {"weights": p.WEIGHTS, "policy": p.POLICY}.get(about.rollout, p.UNIFORM)
        self._pools: OrderedDict[tuple[str, str], ProcessPool] = OrderedDict()
        self._folder: Path | None = None
        self._home: Path | None = None
        self._known: dict[tuple[LevelName, tuple[int, ...]], KnownState] = {}
        self._untold: list[str] = []
        self._failed: dict[Path, list[FailingRollout]] = {}
        self._all: list[FailingRollout] = []
        self._noted: set[str] = set()
        self._hello: p.Hello | None = None
        self._keep_logs = False
        self.show_best: Callable[[LevelName, Sequence[int]], None] | None = None

    def hello(self) -> p.Hello:
        """Return what the game reports about itself; start the game if it has not been started."""
        if self._hello is None:
            self.pool(LevelName())
        assert self._hello is not None
        return self._hello

    def pool(self, level: LevelName) -> ProcessPool:
        """Return the processes that play a level's map and variant; start them if needed.

        Raises:
            ConnectError: the game does not start.
        """
        key = level.map, level.variant
        if key in self._pools:
            self._pools.move_to_end(key)
            return self._pools[key]
        if self._hello is not None and "maps" in self._hello.capabilities and self._pools:
            before, pool = next(iter(self._pools.items()))
            pool.change(*key, self.about.settings_for(level.variant))
            del self._pools[before]
        else:
            while len(self._pools) >= (KEPT if self.about.attachment is None else 1):
                self._pools.popitem(last=False)[1].close()
            pool = self._new(level)
        self._pools[key] = pool
        return pool

    def close(self) -> None:
        """End all processes; they start again when they are needed."""
        while self._pools:
            self._collect(self._pools.popitem()[1]).close()
        if self._folder is None:
            return
        watchdog.remove_folder(str(self._folder))
        if not self._keep_logs:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
        elif self._home is not None and self._folder != self._home:
            # Messages about the failure may name the original files, so those stay in place after the copy.
            shutil.copytree(self._folder, self._home, dirs_exist_ok=True)
            self._folder = self._home

    def keep_in(self, folder: Path | None) -> None:
        """Keep the findings of a game that fails, and copies of its logs, in `folder`/logs.

        If that folder exists, they go to logs-2 and so on. The logs stay where they are if the description names a
        folder for them. What happened before belongs to another folder: it is neither copied nor counted.

        Args:
            folder: the folder; None to keep them where the game writes its logs.
        """
        self._collect_all()
        if self._home is not None and self._home.parent == folder and self._home.exists():
            return
        if self._keep_logs:
            self.close()
            self._folder, self._keep_logs, self._all = None, False, []
        if folder is None:
            self._home = None
            return
        number, self._home = 1, folder / "logs"
        while self._home.exists():
            number += 1
            self._home = folder / f"logs-{number}"

    def findings(self) -> list[str]:
        """Return, as sentences, the failures of the game since the last call, and other notes.

        Similar failures (see `group_similar`) become one sentence with their number.
        """
        self._collect_all()
        told, self._untold = self._untold, []
        for file, failed in self._failed.items():
            for finding, n in group_similar(failed):
                least = "at least " if len(failed) >= MOST_FINDINGS else ""
                first = ", first by" if n > 1 else ""
                told.append(f"the game failed in {least}{counted(n, 'rollout')}{first}: {finding} (kept in {file})")
        self._failed.clear()
        return told

    def failures(self, folder: Path | None) -> list[Finding]:
        """Return all failures of the game, as findings.

        Args:
            folder: one that `keep_in` was told, now or earlier; None for what has happened since the last
                call of `keep_in`.
        """
        self._collect_all()
        if folder is None:
            return as_findings([(self.findings_file, self._all)] if self._all else [], self.about.source)
        kept = sorted(folder.glob(f"logs*/{FINDINGS}"))
        return as_findings([(file, read_findings(file)) for file in kept], self.about.source)

    def hand_over(self) -> list[FailingRollout]:
        """Return all failures of the game and forget them, for another process that keeps them (`take_over`)."""
        self.findings()
        failed, self._all = self._all, []
        return failed

    def take_over(self, failed: Sequence[object]) -> None:
        """Keep failures that another process has handed over, as if they had happened here."""
        self._keep([one for one in failed if isinstance(one, FailingRollout)])

    def named(self, names: Sequence[str]) -> list[LevelName]:
        """Return the levels that names stand for.

        What only the game can check about them is noted once, for `findings`.

        Raises:
            SettingsError: a name is not a level.
        """
        found = self.about.levels(names)
        for text in self.about.unchecked(found):
            self.note(text, text)
        return found

    def note(self, subject: str, text: str) -> None:
        """Add a note for `findings`, unless there was one on this subject."""
        if subject not in self._noted:
            self._noted.add(subject)
            self._untold.append(f"note: {text}")

    def confirm(self, level: LevelName, sample: FinishedRollout) -> tuple[p.Result, list[str]]:
        """Replay a rollout by its choices. A difference is also kept as a finding.

        Returns:
            The new result, and its differences from the first one.

        Raises:
            ConnectError, GameError: the game fails, or offers other choices.
        """
        again = self.play(level, p.pack(sample.trace))
        symbols = [m.symbol for m in self.hello().metrics]
        wrong = replay_differences(sample.trace, sample.metrics, sample.score, again, symbols)
        if wrong:
            text = "a replay ended differently: " + "; ".join(wrong)
            where = level.map, level.variant, level.seed
            self._keep([FailingRollout(CHANCE, *where, sample.rollout_seed, self.mode, sample.trace, text)])
        return again, wrong

    def settle(self, pool: ProcessPool) -> None:
        """Write down the failures that a search has found; called after a search."""
        self._collect(pool)

    def state_at(self, level: LevelName, choices: tuple[int, ...]) -> KnownState:
        """Return what the game reports about a state; ask the game if that is not known yet.

        Raises:
            GameError: the game does not offer these choices.
        """
        while (level, choices) not in self._known:
            known = next(k for k in range(len(choices), -1, -1) if k == 0 or (level, choices[: k - 1]) in self._known)
            pairs = []
            for i in range(known):
                count = self._known[level, choices[:i]].choices
                if choices[i] >= count:
                    raise GameError(f"{level}: choice {choices[i]} of {count} after the choices {choices[:i]}")
                pairs.append((choices[i], count))
            self._look(level, p.pack(pairs))
        return self._known[level, choices]

    def play(self, level: LevelName, prefix: bytes, seed: int = 0) -> p.Result:
        """Play one rollout after a prefix, and return its result.

        Raises:
            ConnectError, GameError: the game fails.
        """
        pool = self.pool(level)
        pool.submit(p.Rollout(0, level.seed, seed, p.ALL_METRICS, self.mode, 0, prefix))
        return completed(pool.next())

    def _look(self, level: LevelName, prefix: bytes) -> None:
        """Let the game make these choices and no others, and remember what it reports on the way."""
        pool = self.pool(level)
        pool.submit(p.Rollout(0, level.seed, 0, p.ALL_METRICS, self.mode, 0, prefix).stopping())
        result, made = completed(pool.next()), len(prefix) // p.PAIR
        if result.decisions == made or not result.count(made):
            self.learn(level, self.play(level, prefix))  # the game is over, and nothing is left to chance
            return
        choices = tuple(choice for choice, _ in p.unpack(result.trace[: len(prefix)]))
        for i in range(made + 1):
            self._known[level, choices[:i]] = KnownState(result.count(i), result.row(i))

    def learn(self, level: LevelName, result: p.Result) -> None:
        """Remember what a rollout's result tells about all states on its way."""
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        pairs = p.unpack(result.trace)
        choices = tuple(choice for choice, _ in pairs)
        for i, (_, count) in enumerate(pairs):
            self._known[level, choices[:i]] = KnownState(count, result.row(i))
        self._known[level, choices] = KnownState(0, result.last(), result.score)

    def _new(self, level: LevelName) -> ProcessPool:
        about = self.about
        used = {pool.first for pool in self._pools.values()}
        first = next(n for n in range(0, (KEPT + 1) * about.workers, about.workers) if n not in used)
        start = Start(
            about.game,
            self._logs(),
            tuple(about.placed(word) for word in about.arguments),
            about.settings_for(level.variant),
            level.variant,
            level.map,
            about.timeouts,
            about.port,
            self._view,
            {name: about.placed(value) for name, value in about.environment.items()},
            about.folder,
            about.limits,
            factory=about.factory,
            port_place=about.place("port") if about.port else None,
            attachment=about.attachment,
        )
        queue = -(-about.slots // about.workers)
        pool = ProcessPool(start, about.workers, queue=queue, restarts=about.restarts, first=first)
        try:
            if self._all_at_once:
                pool.open()
            hello = pool.greet()
        except BaseException:
            self._keep_logs = True
            raise
        if self._hello is not None and hello.metrics != self._hello.metrics:
            pool.close()
            raise ConnectError(
                f"the game reports different metrics in {level}",
                found=", ".join(m.symbol for m in hello.metrics),
                expected=", ".join(m.symbol for m in self._hello.metrics),
            )
        if level.seed and "seed" not in hello.capabilities:
            pool.close()
            raise SettingsError(
                "the game does not take seeds",
                found=str(level),
                expected=f"the level without @{level.seed}",
                hint="it does not announce the capability `seed`",
            )
        if self.about.policy:
            self._tell_policy(pool, hello)
        self._hello = hello
        return pool

    def _tell_policy(self, pool: ProcessPool, hello: p.Hello) -> None:
        """Send the game the policy that its rollouts follow."""
        place = self.about.place("policy")
        try:
            if "lookahead" not in hello.capabilities:
                raise ConnectError(
                    "the game cannot look ahead, so it cannot play by a policy",
                    place=place,
                    expected='rollout = "uniform"',
                    hint="it does not announce the capability `lookahead`",
                )
            formula = parse(self.about.policy, [m.symbol for m in hello.metrics], place=place)
        except BaseException:
            pool.close()
            raise
        value = {"id": 0, "name": "rollouts", "kind": "rollout", "code": list(formula.tokens)}
        pool.tell(p.json_frame(p.Kind.POLICY, value))

    def _logs(self) -> Path:
        if self.about.logs is not None:
            return self.about.logs
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix=f"persona-evo-{self.about.name}-"))
            watchdog.add_folder(str(self._folder))
        return self._folder

    @property
    def findings_file(self) -> Path:
        """The file in which failures of the game are kept."""
        return (self._home or self._logs()) / FINDINGS

    def _collect_all(self) -> None:
        for pool in self._pools.values():
            self._collect(pool)

    def _collect(self, pool: ProcessPool) -> ProcessPool:
        """Take over a pool's findings, write them to the file of findings, and return the pool."""
        new, pool.findings = pool.findings, []
        self._keep_logs |= pool.broken or pool.restarted > 0
        self._keep(new)
        return pool

    def _keep(self, new: Sequence[FailingRollout]) -> None:
        """Write findings to the file of findings, and remember them for `findings`."""
        new = [failure for failure in dict.fromkeys(new) if failure not in self._all]
        if not new:
            return
        self._keep_logs = True
        file = self.findings_file
        self._failed.setdefault(file, []).extend(new)
        self._all += new[: MOST_FINDINGS - len(self._all)]
        write_findings(file, new)
