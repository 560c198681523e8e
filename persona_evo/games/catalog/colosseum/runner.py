"""Runs a program written for the course's framework in its own process: `python runner.py FILE MEGABYTES`.

The program's output and the tracebacks of its exceptions go to standard error. On SIGUSR1 the process reports there
where it is. The file must have a function `step(chess_board, my_pos, adv_pos, max_step)`, or a class with that method,
which returns ((row, column), side). Imports of the framework (`agents.agent.Agent`, `store.register_agent`) find
stand-ins here; other imports find the file's folder and its parent. See `persona_evo.agents.program` for the protocol.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib.util
import json
import operator
import os
import random
import signal
import sys
import traceback
import types
from typing import Any


class CourseAgent:
    """The base class of the course's agents."""

    def __init__(self) -> None:
        self.name = "Agent"
        self.autoplay = True


def register_agent(name: str) -> Any:
    """Stand in for the framework's decorator, which returns the class unchanged."""
    return lambda cls: cls


def stand_ins(folder: str) -> None:
    """Install modules under the framework's names."""
    for name, content in (
        ("agents", {"__path__": [folder], "Agent": CourseAgent}),
        ("agents.agent", {"Agent": CourseAgent}),
        ("store", {"register_agent": register_agent, "AGENT_REGISTRY": {}}),
    ):
        module = types.ModuleType(name)
        vars(module).update(content)
        sys.modules[name] = module


def told(error: BaseException, path: str) -> str:
    """Return what was raised, and where in the program's folder: "KeyError: 'x' (bot.py:12, in step)"."""
    text, folder, where = str(error).strip()[:200], os.path.dirname(path), ""
    if isinstance(error, SyntaxError) and error.filename:
        text, where = str(error.msg), f"{os.path.basename(error.filename)}:{error.lineno}"
    at = error.__traceback__
    while at is not None and not isinstance(error, SyntaxError):
        code = at.tb_frame.f_code
        if code.co_filename.startswith(folder + os.sep):
            where = f"{os.path.relpath(code.co_filename, folder)}:{at.tb_lineno}, in {code.co_name}"
        at = at.tb_next
    said = type(error).__name__ + (f": {text}" if text else "")
    return said + (f" ({where})" if where else "")


def trace(error: BaseException) -> None:
    """Write the traceback, without the lines of this file, to the program's log."""
    with contextlib.suppress(Exception):
        at = error.__traceback__
        while at is not None and at.tb_frame.f_code.co_filename == __file__:
            at = at.tb_next
        traceback.print_exception(type(error), error, at)


def limit_memory(megabytes: int) -> None:
    """Limit the memory that this process may take in addition to what it has, if the system supports that."""
    if megabytes <= 0:
        return
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
        most = pages * resource.getpagesize() + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass


def load(path: str) -> Any:
    """Return the function to call for a move."""
    folder = os.path.dirname(path)
    sys.path[:0] = [folder, os.path.dirname(folder)]
    stand_ins(folder)
    spec = importlib.util.spec_from_file_location("agents." + os.path.basename(path)[:-3], path)
    if spec is None or spec.loader is None:
        raise ImportError("it is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if callable(getattr(module, "step", None)):
        return module.step
    own = [v for v in vars(module).values() if isinstance(v, type) and v.__module__ == spec.name and hasattr(v, "step")]
    if not own:
        raise AttributeError("it has neither a function step nor a class with that method")
    return own[-1]().step


def move_of(answer: Any) -> list[int]:
    """Return ((row, column), side) as three numbers."""
    (r, c), d = answer
    return [operator.index(v) for v in (r, c, d)]


def main() -> None:
    """Answer requests, one line each."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    asked = os.fdopen(os.dup(0), "r", encoding="utf-8")
    os.dup2(nowhere, 0)
    os.dup2(2, 1)
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, os.fdopen(os.dup(2), "w"), all_threads=False)

    own, number = os.getpid(), 0

    def say(**what: Any) -> None:
        if os.getpid() != own:  # a process that the program has forked, and that came back from its function, too
            os._exit(0)
        out.write(json.dumps({"number": number, **what}) + "\n")
        out.flush()

    import numpy as np

    limit_memory(int(sys.argv[2]))
    random.seed(0)
    np.random.seed(0)
    try:
        step = load(sys.argv[1])
    except BaseException as e:
        trace(e)
        say(failed=told(e, sys.argv[1]))
        return
    say(ready=True)
    for line in asked:
        q = json.loads(line)
        number = q["number"]
        board = np.array([[[cell >> d & 1 for d in range(4)] for cell in row] for row in q["walls"]], dtype=bool)
        try:
            answer = step(board, tuple(q["me"]), tuple(q["other"]), q["steps"])
        except MemoryError as e:
            say(error=told(e, sys.argv[1]), kind="memory")
        except BaseException as e:
            if os.getpid() == own:
                trace(e)
            say(error=told(e, sys.argv[1]), kind="error")
        else:
            try:
                say(move=move_of(answer))
            except Exception as e:
                say(error=f"{str(answer)[:80]} is not ((row, column), side): {e}", kind="nonsense")


if __name__ == "__main__":
    main()
