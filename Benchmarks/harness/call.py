"""One call of the daemon, on a connection of its own."""

import json

from .row import Failure


def call(server, method, **parameters):
    """The parameters of its reply."""
    with server.connect() as connection:
        connection.sendall(json.dumps({"method": method, "parameters": parameters}).encode() + b"\0")
        reply = b""
        while not reply.endswith(b"\0"):
            piece = connection.recv(1 << 20)
            if not piece:
                raise Failure(f"{server.name} closed the connection of {method}: {server.log()}")
            reply += piece
    reply = json.loads(reply[:-1])
    if "error" in reply:
        raise Failure(f"{method}: {reply}")
    return reply.get("parameters", {})
