"""The same for asyncio.

    async with bgtask.aio.background_task("upload", budget=180, grace=5) as task:
        await upload()
"""
from __future__ import annotations

import asyncio
import contextlib
import os
import weakref
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any

from . import _types
from ._client import _TASKS, _full
from ._errors import (
    AlreadyEnded, DaemonNotFound, Disconnected, Error, Expired, NoSuchTask, Refused)
from ._types import Event, Explanation, Output, Remaining, Submitted, Task
from ._wire import CHUNK, Frames, frame, socket_path

__all__ = ["BackgroundTask", "Client", "background_task"]


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._frames = Frames()

    @classmethod
    async def open(cls, path: str) -> _Connection:
        try:
            return cls(*await asyncio.open_unix_connection(path))
        except OSError as error:
            raise DaemonNotFound(path, error) from error

    async def send(self, method: str, parameters: dict[str, Any], more: bool = False) -> None:
        try:
            self._writer.write(frame(method, parameters, more))
            await self._writer.drain()
        except OSError as error:
            raise Disconnected("bgtaskd has closed the connection") from error

    async def reply(self) -> tuple[dict[str, Any], bool]:
        while True:
            found = self._frames.next()
            if found is not None:
                return found
            try:
                data = await self._reader.read(CHUNK)
            except OSError as error:
                raise Disconnected("bgtaskd has closed the connection") from error
            if not data:
                raise Disconnected("bgtaskd has closed the connection")
            self._frames.add(data)

    def close(self) -> None:
        self._writer.close()

    def abandon(self) -> None:
        """Closes a copy of it in a forked child, whose event loop is its parent's and does nothing."""
        with contextlib.suppress(OSError):
            os.close(self._writer.get_extra_info("socket").fileno())


class Client:
    """Speaks to a daemon; see `bgtask.Client`, whose calls these are."""

    def __init__(self, path: str | None = None) -> None:
        self.path = socket_path(path)

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        connection = await _Connection.open(self.path)
        try:
            await connection.send(_full(method), parameters)
            return (await connection.reply())[0]
        finally:
            connection.close()

    async def stream(self, method: str, **parameters: Any) -> AsyncIterator[dict[str, Any]]:
        connection = await _Connection.open(self.path)
        try:
            await connection.send(_full(method), parameters, more=True)
            continues = True
            while continues:
                reply, continues = await connection.reply()
                yield reply
        finally:
            connection.close()

    async def submit(
        self, command: Sequence[str], *, name: str | None = None, budget: float | None = None,
        grace: float | None = None, **options: Any,
    ) -> Submitted:
        work = _types.work(command, name=name, budget=_types.budget(budget, grace), **options)
        return Submitted._of(await self.call("Submit", work=work))

    async def restart(
        self, id: int, *, after: Sequence[int] = (), after_any: Sequence[int] = ()
    ) -> Submitted:
        return Submitted._of(
            await self.call(
                "Restart", id=id, after=list(after) or None, afterAny=list(after_any) or None))

    async def wait(self, id: int, timeout: float | None = None) -> Task:
        task = (await self.call("Wait", id=id, timeoutMs=_types.milliseconds(timeout))).get("task")
        if task is None:
            raise TimeoutError(f"task {id} has not ended after {timeout} s")
        return Task._of(task)

    async def show(self, id: int, *, all: bool = False) -> Task:
        return Task._of((await self.call("Show", id=id, all=all or None))["task"])

    async def tasks(
        self, *, name: str | None = None, group: str | None = None, states: Sequence[str] = (),
        ended: bool = False, all: bool = False,
    ) -> AsyncIterator[Task]:
        async for reply in self.stream(
            "List", name=name, group=group, states=list(states) or None, ended=ended or None,
            all=all or None,
        ):
            if "task" in reply:
                yield Task._of(reply["task"])

    async def history(
        self, *, name: str | None = None, group: str | None = None, outcomes: Sequence[str] = (),
        since: float | None = None, all: bool = False,
    ) -> AsyncIterator[Task]:
        async for reply in self.stream(
            "History", name=name, group=group, outcomes=list(outcomes) or None,
            sinceMs=_types.milliseconds(since), all=all or None,
        ):
            if "task" in reply:
                yield Task._of(reply["task"])

    async def explain(self, id: int) -> list[Explanation]:
        found = (await self.call("Explain", id=id))["explanations"]
        return [Explanation._of(one) for one in found]

    async def watch(
        self, id: int | None = None, *, output: bool = False, application: str | None = None,
        held: bool = False, all: bool = False,
    ) -> AsyncIterator[Event]:
        async for reply in self.stream(
            "Watch", id=id, output=output or None, application=application, held=held or None,
            all=all or None,
        ):
            yield Event._of(reply["event"])

    async def output(self, id: int, *, follow: bool = False) -> AsyncIterator[Output]:
        async for reply in self.stream("Output", id=id, follow=follow or None):
            piece = Output._of(reply)
            if piece.text or piece.dropped:
                yield piece

    async def cancel(
        self, id: int, *, signal: str | None = None, reason: str | None = None
    ) -> None:
        await self.call("Cancel", id=id, signal=signal, reason=reason)

    async def extend(self, id: int) -> Remaining:
        return Remaining._of((await self.call("Extend", id=id))["remaining"])

    async def remaining(self, id: int) -> Remaining:
        return Remaining._of((await self.call("RemainingTime", id=id))["remaining"])

    async def report(
        self, id: int, text: str | None = None, *, completed: int | None = None,
        total: int | None = None,
    ) -> None:
        await self.call("Report", id=id, text=text, completed=completed, total=total)

    async def clean(self, ids: Sequence[int]) -> None:
        await self.call("Clean", ids=list(ids))

    def background_task(self, name: str, **options: Any) -> BackgroundTask:
        return BackgroundTask(name, client=self, **options)


