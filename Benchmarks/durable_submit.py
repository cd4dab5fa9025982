#!/usr/bin/env python3
"""Durable submits against beanstalkd: the same load on both, in turn, on the same disk.

Each of the clients has one request outstanding. bgtaskd answers a Submit when the task is on disk;
beanstalkd -b DIR -f0 answers a put when the job is synced to its log. What is submitted waits: one task
keeps bgtaskd's only slot, and nobody reserves a job of beanstalkd.

Prints how long the disk takes for a write and its sync, the requests a second of each round and the ratio;
the last line is the median of the ratios. A virtual disk may take far less than one that really writes:
--sync-ms N adds so many milliseconds to each sync of both. Needs beanstalkd (Debian's package), and
`make build` before; --sync-ms needs a C compiler.
"""

import argparse
import json
import os
import select
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def varlink(method, parameters):
    return json.dumps({"method": method, "parameters": parameters}).encode() + b"\0"


def submit(command):
    return varlink("org.bgtaskd.Tasks.Submit", {"work": {"name": "load", "command": command}})


def make_slow_syncs(folder):
    """A library that has each sync take longer, for LD_PRELOAD."""
    source, library = folder + "/slow.c", folder + "/slow.so"
    with open(source, "w", encoding="ascii") as file:
        for name in ("fsync", "fdatasync"):
            file.write(f"""#include <sys/syscall.h>
                #include <unistd.h>
                int {name}(int file) {{
                    usleep({int(OPTIONS.sync_ms * 1000)});
                    return syscall(SYS_{name}, file);
                }}
                """)
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, source], check=True)
    return library


def sync_time(folder, count=200):
    """What a write and its sync take on the disk itself, in ms."""
    with open(folder + "/probe", "wb", buffering=0) as file:
        start = time.perf_counter()
        for _ in range(count):
            file.write(bytes(300))
            os.fdatasync(file.fileno())
        return (time.perf_counter() - start) / count * 1000


class Daemon:
    """A process that serves, in a folder of its own, until it is left."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="durable-", dir=OPTIONS.folder)
        self.environment = dict(os.environ)
        if OPTIONS.sync_ms:
            self.environment["LD_PRELOAD"] = make_slow_syncs(self.folder)
        self.process = self.start()
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(60)
        shutil.rmtree(self.folder)

    def connect(self):
        deadline = time.monotonic() + 30
        while True:
            try:
                return self.connect_once()
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    sys.exit(f"{self.name} does not serve")
                time.sleep(0.02)


class Bgtaskd(Daemon):
    name = "bgtaskd"
    end = b"\0"
    request = submit(["true"])

    def start(self):
        settings = self.folder + "/bgtaskd.toml"
        with open(settings, "w", encoding="ascii") as file:
            file.write("queue.slots = 1\nlimits.queueDepthMax = 10000000\n")
            file.write("limits.queueDepthPerOwnerMax = 10000000\ndaemon.logLevel = \"warning\"\n")
        self.path = self.folder + "/socket"
        return subprocess.Popen(
            [OPTIONS.bgtaskd, "--config", settings, "--socket", self.path, "--state-dir",
             self.folder + "/state"], stderr=open(self.folder + "/log", "wb"), env=self.environment)

    def connect_once(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.path)
        return connection

    def prepare(self):
        connection = self.connect()
        connection.sendall(submit(["sleep", "1000"]))
        assert b"accepted" in connection.recv(4096)

    @staticmethod
    def is_good(reply):
        return b'"accepted"' in reply


class Beanstalkd(Daemon):
    name = "beanstalkd"
    end = b"\r\n"
    request = b"put 0 0 60 " + str(len(Bgtaskd.request)).encode() + b"\r\n" + Bgtaskd.request + b"\r\n"

    def start(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        os.mkdir(self.folder + "/log")
        return subprocess.Popen(
            ["beanstalkd", "-l", "127.0.0.1", "-p", str(self.port), "-b", self.folder + "/log",
             "-f0"], env=self.environment)

    def connect_once(self):
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def prepare(self):
        self.connect().close()

    @staticmethod
    def is_good(reply):
        return reply.startswith(b"INSERTED")


def measure(kind):
    """Requests a second that were answered."""
    with kind() as daemon:
        daemon.prepare()
        connections = [daemon.connect() for _ in range(OPTIONS.clients)]
        # The load is made with as little as Python can: it shares the machine with what it measures.
        request, end, is_good = daemon.request, daemon.end, daemon.is_good
        epoll, parts = select.epoll(), {}
        for connection in connections:
            os.write(connection.fileno(), request)
            epoll.register(connection.fileno(), select.EPOLLIN)
        answered, start = 0, time.perf_counter()
        deadline = start + OPTIONS.seconds
        while (now := time.perf_counter()) < deadline:
            for descriptor, _ in epoll.poll(1):
                reply = os.read(descriptor, 4096)
                if descriptor in parts:
                    reply = parts.pop(descriptor) + reply
                if not reply.endswith(end):
                    parts[descriptor] = reply
                    continue
                if not is_good(reply):
                    sys.exit(f"{daemon.name} answered {reply!r}")
                answered += 1
                os.write(descriptor, request)
        return answered / (now - start)


def main():
    if shutil.which("beanstalkd") is None:
        sys.exit("beanstalkd is not installed: apt-get install beanstalkd")
    if not os.access(OPTIONS.bgtaskd, os.X_OK):
        sys.exit(f"{OPTIONS.bgtaskd} is not there: make build")
    with tempfile.TemporaryDirectory(dir=OPTIONS.folder) as folder:
        print(f"a write and its sync: {sync_time(folder):.3f} ms, and {OPTIONS.sync_ms} ms added")
    ratios = []
    for number in range(1, OPTIONS.rounds + 1):
        ours, theirs = measure(Bgtaskd), measure(Beanstalkd)
        ratios.append(ours / theirs)
        print(f"round {number}: bgtaskd {ours:.0f}/s, beanstalkd -b -f0 {theirs:.0f}/s, "
              f"{ratios[-1]:.2f} times", flush=True)
    print(f"median: {statistics.median(ratios):.2f} times")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement")
    parser.add_argument("--sync-ms", type=float, default=0, help="added to each sync")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--folder", default=ROOT + "/.build", help="on the disk to be measured")
    parser.add_argument("--bgtaskd", default=ROOT + "/.build/release/bgtaskd")
    OPTIONS = parser.parse_args()
    main()
