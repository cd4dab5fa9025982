#!/usr/bin/env python3
"""What 1,000 applications cost: suspending all, sleeping, resuming all.

Starts a daemon of its own, launches the applications, sends all of them to the background and waits until
the kernel says of each that it is frozen; lets them sleep; brings all of them back and waits until the kernel
says that none is frozen. Some count in a loop, which is read from outside: they stand still while they are
suspended and go on after it. While all sleep the daemon has nothing to do, and does nothing.

Exits with 1 where the daemon works while all sleep, or a counter does not do as it should. Needs control
groups (root, or a delegated group) and `make build` before.
"""

import argparse
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time

from connection import Connection

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COUNTERS = 5
# What the daemon may use of the processor while all sleep, and how often it may wake up, a second.
IDLE_SHARE_MAX = 0.001
IDLE_WAKES_MAX = 1.0
PATIENCE = 300


class ApplicationConnection(Connection):
    """Calls about applications."""

    def send(self, method, parameters):
        call = {"method": "org.bgtaskd.Applications." + method, "parameters": parameters}
        self.socket.sendall(json.dumps(call).encode() + b"\0")


class Daemon:
    """A daemon in a folder of its own."""

    def __init__(self, folder):
        self.folder, self.path = folder, folder + "/socket"
        with open(folder + "/bgtaskd.toml", "w", encoding="ascii") as file:
            file.write(
                'applications.foreground = "multiple"\napplications.suspendAfter = "0s"\n'
                f'limits.applicationsPerOwnerMax = {OPTIONS.count}\ndaemon.logLevel = "warning"\n')
        self.process = subprocess.Popen(
            [OPTIONS.bgtaskd, "--config", folder + "/bgtaskd.toml", "--socket", self.path,
             "--state-dir", folder + "/state"], stderr=open(folder + "/log", "wb"))
        deadline = time.monotonic() + 30
        while True:
            try:
                self.clients = [ApplicationConnection(self.path)]
                break
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    sys.exit("bgtaskd does not serve: " + open(folder + "/log").read())
                time.sleep(0.02)
        self.clients += [ApplicationConnection(self.path) for _ in range(OPTIONS.clients - 1)]

    def call_all(self, method, calls):
        """The replies to many calls, which all connections share."""
        waiting, replies = iter(enumerate(calls)), [None] * len(calls)
        selector = selectors.DefaultSelector()

        def send_next(client):
            number, parameters = next(waiting, (None, None))
            if number is None:
                selector.unregister(client.socket)
                return 0
            client.send(method, parameters)
            selector.modify(client.socket, selectors.EVENT_READ, (client, number))
            return 1

        open_count = 0
        for client in self.clients:
            selector.register(client.socket, selectors.EVENT_READ)
            open_count += send_next(client)
        while open_count:
            for key, _ in selector.select():
                client, number = key.data
                replies[number] = client.reply()
                open_count += send_next(client) - 1
        return replies

    def wait_state(self, state):
        """Waits until the daemon, too, says that all are so; it hears of it from the kernel."""
        deadline = time.monotonic() + PATIENCE
        while True:
            applications = self.call_all("List", [{}])[0]["applications"]
            if all(application["state"] == state for application in applications):
                return
            if time.monotonic() > deadline:
                sys.exit(f"bgtaskd does not say of all that they are {state}")

    def cpu(self):
        """Seconds of the processor that all its threads have used, those that have ended included."""
        # clock_getcpuclockid(3) of another process, which Python does not have.
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def switches(self):
        """How often its threads have waited, and how often they were put off."""
        counts = [0, 0]
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            status = read_fields(f"/proc/{self.process.pid}/task/{thread}/status")
            counts[0] += int(status["voluntary_ctxt_switches"])
            counts[1] += int(status["nonvoluntary_ctxt_switches"])
        return counts

    def memory(self):
        """Resident and private memory in MB."""
        parts = read_fields(f"/proc/{self.process.pid}/smaps_rollup")
        private = number(parts["Private_Clean"]) + number(parts["Private_Dirty"])
        return f"{number(parts['Rss']) / 1024:.1f} MB resident, {private / 1024:.1f} MB private"

    def stop(self):
        # An orderly stop: of a daemon that is killed, what it has frozen stays so until the next one starts.
        self.process.terminate()
        self.process.wait(PATIENCE)


class Freezers:
    """What the kernel says of the applications' control groups."""

    def __init__(self, applications):
        mount = next(line.split()[1] for line in open("/proc/mounts")
                     if line.split()[2] == "cgroup2")
        self.files = []
        for application in applications:
            if application["freezer"] != "cgroup":
                sys.exit("there are no control groups here: the daemon would stop each process")
            with open(f"/proc/{application['pids'][0]}/cgroup", encoding="ascii") as file:
                group = next(line[3:].strip() for line in file if line.startswith("0::"))
            self.files.append(os.open(f"{mount}{group}/cgroup.events", os.O_RDONLY))

    def count(self, is_frozen):
        return len(self.those(is_frozen, self.files))

    def wait(self, is_frozen):
        """Waits until all are so."""
        left, deadline = self.files, time.monotonic() + PATIENCE
        while left:
            left = self.those(not is_frozen, left)
            if time.monotonic() > deadline:
                sys.exit(f"{len(left)} applications are not {'frozen' if is_frozen else 'thawed'}")

    @staticmethod
    def those(is_frozen, files):
        wanted = b"frozen 1" if is_frozen else b"frozen 0"
        return [file for file in files if wanted in os.pread(file, 256, 0)]


