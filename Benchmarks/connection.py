"""A connection to the daemon, as the benchmarks have it: frames as they are, one call after the other."""
import json
import socket
import sys


class Connection:
    """Sends calls and reads their replies; ends the benchmark where one is refused."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.rest = b""

    def reply(self):
        while b"\0" not in self.rest:
            more = self.socket.recv(1 << 20)
            if not more:
                sys.exit("bgtaskd closed the connection")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(message)
        if "error" in message:
            sys.exit(f"bgtaskd answered {message}")
        return message.get("parameters", {})
