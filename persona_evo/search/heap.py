"""Binary heaps of nodes, each in an array int32[most]; a function tells which of two nodes comes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from persona_evo.compiling import compiled
from persona_evo.compiling.arrays import ShortRow

W = TypeVar("W")


@compiled
def push(heap: ShortRow, size: int, node: int, before: Callable[[W, int, int], bool], work: W) -> None:
    """Add a node to a heap of `size` nodes; before(work, a, b) says whether node a comes before node b."""
    at = size
    while at > 0:
        above = (at - 1) >> 1
        if not before(work, node, heap[above]):
            break
        heap[at] = heap[above]
        at = above
    heap[at] = node


@compiled
def pop(heap: ShortRow, size: int, before: Callable[[W, int, int], bool], work: W) -> int:
    """Take the first node out of a heap of `size` nodes."""
    first, last = heap[0], heap[size - 1]
    at = 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and before(work, heap[child + 1], heap[child]):
            child += 1
        if not before(work, heap[child], last):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first


@compiled
def lot(node: int, salt: int) -> int:
    """Return the number that breaks ties between nodes of equal rank: the lower one comes first."""
    return ((int(node) ^ salt) * 0x9E3779B1) & 0xFFFFFFFF
