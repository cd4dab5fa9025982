"""The protocol: JSON objects with a NUL byte behind each, on a Unix socket (varlink.org)."""
from __future__ import annotations

import json
import os
from typing import Any

from ._errors import refusal

#: How much is read at once.
CHUNK = 65_536
_SYSTEM = "/run/bgtaskd/org.bgtaskd"


def socket_path(path: str | None = None) -> str:
    """Finds the daemon as bgtaskctl does: what is given, $BGTASK_SOCKET, the system's daemon if it has a socket (and
    for root always), or the user's own."""
    chosen = path or os.environ.get("BGTASK_SOCKET")
    if chosen:
        return chosen.removeprefix("unix:")
    if os.geteuid() == 0 or os.path.exists(_SYSTEM):
        return _SYSTEM
    folder = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.geteuid()}"
    return folder + "/bgtaskd/org.bgtaskd"


def frame(method: str, parameters: dict[str, Any], more: bool = False) -> bytes:
    """A call as bytes; parameters that are None are left out."""
    message: dict[str, Any] = {
        "method": method,
        "parameters": {key: value for key, value in parameters.items() if value is not None},
    }
    if more:
        message["more"] = True
    return json.dumps(message).encode() + b"\0"


class Frames:
    """What has been read, up to the next whole message."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._searched = 0

    def add(self, data: bytes) -> None:
        self._bytes += data

    def next(self) -> tuple[dict[str, Any], bool] | None:
        """The parameters of the next reply, and whether others follow; None where it is not all there yet.

        Raises what the daemon refused with."""
        end = self._bytes.find(b"\0", self._searched)
        if end < 0:
            self._searched = len(self._bytes)
            return None
        message = json.loads(self._bytes[:end])
        del self._bytes[: end + 1]
        self._searched = 0
        parameters = message.get("parameters") or {}
        if "error" in message:
            raise refusal(message["error"], parameters)
        return parameters, bool(message.get("continues"))
