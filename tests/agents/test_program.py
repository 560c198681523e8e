"""Tests programs of others as agents: they run unchanged, and their faults cost them a move and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from persona_evo.agents.agent import Agent
from persona_evo.agents.agent_seat import AgentSeat
from persona_evo.agents.contest import Contest, Fault, contest
from persona_evo.agents.output import HEAD, TAIL
from persona_evo.agents.program import ProgramSeat, try_out
from persona_evo.errors import SettingsError
from persona_evo.games import registry
from persona_evo.games.catalog import colosseum

GAME = registry.get("colosseum")
LEVEL = GAME.load("random 6", "six")

STUDENT = """
from agents.agent import Agent
from store import register_agent
import numpy as np

@register_agent("student_agent")
class StudentAgent(Agent):
    def __init__(self):
        super(StudentAgent, self).__init__()
        self.name = "StudentAgent"

    def step(self, chess_board, my_pos, adv_pos, max_step):
        print("thinking about", chess_board.shape)
        assert chess_board.dtype == bool and chess_board.shape == (6, 6, 4) and max_step == 3
        assert isinstance(my_pos, tuple) and isinstance(adv_pos, tuple)
        for d in range(4):
            if not chess_board[my_pos[0], my_pos[1], d]:
                chess_board[:] = True
                return np.array(my_pos), np.int64(d)
"""

LOUD = """import sys
print('loaded')

def step(b, m, a, k):
    print('y' * 10**6)
    print('near the end', file=sys.stderr)
    return deeper()

def deeper():
    return [][3]
"""


def play(tmp_path: Path, text: str, seconds: float = 5.0, megabytes: int = 500) -> Contest:
    path = tmp_path / "student.py"
    path.write_text(text, encoding="utf-8")
    seats = [
        ProgramSeat(GAME, LEVEL, str(path), seconds, megabytes),
        AgentSeat(Agent("random", "random"), GAME, LEVEL, 1),
    ]
    return contest(GAME, LEVEL, seats, 3, 1)


@pytest.mark.parametrize(
    "text",
    [STUDENT, "def step(b, m, a, k):\n    return m, [d for d in range(4) if not b[m[0], m[1], d]][0]\n"],
)
def test_a_program_of_the_course_runs_unchanged(tmp_path: Path, text: str) -> None:
    found = play(tmp_path, text)
    assert not found.faults and found.outcome != 0
    first = GAME.legal(LEVEL, GAME.start(LEVEL, 3))
    assert found.actions[0] in first


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("def step(b, m, a, k):\n    raise KeyError('x')\n", "error", "KeyError: 'x' (student.py:2, in step)"),
        ("def step(b, m, a, k):\n    raise SystemExit\n", "error", "SystemExit"),
        ("import os\ndef step(b, m, a, k):\n    os._exit(3)\n", "error", "exit code 3"),
        ("def step(b, m, a, k):\n    return 'hello'\n", "nonsense", "hello"),
        ("def step(b, m, a, k):\n    return (0.5, 1), 1\n", "nonsense", "integer"),
        ("def step(b, m, a, k):\n    return (-5, 99), 17\n", "nonsense", "not a cell"),
        ("import os\ndef step(b, m, a, k):\n    os.write(1, b'x' * 10**6)\n", "nonsense", "None"),
        ("def step(b, m, a, k):\n    return m, [d for d in range(4) if b[*m, d]][0]\n", "invalid", "not allowed"),
    ],
)
def test_whatever_it_does_costs_the_move_alone(tmp_path: Path, text: str, kind: str, said: str) -> None:
    found = play(tmp_path, text)
    kinds = [f.kind for f in found.faults]
    assert kinds and set(kinds) <= {kind, "error"} and {f.player for f in found.faults} == {0}
    assert kinds[0] == kind or (kind == "invalid" and kinds.count("invalid") > 0)
    assert any(said in f.what for f in found.faults) and found.outcome != 0


def test_one_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    text = f"""
import os, time
def step(b, m, a, k):
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
        with open({str(tmp_path / "child")!r}, "a") as f:
            f.write(str(os.getpid()) + "\\n")
        time.sleep(60)
        os._exit(0)
    while True:
        pass
"""
    found = play(tmp_path, text, seconds=0.5)
    assert {f.kind for f in found.faults} == {"time"} and len(found.faults) == (len(found.actions) + 1) // 2
    time.sleep(0.3)
    started = (tmp_path / "child").read_text().split()
    assert len(started) == 2 * len(found.faults)
    for number in started if sys.platform.startswith("linux") else started[::2]:
        state = Path(f"/proc/{number}/stat")
        assert not state.exists() or state.read_text().split()[2] == "Z", "its child is gone, too"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
def test_a_forked_process_that_comes_back_answers_nothing(tmp_path: Path) -> None:
    text = """
