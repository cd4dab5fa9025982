"""What the daemon tells, and what it is asked, with Python's names and units: times are in seconds."""
from __future__ import annotations

import base64
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


def milliseconds(seconds: float | None) -> int | None:
    """A time as the interface has it, rounded up, so that a short one is not none."""
    return None if seconds is None else -int(-seconds * 1000 // 1)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


@dataclass(frozen=True)
class Remaining:
    """What time a task has left, in seconds; None: there is no limit."""

    #: Until the warning.
    warning: float | None
    #: Until the hard limit.
    limit: float | None
    #: What sets it: `ownBudget`, `applicationBackgroundTime` or `lifetimeLimit`.
    bound: str | None

    @classmethod
    def _of(cls, wire: Mapping[str, Any]) -> Remaining:
        return cls(_seconds(wire.get("ms")), _seconds(wire.get("hardMs")), wire.get("bound"))


@dataclass(frozen=True)
class Progress:
    """How far a task has come, by its own account."""

    completed: int
    #: Of how many; None if it does not know.
    total: int | None


@dataclass(frozen=True)
class Task:
    """A background task, as the daemon tells it."""

    id: int
    name: str
    #: `held`, by a program, or `run`, by the daemon.
    kind: str
    #: `queued`, `dormant`, `running`, `expiring` or `ended`; later versions may have others.
    state: str
    #: How it ended: `completed`, `failed`, `expired`, `overrun`, `cancelled`, `abandoned` or `interrupted`.
    outcome: str | None
    reason: str | None
    command: tuple[str, ...] | None
    #: Its command's exit status; None if a signal ended it, or it has not ended.
    exit_status: int | None
    #: The signal that ended its command, such as `SIGKILL`.
    exit_signal: str | None
    #: How long its clock has run, in seconds.
    used: float | None
    remaining: Remaining | None
    #: What it last reported of itself.
    status: str | None
    #: How far it has come, of one that has not ended.
    progress: Progress | None
    group: str | None
    attempt: int
    #: The rule that holds a queued task back.
    waiting: str | None
    #: All that the daemon told, as the interface has it.
    wire: Mapping[str, Any] = field(repr=False)

    @classmethod
    def _of(cls, wire: Mapping[str, Any]) -> Task:
        command, end, left = wire.get("command"), wire.get("exit") or {}, wire.get("remaining")
        done = wire.get("progress")
        return cls(
            id=wire["id"], name=wire["name"], kind=wire["kind"], state=wire["state"],
            outcome=wire.get("outcome"), reason=wire.get("reason"),
            command=None if command is None else tuple(command),
            exit_status=end.get("status"), exit_signal=end.get("signal"),
            used=_seconds(wire.get("usedMs")), remaining=None if left is None else Remaining._of(left),
            status=wire.get("status"),
            progress=None if done is None else Progress(done["completed"], done.get("total")),
            group=wire.get("group"), attempt=wire.get("attempt", 1),
            waiting=wire.get("waiting"), wire=wire)


@dataclass(frozen=True)
class Event:
    """What happened to a task."""

    #: `present`, `queued`, `began`, `expiring`, `extended`, `ended`, `output` or another one.
    kind: str
    task: Task
    reason: str | None
    #: Of output: what was printed, and to which stream.
    text: str | None
    stream: str | None

    @classmethod
    def _of(cls, wire: Mapping[str, Any]) -> Event:
        return cls(
            wire["kind"], Task._of(wire["task"]), wire.get("reason"), wire.get("text"),
            wire.get("stream"))


@dataclass(frozen=True)
class Output:
    """A piece of what a task printed."""

    #: `stdout` or `stderr`.
    stream: str
    text: str
    #: Bytes that are missing before it.
    dropped: int

    @classmethod
    def _of(cls, wire: Mapping[str, Any]) -> Output:
        return cls(wire.get("stream", ""), wire.get("text", ""), wire.get("dropped", 0))


@dataclass(frozen=True)
class Submitted:
    """What became of a submission."""

    id: int
    #: `accepted`, `deferred` (held back for a time) or `coalesced` (the task of that id is used instead).
    receipt: str
    #: How long it is held back at least, in seconds.
    not_before: float | None

    @classmethod
    def _of(cls, wire: Mapping[str, Any]) -> Submitted:
        return cls(wire["id"], wire["receipt"], _seconds(wire.get("notBeforeMs")))


@dataclass(frozen=True)
class Explanation:
    """A rule that holds a task back, limits it, or stopped it."""

    rule: str
    text: str
    value: int | None
    #: The earliest time at which that can change, in seconds from now.
    earliest_change: float | None

    @classmethod
    def _of(cls, wire: Mapping[str, Any]) -> Explanation:
        return cls(
            wire["rule"], wire["text"], wire.get("value"), _seconds(wire.get("earliestChangeMs")))


def budget(duration: float | None, grace: float | None) -> dict[str, int] | None:
    """A budget as the interface has it; without a grace a quarter of it is one, 5 seconds at most."""
    if duration is None:
        if grace is not None:
            raise ValueError("a grace needs a budget")
        return None
    if duration <= 0:
        raise ValueError("a budget is longer than 0")
    if grace is None:
        grace = min(5.0, duration / 4)
    if not 0 <= grace < duration:
        raise ValueError("a grace is shorter than its budget")
    duration_ms = milliseconds(duration) or 1
    return {"durationMs": duration_ms, "graceMs": min(milliseconds(grace) or 0, duration_ms - 1)}


def work(
    command: Sequence[str], *, name: str | None = None,
    directory: str | os.PathLike[str] | None = None, env: Mapping[str, str] | None = None,
    input: bytes | str | None = None, on_expiry: str | None = None,
    application: str | None = None, **options: Any,
) -> dict[str, Any]:
    """A command as the interface has it; see `Client.submit`."""
    if isinstance(command, (str, bytes)) or not command:
        raise ValueError("a command is a list: the program and its arguments")
    by_name = (options.get("unique"), options.get("minimum_interval"))
    if name is None and by_name != (None, None):
        raise ValueError("unique and minimum_interval are about the tasks of one name, and need it")
    data = input.encode() if isinstance(input, str) else input
    return queueing(name or os.path.basename(command[0]), **options) | _given({
        "command": list(command), "directory": os.path.abspath(directory or os.getcwd()),
        "environment": dict(env) if env else None,
        "input": base64.b64encode(data).decode() if data else None, "application": application,
        "expiration": None if on_expiry is None else {"signal": on_expiry},
    })


def queueing(
    name: str, *, budget: dict[str, int] | None = None, profile: str | None = None,
    group: str | None = None, priority: int | None = None, delay: float | None = None,
    when: Sequence[str] = (), minimum_interval: float | None = None, unique: str | None = None,
    attempts: int | None = None, retry_delay: float | None = None,
    retry_interrupted: bool = False, after: Sequence[int] = (), after_any: Sequence[int] = (),
    slots: int | None = None, paused: bool = False,
) -> dict[str, Any]:
    """Work as the interface has it, but for what does it."""
    if attempts is None and (retry_delay is not None or retry_interrupted):
        raise ValueError("retry_delay and retry_interrupted need attempts")
    retry = None if attempts is None else _given({
        "attempts": attempts, "delayMs": milliseconds(retry_delay),
        "onInterruption": retry_interrupted or None})
    return _given({
        "name": name, "budget": budget, "profile": profile, "group": group, "priority": priority,
        "earliestBeginMs": milliseconds(delay), "conditions": list(when) or None,
        "minimumIntervalMs": milliseconds(minimum_interval), "unique": unique,
        "after": list(after) or None, "afterAny": list(after_any) or None, "slots": slots,
        "paused": paused or None, "retry": retry,
    })


def _given(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in asked.items() if value is not None}
