"""Plays many playthroughs: every player in every level, as often as requested, on all cores.

If an agent plays move by move (`agents.duel`), it plays with the player's tree policy. A player may also be an agent of
its own, which needs no tree policy. In a two-player game each player meets the opponents of a league in turn, first as
one side and then as the other. Its metrics are those that it sees at the end; its records name the opponent, the side
and the result. Once a trial has proven its plan, later trials show other routes of the same search (see `playing`).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from persona_evo import limits
from persona_evo.agents.agent import check
from persona_evo.agents.agent_files import agent_from
from persona_evo.agents.duel import League
from persona_evo.agents.skill import errs
from persona_evo.errors import ConnectError, Place, RunError, SettingsError
from persona_evo.games import registry, trust
from persona_evo.games.cluster_games import given_to, hired
from persona_evo.games.commands import command
from persona_evo.games.core import Game, Level
from persona_evo.games.findings import Finding
from persona_evo.games.level_text import LevelText, load_levels
from persona_evo.games.outside import closing_outside, failures_of
from persona_evo.jobs import runner
from persona_evo.jobs.dispatch import SURE, Dispatch
from persona_evo.jobs.folder import JobFolder
from persona_evo.jobs.journal import Journal
from persona_evo.jobs.progress import Progress, Tell
from persona_evo.jobs.workers import Workers
from persona_evo.playtest import journal
from persona_evo.playtest.journal import Key, Reopened, configuration
from persona_evo.playtest.metrics import Bound
from persona_evo.playtest.players import Player, Role, check_skills, movers, player_from
from persona_evo.playtest.playing import CONTINUATION, PlaythroughJob, Spec, draws
from persona_evo.playtest.playthrough_dispatch import PlaythroughDispatch, thought
from persona_evo.playtest.records import Playthrough
from persona_evo.search.settings import Budget, SearchSettings
from persona_evo.words import counted, interrupted


@dataclass
class BatchResults:
    """A batch of playthroughs in the order of levels, players and trials, with the settings that produced it.

    `bounds` are the best known utilities by (level, persona's name). `complete` is False after Ctrl-C. `folder` keeps
    the playthroughs, None if nothing is kept. `league` says who plays in a two-player game. `failures` says where a
    connected game failed.
    """

    game: Game
    levels: Sequence[Level]
    players: Sequence[Player]
    trials: int
    seed: int
    budget: Budget
    settings: SearchSettings
    records: list[Playthrough]
    complete: bool = True
    folder: Path | None = None
    league: League | None = None
    bounds: dict[tuple[str, str], Bound] = field(default_factory=dict)
    failures: list[Finding] = field(default_factory=list)

    @property
    def baselines(self) -> dict[str, str]:
        """Label of a player -> label of its baseline."""
        return {p.label: p.baseline for p in self.players if p.baseline}

    @property
    def interruption(self) -> str:
        """Says how many playthroughs there are of how many; "" if all are there."""
        total = self.trials * len(self.levels) * len(self.players)
        return "" if self.complete else interrupted(len(self.records), total, "playthrough")

    @property
    def movers(self) -> list[str]:
        """Names of the agents that play move by move: the players' own, and the league's for players without one."""
        return [] if self.league is None else movers(self.players, self.league)

    @property
    def tolerances(self) -> dict[str, float]:
        """Label of a player whose trials draw their routes -> the tolerance, as a share of |best utility|."""
        return {
            p.label: self.settings.tolerance
            for p in self.players
            if p.agent is None and not errs(p.skill) and draws(self.game, self.settings, p.policy, self.league)
        }

    def journaled_in(self, folder: Path) -> bool:
        """Return whether `folder` is the batch's own and holds exactly its playthroughs."""
        path = folder / journal.TRACES
        if self.folder is None or folder.resolve() != self.folder.resolve() or not path.is_file():
            return False
        return path.read_bytes().count(b"\n") == len(self.records)

    @property
    def priorities(self) -> dict[str, str]:
        """Label of a player -> symbol of the main metric of its persona."""
        return {p.label: p.persona.priority for p in self.players}


def playtest(
    game: Game,
    levels: Sequence[Level],
    players: Sequence[Player],
    trials: int,
    *,
    seed: int,
    budget: Budget | None = None,
    settings: SearchSettings | None = None,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    folder: Path | None = None,
    progress: Tell | None = None,
    game_name: str | None = None,
    recorded: str = "",
    league: League | None = None,
    continuation: float = CONTINUATION,
    workers: Workers | None = None,
    then: Dispatch[Any, Any, Any] | None = None,
) -> BatchResults:
    """Let every player play every level.

    Args:
        game: the game to play.
        levels, players: levels as loaded by `game.load`; names and labels must be distinct.
        trials: playthroughs of each player in each level, 1 to `limits.MOST_TRIALS`.
        seed: determines all results, unless the budget is one of time.
        budget, settings: of each search; by default 10,000 iterations and the preset `anytime`.
        jobs, backend, address: see `jobs.workers.Workers`; they do not affect the result.
        folder: stores each playthrough as soon as it is made. If it holds the beginning of the very same batch, that
            batch is continued.
        progress: called from time to time.
        game_name: the game's name in the registry, if that differs from its own name ("module:object").
        recorded: the game's name in the folder, if that differs.
        league: who plays move by move; required in a two-player game and if a player is an agent. The budget is then
            per move, and the template says how it searches.
        continuation: additional share of the budget for playing on from a plan's end to the game's; 0 to stop there.
        workers: used instead of new ones; they are left running.
        then: what the workers begin when no playthrough is left to begin.

    Returns:
        The results, incomplete if Ctrl-C interrupted the batch.

    Raises:
        SettingsError: nothing to play, duplicate names, or a player that cannot play.
        RunError: the folder belongs to something else, is damaged, or is in use.
    """
    spec = specified(
        game,
        levels,
        players,
        trials,
        budget=budget,
        settings=settings,
        league=league,
        continuation=continuation,
        game_name=game_name,
    )
    results = BatchResults(
        game, levels, players, trials, seed, spec.budget, spec.settings, [], folder=folder, league=spec.league
    )
    todo = spec.jobs(trials, seed)
    with ExitStack() as stack:
        kept = None
        if folder is not None:
            about = {**configuration(spec, game, players, trials, seed), "game": recorded or spec.game}
            stack.enter_context(JobFolder(journal.KIND, folder, about))
            kept = journal.playthroughs(folder)
            results.records = kept.read([_key(spec, job) for job in todo])
            journal.check_routes(kept, results.records)
        if game.outside is not None:
            game.outside.keep_in(folder)
        stack.enter_context(closing_outside(game))
        chosen = stack.enter_context(hired(game, workers, jobs, backend, address))
        spec = replace(spec, home=stack.enter_context(given_to(chosen, game, spec.game)))
        plays = PlaythroughDispatch(spec, todo, tuple(results.records), chosen, thought(spec.budget))
        plays.then = then
        _collect(plays, results, kept, len(todo), progress)
    return results


def _collect(
    plays: PlaythroughDispatch,
    results: BatchResults,
    kept: Journal[Playthrough] | None,
    total: int,
    progress: Tell | None,
) -> None:
    """Add the playthroughs and failures to the results, and the playthroughs to the journal if there is one.

    Raises:
        ConnectError: a connected game failed; the message says how to continue the batch.
    """

    def report(made: Sequence[Playthrough]) -> None:
        if progress is not None and plays.costs.measured:
            last = f"{made[-1].player} in {made[-1].level}"
            progress(Progress(len(results.records), total, plays.eta if plays.costs.measured >= SURE else None, last))

    try:
        results.complete = runner.collect(plays, results.records, kept, report)
    except ConnectError as e:
        if results.folder is None:
            raise
        made_so_far = counted(len(results.records), "playthrough")
        resuming = command(results.game, "playtest", "--resume", results.folder)
        raise e.hinting(f"kept in {results.folder}: {made_so_far}; resume with: {resuming}") from e
    results.failures = failures_of(results.game, results.folder)


def specified(
    game: Game,
    levels: Sequence[Level],
    players: Sequence[Player],
    trials: int,
    *,
    budget: Budget | None = None,
    settings: SearchSettings | None = None,
    league: League | None = None,
    continuation: float = CONTINUATION,
    game_name: str | None = None,
) -> Spec:
    """Return the checked specification that determines each playthrough of a batch (arguments as for `playtest`)."""
    _check(levels, players, trials)
    if not 0 <= continuation <= 1:
        raise SettingsError(
            "the share of the budget for playing on is out of range", found=f"{continuation:g}", expected="0 to 1"
        )
    _check_agents(players, game, league)
    check_skills(players, game, league)
    if league is not None:
        league.check(game)
        budget, settings = budget or league.agent.budget, SearchSettings.from_dict(league.agent.search)
        league = league.with_budget(budget)
    elif game.players > 1:
        raise SettingsError(
            "a playtest of a two-player game needs opponents",
            found=game.name,
            expected="a league",
            hint="or let agents play each other: persona-evo match",
        )
    return Spec(
        game_name or game.name,
        tuple(LevelText.of(level) for level in levels),
        tuple(Role.of(p) for p in players),
        settings or SearchSettings.anytime(),
        budget or Budget(),
        league,
        continuation,
    )


def resume(
    folder: Path,
    *,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    progress: Tell | None = None,
    game_name: str | None = None,
    workers: Workers | None = None,
) -> BatchResults:
    """Continue an interrupted batch from its folder alone (arguments as for `playtest`).

    `game_name` is the game's name in the registry if the folder's is out of date (the game's file has moved).

    Raises:
        RunError: no playtest's folder, damaged, in use, or made with other rules of the game.
    """
    known, name, before = _reopened(folder, game_name)
    return playtest(
        before.game,
        before.levels,
        before.players,
        known.trials,
        seed=known.seed,
        budget=before.budget,
        settings=before.settings,
        jobs=jobs,
        backend=backend,
        address=address,
        folder=folder,
        progress=progress,
        game_name=name,
        recorded=known.game,
        league=before.league,
        continuation=known.continuation,
        workers=workers,
    )


def kept(folder: Path, *, game_name: str | None = None) -> BatchResults:
    """Read what a batch's folder holds so far, even while another process works in it (arguments as for `resume`).

    Raises:
        RunError: no playtest's folder, damaged, or made with other rules of the game.
    """
    known, _, results = _reopened(folder, game_name)
    results.records = journal.playthroughs(folder).read()
    results.failures = failures_of(results.game, folder)
    wanted = known.trials * len(results.levels) * len(results.players)
    results.complete = len(results.records) >= wanted
    return results


def _reopened(folder: Path, game_name: str | None) -> tuple[Reopened, str, BatchResults]:
    """Return a batch's configuration as written, its game's current registry name, and results without records."""
    known = journal.reopen(folder)
    reader = journal.KIND.reader(folder)
    if game_name is None:
        trust.check(reader)
    name = registry.again(known.game, game_name, str(folder))
    game = registry.get(name)
    if game.version != known.game_version:
        raise RunError(
            "the rules of the game have changed since this playtest began",
            place=Place(str(folder)),
            found=f"version {known.game_version}",
            expected=f"version {game.version}",
            hint="play into another folder",
        )
    levels = load_levels(reader, game)
    for row in reader.items("players"):
        if "agent" in row.data:
            row.made("agent", lambda values: agent_from(values, game))
    league = reader.made("league", lambda values: League.from_dict(values, game)) if "league" in reader.data else None
    return (
        known,
        name,
        BatchResults(
            game,
            levels,
            [player_from(row, game) for row in known.players],
            known.trials,
            known.seed,
            Budget.from_dict(known.budget),
            SearchSettings.from_dict(known.search),
            [],
            folder=folder,
            league=league,
        ),
    )


def _check(levels: Sequence[Level], players: Sequence[Player], trials: int) -> None:
    if not levels:
        raise SettingsError("a playtest needs levels", found="none", expected="at least one")
    if not players:
        raise SettingsError("a playtest needs players", found="none", expected="at least one persona")
    limits.whole(trials, "the number of trials", 1, limits.MOST_TRIALS)
    for what, names in (("level", [v.name for v in levels]), ("player", [p.label for p in players])):
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise SettingsError(f"two {what}s have the same name", found=twice, expected="different names")
    for player in players:
        if player.baseline and player.baseline not in [p.label for p in players]:
            raise SettingsError(
                "this baseline is not one of the players", found=player.baseline, expected="the label of a player"
            )


def _check_agents(players: Sequence[Player], game: Game, league: League | None) -> None:
    for player in players:
        if player.agent is None:
            continue
        if league is None:
            raise SettingsError(
                "an agent plays move by move, but the other players do not",
                found=player.agent.name,
                hint="name the agent that plays with the other players' tree policies: --agent NAME",
            )
        if player.agent.kind == "program":
            raise SettingsError(
                "a program cannot be in a playtest",
                found=player.agent.name,
                expected="a built-in kind of agent",
                hint="persona-evo match plays against programs",
            )
        check(player.agent, game)


def _key(spec: Spec, job: PlaythroughJob) -> Key:
    return spec.levels[job.level].name, spec.roles[job.player].label, job.trial, job.seed
