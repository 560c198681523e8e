"""Playtest levels again whenever one of their files is saved, and report at once what has changed.

Within seconds of each save of a level or persona, a first report from a few trials says which findings appeared and
disappeared, and how win rates changed. The remaining trials follow until all are done or a file is saved again. The
report is in the folder of --out; its page reloads itself. Ctrl-C stops the command.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from persona_evo.cli import option_values, options, playtest_options
from persona_evo.cli.parser import Commands, filled
from persona_evo.cli.say import StatusLine, duration, note, say
from persona_evo.errors import PersonaEvoError, SettingsError
from persona_evo.jobs.windows import program
from persona_evo.words import counted, enumerated

if TYPE_CHECKING:
    from persona_evo.api import Results
    from persona_evo.api.latest import Publisher
    from persona_evo.games.acceptance import Accepted
    from persona_evo.games.core import Game, Level
    from persona_evo.playtest.live import LivePlaytest
    from persona_evo.playtest.players import Player

FOLDER = Path("runs") / "latest"
"""The default folder of the report."""

LOOK = 0.1
"""Seconds between two checks of the files."""

PATIENCE = 1.0
"""Seconds after which partial results are reported, once each player has played each level."""

DAY = 86400.0


def add(commands: Commands) -> None:
    """Add the command and its options."""
    parser = commands.add_parser("watch", description=__doc__, epilog=playtest_options.SKILL_TABLE)
    parser.add_argument("levels", nargs="+", type=filled, metavar="LEVEL", help=options.LEVELS)
    playtest_options.add_playing(parser)
    parser.add_argument(
        "--baseline",
        nargs="?",
        const="ucb1",
        type=filled,
        metavar="POLICY",
        help="each persona also plays by this policy (default: ucb1)",
    )
    options.add_accept(parser)
    parser.add_argument("--no-pictures", action="store_true", help="put no charts, maps or replays on the page")
    parser.add_argument("--no-replays", action="store_true", help="put no replays on the page")
    options.add_out(parser, f"folder of the report, kept up to date (default: {FOLDER})")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Watch until Ctrl-C."""
    options.check_backend(args)
    game = option_values.game_of(args)
    if game.outside is not None:
        raise SettingsError(
            "a connected game has no level files to watch",
            found=args.game,
            hint=program("playtest", "--game", args.game, "LEVELS"),
        )
    from persona_evo.api import latest
    from persona_evo.api.live import live_playtest
    from persona_evo.jobs.folder import made
    from persona_evo.jobs.lock import Lock
    from persona_evo.jobs.workers import Workers

    levels, players = option_values.levels_of(args, game, args.levels), option_values.players_of(args, game)
    seed, folder, accepted = option_values.seed_of(args), args.out or FOLDER, option_values.accepted_of(args)
    with ExitStack() as stack:
        workers = stack.enter_context(Workers(option_values.jobs_of(args), args.backend, args.address, idle=DAY))
        live = live_playtest(
            game,
            players,
            workers,
            trials=args.trials,
            seed=seed,
            iterations=args.iterations,
            seconds=args.seconds,
            continuation=args.continuation,
            **option_values.search_options(args),
        )
        live.begin(levels, players)
        command = option_values.typed(args, seed)
        made(folder, "folder of the watch")
        stack.enter_context(Lock(folder))
        latest.claim(
            folder,
            {
                "game": _address(game),
                "levels": list(args.levels),
                "trials": args.trials,
                "seed": seed,
                "command": command,
            },
        )
        publisher = latest.Publisher(folder)
        stack.callback(publisher.close)
        publisher.start()
        watch = LevelWatch(args, game, live, publisher, command, players, accepted)
        note(
            f"watching {counted(len(levels), 'level')} with {counted(len(players), 'player')}, seed {seed}; the page "
            f"is {folder / 'index.html'}; Ctrl-C stops"
        )
        try:
            watch.go()
        except KeyboardInterrupt:
            StatusLine.done_with_line()
            note(f"stopped; the last report is in {folder}")
            return 130
    return 0


def _address(game: Game) -> str:
    from persona_evo.games import registry

    return registry.address(game)


