"""Runs background work under a time limit, with bgtaskd (https://varlink.org is its protocol).

    with bgtask.background_task("upload", budget=180, grace=5) as task:
        ...                                 # work of one's own; task.expired says that 5 seconds are left

    submitted = bgtask.submit(["make", "test"], budget=600)
    print(bgtask.wait(submitted.id).outcome)

Times are in seconds. `bgtask.aio` has the same for asyncio. Errors of the daemon are exceptions by their names.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from . import aio
from ._application import Application, ApplicationEvent
from ._client import BackgroundTask, Client
from ._errors import (
    AlreadyEnded, Confined, DaemonNotFound, Disconnected, Error, Expired, InvalidParameter,
    LimitReached, MethodNotFound, NoSuchGroup, NoSuchProfile, NoSuchTask, NotAccepting, OutputGone,
    PermissionDenied, Refused, TooLittleTime)
from ._types import Event, Explanation, Output, Progress, Remaining, Submitted, Task

__version__ = "0.2.0"

__all__ = [
    "AlreadyEnded", "Application", "ApplicationEvent", "BackgroundTask", "Client", "Confined", "DaemonNotFound", "Disconnected",
    "Error", "Event", "Expired", "Explanation", "InvalidParameter", "LimitReached",
    "MethodNotFound", "NoSuchGroup", "NoSuchProfile", "NoSuchTask", "NotAccepting", "Output",
    "OutputGone", "PermissionDenied", "Progress", "Refused", "Remaining", "Submitted", "Task", "TooLittleTime",
    "aio", "background_task", "cancel", "clean", "complete", "explain", "extend", "history", "output",
    "remaining", "report", "restart", "show", "submit", "tasks", "wait", "watch",
]


def background_task(
    name: str, *, budget: float | None = None, grace: float | None = None,
    profile: str | None = None, application: str | None = None,
    on_expiry: Callable[[BackgroundTask], object] | None = None, required: bool = True,
) -> BackgroundTask:
    """A time limit for the body of a with statement, or for a function; see `BackgroundTask`."""
    return BackgroundTask(
        name, budget=budget, grace=grace, profile=profile, application=application,
        on_expiry=on_expiry, required=required)


def submit(command: Sequence[str], **options: Any) -> Submitted:
    """Has the daemon run a command; see `Client.submit`."""
    return Client().submit(command, **options)


def restart(id: int, **options: Any) -> Submitted:
    """Submits an ended command again; see `Client.restart`."""
    return Client().restart(id, **options)


def wait(id: int, timeout: float | None = None) -> Task:
    """The task as it ended; see `Client.wait`."""
    return Client().wait(id, timeout)


def show(id: int, *, all: bool = False) -> Task:
    """A task, live or ended."""
    return Client().show(id, all=all)


def tasks(**options: Any) -> Iterator[Task]:
    """Tasks that have not ended; see `Client.tasks`."""
    return Client().tasks(**options)


def history(**options: Any) -> Iterator[Task]:
    """Commands that have ended, the newest first; see `Client.history`."""
    return Client().history(**options)


def explain(id: int) -> list[Explanation]:
    """The rules that hold a task back, limit it, or stopped it."""
    return Client().explain(id)


def watch(id: int | None = None, **options: Any) -> Iterator[Event]:
    """What happens to tasks; see `Client.watch`."""
    return Client().watch(id, **options)


def output(id: int, *, follow: bool = False) -> Iterator[Output]:
    """What a command has printed; see `Client.output`."""
    return Client().output(id, follow=follow)


def cancel(id: int, **options: Any) -> None:
    """Stops a task; see `Client.cancel`."""
    Client().cancel(id, **options)


def extend(id: int) -> Remaining:
    """Restarts a task's budget from now."""
    return Client().extend(id)


def remaining(id: int) -> Remaining:
    """What time a task has left."""
    return Client().remaining(id)


def report(
    id: int, text: str | None = None, *, completed: int | None = None, total: int | None = None
) -> None:
    """Says how far a task has come; see `Client.report`."""
    Client().report(id, text, completed=completed, total=total)


def complete(id: int, *, success: bool = True) -> None:
    """Says that the work of a task is done; see `Client.complete`."""
    Client().complete(id, success=success)


def clean(ids: Sequence[int]) -> None:
    """Removes tasks that have ended from the history; see `Client.clean`."""
    Client().clean(ids)
