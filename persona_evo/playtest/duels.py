"""Two-player games: results of a persona against each opponent from each side, and findings on the level.

| kind | says | severity |
|---|---|---|
| beaten | opponents that a player loses most games to | notice |
| sides | a player wins significantly more often from one side than from the other | notice |
| endless | games that come to no end | notice |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from persona_evo.games.findings import Finding
from persona_evo.intervals import Interval, wilson
from persona_evo.playtest.compare import p_shown, spoken
from persona_evo.playtest.metrics import EVERY, levels_of, players_of
from persona_evo.playtest.records import SIDES, Playthrough
from persona_evo.statistics import ALPHA, fisher, holm
from persona_evo.words import counted, plural, sentence

MOST = 0.5
"""An opponent beats a player if the whole interval of the share of games that the player lost lies above this."""


@dataclass(frozen=True)
class Standing:
    """The results of a player; EVERY as level, opponent or side stands for all of them.

    `rate` is the share of games won, with Wilson's interval; a draw is not a win.
    """

    level: str
    player: str
    opponent: str
    side: str
    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """Number of all games."""
        return self.wins + self.draws + self.losses

    @property
    def rate(self) -> Interval:
        """The share of games won."""
        return wilson(self.wins, self.games)


def standing(
    records: Iterable[Playthrough], player: str, level: str = EVERY, opponent: str = EVERY, side: str = EVERY
) -> Standing:
    """Count the results of the player's games that match."""
    results = [
        r.result
        for r in records
        if r.opponent
        and r.player == player
        and level in (EVERY, r.level)
        and opponent in (EVERY, r.opponent)
        and side in (EVERY, r.side)
    ]
    return Standing(level, player, opponent, side, *(results.count(kind) for kind in ("win", "draw", "loss")))


def opponents_of(records: Iterable[Playthrough]) -> list[str]:
    """Return the names of the opponents in order of first appearance; none in single-player games."""
    return list(dict.fromkeys(r.opponent for r in records if r.opponent))


def met(opponents: Sequence[str], trials: int) -> dict[str, int]:
    """Return which opponents of a league a player meets in a level in this many trials, and from how many sides.

    Opponents take turns; each is met first as one side, then as the other.
    """
    return {name: min(2, trials - 2 * i) for i, name in enumerate(opponents) if trials > 2 * i}


def meeting(opponents: Sequence[str], trials: int) -> str:
    """Describe the meetings that this many trials leave out; "" if each opponent is met from both sides."""
    found = met(opponents, trials)
    once = next((name for name, sides in found.items() if sides == 1), "")
    if len(found) == len(opponents) and not once:
        return ""
    text = f"{counted(trials, 'trial')} of each player in a level {'meets' if trials == 1 else 'meet'} "
    text += f"{len(found)} of {counted(len(opponents), 'opponent')}"
    text += f", {once} from one side only" if once else ""
    return f"{text}; all of them from both sides take {2 * len(opponents)}"


def standings(records: Sequence[Playthrough]) -> list[Standing]:
    """Return the results for every level, player, opponent and side, then their totals, without games not played."""
    levels, opponents = levels_of(records), opponents_of(records)
    every = product(
        [*levels, *([EVERY] if len(levels) > 1 else [])],
        players_of(records),
        [*opponents, *([EVERY] if len(opponents) > 1 else [])],
        [*SIDES, EVERY],
    )
    found = (standing(records, player, level, opponent, side) for level, player, opponent, side in every)
    return [s for s in found if s.games]


def find(records: Sequence[Playthrough], players: Iterable[str]) -> list[Finding]:
    """Return the findings on the levels of a two-player game; only the games of `players` are judged."""
    chosen = [r for r in records if r.opponent]
    judged = [p for p in players_of(chosen) if p in set(players)]
    cases = [(level, player) for level in levels_of(chosen) for player in judged]
    found = [
        finding
        for level, player in cases
        for finding in (*_beaten(chosen, level, player), *_endless(chosen, level, player))
    ]
    return found + _sides(chosen, cases)


def _beaten(records: Sequence[Playthrough], level: str, player: str) -> list[Finding]:
    parts: list[str] = []
    numbers: dict[str, float] = {}
    for opponent in opponents_of(records):
        s = standing(records, player, level, opponent)
        lost = wilson(s.losses, s.games)
        if lost.low > MOST:
            parts.append(f"{opponent} {s.losses} of {s.games} ({lost.low * 100:.0f}–{lost.high * 100:.0f} %)")
            numbers[f"lost to {opponent}"] = float(s.losses)
    text = f"the {spoken(player)} loses most games to {', '.join(parts)}"
    return [_notice("beaten", level, text, player, numbers)] if parts else []


def _endless(records: Sequence[Playthrough], level: str, player: str) -> list[Finding]:
    own = [r for r in records if r.level == level and r.player == player]
    endless = [r for r in own if r.unfinished]
    if not endless:
        return []
    steps = sum(r.steps for r in endless) / len(endless)
    n = len(endless)
    text = (
        f"{n} of {counted(len(own), 'game')} of the {spoken(player)} {plural(n, 'does', 'do')} not end (after "
        f"{steps:.0f} moves on average) and {plural(n, 'counts as a draw', 'count as draws')}"
    )
    numbers = {"unfinished": len(endless), "games": len(own), "steps": steps}
    return [_notice("endless", level, text, player, numbers)]


def _notice(kind: str, level: str, text: str, player: str, numbers: Mapping[str, float]) -> Finding:
    return Finding(kind, "notice", level, sentence(text), players=(player,), evidence=numbers)


def _sides(records: Sequence[Playthrough], cases: Sequence[tuple[str, str]]) -> list[Finding]:
    """Compare the shares of games won from both sides by Fisher's exact test, Holm-corrected over varying cases."""
    pairs = [[standing(records, player, level, EVERY, side) for side in SIDES] for level, player in cases]
    varying = [(a, b) for a, b in pairs if a.games and b.games and 0 < a.wins + b.wins < a.games + b.games]
    tests = holm([fisher(a.wins, a.games, b.wins, b.games).p for a, b in varying])
    found = []
    for (a, b), p in zip(varying, tests, strict=True):
        if p < ALPHA:
            text = (
                f"the side matters to the {spoken(a.player)}: {_won(a)} when it moves first, {_won(b)} when it moves "
                f"second ({p_shown(p)}, Fisher, corrected by Holm)"
            )
            numbers = {"first": a.rate.value, "second": b.rate.value, "p": p}
            found.append(_notice("sides", a.level, text, a.player, numbers))
    return found


def _won(s: Standing) -> str:
    return f"{s.wins} of {counted(s.games, 'game')} won ({s.rate.low * 100:.0f}–{s.rate.high * 100:.0f} %)"
