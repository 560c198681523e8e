"""Runs a Python file so that it does not outlive the process that started it: `python guard.py FILE ARGUMENTS...`.

Killed with its parent by the system where that can be (Linux), else within a second by a thread that looks.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading
import time


def main() -> None:
    """Watch, then become the file."""
    parent = os.getppid()
    try:
        import ctypes

        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
    except (OSError, AttributeError, TypeError):
        pass

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(0)

    if os.name != "nt":
        threading.Thread(target=watch, daemon=True).start()
    del sys.argv[0]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
