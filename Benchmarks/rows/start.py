"""How soon a server serves, with an empty state folder and with a full one.

bgtaskd tells that itself (READY=1, sd_notify(3)); beanstalkd serves when it answers its first command. Each
figure is the median of several starts. The full folder of bgtaskd has 100,000 queued tasks and 100,000 that
have ended, copies of one of each kind that the daemon itself has written; that of beanstalkd 100,000 jobs.
"""

import contextlib
import socket
import sqlite3
import statistics
import subprocess
import tempfile
import time

from harness.call import call
from harness.row import Failure, Peer, Row
from harness.servers import PATIENCE, Beanstalkd

STARTS = 5


def count(run):
    return 1_000 if run.quick else 100_000


def median_start(run, server, first_sign):
    """Milliseconds from before the process is there until its first sign, of several starts."""
    times = []
    for _ in range(2 if run.quick else STARTS):
        with open(server.folder + "/log", "ab") as log:
            start = time.perf_counter()
            server.process = subprocess.Popen(
                server.arguments(), stdout=log, stderr=log, env=server.environment)
        first_sign(server)
        times.append((time.perf_counter() - start) * 1000)
        server.stop()
    return statistics.median(times)


def bgtaskd(run, fill=None):
    with tempfile.TemporaryDirectory(prefix="bgtaskd-bench-") as folder, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(folder + "/notify")
        manager.settimeout(PATIENCE)

        def ready(server):
            try:
                while b"READY=1" not in manager.recv(65536):
                    pass
            except TimeoutError:
                raise Failure(f"bgtaskd is not ready: {server.log()}") from None

        environment = {"NOTIFY_SOCKET": folder + "/notify"}
        with run.bgtaskd({"queue.groups.held.slots": 1}, environment) as server:
            ready(server)
            if fill:
                fill(run, server)
            server.stop()
            return median_start(run, server, ready)


def fill_bgtaskd(run, server):
    """Leaves one task queued and one ended, and copies both while the daemon is stopped."""
    tasks = "org.bgtaskd.Tasks."
    call(server, tasks + "PauseGroup", group="held")
    kinds = [call(server, tasks + "Submit", work={"name": "full", "command": ["true"]} | group)["id"]
             for group in ({}, {"group": "held"})]
    call(server, tasks + "Wait", id=kinds[0])
    server.stop()
    with contextlib.closing(sqlite3.connect(server.state + "/tasks.db")) as database:
        columns = [column[1] for column in database.execute("PRAGMA table_info(tasks)")]
        names = ", ".join(column for column in columns if column != "id")
        for kind in kinds:
            copy_rows(database, names, kind, count(run) - 1)
        database.execute("UPDATE identifiers SET reserved_through = (SELECT max(id) FROM tasks)")
        database.commit()


def copy_rows(database, names, kind, number):
    database.execute(
        f"""WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
            INSERT INTO tasks (id, {names})
            SELECT (SELECT max(id) FROM tasks) + n, {names} FROM numbers, tasks WHERE id = ?""",
        (number, kind))


def full_bgtaskd(run):
    """A start with the full folder, after which all is there."""
    return bgtaskd(run, fill_bgtaskd)


class Unsynced(Beanstalkd):
    """One that leaves its log to the kernel, so that it is soon filled; it reads it like any other."""

    def arguments(self):
        return [*super().arguments(), "-b", self.state, "-F"]


def beanstalkd(run, fill=None):
    with Unsynced(run.disk) as server:
        if fill:
            fill(run, server)
        server.stop()
        return median_start(run, server, answers)


def answers(server):
    """Waits for the answer to a first command."""
    deadline = time.monotonic() + PATIENCE
    while True:
        with contextlib.suppress(OSError), server.connect() as connection:
            connection.sendall(b"list-tube-used\r\n")
            if connection.recv(100).startswith(b"USING"):
                return
        if time.monotonic() > deadline:
            raise Failure(f"beanstalkd does not answer: {server.log()}")
        time.sleep(0.0002)


def fill_beanstalkd(run, server):
    """Puts jobs of the length of a submission, many calls under way at once."""
    body = b'{"work":{"name":"full","command":["true"]}}'
    job = b"put 0 0 60 %d\r\n%s\r\n" % (len(body), body)
    with server.connect() as connection, connection.makefile("rb") as replies:
        for done in range(0, count(run), 100):
            number = min(100, count(run) - done)
            connection.sendall(job * number)
            for _ in range(number):
                reply = replies.readline()
                if not reply.startswith(b"INSERTED"):
                    raise Failure(f"beanstalkd answered {reply}")


def full_beanstalkd(run):
    return beanstalkd(run, fill_beanstalkd)


def row(name, title, ours, theirs, peer):
    return Row(name=name, title=title, unit="ms", measure=ours, peer=Peer(peer, theirs),
               less_is_better=True, rounds_max=3, is_in_chart=False)


ROWS = [
    row("start-empty", "start to ready, no tasks", bgtaskd, beanstalkd, "beanstalkd -b"),
    row("start-full", "start to ready, 100,000 queued and 100,000 ended", full_bgtaskd,
        full_beanstalkd, "beanstalkd -b, 100,000 jobs"),
]
