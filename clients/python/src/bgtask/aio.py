"""The same for asyncio.

    async with bgtask.aio.background_task("upload", budget=180, grace=5) as task:
        await upload()
"""
from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import Any

from . import _types
from ._client import _TASKS, _full
from ._errors import AlreadyEnded, DaemonNotFound, Disconnected, Error, Expired, NoSuchTask
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
        self, id: int | None = None, *, output: bool = False, all: bool = False
    ) -> AsyncIterator[Event]:
        async for reply in self.stream("Watch", id=id, output=output or None, all=all or None):
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

    def background_task(self, name: str, **options: Any) -> BackgroundTask:
        return BackgroundTask(name, client=self, **options)


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
        self._connection: _Connection | None = None
        self._body: asyncio.Task[Any] | None = None
        self._reader: asyncio.Task[None] | None = None
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

    async def __aenter__(self) -> BackgroundTask:
        if self._connection is not None:
            raise RuntimeError(f"{self.name} has begun already")
        self._client = self._client or Client()
        try:
            connection = await _Connection.open(self._client.path)
        except DaemonNotFound:
            if self._options["required"]:
                raise
            return self
        application = self._options["application"] or os.environ.get("BGTASK_APPLICATION")
        try:
            await connection.send(
                _TASKS + "Begin",
                {"name": self.name, "budget": self._budget, "profile": self._options["profile"],
                 "application": application or None}, more=True)
            self.id = (await connection.reply())[0]["id"]
        except BaseException:
            connection.close()
            raise
        self._connection, self._body = connection, asyncio.current_task()
        self._cancelling = _cancelling(self._body)
        self._reader = asyncio.create_task(self._listen(connection))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        connection, reader, client = self._connection, self._reader, self._client
        if connection is None or reader is None or client is None:
            return
        # What comes now is no reason to cancel the body.
        self._connection = None
        try:
            with contextlib.suppress(NoSuchTask, AlreadyEnded, ConnectionError):
                ended = await client.call("End", id=self.id)
                self.outcome = ended.get("outcome", self.outcome)
        finally:
            reader.cancel()
            connection.close()
        if not self.expired:
            return
        # Where somebody else has cancelled the body too, that goes on.
        is_ours = _uncancel(self._body) <= self._cancelling
        if kind is None or (is_ours and issubclass(kind, asyncio.CancelledError)):
            raise Expired(self.name, self.outcome) from error

    async def _listen(self, connection: _Connection) -> None:
        try:
            continues = True
            while continues:
                reply, continues = await connection.reply()
                event = Event._of(reply["event"])
                if event.kind == "ended":
                    self.outcome = event.task.outcome
                if event.kind == "expiring":
                    self._tell()
        except (Error, OSError):
            # The daemon has gone; a task of it has no time any more.
            pass
        self._tell()

    def _tell(self) -> None:
        if self.expired or self._connection is None or self._body is None:
            return
        self.expired = True
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
