"""Draws each object of a level as a few shapes in a square tile."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import ImageDraw

Colour = str | tuple[int, int, int] | tuple[int, int, int, int]

JAVELIN = "j"
"""The character of a javelin on the floor in lists of `draw.Drawn`."""

INK, GREY = "#2b2b33", "#9a9aa2"


class Pen:
    """Draws in a tile, with coordinates from 0 to 1, right and down, on a square of `side` pixels."""

    def __init__(self, draw: ImageDraw.ImageDraw, side: int) -> None:
        self.draw, self.side = draw, side
        self.edge = max(1, side // 24)

    def at(self, points: Iterable[float]) -> list[float]:
        return [p * (self.side - 1) for p in points]

    def oval(self, x: float, y: float, rx: float, ry: float, fill: Colour | None, edge: Colour | None = INK) -> None:
        self.draw.ellipse(self.at((x - rx, y - ry, x + rx, y + ry)), fill, edge, self.edge if edge else 0)

    def shape(self, points: Iterable[float], fill: Colour, edge: Colour | None = INK) -> None:
        self.draw.polygon(self.at(points), fill, edge, self.edge if edge else 0)

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: Colour | None, edge: Colour | None = INK) -> None:
        self.draw.rounded_rectangle(self.at((x0, y0, x1, y1)), self.side * 0.06, fill, edge, self.edge if edge else 0)

    def line(self, points: Iterable[float], fill: Colour, width: float = 0.07) -> None:
        self.draw.line(self.at(points), fill, max(1, round(width * self.side)), joint="curve")

    def arc(self, x: float, y: float, r: float, start: int, end: int, fill: Colour, width: float = 0.07) -> None:
        self.draw.arc(self.at((x - r, y - r, x + r, y + r)), start, end, fill, max(1, round(width * self.side)))

    def eyes(self, y: float, apart: float = 0.11, size: float = 0.05, fill: Colour = INK) -> None:
        for x in (0.5 - apart, 0.5 + apart):
            self.oval(x, y, size, size, fill, None)


def _hero(pen: Pen, armed: int) -> None:
    pen.oval(0.5, 0.91, 0.26, 0.06, (0, 0, 0, 60), None)
    pen.shape((0.28, 0.9, 0.33, 0.55, 0.67, 0.55, 0.72, 0.9), "#2f6fd0")
    pen.oval(0.5, 0.4, 0.2, 0.2, "#f6cfa6")
    pen.shape((0.27, 0.4, 0.3, 0.2, 0.5, 0.12, 0.7, 0.2, 0.73, 0.4, 0.6, 0.3, 0.4, 0.3), "#2f6fd0")
    pen.eyes(0.43, 0.08, 0.035)
    if armed:
        pen.line((0.83, 0.24, 0.83, 0.92), "#8a5a2b", 0.06)
        pen.shape((0.83, 0.04, 0.92, 0.26, 0.74, 0.26), "#c9d1dc")


def _exit(pen: Pen, _: int) -> None:
    pen.box(0.16, 0.08, 0.84, 0.94, "#2e8b57")
    pen.box(0.27, 0.2, 0.73, 0.94, "#12402a")
    for left, top, colour in ((0.3, 0.78, "#e4f7ec"), (0.42, 0.63, "#a8d8bd"), (0.54, 0.48, "#74b994")):
        pen.draw.rectangle(pen.at((left, top, 0.7, 0.9)), colour)


def _portal(pen: Pen, _: int) -> None:
    pen.oval(0.5, 0.5, 0.42, 0.42, "#6d3fc0")
    pen.oval(0.5, 0.5, 0.31, 0.31, "#b79af0", None)
    pen.oval(0.5, 0.5, 0.2, 0.2, "#40217d", None)
    pen.arc(0.5, 0.5, 0.37, 200, 300, "#e8dcff", 0.05)
    pen.arc(0.5, 0.5, 0.26, 20, 120, "#ffffff", 0.05)


def _trap(pen: Pen, _: int) -> None:
    pen.box(0.1, 0.72, 0.9, 0.9, "#6b5b4b")
    for x in (0.14, 0.39, 0.64):
        pen.shape((x, 0.72, x + 0.11, 0.26, x + 0.22, 0.72), "#c3c9d2")


def _treasure(pen: Pen, there: int) -> None:
    if not there:
        pen.box(0.18, 0.56, 0.82, 0.86, "#d8cdb8", "#b3a78f")
        pen.line((0.2, 0.54, 0.28, 0.3, 0.8, 0.3), "#b3a78f", 0.05)
        return
    pen.oval(0.5, 0.91, 0.36, 0.06, (0, 0, 0, 60), None)
    pen.box(0.14, 0.46, 0.86, 0.88, "#a5652a")
    pen.draw.pieslice(pen.at((0.14, 0.16, 0.86, 0.82)), 180, 360, "#c9822f", INK, pen.edge)
    pen.box(0.14, 0.44, 0.86, 0.55, "#f2c744")
    pen.box(0.42, 0.42, 0.58, 0.66, "#ffe28a")


def _potion(pen: Pen, there: int) -> None:
    if not there:
        return
    pen.oval(0.5, 0.91, 0.24, 0.05, (0, 0, 0, 60), None)
    pen.oval(0.5, 0.64, 0.27, 0.27, "#e0394f")
    pen.box(0.41, 0.18, 0.59, 0.44, "#f7d5da")
    pen.box(0.37, 0.1, 0.63, 0.21, "#8a5a2b")
    pen.oval(0.5, 0.66, 0.22, 0.2, "#e0394f", None)
    pen.oval(0.41, 0.57, 0.06, 0.08, "#ffb3bd", None)


def _goblin(pen: Pen, _: int) -> None:
    pen.shape((0.02, 0.3, 0.34, 0.38, 0.3, 0.62), "#5f9e3a")
    pen.shape((0.98, 0.3, 0.66, 0.38, 0.7, 0.62), "#5f9e3a")
    pen.oval(0.5, 0.54, 0.28, 0.31, "#79bd4b")
    pen.eyes(0.48, 0.11, 0.075, "#fff6c9")
    pen.eyes(0.48, 0.11, 0.035)
    pen.line((0.36, 0.68, 0.64, 0.68), INK, 0.05)
    pen.shape((0.4, 0.68, 0.44, 0.6, 0.48, 0.68), "#ffffff", None)
    pen.shape((0.52, 0.68, 0.56, 0.6, 0.6, 0.68), "#ffffff", None)


def _wizard(pen: Pen, _: int) -> None:
    pen.shape((0.22, 0.93, 0.34, 0.58, 0.66, 0.58, 0.78, 0.93), "#a03fa8")
    pen.oval(0.5, 0.55, 0.21, 0.2, "#79bd4b")
    pen.eyes(0.57, 0.09, 0.04)
    pen.shape((0.16, 0.46, 0.5, 0.02, 0.84, 0.46), "#7c2b8c")
    pen.box(0.12, 0.41, 0.88, 0.49, "#c06ad0")
    pen.line((0.88, 0.52, 0.88, 0.93), "#8a5a2b", 0.05)
    pen.oval(0.88, 0.5, 0.08, 0.08, "#ffe04d")


def _ogre(pen: Pen, hp: int) -> None:
    pen.oval(0.5, 0.56, 0.42, 0.39, "#b98a5e")
    pen.box(0.24, 0.31, 0.76, 0.39, "#6f4a2a", None)
    pen.eyes(0.46, 0.15, 0.055)
    pen.line((0.3, 0.7, 0.7, 0.7), INK, 0.06)
    pen.shape((0.3, 0.72, 0.36, 0.54, 0.42, 0.72), "#ffffff", None)
    pen.shape((0.58, 0.72, 0.64, 0.54, 0.7, 0.72), "#ffffff", None)
    if hp == 1:
        pen.line((0.62, 0.2, 0.72, 0.36, 0.64, 0.42, 0.76, 0.56), "#c0202f", 0.06)


def _blob(pen: Pen, level: int) -> None:
    r = 0.24 + 0.075 * min(max(level, 1), 3)
    top = 0.9 - 1.65 * r
    pen.draw.pieslice(pen.at((0.5 - r, top, 0.5 + r, top + 3.3 * r)), 180, 360, "#2bb3b0", INK, pen.edge)
    pen.oval(0.5 - r * 0.4, top + r * 0.55, r * 0.14, r * 0.2, "#a8ece9", None)
    pen.eyes(0.9 - r * 0.62, r * 0.36, 0.05)
    for k in range(level if level > 1 else 0):
        pen.oval(0.5 + 0.13 * (k - (level - 1) / 2), 0.96 - r * 0.36, 0.045, 0.045, "#ffffff", None)


def _minitaur(pen: Pen, knocked: int) -> None:
    face, muzzle, horn = ("#a9a9b0", "#c9c9cf", "#dcdce0") if knocked else ("#8e2f2f", "#d99a86", "#fff2d0")
    pen.shape((0.06, 0.06, 0.16, 0.36, 0.36, 0.36, 0.22, 0.28), horn)
    pen.shape((0.94, 0.06, 0.84, 0.36, 0.64, 0.36, 0.78, 0.28), horn)
    pen.shape((0.2, 0.32, 0.8, 0.32, 0.72, 0.72, 0.6, 0.92, 0.4, 0.92, 0.28, 0.72), face)
    pen.oval(0.5, 0.77, 0.19, 0.14, muzzle)
    pen.eyes(0.77, 0.08, 0.03)
    if not knocked:
        pen.eyes(0.49, 0.14, 0.07, "#ffd84d")
        pen.eyes(0.49, 0.14, 0.03)
        return
    for x in (0.36, 0.64):
        pen.line((x - 0.07, 0.43, x + 0.07, 0.55), INK, 0.04)
        pen.line((x - 0.07, 0.55, x + 0.07, 0.43), INK, 0.04)
    for k in range(min(knocked, 3)):
        pen.oval(0.34 + 0.16 * k, 0.16, 0.065, 0.065, "#e8a800", None)


def _javelin(pen: Pen, _: int) -> None:
    pen.line((0.12, 0.88, 0.76, 0.24), "#8a5a2b", 0.08)
    pen.shape((0.94, 0.06, 0.86, 0.32, 0.68, 0.14), "#c9d1dc")


def _dead(pen: Pen, _: int) -> None:
    pen.line((0.34, 0.4, 0.66, 0.72), GREY, 0.07)
    pen.line((0.34, 0.72, 0.66, 0.4), GREY, 0.07)


def _grave(pen: Pen, _: int) -> None:
    pen.oval(0.5, 0.92, 0.36, 0.06, (0, 0, 0, 60), None)
    pen.draw.pieslice(pen.at((0.22, 0.1, 0.78, 0.7)), 180, 360, "#dfe3ea", INK, pen.edge)
    pen.draw.rectangle(pen.at((0.22, 0.4, 0.78, 0.92)), "#dfe3ea")
    pen.line((0.22, 0.4, 0.22, 0.92, 0.78, 0.92, 0.78, 0.4), INK, 0.04)
    pen.line((0.5, 0.26, 0.5, 0.78), "#c0202f", 0.1)
    pen.line((0.36, 0.44, 0.64, 0.44), "#c0202f", 0.1)


SHAPES: dict[str, Callable[[Pen, int], None]] = {
    "H": _hero,
    "e": _exit,
    "p": _portal,
    "t": _trap,
    "T": _treasure,
    "P": _potion,
    "M": _goblin,
    "R": _wizard,
    "o": _ogre,
    "b": _blob,
    "m": _minitaur,
    JAVELIN: _javelin,
    "x": _dead,
    "+": _grave,
}
"""Character -> how it is drawn, given the pen and the object's state; dead monsters are `x`, a dead hero is `+`."""