class _Holder:
    """What holds the tasks of an event loop: one connection for the calls, and one that tells of all tasks.

    Both are there for as long as there are tasks."""

    _all: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Holder]] = (
        weakref.WeakKeyDictionary())

    @classmethod
    def at(cls, path: str) -> _Holder:
        holders = cls._all.setdefault(asyncio.get_running_loop(), {})
        return holders.setdefault(path, cls(path))

    @classmethod
    def _forked(cls) -> None:
        """A child has copies of its parent's connections: they are not its own, and would outlive the parent."""
        for holders in cls._all.values():
            for holder in holders.values():
                for connection in (holder._calls, holder._events):
                    if connection is not None:
                        connection.abandon()
        cls._all = weakref.WeakKeyDictionary()

    def __init__(self, path: str) -> None:
        self._path = path
        # Held from a Begin to its answer, so that an event of a task finds it.
        self._lock = asyncio.Lock()
        self._tasks: dict[int, BackgroundTask] = {}
        self._calls: _Connection | None = None
        self._events: _Connection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._under_way: set[asyncio.Future[Any]] = set()

    async def begin(self, task: BackgroundTask, parameters: dict[str, Any]) -> None:
        # Who is cancelled meanwhile leaves no answer behind that another call would take for its own.
        begun = asyncio.ensure_future(self._begin(task, parameters))
        self._under_way.add(begun)
        begun.add_done_callback(self._forget)
        try:
            await asyncio.shield(begun)
        except asyncio.CancelledError:
            task._body = None
            if task._holder is not None and task.id is not None:
                # It had begun by then, and nobody is there to end it.
                task._holder = None
                self._start_end(task.id)
            raise

    async def end(self, id: int) -> str | None:
        """Says how it has ended, which may be before."""
        return await asyncio.shield(self._start_end(id))

    def _start_end(self, id: int) -> asyncio.Future[str | None]:
        ended = asyncio.ensure_future(self._end(id))
        self._under_way.add(ended)
        ended.add_done_callback(self._forget)
        return ended

    def _forget(self, future: asyncio.Future[Any]) -> None:
        self._under_way.discard(future)
        # Who was cancelled meanwhile does not hear of it.
        if not future.cancelled():
            future.exception()

    async def _begin(self, task: BackgroundTask, parameters: dict[str, Any]) -> None:
        async with self._lock:
            try:
                calls = self._calls or await self._open()
                id: int = (await self._exchange(calls, "Begin", parameters))["id"]
                if task._body is None:
                    await self._exchange(calls, "End", {"id": id})
                    return
                task.id, task._holder = id, self
                self._tasks[id] = task
            finally:
                self._close_if_idle()

    async def _end(self, id: int) -> str | None:
        async with self._lock:
            if self._tasks.pop(id, None) is None or self._calls is None:
                return None
            try:
                outcome: str | None = (await self._exchange(self._calls, "End", {"id": id})).get(
                    "outcome")
                return outcome
            finally:
                self._close_if_idle()

    async def _open(self) -> _Connection:
        events = await _Connection.open(self._path)
        try:
            # Before the first task begins.
            await events.send(_TASKS + "Watch", {"held": True}, more=True)
            self._calls = await _Connection.open(self._path)
        except BaseException:
            events.close()
            raise
        self._events = events
        self._reader = asyncio.create_task(self._listen(events))
        return self._calls

    async def _exchange(
        self, calls: _Connection, method: str, parameters: dict[str, Any]
    ) -> dict[str, Any]:
        try:
            await calls.send(_TASKS + method, parameters)
            return (await calls.reply())[0]
        except Refused:
            raise
        except BaseException:
            if self._events is not None:
                self._lose()
            raise

    def _close_if_idle(self) -> None:
        if self._tasks:
            return
        for connection in (self._calls, self._events):
            if connection is not None:
                connection.close()
        if self._reader is not None and self._reader is not asyncio.current_task():
            self._reader.cancel()
        self._calls = self._events = self._reader = None

    async def _listen(self, events: _Connection) -> None:
        try:
            while True:
                event = Event._of((await events.reply())[0]["event"])
                async with self._lock:
                    task = self._tasks.get(event.task.id)
                if task is not None:
                    task._take(event)
        except (Error, OSError):
            pass
        if self._events is events:
            self._lose()

    def _lose(self) -> None:
        """The daemon has gone; a task of it has no time any more."""
        lost = list(self._tasks.values())
        self._tasks.clear()
        self._close_if_idle()
        for task in lost:
            task._tell()


