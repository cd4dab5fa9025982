#!/usr/bin/env python3
"""What the queue costs when it is long: 100,000 queued tasks against 1,000.

Two daemons run side by side, one with a short queue and one with a long one, and take the same calls in
turn, so that whatever else the machine does slows both. For each operation the table has what one call
takes (until it is answered, and of the processor's time by the daemon) in both, and the ratio: the median
of those of the rounds. Then it measures how long the daemon leaves a client without an answer while
everything that is queued becomes due at once.

Exits with 1 where an operation takes more than twice as much with the long queue. Needs `make build` before.
"""

import argparse
import gc
import json
import os
import random
import select
import statistics
import subprocess
import sys
import tempfile
import time

from connection import Connection

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RATIO_MAX = 2.0
# Above the priorities of all that is queued.
FIRST = 1000
SLICES = 5


def frame(method, parameters, **flags):
    call = {"method": "org.bgtaskd.Tasks." + method, "parameters": parameters, **flags}
    return json.dumps(call).encode() + b"\0"


def work(command, **fields):
    return {"work": {"name": "load", "command": command, **fields}}


class TaskConnection(Connection):
    """Calls about tasks."""

    def call(self, method, parameters):
        self.socket.sendall(frame(method, parameters))
        return self.reply()

    def count_replies(self, method, parameters):
        """Calls with more, and leaves the replies unread but for their number."""
        self.socket.sendall(frame(method, parameters, more=True))
        count, tail = 0, b""
        while True:
            piece = self.socket.recv(1 << 20)
            count += piece.count(b"\0")
            tail = (tail + piece)[-65536:]
            if tail.endswith(b"\0") and b'"continues":true' not in tail.split(b"\0")[-2]:
                return count

    def ping(self):
        self.socket.sendall(b'{"method":"io.systemd.service.Ping"}\0')
        self.reply()


class Daemon:
    """A daemon in a folder of its own, with its queue."""

    def __init__(self, folder, durability, count, fields):
        os.mkdir(folder)
        self.folder, self.count, self.fields = folder, count, fields
        self.number, self.ids = 0, []
        with open(folder + "/bgtaskd.toml", "w", encoding="ascii") as file:
            file.write(
                "queue.slots = 1\nqueue.groups.held.slots = 1\n"
                "limits.queueDepthMax = 10000000\nlimits.queueDepthPerOwnerMax = 10000000\n"
                f'daemon.logLevel = "warning"\nstore.durability = "{durability}"\n')
        self.process = subprocess.Popen(
            [OPTIONS.bgtaskd, "--config", folder + "/bgtaskd.toml", "--socket", folder + "/socket",
             "--state-dir", folder + "/state"], stderr=open(folder + "/log", "wb"))
        deadline = time.monotonic() + 30
        while True:
            try:
                self.client = TaskConnection(folder + "/socket")
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    sys.exit(f"bgtaskd does not serve: see {folder}/log")
                time.sleep(0.02)
        self.client.call("PauseGroup", {"group": "held"})
        self.blocker = None

    def stop(self):
        # An orderly stop: of a daemon that is killed, what it runs stays until the next one starts.
        self.process.terminate()
        self.process.wait(120)

    def cpu(self):
        """Seconds of the processor that all its threads have used, those that have ended included."""
        # clock_getcpuclockid(3) of another process, which Python does not have.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def block(self, priority=FIRST):
        self.blocker = self.client.call(
            "Submit", work(["sleep", "100000"], name="blocker", priority=priority))["id"]

    def next_work(self):
        self.number += 1
        return work(["true"], **self.fields(self.number))

    def fill(self, clients=128):
        """Queues what is to be queued, over many connections, so that many share a commit."""
        poll, connections = select.epoll(), {}
        wanted = self.count - len(self.ids)
        for _ in range(min(clients, wanted)):
            connection = TaskConnection(self.folder + "/socket")
            connections[connection.socket.fileno()] = connection
            poll.register(connection.socket.fileno(), select.EPOLLIN)
            connection.socket.sendall(frame("Submit", self.next_work()))
        sent = len(connections)
        while len(self.ids) < self.count:
            for descriptor, _ in poll.poll(10):
                connection = connections[descriptor]
                self.ids.append(connection.reply()["id"])
                if sent < wanted:
                    connection.socket.sendall(frame("Submit", self.next_work()))
                    sent += 1


def submit(daemon, count):
    for _ in range(count):
        daemon.ids.append(daemon.client.call("Submit", daemon.next_work())["id"])
    return count


