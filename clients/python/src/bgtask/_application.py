"""A program that the daemon has launched, or holds, as an application: what it is told, and what it says."""
from __future__ import annotations

import os
import queue
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _types
from ._client import BackgroundTask, Client, _Connection
from ._errors import Disconnected, Error
from ._types import Submitted

_APPLICATIONS = "org.bgtaskd.Applications."


@dataclass(frozen=True)
class ApplicationEvent:
    """What an application is told."""

    #: `notRunning`, `inactive`, `active`, `background` or `suspended`.
    state: str
    #: What happened, such as `didEnterBackground` or `willTerminate`; None where the state alone is told.
    callback: str | None
    #: Of a message: what its sender has put into it.
    payload: Mapping[str, Any] | None
    #: Of a message or a task: the number by which the program says that it is done with it.
    delivery_id: int | None
    #: Of `performTask` and `taskExpiring`: the task that the application is to do, and that task's name.
    task: int | None
    identifier: str | None
    #: On the return to the front: how long it was away, in seconds.
    away: float | None
    #: All that the daemon told, as the interface has it.
    wire: Mapping[str, Any] = field(repr=False)

    @property
    def is_in_front(self) -> bool:
        return self.state in ("inactive", "active")

    @classmethod
    def _of(cls, wire: Mapping[str, Any]) -> ApplicationEvent:
        away = wire.get("backgroundMs")
        return cls(
            wire["state"], wire.get("callback"), wire.get("payload"), wire.get("deliveryId"),
            wire.get("task"), wire.get("identifier"), None if away is None else away / 1000, wire)


class Application:
    """This program as the daemon knows it: `id` is what it is registered as, BGTASK_APPLICATION if not given.

    Its events come in their order: the present state first, then what it has missed since its launch, and then what
    happens. There is no other after `willTerminate`. One thread reads them."""

    def __init__(self, id: str | None = None, client: Client | None = None) -> None:
        chosen = id or os.environ.get("BGTASK_APPLICATION")
        if not chosen:
            raise ValueError("there is no BGTASK_APPLICATION: this program was not launched as an application")
        self.id = chosen
        self._client = client or Client()
        #: Whether it was in front when the last event was taken.
        self.is_in_front = False
        self._events: queue.SimpleQueue[ApplicationEvent | Error | None] = queue.SimpleQueue()
        self._connection = _Connection(self._client.path)
        self._connection.send(_APPLICATIONS + "Watch", {"id": self.id}, more=True)
        self._reader = threading.Thread(
            target=self._listen, name=f"bgtask {self.id}", daemon=True)
        self._reader.start()

    def next_event(self, timeout: float | None = None) -> ApplicationEvent | None:
        """Waits for what happens next; None where that takes longer than so many seconds."""
        try:
            event = self._events.get(timeout=None if timeout is None else max(timeout, 0))
        except queue.Empty:
            return None
        if event is None:
            raise Disconnected("the application is closed")
        if isinstance(event, Error):
            self._events.put(event)
            raise event
        self.is_in_front = event.is_in_front
        return event

    def background_task(self, name: str, **options: Any) -> BackgroundTask:
        """Time for work that is to go on in the background: until its end the application is not suspended."""
        return self._client.background_task(name, application=self.id, **options)

    def set_badge(self, number: int) -> None:
        """Sets the number that the user sees on the application."""
        self._client.call(_APPLICATIONS + "SetBadge", id=self.id, badge=number)

    def handles(self, callbacks: Sequence[str] | None) -> None:
        """Says which callbacks the program implements; None: all. It is told nothing else from now on."""
        self._client.call(
            _APPLICATIONS + "SetHandles", id=self.id,
            handles=None if callbacks is None else list(callbacks))

    def submit(
        self, name: str, *, budget: float | None = None, grace: float | None = None, **options: Any
    ) -> Submitted:
        """Submits a task that the application does itself: it gets `performTask` with this name, woken or started in
        the background for it, and says `delivered`. Options: as of `Client.submit`, but for those of a command."""
        work = _types.queueing(name, budget=_types.budget(budget, grace), **options)
        work.update(application=self.id, wake=True)
        return Submitted._of(self._client.call("Submit", work=work))

    def delivered(self, event: ApplicationEvent, *, success: bool = True) -> None:
        """Says that it is done with a message, or with a task and how; of other events nothing is said."""
        if event.delivery_id is not None:
            self._client.call(
                _APPLICATIONS + "Delivered", id=self.id, deliveryId=event.delivery_id,
                success=None if success else False)

    def close(self) -> None:
        """Is told nothing more."""
        self._connection.shut()
        self._reader.join()
        self._connection.close()

    def _listen(self) -> None:
        try:
            continues = True
            while continues:
                reply, continues = self._connection.reply()
                self._events.put(ApplicationEvent._of(reply["event"]))
            self._events.put(None)
        except Error as error:
            self._events.put(error)
        except OSError as error:
            self._events.put(Disconnected(str(error)))