os.register_at_fork(after_in_child=_Holder._forked)


class BackgroundTask(contextlib.AsyncContextDecorator):
    """A time limit for the body of an async with statement, or for a coroutine function that it decorates.

    The body is cancelled when the time is nearly up. What it does on CancelledError has the grace, and must be over
    before the limit; then `Expired`, a TimeoutError, comes out of the statement. The same happens where the daemon
    goes away, or ends the task. Where there is no daemon at the beginning, `DaemonNotFound` is raised; with
    required=False the body runs without a limit."""

    def __init__(
        self, name: str, *, budget: float | None = None, grace: float | None = None,
        profile: str | None = None, application: str | None = None, required: bool = True,
        client: Client | None = None,
    ) -> None:
        self.name = name
        #: The task's id; None where there is no daemon, or before it has begun.
        self.id: int | None = None
        #: How it ended.
        self.outcome: str | None = None
        #: Whether the time was nearly up.
        self.expired = False
        self._options: dict[str, Any] = {
            "budget": budget, "grace": grace, "profile": profile, "application": application,
            "required": required, "client": client}
        self._budget = _types.budget(budget, grace)
        self._client = client
        self._holder: _Holder | None = None
        self._body: asyncio.Task[Any] | None = None
        self._is_entered = False
        self._cancelling = 0

    def _recreate_cm(self) -> BackgroundTask:
        return BackgroundTask(self.name, **self._options)

    async def extend(self) -> Remaining:
        """Restarts the budget from now."""
        if self._client is None or self.id is None:
            raise RuntimeError(f"{self.name} has not begun")
        return await self._client.extend(self.id)

    async def remaining(self) -> Remaining:
        """What time is left."""
        if self._client is None or self.id is None:
            return Remaining(None, None, None)
        return await self._client.remaining(self.id)

    async def report(
        self, text: str | None = None, *, completed: int | None = None, total: int | None = None
    ) -> None:
        """Says how far it has come, for those who look at it. Without a daemon nobody does."""
        if self._client is not None and self.id is not None:
            await self._client.report(self.id, text, completed=completed, total=total)

    async def __aenter__(self) -> BackgroundTask:
        if self._holder is not None:
            raise RuntimeError(f"{self.name} has begun already")
        self.outcome, self.expired, self._is_entered = None, False, False
        self._client = self._client or Client()
        holder = _Holder.at(self._client.path)
        application = self._options["application"] or os.environ.get("BGTASK_APPLICATION")
        self._body = asyncio.current_task()
        self._cancelling = _cancelling(self._body)
        try:
            await holder.begin(
                self,
                {"name": self.name, "budget": self._budget, "profile": self._options["profile"],
                 "application": application or None})
        except DaemonNotFound:
            if self._options["required"]:
                raise
        self._is_entered = True
        if self.expired and self._body is not None:
            self._body.cancel()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        holder, id = self._holder, self.id
        if holder is None or id is None:
            return
        # What comes now is no reason to cancel the body.
        self._holder = None
        with contextlib.suppress(NoSuchTask, AlreadyEnded, ConnectionError):
            self.outcome = await holder.end(id) or self.outcome
        if not self.expired:
            return
        # Where somebody else has cancelled the body too, that goes on.
        is_ours = _uncancel(self._body) <= self._cancelling
        if kind is None or (is_ours and issubclass(kind, asyncio.CancelledError)):
            raise Expired(self.name, self.outcome) from error

    def _take(self, event: Event) -> None:
        if event.kind == "ended":
            self.outcome = event.task.outcome
        if event.kind in ("expiring", "ended"):
            self._tell()

    def _tell(self) -> None:
        if self.expired or self._holder is None or self._body is None:
            return
        self.expired = True
        # Before that, nobody would turn it into Expired, nor end the task.
        if self._is_entered:
            self._body.cancel()


def _cancelling(task: asyncio.Task[Any] | None) -> int:
    # From Python 3.11 on a task counts who has cancelled it.
    count = getattr(task, "cancelling", None)
    return count() if count else 0


def _uncancel(task: asyncio.Task[Any] | None) -> int:
    uncancel = getattr(task, "uncancel", None)
    return uncancel() if uncancel else 0


def background_task(name: str, **options: Any) -> BackgroundTask:
    """A time limit for the body of an async with statement; see `BackgroundTask`."""
    return BackgroundTask(name, **options)