def cancel(daemon, count):
    """Any of the queue; as many as were submitted."""
    for _ in range(count):
        index = random.randrange(len(daemon.ids))
        daemon.ids[index], daemon.ids[-1] = daemon.ids[-1], daemon.ids[index]
        daemon.client.call("Cancel", {"id": daemon.ids.pop()})
    return count


def explain(daemon, count):
    for _ in range(count):
        daemon.client.call("Explain", {"id": random.choice(daemon.ids)})
    return count


def first_page(daemon, _):
    assert len(daemon.client.call("List", {})["tasks"]) == 1000
    return 1000


def list_own(daemon, _):
    return daemon.client.count_replies("List", {})


def list_all(daemon, _):
    return daemon.client.count_replies("List", {"all": True})


def start_and_end(daemon, count):
    """What finds a slot free."""
    name = daemon.fields(0).get("name", "free")
    for _ in range(count):
        started = daemon.client.call("Submit", work(["true"], name=name))["id"]
        assert daemon.client.call("Wait", {"id": started})["task"]["outcome"] == "completed"
    return count


def prepare_start_from_queue(daemon, count):
    """The slot is taken again after the last of them."""
    daemon.first = [
        daemon.client.call("Submit", work(["true"], priority=FIRST))["id"] for _ in range(count)]
    daemon.before = daemon.blocker
    daemon.block(priority=FIRST - 1)


def start_from_queue(daemon, count):
    daemon.client.call("Cancel", {"id": daemon.before})
    daemon.client.call("Wait", {"id": daemon.first[-1]})
    return count + 1


OPERATIONS = {
    "submit": submit, "cancel": cancel, "explain": explain, "list, first page (a task)": first_page,
    "list, all pages (a task)": list_own, "list of all users (a task)": list_all,
    "start and end": start_and_end, "start from the queue and end": start_from_queue,
}
PREPARATIONS = {start_from_queue: prepare_start_from_queue}
# Not done in slices, with the two daemons in turn.
WHOLE = [list_own, list_all, start_from_queue]
USUAL = ["submit", "explain", "list, first page (a task)", "list, all pages (a task)",
         "list of all users (a task)", "cancel"]

SCENARIOS = [
    ("priorities from -1000 to 900, waiting for the slot, on disk", "commit", True,
     lambda number: {"priority": number * 7919 % 1900 - 1000},
     USUAL + ["start from the queue and end"]),
    ("in a paused group, in memory", "memory", False,
     lambda number: {"group": "held", "priority": number * 7919 % 1900 - 1000},
     USUAL + ["start and end"]),
    ("one name with an interval, in a paused group, on disk", "commit", False,
     lambda number: {"group": "held", "name": "upload", "minimumIntervalMs": 600_000},
     ["submit", "explain", "cancel", "start and end"]),
    ("one name with 16 intervals, in a paused group, in memory", "memory", False,
     lambda number: {"group": "held", "name": "upload", "minimumIntervalMs": 600_000 + number % 16},
     ["submit", "explain", "cancel", "start and end"]),
]


