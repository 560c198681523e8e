"""Animated replays: chooses a playthrough, draws its frames, and writes the GIF."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from persona_evo.errors import VerificationError
from persona_evo.games.core import Game, Level
from persona_evo.games.guides import guide
from persona_evo.jobs import files
from persona_evo.playtest.records import Playthrough
from persona_evo.report import duels
from persona_evo.report.plots import drawing
from persona_evo.seeds import stream
from persona_evo.words import counted, enumerated

if TYPE_CHECKING:
    from PIL.Image import Image

STEP_MS, HOLD_MS = 220, 1800
"""How long a frame and the last frame are shown, in milliseconds."""

MOST_FRAMES = 400
"""Maximum number of frames; longer replays leave out frames evenly."""

COLOURS = 96
"""Number of colours of a replay. The next one means "as in the frame before", which keeps files small."""

MOST_COUNTED = 200_000
"""Number of pixels from which only every second one, in both directions, is examined for the colours of a replay."""

LEGEND = 11
"""Height of a legend's text in pixels."""


class Frame(NamedTuple):
    """A picture of a replay, and its duration in milliseconds."""

    picture: Image
    ms: int = STEP_MS


class ReplayChoice(NamedTuple):
    """The playthroughs of a group that are worth watching."""

    median: Playthrough
    best: Playthrough
    worst: Playthrough


