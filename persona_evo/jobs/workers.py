"""Workers on many cores, which take tasks and return results (`dispatch` decides which task comes next).

| backend | where the work is done |
|---|---|
| loky | processes on this machine, kept alive from one call to the next |
| threading | threads; searches release Python's global lock while they run |
| dask | a Dask cluster: the one at `address`, or one that is started here |
| ray | a Ray cluster, likewise |

There are two guarantees. The result of a task does not depend on the backend. No process is left when `Workers` is
closed, even after Ctrl-C and (within two seconds) after this process is killed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

from persona_evo import limits
from persona_evo.errors import SettingsError, unknown
from persona_evo.jobs import windows
from persona_evo.jobs.interrupts import held_back, quiet_worker

BACKENDS = ("loky", "threading", "dask", "ray")
CONNECT_SECONDS = 10
"""Seconds within which a cluster's scheduler has to answer."""

IDLE = 300.0
"""Seconds after which idle processes end by default."""

_ADDRESS = re.compile(r"([a-z]+://)?(\[[0-9a-fA-F:]+\]|[A-Za-z0-9_.-]+):[0-9]{1,5}")

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Environment variables that tell libraries to use one core in a worker."""

T = TypeVar("T")
R = TypeVar("R")
_Send = Callable[..., "Future[Any]"]
"""Lets a worker call a function, as `Executor.submit` does."""


@dataclass(frozen=True)
class Usage:
    """How well the cores were used.

    Attributes:
        jobs: number of cores that were asked for.
        workers: number of workers that did something.
        wall: seconds in which there was work.
        busy: seconds of all tasks, all workers together.
    """

    jobs: int
    workers: int
    wall: float
    busy: float

    @property
    def share(self) -> float:
        """Share of the time in which the cores were at work, 0 to 1."""
        return min(1.0, self.busy / (self.wall * self.jobs)) if self.wall > 0 else 0.0


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Workers:
    """Runs tasks on `jobs` cores, between `with` and its end.

    Args:
        jobs: at least 1, or -1 for all cores. One job runs in this process, unless it is a cluster's.
        backend: see the module's table.
        address: the address of a cluster's scheduler, None to start one.
        idle: seconds without work after which processes of the backend loky end; they are started again when needed.

    Raises:
        SettingsError: there is no such backend, number of jobs or address, or its package is not installed; on entering
            `with`, also if no cluster answers.
    """

    def __init__(self, jobs: int = 1, backend: str = "loky", address: str | None = None, idle: float = IDLE) -> None:
        if backend not in BACKENDS:
            expected, hint = unknown(backend, BACKENDS)
            raise SettingsError("no such backend", found=backend, expected=expected, hint=hint)
        jobs = limits.jobs(jobs)
        _check_address(backend, address)
        self.jobs = cores() if jobs == -1 else jobs
        self.backend, self.address, self._idle = backend, address, idle
        self._stack = contextlib.ExitStack()
        self._send: _Send | None = None
        self._client: Any = None
        self._first: list[Future[int]] = []
        self._wall = self._busy = 0.0
        self._seen: set[str] = set()

    @property
    def alone(self) -> bool:
        """Whether tasks run in this process, one after the other."""
        return self.jobs == 1 and self.backend in ("loky", "threading")

    @property
    def elsewhere(self) -> bool:
        """Whether tasks run in the processes of a cluster that can be called one by one (`everywhere`)."""
        return self.backend == "dask"

    @property
    def begun(self) -> bool:
        """Whether the workers have been started."""
        return self._send is not None

    @property
    def ready(self) -> bool:
        """Whether one of the workers that were started has answered."""
        return any(answer.done() for answer in self._first)

    def __enter__(self) -> Self:
        if self.backend in ("dask", "ray"):
            try:
                self._sender()
            except BaseException:
                self.close()
                raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def begin(self, module: str) -> None:
        """Start the workers, if there are any, and let them import a module; this does not wait."""
        if not self.alone and not self._first:
            self._first = [self.submit(_imported, module) for _ in range(self.jobs)]

    def submit(self, function: Callable[[T], R], task: T) -> Future[R]:
        """Let a worker call function(task). For processes, both must be importable and picklable."""
        return self._sender()(function, task)

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> list[R]:
        """Call function(task) for each task and return the results in the order of the tasks."""
        started = time.perf_counter()
        if self.alone:
            timed = [_timed((function, task)) for task in tasks]
        else:
            timed = [answer.result() for answer in [self.submit(_timed, (function, task)) for task in tasks]]
        self.count(time.perf_counter() - started, sum(t.seconds for t in timed), {t.worker for t in timed})
        return [t.result for t in timed]

    def everywhere(self, function: Callable[[T], Awaitable[R]], argument: T) -> list[R]:
        """Call a coroutine function once in each process of a Dask cluster, also while it works.

        Returns:
            The results of the processes that answer; none if there is no such cluster, or nothing was sent to it.
        """
        if self._client is None:
            return []
        return list(self._client.run(function, argument, on_error="ignore").values())

    def count(self, wall: float, busy: float = 0.0, who: Iterable[str] = ()) -> None:
        """Add seconds of work to the usage.

        Args:
            wall: seconds in which there was work.
            busy: seconds of tasks.
            who: names of workers that did some of the work.
        """
        self._wall += wall
        self._busy += busy
        self._seen.update(who)

    def usage(self) -> Usage:
        """Return how well the cores were used since the last call."""
        usage = Usage(self.jobs, len(self._seen), self._wall, self._busy)
        self._wall, self._busy, self._seen = 0.0, 0.0, set()
        return usage

    def close(self) -> None:
        """End the workers."""
        self._send, self._client, self._first = None, None, []
        self._stack.close()

    def _sender(self) -> _Send:
        if self._send is None:
            enter = self._stack.enter_context
            if self.backend == "loky":
                self._send = enter(_loky(self.jobs, self._idle))
            elif self.backend == "threading":
                self._send = enter(_threads(self.jobs))
            elif self.backend == "dask":
                self._client = enter(_dask(self))
                self._send = enter(self._client.get_executor(pure=False)).submit
            else:
                self._send = enter(_ray(self.address))
        return self._send


@contextlib.contextmanager
def lent(
    workers: Workers | None,
    jobs: int = 1,
    backend: str = "loky",
    address: str | None = None,
    *,
    alone: bool = False,
) -> Iterator[Workers]:
    """Provide workers: the given ones, which keep running, or new ones.

    Args:
        workers: workers that are running already, None for new ones.
        jobs, backend, address: arguments of new ones, see `Workers`.
        alone: whether to work in this process in any case. A game that runs in processes of its own needs that: it
            plays many rollouts at once (see `persona_evo.connect`).
    """
    if alone:
        yield Workers(1)
    elif workers is not None:
        yield workers
    else:
        with Workers(jobs, backend, address) as own:
            yield own


class _Timed(NamedTuple):
    result: Any
    seconds: float
    worker: str


def worker_name() -> str:
    """Return a unique name of this worker: machine, process and thread."""
    return f"{socket.gethostname()}.{os.getpid()}.{threading.get_ident()}"


def _timed(task: tuple[Callable[[T], R], T]) -> _Timed:
    function, own = task
    started = time.perf_counter()
    result = function(own)
    return _Timed(result, time.perf_counter() - started, worker_name())


def _imported(module: str) -> int:
    """Import a module and return the number of this process."""
    importlib.import_module(module)
    return os.getpid()


def _begin(parent: int) -> None:
    """Prepare a process of loky, which would otherwise be renewed, without its caches, when it has grown by 300 MB."""
    from joblib.externals.loky import process_executor

    quiet_worker(parent)
    process_executor._MAX_MEMORY_LEAK_SIZE = 10**12


@contextlib.contextmanager
def _loky(jobs: int, idle: float) -> Iterator[_Send]:
    from joblib.externals.loky import get_reusable_executor

    one_thread = dict.fromkeys(_THREADS, "1")
    executor = get_reusable_executor(jobs, timeout=idle, initializer=_begin, initargs=(os.getpid(),), env=one_thread)
    if not windows.WINDOWS:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # joblib starts it otherwise, and Python then lets Ctrl-C through again
    open_: set[Future[Any]] = set()

    def submit(*call: Any) -> Future[Any]:
        with held_back():  # the first call starts the processes
            future: Future[Any] = executor.submit(*call)
        open_.add(future)
        future.add_done_callback(open_.discard)
        return future

    try:
        yield submit
    finally:
        if open_:
            _break(executor)
        executor.shutdown(wait=True, kill_workers=True)


def _break(executor: Any) -> None:
    """Kill the processes of an executor that has work, and wait until it has noticed.

    If it were told to end while calls are waiting or were cancelled, its thread would fail and print a traceback
    (joblib 1.5).
    """
    with contextlib.suppress(RuntimeError):  # it is broken already
        with held_back():
            last = executor.submit(os.getpid)
        for number in list(executor._processes):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(number, getattr(signal, "SIGKILL", signal.SIGTERM))
        wait([last], CONNECT_SECONDS)


@contextlib.contextmanager
def _threads(jobs: int) -> Iterator[_Send]:
    executor = ThreadPoolExecutor(jobs)
    try:
        yield executor.submit
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _dask(workers: Workers) -> Iterator[Any]:
    """Connect to a Dask cluster, or start one, and provide its client."""
    try:
        import distributed
    except ImportError as e:
        raise _missing("dask", "distributed") from e

    library: Any = distributed
    with contextlib.ExitStack() as stack:
        target: Any = workers.address
        if target is None:
            target = stack.enter_context(
                library.LocalCluster(
                    n_workers=workers.jobs, threads_per_worker=1, processes=True, dashboard_address=None
                )
            )
        try:
            client = stack.enter_context(library.Client(target, timeout=CONNECT_SECONDS))
        except (OSError, ValueError, TimeoutError) as e:
            raise _no_cluster("dask", workers.address, e) from e
        yield client


@contextlib.contextmanager
def _ray(address: str | None) -> Iterator[_Send]:
    try:
        import ray
    except ImportError as e:
        raise _missing("ray", "ray") from e

    started = not ray.is_initialized()
    if started:
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False)
        except (OSError, ValueError, RuntimeError) as e:
            raise _no_cluster("ray", address, e) from e
    remote = ray.remote(_called)
    try:
        yield lambda function, task: remote.remote(function, task).future()
    finally:
        if started:
            ray.shutdown()


def _called(function: Callable[[T], R], task: T) -> R:
    return function(task)


def _check_address(backend: str, address: str | None) -> None:
    if backend in ("dask", "ray"):
        package = {"dask": "distributed", "ray": "ray"}[backend]
        if importlib.util.find_spec(package) is None:
            raise _missing(backend, package)
    elif address is not None:
        raise SettingsError(
            "an address is only for a cluster",
            found=f"address {address}, backend {backend}",
            expected="--backend dask or --backend ray beside --address",
        )
    named = backend == "ray" and address in ("auto", "local")
    if address is not None and not named and not _ADDRESS.fullmatch(address):
        raise SettingsError(
            "this is not the address of a scheduler", found=address, expected="HOST:PORT, as in 10.0.0.5:8786"
        )


def _no_cluster(backend: str, address: str | None, error: BaseException) -> SettingsError:
    return SettingsError(
        f"no {backend} cluster answers",
        found=f"{address or 'one started here'}: {error or type(error).__name__}",
        expected="the address of a running scheduler",
        hint="check that it is running and that this machine can reach it",
    )


def _missing(backend: str, package: str) -> SettingsError:
    return SettingsError(
        f"the backend {backend!r} needs a package that is not installed",
        found=f"no module {package!r}",
        hint=f"pip install 'persona-evo[{backend}]'",
    )