def read_fields(path):
    with open(path, encoding="ascii") as file:
        return dict(line.strip().split(":", 1) for line in file if ":" in line)


def number(field):
    return int(field.split()[0])


def say(what, *values):
    print(f"{what + ':':22}", "; ".join(values), flush=True)


def rate(count, seconds):
    return f"{seconds * 1000:.0f} ms, {seconds / count * 1e6:.0f} µs each"


def timed(daemon, body):
    """What it takes, and what the daemon uses of the processor for it."""
    cpu, start = daemon.cpu(), time.perf_counter()
    result = body()
    seconds = time.perf_counter() - start
    return result, seconds, f"{(daemon.cpu() - cpu) * 1000:.0f} ms of the processor by the daemon"


def registrations(folder):
    for index in range(OPTIONS.count):
        command = ["sleep", "infinity"]
        if index < COUNTERS:
            command = ["sh", "-c", f"while :; do printf . >>{folder}/{index}; done"]
        yield {"registration": {"id": f"application-{index}", "command": command}}


def counted(folder):
    files = [f"{folder}/{index}" for index in range(COUNTERS)]
    return [os.stat(file).st_size if os.path.exists(file) else 0 for file in files]


def wait_counting(folder, before):
    deadline = time.monotonic() + PATIENCE
    while not all(now > old for now, old in zip(counted(folder), before)):
        if time.monotonic() > deadline:
            sys.exit("what counts does not go on after it was started or brought back")


def settle(daemon):
    """Waits until what was ordered is on disk as well; who is always busy is not waited for."""
    deadline, before = time.monotonic() + 10, None
    while (switches := daemon.switches()) != before and time.monotonic() < deadline:
        before = switches
        time.sleep(0.5)


def sleep(daemon, freezers, folder):
    """Whether nothing happens while all are suspended."""
    settle(daemon)
    before, cpu, switches = counted(folder), daemon.cpu(), daemon.switches()
    time.sleep(OPTIONS.idle)
    used = daemon.cpu() - cpu
    waits, puts_off = (now - old for now, old in zip(daemon.switches(), switches))
    say("asleep", f"{OPTIONS.idle:g} s", f"{used * 1000:.2f} ms of the processor by the daemon",
        f"{waits} voluntary and {puts_off} involuntary context switches", daemon.memory())
    is_good = True
    if used > IDLE_SHARE_MAX * OPTIONS.idle or waits > IDLE_WAKES_MAX * OPTIONS.idle:
        print("THE DAEMON IS BUSY WHILE ALL SLEEP")
        is_good = False
    if counted(folder) != before:
        print("WHAT IS SUSPENDED COUNTS ON")
        is_good = False
    if freezers.count(True) != OPTIONS.count:
        print(f"ONLY {freezers.count(True)} ARE STILL FROZEN")
        is_good = False
    return is_good


def measure(daemon, folder):
    count = OPTIONS.count
    idle = daemon.memory()
    _, seconds, cpu = timed(
        daemon, lambda: daemon.call_all("Register", list(registrations(folder))))
    say(f"{count} registered", rate(count, seconds), cpu)
    names = [{"id": f"application-{index}"} for index in range(count)]
    launched, seconds, cpu = timed(daemon, lambda: daemon.call_all("Launch", names))
    applications = [reply["application"] for reply in launched]
    say("launched", rate(count, seconds), cpu, f"{daemon.memory()} (without any: {idle})")
    wait_counting(folder, [0] * COUNTERS)
    freezers = Freezers(applications)

    def suspend():
        daemon.call_all("EnterBackground", names)
        freezers.wait(True)
        daemon.wait_state("suspended")

    def resume():
        daemon.call_all("Activate", names)
        freezers.wait(False)

    _, seconds, cpu = timed(daemon, suspend)
    say("all suspended", rate(count, seconds), cpu)
    is_good = sleep(daemon, freezers, folder)
    before = counted(folder)
    _, seconds, cpu = timed(daemon, resume)
    say("all resumed", rate(count, seconds), cpu)
    wait_counting(folder, before)
    start = time.perf_counter()
    daemon.stop()
    say("all ended by a stop", rate(count, time.perf_counter() - start))
    return is_good


def main():
    if not os.access(OPTIONS.bgtaskd, os.X_OK):
        sys.exit(f"{OPTIONS.bgtaskd} is not there: make build")
    print(f"load: {' '.join(map(str, os.getloadavg()))} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory(prefix="applications-", dir=OPTIONS.folder) as folder:
        daemon = Daemon(folder)
        try:
            is_good = measure(daemon, folder)
        finally:
            daemon.stop()
    print(f"load: {' '.join(map(str, os.getloadavg()))}")
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="applications")
    parser.add_argument("--clients", type=int, default=32, help="connections that give the orders")
    parser.add_argument("--idle", type=float, default=10, help="seconds that all sleep")
    parser.add_argument("--bgtaskd", default=ROOT + "/.build/release/bgtaskd")
    parser.add_argument("--folder", help="where the temporary folder is made")
    OPTIONS = parser.parse_args()
    main()
