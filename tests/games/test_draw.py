"""Tests pictures: their size, that everything is visible, and that states look different."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest

from persona_evo.games import mapsets
from persona_evo.games.catalog.minidungeons2 import draw, levels, shapes
from persona_evo.games.catalog.minidungeons2.draw import Drawn
from persona_evo.games.core import Level
from persona_evo.games.registry import get

GRID = levels.parse("XXXXXXX\nXHTPptX\nXMRobmX\nX   peX\nXXXXXXX\n", "level", "level.txt")


def pixels(picture: object) -> np.ndarray:
    return np.asarray(picture).astype(int)


def level(name: str) -> Level:
    return mapsets.resolve(get("minidungeons2"), [name])[0]


@pytest.mark.parametrize("scale", [8, 24, 32])
def test_a_picture_has_the_size_of_its_level(scale: int) -> None:
    assert draw.image(GRID, scale=scale).size == (7 * scale, 5 * scale)


def test_every_object_shows_on_its_tile_and_nowhere_else() -> None:
    bare, full = pixels(draw.image(GRID, objects=False)), pixels(draw.image(GRID))
    changed = (bare != full).any(axis=2).reshape(5, draw.SCALE, 7, draw.SCALE).any(axis=(1, 3))
    assert {(x, y) for y, x in np.argwhere(changed)} == {GRID.hero, *((x, y) for _, x, y in GRID.objects)}


def test_no_two_shapes_look_alike() -> None:
    looks = {char: pixels(draw.glyph(char, 1, 32)) for char in shapes.SHAPES if char != "m"}
    looks |= {"awake": pixels(draw.glyph("m", 0, 32)), "knocked": pixels(draw.glyph("m", 3, 32))}
    looks |= {f"blob {k}": pixels(draw.glyph("b", k, 32)) for k in (2, 3)}
    looks |= {"opened": pixels(draw.glyph("T", 0, 32)), "unarmed": pixels(draw.glyph("H", 0, 32))}
    for (a, first), (b, second) in itertools.combinations(looks.items(), 2):
        assert np.abs(first - second).mean() > 2, (a, b)


def test_states_change_the_picture() -> None:
    def frame(*objects: Drawn) -> np.ndarray:
        return pixels(draw.draw_state(GRID, objects))

    hero = Drawn("H", 2, 3, 10)
    frames = {
        "armed": frame(hero),
        "javelin lies": frame(hero, Drawn("j", 3, 3)),
        "hurt": frame(hero._replace(state=2)),
        "dead": frame(hero._replace(state=0)),
        "minitaur": frame(hero, Drawn("m", 1, 3, 0)),
        "minitaur out": frame(hero, Drawn("m", 1, 3, 2)),
        "goblin": frame(hero, Drawn("M", 1, 3, 1)),
        "dead goblin": frame(hero, Drawn("M", 1, 3, 0)),
    }
    for (a, first), (b, second) in itertools.combinations(frames.items(), 2):
        assert (first != second).any(), (a, b)
    assert (frame(hero, Drawn("P", 1, 3, 0)) == frames["armed"]).all(), "a potion that was drunk is gone"
    assert draw.draw_state(GRID, [hero], caption="step 3").height > draw.image(GRID).height


def test_a_long_caption_is_cut_to_the_picture() -> None:
    short, long = (draw.draw_state(GRID, [], caption=text) for text in ("x", "very long " * 40))
    assert short.size == long.size


def test_tiles_can_be_tinted() -> None:
    picture = pixels(draw.image(GRID, {(2, 3): (255, 0, 0, 255)}, objects=False))
    assert (picture[3 * draw.SCALE + 5, 2 * draw.SCALE + 5] == (255, 0, 0)).all()


def test_the_start_state_is_drawn_like_the_level() -> None:
    loaded = level("train11")
    grid = loaded.facts["grid"]
    assert sorted(draw.objects_of(loaded, loaded.start)) == sorted(draw.start_objects(grid))


def test_a_played_state_is_read_right() -> None:
    game, loaded = get("minidungeons2"), level("train03")
    actions = [game.parse_action(loaded, loaded.start, text) for text in ("J,5,2", "E", "E", "N")]
    states = game.replay(loaded, actions)
    thrown, last = (draw.objects_of(loaded, states[k]) for k in (1, -1))
    assert Drawn("j", 5, 2) in thrown and Drawn("M", 5, 2, 0) in thrown
    hero = last[0]
    assert (hero.x, hero.y) == game.locate(loaded, states[-1]) == (3, 3)  # type: ignore[misc]
    assert hero.state == round(10 * game.measure(loaded, states[-1])["HL"])
    assert Drawn("T", 3, 3, 0) in last and Drawn("T", 3, 3, 1) in thrown
    assert draw.state_image(loaded, states[-1]).size == draw.image(loaded.facts["grid"]).size


def test_maps_have_colours_below_what_lies_on_the_tiles() -> None:
    loaded = get("minidungeons2").load("XXXXXXX\nXH   eX\nXXXXXXX\nX T  MX\nXXXXXXX\n", "map")
    red = {(1, 3): (255, 0, 0, 255)}
    plain, coloured = (pixels(draw.map_image(loaded, scale=32, tiles=tiles)) for tiles in ({}, red))
    changed = (plain != coloured).any(axis=2).reshape(5, 32, 7, 32).any(axis=(1, 3))
    assert np.argwhere(changed).tolist() == [[3, 1]] and (coloured[3 * 32 + 2, 32 + 2] == (255, 0, 0)).all()


def test_drawing_is_imported_when_something_is_drawn() -> None:
    code = (
        "import sys, persona_evo.games.catalog.minidungeons2.draw, persona_evo.games.mapsets; "
        "print([m for m in ('PIL',) if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