import os
def step(b, m, a, k):
    os.fork()
    return m, [d for d in range(4) if not b[m[0], m[1], d]][0]
"""
    found = play(tmp_path, text)
    assert not found.faults and found.outcome != 0, "no answer was taken for one to the next question"


def test_what_it_prints_and_its_tracebacks_are_kept_and_cut(tmp_path: Path) -> None:
    path = tmp_path / "student.py"
    path.write_text(LOUD, encoding="utf-8")
    program = ProgramSeat(GAME, LEVEL, str(path), 5.0)
    with pytest.raises(Fault) as caught:
        program.choose(GAME.start(LEVEL, 3))
    program.close()
    assert caught.value.what == "IndexError: list index out of range (student.py:10, in deeper)"
    said = program.said
    assert said.startswith("loaded\nyyy") and "bytes are left out" in said and len(said) < HEAD + TAIL + 100
    assert "near the end" in said and "line 7, in step" in said and "runner.py" not in said


def test_the_start_of_its_process_is_no_part_of_its_moves(tmp_path: Path) -> None:
    slow = "import time\ntime.sleep(0.6)\ndef step(b, m, a, k):\n    if k: raise SystemExit\n"
    found = play(tmp_path, slow, seconds=0.5)
    assert {f.kind for f in found.faults} == {"error"} and found.slowest[0] < 0.4, "nor does the limit count it"


@pytest.mark.skipif(os.name == "nt", reason="only POSIX has the signal that asks where a program is")
def test_one_that_hangs_is_told_with_the_line_it_hangs_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "student.py"
    path.write_text("import time\ndef step(b, m, a, k):\n    print('z' * 10**5)\n    time.sleep(60)\n")
    program = ProgramSeat(GAME, LEVEL, str(path), 0.3)
    with pytest.raises(Fault) as late:
        program.choose(GAME.start(LEVEL, 3))
    program.close()
    assert program.said.count("it is loaded again") == 0
    with pytest.raises(Fault):
        program.choose(GAME.start(LEVEL, 3))
    program.close()
    assert program.said.count("it is loaded again") == 1
    assert late.value.what == "no move after 0.3 s (it was at student.py:4, in step)"
    monkeypatch.setattr("persona_evo.agents.program.START_SECONDS", 4.0)
    path.write_text(
        "class A:\n    def __init__(self):\n        print('training')\n        while True: pass\n"
        "    def step(self, b, m, a, k): pass\n",
        encoding="utf-8",
    )
    with pytest.raises(SettingsError) as caught:
        try_out(GAME, LEVEL, path)
    said = str(caught.value)
    assert "its __init__, did not end within 4 s (it was at student.py:4, in __init__)" in said and "training" in said
    assert "runner.py" not in said and "guard.py" not in said


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell a process's memory")
def test_one_that_eats_memory_loses_the_move_and_goes_on(tmp_path: Path) -> None:
    found = play(tmp_path, "def step(b, m, a, k):\n    return len(bytearray(4 * 10**8))\n", megabytes=200)
    assert {f.kind for f in found.faults} == {"memory"} and found.outcome != 0
    enough = play(tmp_path, "def step(b, m, a, k):\n    return len(bytearray(10**8))\n", megabytes=400)
    assert {f.kind for f in enough.faults} == {"nonsense"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import not_there_at_all\n", "ModuleNotFoundError"),
        ("x = 1\n", "neither a function"),
        ("def step(:\n", "broken.py:1"),
    ],
)
def test_one_that_cannot_be_loaded_is_told_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=said) as caught:
        try_out(GAME, LEVEL, path)
    assert str(path) in str(caught.value)
    found = play(tmp_path, text)
    assert len(found.faults) == (len(found.actions) + 1) // 2, "in a match it loses every move"


def test_the_example_of_the_readme_plays(tmp_path: Path) -> None:
    text = (Path(colosseum.__file__).parent / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall("```python\n(.*?)```", text, flags=re.DOTALL)
    assert not play(tmp_path, example).faults


def test_one_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no such program"):
        try_out(GAME, LEVEL, tmp_path / "none.py")


@pytest.mark.skipif(os.name == "nt", reason="sessions of processes are POSIX")
def test_no_process_is_left(tmp_path: Path) -> None:
    path = tmp_path / "student.py"
    path.write_text(STUDENT, encoding="utf-8")
    program = ProgramSeat(GAME, LEVEL, str(path))
    program.start()
    number = program._process.pid if program._process else 0
    program.close()
    assert number and not Path(f"/proc/{number}").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="stopped processes are looked at on Linux")
@pytest.mark.parametrize("who", ["os.getpid()", "0", "os.getppid()"])
def test_one_that_stops_itself_or_its_guard_loses_the_move_and_is_ended(tmp_path: Path, who: str) -> None:
    path = tmp_path / "student.py"
    path.write_text(f"import os\ndef step(b, m, a, k):\n    os.kill({who}, 19)\n    while True: pass\n")
    program = ProgramSeat(GAME, LEVEL, str(path), 0.5)
    program.prepare()
    number, began = program._process.pid if program._process else 0, time.monotonic()
    with pytest.raises(Fault, match="no move after") as caught:
        program.choose(GAME.start(LEVEL, 3))
    assert caught.value.kind == "time" and time.monotonic() - began < 6
    program.close()
    assert number and not Path(f"/proc/{number}").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="stopped processes are looked at on Linux")
def test_a_stopped_one_that_does_not_read_its_question_loses_the_move(tmp_path: Path) -> None:
    path = tmp_path / "student.py"
    path.write_text("import os, time\nprint(os.getpid())\ndef step(b, m, a, k): pass\n")
    program = ProgramSeat(GAME, LEVEL, str(path), 0.5)
    program.prepare()
    while not program.said.endswith("\n"):
        time.sleep(0.01)
    os.kill(int(program.said), 19)
    program._number, state = 0, GAME.start(LEVEL, 3)
    with pytest.raises(Fault, match="no move after") as caught:
        program._ask({"number": 1, "filler": "x" * 10**6}, time.perf_counter() + 0.5, "no move after 0.5 s")
    assert caught.value.kind == "time"
    program._end()
    assert program.choose is not None and state is not None
    program.close()


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the system does not tell a process's memory")
def test_the_memory_of_all_that_it_has_started_counts_together(tmp_path: Path) -> None:
    text = """
