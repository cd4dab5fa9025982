"""Submits that are answered when the disk has them, against beanstalkd -b -f0, which syncs each job.

What is submitted waits: one task keeps bgtaskd's only slot, and nobody reserves a job of beanstalkd. Both
have their state in the same folder. A virtual disk may take far less for a sync than one that really writes,
so that a second row adds --sync-ms to each sync of both.
"""

import json
import os
import tempfile
import time

from harness import slow_disk
from harness.measuring import say
from harness.row import AtLeast, Failure, Peer, Row

KEEPER = {"method": "org.bgtaskd.Tasks.Submit",
          "parameters": {"work": {"name": "keeper", "command": ["sleep", "3600"],
                                   "profile": "unlimited"}}}


def sync_time(run, count=200):
    """What a write and its sync take on the disk itself, in ms."""
    os.makedirs(run.disk, exist_ok=True)
    with tempfile.TemporaryFile(dir=run.disk, buffering=0) as file:
        start = time.perf_counter()
        for _ in range(count):
            file.write(bytes(300))
            os.fdatasync(file.fileno())
        return (time.perf_counter() - start) / count * 1000


def keep_the_slot(daemon):
    """Submits a task that runs to the end of the measurement."""
    with daemon.connect() as connection:
        connection.sendall(json.dumps(KEEPER).encode() + b"\0")
        reply = connection.recv(4096)
        if b'"accepted"' not in reply:
            raise Failure(f"bgtaskd answered {reply!r}")


def ours(is_slow):
    def measure(run):
        say(f"  a write and its sync: {sync_time(run):.3f} ms")
        with run.bgtaskd({"queue.slots": 1}, environment(run, is_slow)) as daemon:
            keep_the_slot(daemon)
            return run.load(daemon, "submit")["operationsPerSecond"]

    return measure


def theirs(is_slow):
    def measure(run):
        with run.beanstalkd(is_durable=True, environment=environment(run, is_slow)) as daemon:
            return run.load(daemon, "put")["operationsPerSecond"]

    return measure


def environment(run, is_slow):
    return slow_disk.environment(run.options.sync_ms) if is_slow else None


def row(name, title, is_slow, goal=None):
    return Row(name=name, title=title, unit="submits/s", goal=goal, measure=ours(is_slow),
               peer=Peer("beanstalkd -b -f0", theirs(is_slow)))


ROWS = [
    row("durable-submit", "durable submit, 16 clients", False, AtLeast(3)),
    row("durable-submit-slow-disk", "durable submit, {sync_ms:g} ms added to each sync", True),
]
