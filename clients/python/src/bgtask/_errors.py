"""What can go wrong, as exceptions."""
from __future__ import annotations

from typing import Any


class Error(Exception):
    """What this package raises."""


class DaemonNotFound(Error, ConnectionError):
    """Nobody listens at the daemon's socket."""

    def __init__(self, path: str, cause: OSError) -> None:
        super().__init__(f"no bgtaskd at {path}: {cause.strerror or cause}")
        self.path = path


class Disconnected(Error, ConnectionError):
    """The daemon has closed the connection; its journal says why."""


class Expired(Error, TimeoutError):
    """The time of a background task was up."""

    def __init__(self, name: str, outcome: str | None) -> None:
        super().__init__(f"the time of {name} was up" + (f" ({outcome})" if outcome else ""))
        self.name = name
        #: How the task ended, as far as that is known: `expired` or `overrun`.
        self.outcome = outcome


class Refused(Error):
    """The daemon refuses a call. Each error of its interfaces has a class of its own, by its name."""

    #: The error's name without its interface.
    kind = ""

    def __init__(self, name: str, parameters: dict[str, Any]) -> None:
        #: The error with its interface, such as `org.bgtaskd.Tasks.NoSuchTask`.
        self.name = name
        #: What the daemon says about it.
        self.parameters = parameters
        details = ", ".join(f"{key}: {value}" for key, value in parameters.items())
        super().__init__(name.rpartition(".")[2] + (f" ({details})" if details else ""))

    @property
    def reason(self) -> str | None:
        """What is wrong, for a person; None where the name says all."""
        return self.parameters.get("reason")


class NoSuchTask(Refused):
    """There is no such task, it is another user's, or the history has it no more."""


class NoSuchGroup(Refused):
    """The settings name no such group."""


class NoSuchProfile(Refused):
    """The settings name no such profile."""


class LimitReached(Refused):
    """More than a limit allows: `parameters` has its name and its value."""


class TooLittleTime(Refused):
    """The application has less background time left than the grace."""


class AlreadyEnded(Refused):
    """The task has ended: `parameters` has its outcome."""


class NotAccepting(Refused):
    """Not now: the daemon stops, the disk cannot be written, or the task's state forbids it."""


class Confined(Refused):
    """The caller's process is confined, and its command would not be."""


class OutputGone(Refused):
    """Nothing is kept of what the task printed."""


class InvalidParameter(Refused):
    """A parameter is not what it must be."""


class PermissionDenied(Refused):
    """The caller may not do this."""


class MethodNotFound(Refused):
    """The daemon is older than this package, and does not have the method."""


_KINDS = {kind.__name__: kind for kind in Refused.__subclasses__()}


def refusal(name: str, parameters: dict[str, Any]) -> Refused:
    """The exception for an error that the daemon replied with."""
    return _KINDS.get(name.rpartition(".")[2], Refused)(name, parameters)