import os, time
def step(b, m, a, k):
    for _ in range(4):
        if os.fork() == 0:
            held = bytearray(os.urandom(2**20)) * 60
            time.sleep(60)
    time.sleep(60)
"""
    path = tmp_path / "student.py"
    path.write_text(text, encoding="utf-8")
    program = ProgramSeat(GAME, LEVEL, str(path), 20.0, 100)
    with pytest.raises(Fault, match="its processes took more than 100 MB") as caught:
        program.choose(GAME.start(LEVEL, 3))
    assert caught.value.kind == "memory" and "ended because of its memory" in program.said
    program.close()
    shared = "import os, time\nheld = bytearray(60 * 2**20)\ndef step(b, m, a, k):\n"
    shared += "    [os.fork() == 0 and time.sleep(60) for _ in range(4)]\n    time.sleep(0.6)\n    return 'x'\n"
    path.write_text(shared, encoding="utf-8")
    program = ProgramSeat(GAME, LEVEL, str(path), 20.0, 100)
    with pytest.raises(Fault) as caught:
        program.choose(GAME.start(LEVEL, 3))
    assert caught.value.kind == "nonsense", "pages that processes share count once"
    program.close()


MATCH = """
import sys
from persona_evo.agents.contest import Fault
from persona_evo.agents.program import ProgramSeat
from persona_evo.games import registry
game = registry.get("colosseum")
level = game.load("random 6", "six")
seat = ProgramSeat(game, level, sys.argv[1], 100.0)
seat.choose(game.start(level, 3))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the guard ends other sessions on Linux alone")
@pytest.mark.parametrize("stops", [False, True])
def test_no_process_is_left_of_a_match_that_is_killed(tmp_path: Path, stops: bool) -> None:
    text = f"""
import os, time
def step(b, m, a, k):
    for own in (True, False):
        if os.fork() == 0:
            if own:
                os.setsid()
            with open({str(tmp_path / "child")!r}, "a") as f:
                f.write(str(os.getpid()) + "\\n")
            time.sleep(60)
            os._exit(0)
    time.sleep(0.3)
    with open({str(tmp_path / "child")!r}, "a") as f:
        f.write(str(os.getpid()) + "\\n")
    {"os.kill(0, 19)" if stops else "time.sleep(60)"}
"""
    path = tmp_path / "student.py"
    path.write_text(text.replace("\\\\", "\\"), encoding="utf-8")
    match = subprocess.Popen([sys.executable, "-c", MATCH, str(path)])
    child = tmp_path / "child"
    try:
        end = time.monotonic() + 60
        while not (child.exists() and child.read_text().count("\n") == 3) and time.monotonic() < end:
            time.sleep(0.05)
        time.sleep(0.2)
    finally:
        match.kill()
        match.wait()
    started = child.read_text().split()
    assert len(started) == 3

    def alive() -> list[str]:
        states = {n: Path(f"/proc/{n}/stat") for n in started}
        return [n for n, file in states.items() if file.exists() and file.read_text().split()[2] != "Z"]

    end = time.monotonic() + 15
    while alive() and time.monotonic() < end:
        time.sleep(0.05)
    assert not alive()