class LevelWatch:
    """The loop until Ctrl-C: check the files, play, report, publish.

    Args:
        args: the command's options.
        game: the game.
        live: plays, and has begun with the first version.
        publisher: writes the report.
        command: the command line, for the page.
        players, accepted: those of the first version.
    """

    def __init__(
        self,
        args: argparse.Namespace,
        game: Game,
        live: LivePlaytest,
        publisher: Publisher,
        command: str,
        players: Sequence[Player],
        accepted: Sequence[Accepted],
    ) -> None:
        from persona_evo.store.sources import Sources

        self.args, self.game, self.live, self.publisher, self.command = args, game, live, publisher, command
        self.players = players
        self.accepted = accepted
        self.personas = [Path(name) for name in args.personas if name.endswith(".toml")]
        self.sources = Sources(self._files)
        self.before: Results | None = None  # results of the last reported version, while this one is played
        self.answer: Results | None = None  # the last report on this version
        self.answered = 0.0, 0  # the time of that report, and its trials
        self.finished = False
        self.saved = self.began = time.time()
        self.what = "first look"
        self.line = StatusLine()

    def _files(self) -> Iterable[Path]:
        from persona_evo.games import mapsets

        accepted = [] if self.args.accept is None else [self.args.accept]
        levels = [source.path for source in mapsets.find(self.game, self.args.levels)]
        return [*levels, *self.personas, *accepted]

    def go(self) -> None:
        """Watch without end."""
        while True:
            changed = self.sources.changed()
            if changed:
                self._load(changed)
            elif not self.finished:
                self._play()
            else:
                time.sleep(LOOK)
            for wrong in self.publisher.look():
                note(f"the page cannot be written: {wrong}")

    def _load(self, changed: Sequence[Path]) -> None:
        """Load the saved version; if it is wrong, report that and keep the old one."""
        try:
            if any(path in self.personas for path in changed):
                self.players = option_values.players_of(self.args, self.game)
            levels: list[Level] = option_values.levels_of(self.args, self.game, self.args.levels)
            accepted = option_values.accepted_of(self.args)
            before = None if self.answer is None else self._results(self.live.done)
            if not self.live.begin(levels, self.players) and accepted == self.accepted:
                return
        except PersonaEvoError as e:
            note(f"{_clock()} {_names(changed)} cannot be played: {e}")
            return
        StatusLine.done_with_line()
        self.before, self.accepted = before or self.before, accepted
        self.answer, self.finished, self.what = None, False, f"{_names(changed)} saved"
        self.began = time.time()
        times = [path.stat().st_mtime for path in changed if path.exists()]
        self.saved = min(self.began, max(times, default=self.began))

    def _play(self) -> None:
        """Play a round, and report the results when it is time."""
        try:
            self.live.round()
        except PersonaEvoError as e:  # for a game that is written as a class
            note(f"{_clock()} {self.what} cannot be played: {e}")
            self.finished = True
            return
        done = self.live.done
        if self.answer is None:
            if done and (self.live.complete or time.time() - self.began >= PATIENCE):
                self._tell(done)
        elif self.live.complete:
            self._finish()
        else:
            since, first = self.answered
            made = done - first
            left = (time.time() - since) / made * (self.live.trials - done) if made else None
            rest = "" if left is None else f", {duration(left)} to go"
            self.line.show(f"{done} of {counted(self.live.trials, 'trial')} of each player{rest}")

    def _results(self, trials: int) -> Results:
        from persona_evo.api.results import as_results

        found = as_results(self.live.results(trials))
        found.accepted = self.accepted
        return found

    def _tell(self, done: int) -> None:
        """Report the effect of the change, with the number of trials that both versions have."""
        from persona_evo.report import run_tables

        now = self._results(done)
        few = done if self.before is None else min(done, self.before.trials)
        self.answer = now if few == done else now.first(few)
        if self.before is None:
            lines = run_tables.standing_lines(self.answer.analysis)
        else:
            before = self.before if self.before.trials == few else self.before.first(few)
            found = self.answer.changes_since(before)
            lines = [*run_tables.findings_lines(found), *run_tables.rates_lines(found)]
        trials = counted(self.live.trials, "trial")
        some = (
            f"{few} of {trials} of each player, the others follow"
            if few < self.live.trials
            else (f"all {trials} of each player")
        )
        self.answered = time.time(), done
        say(f"{_clock()} {self.what}, answered after {self.answered[0] - self.saved:.1f} s: {some}")
        _say(lines)
        self.finished = few == self.live.trials
        self._publish(now)

    def _finish(self) -> None:
        """Report what the remaining trials changed."""
        from persona_evo.report import run_tables

        assert self.answer is not None
        StatusLine.done_with_line()
        now = self._results(self.live.trials)
        found = now.changes_since(self.answer)
        say(f"{_clock()} {self.what}: now all {counted(self.live.trials, 'trial')} of each player")
        lines = run_tables.findings_lines(found) if found.findings else ["findings: unchanged"]
        _say([*lines, *run_tables.standing_rates(now.analysis)])
        self.finished = True
        self._publish(now)

    def _publish(self, results: Results) -> None:
        from persona_evo.api.latest import Snapshot

        last = results.trials == self.live.trials
        self.publisher.publish(
            Snapshot(
                self.live.configuration(results.trials),
                tuple(r.to_json() for r in results.records),
                f"{time.time():.3f}",
                self.command,
                pictures=not self.args.no_pictures,
                replays=last and not (self.args.no_replays or self.args.no_pictures),
                accepted=tuple(self.accepted),
            )
        )


def _say(lines: Sequence[str]) -> None:
    for line in lines:
        say(f"  {line}")


def _clock() -> str:
    return f"{datetime.now():%H:%M:%S}"


def _names(paths: Sequence[Path]) -> str:
    return enumerated([path.name for path in paths], 3)
