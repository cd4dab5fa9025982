"""The calls, one after the other, and background tasks for threads."""
from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any

from . import _types
from ._errors import (
    AlreadyEnded, DaemonNotFound, Disconnected, Error, Expired, NoSuchTask, Refused)
from ._types import Event, Explanation, Output, Remaining, Submitted, Task
from ._wire import CHUNK, Frames, frame, socket_path

_TASKS = "org.bgtaskd.Tasks."


class _Connection:
    """A connection for one call, or for a stream of replies."""

    def __init__(self, path: str) -> None:
        self._frames = Frames()
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
        except OSError as error:
            self._socket.close()
            raise DaemonNotFound(path, error) from error

    def send(self, method: str, parameters: dict[str, Any], more: bool = False) -> None:
        try:
            self._socket.sendall(frame(method, parameters, more))
        except OSError as error:
            raise Disconnected("bgtaskd has closed the connection") from error

    def reply(self) -> tuple[dict[str, Any], bool]:
        """The next reply, and whether others follow."""
        while True:
            found = self._frames.next()
            if found is not None:
                return found
            try:
                data = self._socket.recv(CHUNK)
            except OSError as error:
                raise Disconnected("bgtaskd has closed the connection") from error
            if not data:
                raise Disconnected("bgtaskd has closed the connection")
            self._frames.add(data)

    def shut(self) -> None:
        """Has a reader on another thread end."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._socket.close()


class Client:
    """Speaks to a daemon. Each call has a connection of its own, so that threads may share a client, and a daemon may
    be restarted between two calls.

    `path` is the daemon's socket; without it the daemon is found as bgtaskctl finds it."""

    def __init__(self, path: str | None = None) -> None:
        self.path = socket_path(path)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of org.bgtaskd.Tasks, or one that is named in full, with the parameters of the interface."""
        connection = _Connection(self.path)
        try:
            connection.send(_full(method), parameters)
            return connection.reply()[0]
        finally:
            connection.close()

    def stream(self, method: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        """The same for a method with several replies, which is called at once. They end with the iterator."""
        connection = _Connection(self.path)
        try:
            connection.send(_full(method), parameters, more=True)
        except BaseException:
            connection.close()
            raise
        return _replies(connection)

    # Commands

    def submit(
        self, command: Sequence[str], *, name: str | None = None, budget: float | None = None,
        grace: float | None = None, **options: Any,
    ) -> Submitted:
        """Has the daemon run a command; when this returns, it will survive a crash of the daemon.

        name: its program's if not given. budget, grace: in seconds; the profile's if not given. Other options:
        profile, directory (the current one), env, input (bytes or text, 1 MiB), group, priority, delay (in seconds),
        when (network, externalPower, idle), minimum_interval, unique (keep, replace or replaceQueued), attempts, retry_delay,
        retry_interrupted, after and after_any (ids), slots, paused, on_expiry (a signal's name), application."""
        work = _types.work(
            command, name=name, budget=_types.budget(budget, grace), **options)
        return Submitted._of(self.call("Submit", work=work))

    def restart(
        self, id: int, *, after: Sequence[int] = (), after_any: Sequence[int] = ()
    ) -> Submitted:
        """Submits an ended command of one's own again, as it was submitted."""
        return Submitted._of(
            self.call("Restart", id=id, after=list(after) or None, afterAny=list(after_any) or None))

    def wait(self, id: int, timeout: float | None = None) -> Task:
        """The task as it ended. Raises TimeoutError if it has not ended after `timeout` seconds.

        A daemon that is restarted meanwhile ends it with `Disconnected`: call it again."""
        task = self.call("Wait", id=id, timeoutMs=_types.milliseconds(timeout)).get("task")
        if task is None:
            raise TimeoutError(f"task {id} has not ended after {timeout} s")
        return Task._of(task)

    # Looking

    def show(self, id: int, *, all: bool = False) -> Task:
        """A task, live or ended."""
        return Task._of(self.call("Show", id=id, all=all or None)["task"])

    def tasks(
        self, *, name: str | None = None, group: str | None = None, states: Sequence[str] = (),
        ended: bool = False, all: bool = False,
    ) -> Iterator[Task]:
        """Tasks that have not ended, or with `ended` those too that the daemon remembers. all: of all users."""
        replies = self.stream(
            "List", name=name, group=group, states=list(states) or None, ended=ended or None,
            all=all or None)
        return (Task._of(reply["task"]) for reply in replies if "task" in reply)

    def history(
        self, *, name: str | None = None, group: str | None = None, outcomes: Sequence[str] = (),
        since: float | None = None, all: bool = False,
    ) -> Iterator[Task]:
        """Commands that have ended, the newest first. since: that ended within so many seconds."""
        replies = self.stream(
            "History", name=name, group=group, outcomes=list(outcomes) or None,
            sinceMs=_types.milliseconds(since), all=all or None)
        return (Task._of(reply["task"]) for reply in replies if "task" in reply)

    def explain(self, id: int) -> list[Explanation]:
        """The rules that hold a task back, limit it, or stopped it."""
        return [Explanation._of(one) for one in self.call("Explain", id=id)["explanations"]]

    def watch(
        self, id: int | None = None, *, output: bool = False, application: str | None = None,
        held: bool = False, all: bool = False,
    ) -> Iterator[Event]:
        """What happens to a task until it has ended, or to all of one's own for as long as it is asked for: of an
        application alone, or with held of those alone that this process holds."""
        replies = self.stream(
            "Watch", id=id, output=output or None, application=application, held=held or None,
            all=all or None)
        return (Event._of(reply["event"]) for reply in replies)

    def output(self, id: int, *, follow: bool = False) -> Iterator[Output]:
        """What a command has printed, as far as it is kept; with follow until it has ended."""
        pieces = (Output._of(reply) for reply in self.stream("Output", id=id, follow=follow or None))
        return (piece for piece in pieces if piece.text or piece.dropped)

    # Orders

    def cancel(self, id: int, *, signal: str | None = None, reason: str | None = None) -> None:
        """Stops a task: a command gets SIGTERM, or `signal`, and its grace."""
        self.call("Cancel", id=id, signal=signal, reason=reason)

    def extend(self, id: int) -> Remaining:
        """Restarts a task's budget from now; says what it has then."""
        return Remaining._of(self.call("Extend", id=id)["remaining"])

    def remaining(self, id: int) -> Remaining:
        """What time a task has left."""
        return Remaining._of(self.call("RemainingTime", id=id)["remaining"])

    def report(
        self, id: int, text: str | None = None, *, completed: int | None = None,
        total: int | None = None,
    ) -> None:
        """Says how far a task has come, for those who look at it; what is left out stays as it was."""
        self.call("Report", id=id, text=text, completed=completed, total=total)

    def complete(self, id: int, *, success: bool = True) -> None:
        """Says that the work of a task is done, and how; a command may go on for its grace."""
        self.call("Complete", id=id, success=success)

    def clean(self, ids: Sequence[int]) -> None:
        """Removes tasks that have ended from the lists and the history, 500 at most."""
        self.call("Clean", ids=list(ids))

    # Work of one's own

    def background_task(
        self, name: str, *, budget: float | None = None, grace: float | None = None,
        profile: str | None = None, application: str | None = None,
        on_expiry: Callable[[BackgroundTask], object] | None = None, required: bool = True,
    ) -> BackgroundTask:
        """A time limit for work that this program does itself; see `BackgroundTask`."""
        return BackgroundTask(
            name, budget=budget, grace=grace, profile=profile, application=application,
            on_expiry=on_expiry, required=required, client=self)


class _Holder:
    """What holds the tasks of a process: one connection for the calls, and one that tells of all tasks.

    Both are there for as long as there are tasks."""

    _all: dict[str, _Holder] = {}
    _all_lock = threading.Lock()

    @classmethod
    def at(cls, path: str) -> _Holder:
        with cls._all_lock:
            return cls._all.setdefault(path, cls(path))

    @classmethod
    def _forked(cls) -> None:
        """A child has copies of its parent's connections: they are not its own, and would outlive the parent."""
        for holder in cls._all.values():
            for connection in (holder._calls, holder._events):
                if connection is not None:
                    connection.close()
        cls._all, cls._all_lock = {}, threading.Lock()

    def __init__(self, path: str) -> None:
        self._path = path
        # Held from a Begin to its answer, so that an event of a task finds it.
        self._lock = threading.Lock()
        self._tasks: dict[int, BackgroundTask] = {}
        self._calls: _Connection | None = None
        self._events: _Connection | None = None

    def begin(self, task: BackgroundTask, parameters: dict[str, Any]) -> None:
        with self._lock:
            calls = self._calls or self._open()
            try:
                task.id = self._exchange(calls, "Begin", parameters)["id"]
                self._tasks[task.id] = task
            finally:
                self._close_if_idle()

    def end(self, id: int) -> str | None:
        """Says how it has ended, which may be before."""
        with self._lock:
            if self._tasks.pop(id, None) is None or self._calls is None:
                return None
            try:
                outcome: str | None = self._exchange(self._calls, "End", {"id": id}).get("outcome")
                return outcome
            finally:
                self._close_if_idle()

    def _open(self) -> _Connection:
        events = _Connection(self._path)
        try:
            # Before the first task begins.
            events.send(_TASKS + "Watch", {"held": True}, more=True)
            self._calls = _Connection(self._path)
        except BaseException:
            events.close()
            raise
        self._events = events
        threading.Thread(
            target=self._listen, args=(events,), name="bgtask events", daemon=True).start()
        return self._calls

    def _exchange(
        self, calls: _Connection, method: str, parameters: dict[str, Any]
    ) -> dict[str, Any]:
        try:
            calls.send(_TASKS + method, parameters)
            return calls.reply()[0]
        except Refused:
            raise
        except BaseException:
            # What is answered next would be taken for the answer to another call.
            if self._events is not None:
                self._events.shut()
            raise

    def _close_if_idle(self) -> None:
        if self._tasks:
            return
        calls, events = self._calls, self._events
        self._calls = self._events = None
        if calls is not None:
            calls.close()
        if events is not None:
            # Its reader closes it.
            events.shut()

    def _listen(self, events: _Connection) -> None:
        try:
            while True:
                event = Event._of(events.reply()[0]["event"])
                with self._lock:
                    task = self._tasks.get(event.task.id)
                if task is not None:
                    task._take(event)
        except (Error, OSError):
            pass
        with self._lock:
            lost: list[BackgroundTask] = []
            if self._events is events:
                # The daemon has gone; a task of it has no time any more.
                lost = list(self._tasks.values())
                self._tasks.clear()
                self._close_if_idle()
        events.close()
        for task in lost:
            task._tell()


class BackgroundTask(contextlib.ContextDecorator):
    """A time limit for the body of a with statement, or for a function that it decorates.

        with bgtask.background_task("upload", budget=180, grace=5) as task:
            for piece in pieces:
                if task.expired:
                    break               # 5 seconds are left to save what is done
                send(piece)

    Nothing interrupts the body: it looks at `expired`, waits for `wait_expired`, or has `on_expiry` called, on another
    thread, when the time is nearly up: one thread and two connections serve all tasks of a process. Where the body is still there at the limit, the task ends as `overrun`, and
    `Expired` is raised at the end of the body.

    Where there is no daemon, `DaemonNotFound` is raised; with required=False the body runs without a limit."""

    def __init__(
        self, name: str, *, budget: float | None = None, grace: float | None = None,
        profile: str | None = None, application: str | None = None,
        on_expiry: Callable[[BackgroundTask], object] | None = None, required: bool = True,
        client: Client | None = None,
    ) -> None:
        self.name = name
        #: The task's id; None where there is no daemon, or before it has begun.
        self.id: int | None = None
        #: How it ended.
        self.outcome: str | None = None
        self._asked = (budget, grace, profile, application, on_expiry, required, client)
        self._budget = _types.budget(budget, grace)
        self._profile, self._application = profile, application
        self._on_expiry, self._required = on_expiry, required
        self._client = client
        self._expired = threading.Event()
        self._holder: _Holder | None = None

    def _recreate_cm(self) -> BackgroundTask:
        budget, grace, profile, application, on_expiry, required, client = self._asked
        return BackgroundTask(
            self.name, budget=budget, grace=grace, profile=profile, application=application,
            on_expiry=on_expiry, required=required, client=client)

    @property
    def expired(self) -> bool:
        """Whether the time is nearly up, or nobody counts it any more: the daemon has gone, or ended the task."""
        return self._expired.is_set()

    def wait_expired(self, timeout: float | None = None) -> bool:
        """Waits until the time is nearly up, so many seconds at most; says whether it is."""
        return self._expired.wait(timeout)

    def extend(self) -> Remaining:
        """Restarts the budget from now."""
        had_expired = self._expired.is_set()
        # Before that: what is told after the answer is of the new budget.
        self._expired.clear()
        try:
            return self._of_client().extend(self._begun())
        except BaseException:
            if had_expired:
                self._expired.set()
            raise

    def remaining(self) -> Remaining:
        """What time is left."""
        if self.id is None:
            return Remaining(None, None, None)
        return self._of_client().remaining(self.id)

    def report(
        self, text: str | None = None, *, completed: int | None = None, total: int | None = None
    ) -> None:
        """Says how far it has come, for those who look at it. Without a daemon nobody does."""
        if self.id is not None:
            self._of_client().report(self.id, text, completed=completed, total=total)

    def begin(self) -> BackgroundTask:
        """Begins without a with statement; `end` is to be called then."""
        return self.__enter__()

    def end(self) -> str | None:
        """Ends it; says how it has ended, which may be before."""
        self.__exit__(Exception, None, None)
        return self.outcome

    def __enter__(self) -> BackgroundTask:
        if self._holder is not None:
            raise RuntimeError(f"{self.name} has begun already")
        self.outcome = None
        self._expired.clear()
        self._client = self._client or Client()
        holder = _Holder.at(self._client.path)
        application = self._application or os.environ.get("BGTASK_APPLICATION")
        try:
            holder.begin(
                self,
                {"name": self.name, "budget": self._budget, "profile": self._profile,
                 "application": application or None})
        except DaemonNotFound:
            if self._required:
                raise
            return self
        self._holder = holder
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        holder, id = self._holder, self.id
        if holder is None or id is None:
            return
        self._holder = None
        with contextlib.suppress(NoSuchTask, AlreadyEnded, ConnectionError):
            self.outcome = holder.end(id) or self.outcome
        if kind is None and self.outcome == "overrun":
            raise Expired(self.name, self.outcome)

    def _take(self, event: Event) -> None:
        if event.kind == "ended":
            self.outcome = event.task.outcome
        if event.kind == "extended":
            # A warning of the budget before may have come since it was asked for.
            self._expired.clear()
        if event.kind in ("expiring", "ended"):
            self._tell()

    def _tell(self) -> None:
        if self._expired.is_set():
            return
        self._expired.set()
        if self._on_expiry is not None:
            self._on_expiry(self)

    def _begun(self) -> int:
        if self.id is None:
            raise RuntimeError(f"{self.name} has not begun")
        return self.id

    def _of_client(self) -> Client:
        if self._client is None:
            raise RuntimeError(f"{self.name} has not begun")
        return self._client


os.register_at_fork(after_in_child=_Holder._forked)


def _replies(connection: _Connection) -> Iterator[dict[str, Any]]:
    try:
        continues = True
        while continues:
            reply, continues = connection.reply()
            yield reply
    finally:
        connection.close()


def _full(method: str) -> str:
    return method if method.count(".") > 1 else _TASKS + method


