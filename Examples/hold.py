#!/usr/bin/env python3
"""Works under a time limit: begins a task, gets the warning, saves, and ends the task in time.

    hold.py STATE_FILE [SECONDS [GRACE_SECONDS]]

Without SECONDS the daemon's default budget is asked for. The daemon is found as bgtaskctl finds it.
Python's standard library is enough: a Varlink call is a JSON object and a NUL byte on a Unix socket.
"""
import json
import os
import socket
import sys
import threading


class Varlink:
    """A connection to a service. Calls on one connection are answered one after the other."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.received = b""

    def call(self, method, more=False, **parameters):
        """Sends a call. Returns an iterator of its replies: one, or with `more` all until the last."""
        message = {"method": method, "parameters": parameters}
        if more:
            message["more"] = True
        self.socket.sendall(json.dumps(message).encode() + b"\0")
        return self.replies()

    def replies(self):
        continues = True
        while continues:
            while b"\0" not in self.received:
                data = self.socket.recv(65536)
                if not data:
                    raise OSError("the daemon has closed the connection")
                self.received += data
            frame, _, self.received = self.received.partition(b"\0")
            reply = json.loads(frame)
            if "error" in reply:
                raise RuntimeError(f"{reply['error']} {reply.get('parameters', {})}")
            continues = reply.get("continues", False)
            yield reply["parameters"]


def socket_path():
    system = "/run/bgtaskd/org.bgtaskd"
    own = os.environ.get("XDG_RUNTIME_DIR", "/run") + "/bgtaskd/org.bgtaskd"
    return os.environ.get("BGTASK_SOCKET") or (
        system if os.geteuid() == 0 or os.path.exists(system) else own)


def main(state_file, seconds=None, grace=1):
    asked = {"name": "hold.py"}
    if seconds:
        asked["budget"] = {"durationMs": int(float(seconds) * 1000),
                           "graceMs": int(float(grace) * 1000)}

    # The time belongs to this connection: if the program dies, the claim is gone with it.
    events = Varlink(socket_path()).call("org.bgtaskd.Tasks.Begin", more=True, **asked)
    task = next(events)["id"]

    told = threading.Event()

    def listen():
        try:
            for reply in events:
                if reply["event"]["kind"] == "expiring":
                    told.set()
        except OSError:
            pass
        told.set()  # The task has ended, or the daemon has: no time is promised any more.

    threading.Thread(target=listen, daemon=True).start()

    done = 0
    while not told.wait(timeout=0.1):  # Here the real work would be done, a piece at a time.
        done += 1

    with open(state_file, "w") as file:
        json.dump({"done": done}, file)
    print(f"warned that the time is nearly over: saved after {done} pieces", flush=True)

    # A second connection, since the first one is busy with the replies to Begin.
    [end] = Varlink(socket_path()).call("org.bgtaskd.Tasks.End", id=task)
    print(f"ended the task: {end['outcome']}", flush=True)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit("usage: hold.py STATE_FILE [SECONDS [GRACE_SECONDS]]")
    try:
        main(*sys.argv[1:])
    except (OSError, RuntimeError) as error:
        sys.exit(f"hold.py: {error}")
