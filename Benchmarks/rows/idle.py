"""What the daemon and its executor do while they have nothing to do, and what memory they have then.

A thread that is woken waits again afterwards, which the kernel counts (voluntary_ctxt_switches). From these
the watchdog's messages are taken away, which a service manager would get at NOTIFY_SOCKET and the row
gets instead. Four daemons are idle at the same time: with and without a watchdog, with and without tasks.

Private memory is what the process alone has and no file could give back (Private_Dirty in smaps_rollup); the
goal's figure for beanstalkd, 0.3 MB, is this one. Unshared memory has the pages of files besides that no other
process uses at the moment, such as the program's own where it runs once: the kernel may drop those whenever it
needs the room.
"""

import contextlib
import socket
import tempfile
import time

from harness.driver import Driver
from harness.process import Process
from harness.row import AtMost, Row

LIVE = 10_000
WATCHDOG_SECONDS = 20
DURATION_MS = 43_200_000
MEGABYTE = 1e6


def settings(run):
    """As usual but for what lets tasks live that long; a task is named in the log before it is counted."""
    return {"profiles.default.lifetimeMax": "1d", "budget.warnAfter": "1s" if run.quick else "30s"}


class Manager:
    """Takes what a daemon tells its service manager."""

    def __init__(self, folder, has_watchdog):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self.socket.bind(folder)
        self.environment = {"NOTIFY_SOCKET": folder}
        if has_watchdog:
            self.environment["WATCHDOG_USEC"] = str(WATCHDOG_SECONDS * 1_000_000)

    def beats(self):
        """The watchdog's messages since the last call."""
        count = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                count += b"WATCHDOG=1" in self.socket.recv(65536)
        return count


def wakes(run):
    """Wake-ups of each daemon but the watchdog's, by whether it has a watchdog and tasks."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bgtaskd-bench-"))
        idle = {}
        for kind in ((watchdog, live) for watchdog in (True, False) for live in (True, False)):
            manager = Manager(f"{folder}/{len(idle)}", kind[0])
            stack.enter_context(manager.socket)
            daemon = stack.enter_context(run.bgtaskd(settings(run), manager.environment))
            if kind[1]:
                driver = stack.enter_context(Driver(run, daemon, "hold"))
                driver.order("begin", LIVE, DURATION_MS)
            idle[kind] = (Process(daemon.process.pid), manager)
        time.sleep(4 if run.quick else 35)
        before = {kind: (waits(process), manager.beats())[0]
                  for kind, (process, manager) in idle.items()}
        time.sleep(5 if run.quick else 60)
        return {kind: waits(process) - before[kind] - manager.beats()
                for kind, (process, manager) in idle.items()}


def waits(daemon):
    return sum(process.waits() for process in daemon.with_children())


def memory(run):
    """Resident, unshared and private MB of both servers, idle."""
    figures = {}
    for server in (run.bgtaskd(), run.beanstalkd()):
        with server:
            time.sleep(2)
            all_of_it = Process(server.process.pid).with_children()
            figures[server.name] = {
                "resident": sum(process.resident_bytes() for process in all_of_it) / MEGABYTE,
                "unshared": sum(process.unshared_bytes() for process in all_of_it) / MEGABYTE,
                "private": sum(process.private_bytes() for process in all_of_it) / MEGABYTE}
    return figures


def wakes_row(name, title, kind):
    return Row(name=name, title=f"wake-ups in 60 s, {title}", unit="wake-ups",
               measure=lambda run: run.once(("idle", "wakes"), wakes)[kind], goal=AtMost(0),
               less_is_better=True, every_round=True, rounds_max=1, is_in_chart=False)


def memory_row(name, kind, goal=None, subject="bgtaskd"):
    return Row(name=name, title=f"{kind} memory, idle", unit="MB", subject=subject, goal=goal,
               measure=lambda run: run.once(("idle", "memory"), memory)[subject][kind],
               less_is_better=True, is_in_chart=False)


ROWS = [
    wakes_row("idle-wakes", "but the watchdog's", (True, False)),
    wakes_row("idle-wakes-live", "but the watchdog's, with 10,000 live", (True, True)),
    wakes_row("idle-wakes-unwatched", "without a watchdog", (False, False)),
    wakes_row("idle-wakes-unwatched-live", "without a watchdog, with 10,000 live", (False, True)),
    memory_row("idle-private", "private", AtMost(3)),
    memory_row("idle-unshared", "unshared"),
    memory_row("idle-resident", "resident", AtMost(18)),
    memory_row("idle-private-beanstalkd", "private", subject="beanstalkd"),
    memory_row("idle-unshared-beanstalkd", "unshared", subject="beanstalkd"),
    memory_row("idle-resident-beanstalkd", "resident", subject="beanstalkd"),
]
