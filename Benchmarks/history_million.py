#!/usr/bin/env python3
"""A million ended tasks in the history: how soon the daemon serves, how quick it answers, how large it is.

Fills the daemon's own database, starts the daemon on it, and prints what a client sees; then lowers
[store] historyMax and waits until the file is within the bounds. Needs `make build` before.
"""

import argparse
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = (
    "id, owner, name, profile, duration_ms, grace_ms, is_cut_by_lifetime, command, priority, "
    "submitted_at_us, queued_at_us, started_at_us, attempt, ended_at_us, outcome, exit_status, used_ms"
)


class Daemon:
    """bgtaskd on a folder, with some settings more."""

    def __init__(self, folder, settings=""):
        path = folder + "/bgtaskd.toml"
        with open(path, "w", encoding="ascii") as file:
            file.write(settings + "\n")
        self.path = folder + "/socket"
        start = time.monotonic()
        self.process = subprocess.Popen(
            [OPTIONS.bgtaskd, "--config", path, "--socket", self.path, "--state-dir",
             folder + "/state"], stderr=open(folder + "/log", "ab"))
        while not self.serves():
            if self.process.poll() is not None:
                sys.exit(open(folder + "/log", encoding="utf-8").read())
            time.sleep(0.005)
        self.seconds = time.monotonic() - start

    def serves(self):
        try:
            self.call("io.systemd.service.Ping")
            return True
        except OSError:
            return False

    def call(self, method, more=False, **parameters):
        """The replies to a call, and the time to the first of them in ms."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self.path)
            message = {"method": method, "parameters": parameters}
            if more:
                message["more"] = True
            start = time.monotonic()
            connection.sendall(json.dumps(message).encode() + b"\0")
            first, rest = None, b""
            replies = []
            while True:
                received = connection.recv(1 << 20)
                first = first or (time.monotonic() - start) * 1000
                *frames, rest = (rest + received).split(b"\0")
                replies += [json.loads(frame) for frame in frames]
                if replies and not replies[-1].get("continues") or not received:
                    return replies, first

    def resident(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024

    def stop(self):
        self.process.terminate()
        if self.process.wait(120) != 0:
            sys.exit("the daemon did not end well")


def fill(path, count):
    """Writes ended tasks of ten names and two owners, the last of them just now."""
    now = int(time.time() * 1e6)
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA synchronous = OFF")
        rows = (
            (n, n % 2, f"name {n % 10}", "default", 180000, 5000, 0, '["true"]', 0,
             now - (count - n) * 1000, now - (count - n) * 1000, now - (count - n) * 1000, 1,
             now - (count - n) * 1000 + 900, n % 7, 0, 1)
            for n in range(1, count + 1)
        )
        places = ", ".join("?" * len(COLUMNS.split(",")))
        database.executemany(f"INSERT INTO tasks ({COLUMNS}) VALUES ({places})", rows)
        database.execute("UPDATE identifiers SET reserved_through = ?", (count,))
    database.close()


def size(folder):
    return sum(os.path.getsize(f"{folder}/state/{name}") for name in os.listdir(folder + "/state")
               if name.startswith("tasks.db")) / (1 << 20)


def main():
    if not os.access(OPTIONS.bgtaskd, os.X_OK):
        sys.exit(f"{OPTIONS.bgtaskd} is not there: make build")
    folder = tempfile.mkdtemp(prefix="history-", dir=OPTIONS.folder)
    Daemon(folder).stop()
    fill(folder + "/state/tasks.db", OPTIONS.count)
    daemon = Daemon(folder)
    print(f"{OPTIONS.count} ended tasks, {size(folder):.0f} MiB: serves after "
          f"{daemon.seconds:.2f} s, {daemon.resident():.0f} MiB resident")
    tasks = "org.bgtaskd.Tasks."
    for text, call in {
        "Show of the oldest": lambda: daemon.call(tasks + "Show", id=2, all=True),
        "Show of the newest": lambda: daemon.call(tasks + "Show", id=OPTIONS.count, all=True),
        "List of 1000 that have ended": lambda: daemon.call(tasks + "List", ended=True, all=True),
        "History of 1000": lambda: daemon.call(tasks + "History", all=True),
        "History by name": lambda: daemon.call(tasks + "History", name="name 3", all=True),
        "History by outcome and name": lambda: daemon.call(
            tasks + "History", name="name 3", outcomes=["overrun"], all=True),
        "Submit": lambda: daemon.call(
            tasks + "Submit", work={"name": "new", "command": ["true"]}),
    }.items():
        replies, milliseconds = call()
        if "error" in replies[0]:
            sys.exit(f"{text}: {replies[0]}")
        print(f"{text}: {milliseconds:.1f} ms")
    daemon.stop()

    bound = OPTIONS.count // 100
    daemon = Daemon(folder, f"store.historyMax = {bound}")
    start = time.monotonic()
    before = size(folder)
    with sqlite3.connect(folder + "/state/tasks.db") as database:
        while database.execute("SELECT count(*) FROM tasks").fetchone()[0] > bound:
            time.sleep(0.2)
    database.close()
    print(f"historyMax = {bound}: pruned in {time.monotonic() - start:.1f} s while it served")
    while size(folder) > before / 10 and time.monotonic() < start + 300:
        time.sleep(0.2)
    print(f"{before:.0f} MiB before, {size(folder):.0f} MiB {time.monotonic() - start:.0f} s later")
    daemon.stop()
    shutil.rmtree(folder)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--folder", default=ROOT + "/.build")
    parser.add_argument("--bgtaskd", default=ROOT + "/.build/release/bgtaskd")
    OPTIONS = parser.parse_args()
    main()