def choose(records: Sequence[Playthrough]) -> ReplayChoice:
    """Choose the median playthrough (by utility, then steps; the lower one of an even number), the best and the worst.

    The best has the highest utility and then the fewest steps, the worst the lowest utility and then the most steps;
    ties go to the first.

    Raises:
        ValueError: no records.
    """
    if not records:
        raise ValueError("there are no playthroughs to choose from")
    ordered = sorted(records, key=lambda r: (r.utility, r.steps, r.trial))
    best = min(records, key=lambda r: (-r.utility, r.steps, r.trial))
    worst = min(records, key=lambda r: (r.utility, -r.steps, r.trial))
    return ReplayChoice(ordered[(len(ordered) - 1) // 2], best, worst)


def worth_watching(group: Sequence[Playthrough]) -> Iterator[tuple[Playthrough, list[str], str]]:
    """Yield the median, best and worst playthroughs, each with what it is of these, and with that in words.

    Playthroughs that end in the same way after equally many moves are yielded once. If all utilities are alike, the
    best and the worst playthrough are the shortest and the longest.
    """
    wanted: dict[tuple[object, ...], tuple[Playthrough, list[str]]] = {}
    choice = choose(group)
    tied = f"{choice.best.utility:.3f}" == f"{choice.worst.utility:.3f}"
    for word, record in choice._asdict().items():
        key = (record.utility, len(record.all_actions), record.final)
        wanted.setdefault(key, (record, []))[1].append(word)
    said = {"best": "shortest", "worst": "longest"} if tied and len(wanted) > 1 else {}
    for record, words in wanted.values():
        yield record, words, enumerated([said.get(w, w) for w in words])


def caption(game: Game, level: Level, record: Playthrough, word: str) -> str:
    """Describe a replay: the player, its colour if there are two players, and how the game ended."""
    found = duels.labels(game, level, record, getattr(drawing(game), "PLAYERS", ()))
    steps = counted(len(record.all_actions), "move" if found else "step")
    ended = record.result or ("" if record.unfinished else "died" if record.lost else record.final)
    how = f"{ended} in {steps}" if ended else f"not over after {steps}"
    return f"{duels.in_words(found) if found else record.player} ({word}): {how}, utility {record.utility:.3f}"


def states(game: Game, level: Level, record: Playthrough, whole: bool = False) -> Iterator[Any]:
    """Replay a playthrough's actions and yield its states, the start first.

    Args:
        whole: whether to include the states after the plan, up to the end of the game.

    Raises:
        VerificationError: the final metrics differ from the record, so this is another level, or another version.
    """
    state = game.start(level, record.seed)
    yield state.copy()
    rng, step = stream(record.seed), game.rules().step
    for text in record.actions:
        step(level.tables, state, game.parse_action(level, state, text), rng)
        yield state.copy()
    eyes = [duels.seat(game, level, record)] if record.opponent else range(game.players)  # older records do not say
    seen = [game.measure(level, state, side) for side in eyes]
    differing = [
        [s for s, v in record.metrics.items() if s in measured and not np.isclose(measured[s], v, atol=1e-9)]
        for measured in seen
    ]
    measured, wrong = seen[0], differing[0]
    if all(differing):
        raise VerificationError(
            f"trial {record.trial} of {record.player} in level {record.level!r} does not replay: {wrong[0]} is "
            f"{measured[wrong[0]]:g}, the record has {record.metrics[wrong[0]]:g}"
        )
    for text in record.end.actions if whole and record.end is not None else ():
        step(level.tables, state, game.parse_action(level, state, text), rng)
        yield state.copy()


def frames(game: Game, level: Level, record: Playthrough, scale: int = 24, whole: bool = False) -> list[Frame] | None:
    """Return each state with a line on the step below, the last one held; None if the game does not draw states.

    If a game's drawing has `between(level, before, action, after, *, scale, number)`, its frames of what happens in
    step `number` come before the frame of the state `after`: pictures of the same size, with their milliseconds. In a
    two-player game a legend says which colour belongs to whom.

    Args:
        whole: whether to include the moves after the plan, up to the end of the game.
    """
    module = drawing(game)
    if module is None or not hasattr(module, "state_image"):
        return None  # before any replay, which would start a game that runs elsewhere
    names = record.all_actions if whole else record.actions
    ended = record.final if whole else "not over" if record.open else record.outcome
    cause = record.lost_to if whole else record.cause
    end = record.result or (f"{ended} ({cause})" if cause else ended)
    told = ["start", *map(guide(game).action, names)]
    captions = [
        f"{n}/{len(names)} {told[n]}{_aside(record, n, end if n == len(names) else '')}" for n in range(len(names) + 1)
    ]
    passed = list(states(game, level, record, whole))
    actions = [game.parse_action(level, state, text) for state, text in zip(passed, names, strict=False)]
    shown = film(game, level, passed, actions, captions, scale)
    labels = duels.labels(game, level, record, getattr(module, "PLAYERS", ()))
    if not labels:
        return shown
    return [frame._replace(picture=duels.with_legend(frame.picture, labels, LEGEND)) for frame in shown]


def _aside(record: Playthrough, number: int, end: str) -> str:
    """Return the remark behind a move: that it comes after the plan, and how the game ends with it."""
    said = [*(["after the plan"] if number > len(record.actions) else []), *([end] if end else [])]
    return f"  {', '.join(said)}" if said else ""


def film(
    game: Game,
    level: Level,
    passed: Sequence[Any],
    actions: Sequence[int],
    captions: Sequence[str],
    scale: int = 24,
    step_ms: int = STEP_MS,
) -> list[Frame]:
    """Return frames of the states that actions passed through, the start first, with the game's own frames in between.

    The game must draw its states (see `frames`).
    """
    module: Any = drawing(game)
    between = getattr(module, "between", None)
    found: list[Frame] = []
    for number, (state, caption) in enumerate(zip(passed, captions, strict=True)):
        if number and between is not None:
            before, action = passed[number - 1], actions[number - 1]
            found += itertools.starmap(Frame, between(level, before, action, state, scale=scale, number=number))
        hold = HOLD_MS if number == len(passed) - 1 else step_ms
        found.append(Frame(module.state_image(level, state, scale=scale, caption=caption), hold))
    return found


def save_gif(shown: Sequence[Frame], path: Path | str, loop: bool = True) -> Path:
    """Write an animated GIF from pictures of the same size.

    All frames share one palette, made from some of them, so that colours do not flicker.

    Raises:
        ValueError: no pictures, or pictures of different sizes.
    """
    if not shown:
        raise ValueError("there are no pictures for a replay")
    if len({f.picture.size for f in shown}) > 1:
        raise ValueError("the pictures of a replay have different sizes")
    from PIL.Image import Dither

    chosen = _thinned(shown)
    pictures = [f.picture for f in chosen]
    palette = _palette(pictures)
    reduced = _changes([p.convert("RGB").quantize(palette=palette, dither=Dither.NONE) for p in pictures])
    path = Path(path)
    again: dict[str, Any] = {"loop": 0} if loop else {}
    with files.naming(path):
        reduced[0].save(
            path,
            format="GIF",
            save_all=True,
            append_images=reduced[1:],
            duration=[f.ms for f in chosen],
            optimize=False,
            disposal=1,
            transparency=COLOURS,
            **again,
        )
    return path


def _thinned(shown: Sequence[Frame]) -> list[Frame]:
    if len(shown) <= MOST_FRAMES:
        return list(shown)
    kept = np.linspace(0, len(shown) - 1, MOST_FRAMES).round().astype(int)
    return [shown[int(i)] for i in kept]


def _changes(pictures: Sequence[Image]) -> list[Image]:
    """Return the first picture, then only the changes of each next one, all else transparent (colour COLOURS)."""
    from PIL import Image

    pixels = [np.asarray(p) for p in pictures]
    changed = [pictures[0]]
    for before, after in itertools.pairwise(pixels):
        picture = Image.fromarray(np.where(before == after, np.uint8(COLOURS), after))
        picture = picture.convert("P") if picture.mode != "P" else picture
        picture.putpalette(pictures[0].getpalette() or [])
        changed.append(picture)
    return changed


def _palette(pictures: Sequence[Image]) -> Image:
    """Return a palette that suits up to eight pictures spread over the replay."""
    from PIL import Image

    picked = [pictures[int(i)] for i in np.unique(np.linspace(0, len(pictures) - 1, 8).round())]
    width, height = picked[0].size
    every = 2 if width * height * len(picked) > MOST_COUNTED else 1
    width, height = -(-width // every), -(-height // every)
    sheet = Image.new("RGB", (width * len(picked), height))
    for k, picture in enumerate(picked):
        sheet.paste(picture.convert("RGB").resize((width, height), Image.Resampling.NEAREST), (k * width, 0))
    return sheet.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