def measure(operation, daemons):
    """What one call takes with each of them: the time until it is answered and the processor's, in µs."""
    slices = 1 if operation in WHOLE else SLICES
    walls, cpus, counts = ([0] * len(daemons) for _ in range(3))
    for _ in range(slices):
        for index, daemon in enumerate(daemons):
            if operation in PREPARATIONS:
                PREPARATIONS[operation](daemon, OPTIONS.batch // slices)
            cpu, start = daemon.cpu(), time.perf_counter()
            counts[index] += operation(daemon, OPTIONS.batch // slices)
            walls[index] += time.perf_counter() - start
            cpus[index] += daemon.cpu() - cpu
    return [(wall / count * 1e6, cpu / count * 1e6)
            for wall, cpu, count in zip(walls, cpus, counts)]


def compare(name, durability, is_blocked, fields, operations):
    """Whether the long queue costs no more than it may."""
    print(f"\n{name}:", flush=True)
    with tempfile.TemporaryDirectory(prefix="queue-", dir=OPTIONS.folder) as folder:
        daemons = [Daemon(f"{folder}/{count}", durability, count, fields)
                   for count in (OPTIONS.few, OPTIONS.many)]
        try:
            for daemon in daemons:
                if is_blocked:
                    daemon.block()
                start, cpu = time.perf_counter(), daemon.cpu()
                daemon.fill()
                print(f"  {daemon.count} submitted by 128 clients: "
                      f"{daemon.count / (time.perf_counter() - start):.0f}/s, "
                      f"{(daemon.cpu() - cpu) / daemon.count * 1e6:.0f} µs of the processor each",
                      flush=True)
            return compare_operations(operations, daemons)
        finally:
            for daemon in daemons:
                daemon.stop()


def compare_operations(names, daemons):
    """In rounds, so that what a round submits it also cancels."""
    rounds = {name: [] for name in names}
    for number in range(OPTIONS.rounds):
        for name in names:
            order = 1 if number % 2 == 0 else -1
            rounds[name].append(measure(OPERATIONS[name], daemons[::order])[::order])
    return all([report(name, rounds[name]) for name in names])


def report(name, rounds):
    few, many = ([statistics.median(values) for values in zip(*column)] for column in zip(*rounds))
    ratios = [statistics.median(many[kind] / few[kind] for few, many in rounds) for kind in (0, 1)]
    is_good = max(ratios) <= RATIO_MAX
    print(f"  {name:30} answered {few[0]:8.1f} → {many[0]:8.1f} µs, {ratios[0]:5.2f} times;  "
          f"processor {few[1]:8.1f} → {many[1]:8.1f} µs, {ratios[1]:5.2f} times"
          + ("" if is_good else f"   MORE THAN {RATIO_MAX:g} TIMES"), flush=True)
    return is_good


def longest_ping(daemon, until):
    """The longest that a ping takes, in ms, while `until` is not so."""
    longest = 0
    while not until():
        end = time.perf_counter() + 0.05
        while time.perf_counter() < end:
            start = time.perf_counter()
            daemon.client.ping()
            longest = max(longest, time.perf_counter() - start)
    return longest * 1000


def become_due(name, count, fields, before):
    """What a client notices while all that is queued becomes due within a few ms."""
    with tempfile.TemporaryDirectory(prefix="queue-", dir=OPTIONS.folder) as folder:
        daemon = Daemon(folder + "/due", "memory", count, None)
        try:
            before(daemon)
            daemon.block()
            delay = 2 + count * OPTIONS.fill_time / 1e6
            due = time.monotonic() + delay
            daemon.fields = lambda _: fields(max(int((due - time.monotonic()) * 1000), 0), delay)
            daemon.fill()
            if time.monotonic() > due - 1:
                sys.exit("the queue was not filled in time: --fill-time")
            quiet_end = due - 0.2
            quiet = longest_ping(daemon, lambda: time.monotonic() > quiet_end)
            probe = TaskConnection(daemon.folder + "/socket")
            last = daemon.ids[0] if name.startswith("one name") else daemon.ids[-1]

            def is_due():
                rules = probe.call("Explain", {"id": last})["explanations"]
                return rules[0]["rule"] == "slots" and time.monotonic() > due + 1

            cpu = daemon.cpu()
            longest = longest_ping(daemon, is_due)
            print(f"  {name}, {count}: the longest ping {longest:.1f} ms, before that "
                  f"{quiet:.1f} ms; processor until a second after {(daemon.cpu() - cpu) * 1000:.0f} ms",
                  flush=True)
        finally:
            daemon.stop()


def succeed(daemon):
    id = daemon.client.call("Submit", work(["true"], name="upload"))["id"]
    daemon.client.call("Wait", {"id": id})


def measure_due():
    print("\nbecoming due:")
    for count in (OPTIONS.few, OPTIONS.many):
        become_due("the same earliest begin", count,
                   lambda left, _: {"earliestBeginMs": left}, lambda daemon: None)
        become_due("one name with one interval", count,
                   lambda _, delay: {"name": "upload", "minimumIntervalMs": int(delay * 1000)},
                   succeed)


def main():
    if not os.access(OPTIONS.bgtaskd, os.X_OK):
        sys.exit(f"{OPTIONS.bgtaskd} is not there: make build")
    print(f"load: {' '.join(map(str, os.getloadavg()))} on {os.cpu_count()} processors; "
          f"{OPTIONS.few} queued → {OPTIONS.many} queued")
    random.seed(1)
    gc.disable()
    chosen = [scenario for scenario in SCENARIOS if OPTIONS.only in scenario[0]]
    is_good = all([compare(*scenario) for scenario in chosen])
    if not OPTIONS.only:
        measure_due()
    print(f"load: {' '.join(map(str, os.getloadavg()))}")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--few", type=int, default=1000, help="tasks of the short queue")
    parser.add_argument("--many", type=int, default=100_000, help="tasks of the long one")
    parser.add_argument("--batch", type=int, default=100, help="calls of an operation in a round")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="", help="the scenarios with this in their name")
    parser.add_argument("--fill-time", type=float, default=400, help="for each task, in µs")
    parser.add_argument("--folder", default=ROOT + "/.build", help="on the disk to be measured")
    parser.add_argument("--bgtaskd", default=ROOT + "/.build/release/bgtaskd")
    OPTIONS = parser.parse_args()
    main()
