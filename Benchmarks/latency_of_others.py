#!/usr/bin/env python3
"""What a second user waits while a first one does the worst that is known.

For each daemon that is given, and each stall, a daemon is started anew. One user (--alice) does what keeps the loop
busy, as far as the limits let it, while another (--bob) begins and ends a task and lists his own, again and again.
The table has how long a pair of Begin and End took and how long a List, at the 99th percentile and at worst, for the
daemons side by side:

    Benchmarks/latency_of_others.py --daemon before=OLD/bgtaskd --daemon after=.build/release/bgtaskd

Needs root, since it acts as two users; with --containment cgroup also control groups. --scale makes all that is
registered larger or smaller, --seconds is what one stall is measured for, --only takes the names of stalls.
"""

import argparse
import json
import os
import pwd
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TASKS, APPLICATIONS = "org.bgtaskd.Tasks.", "org.bgtaskd.Applications."
# One that every user may run.
PYTHON = "/usr/bin/python3"
SETUP_SECONDS = 90
SETTINGS = """
daemon.containment = "{containment}"
daemon.logLevel = "err"
applications.suspendAfter = "0s"
applications.foreground = "multiple"
store.durability = "memory"
"""


def frame(method, parameters=None, **flags):
    return json.dumps({"method": method, "parameters": parameters or {}, **flags}).encode() + b"\0"


class Peer:
    """A connection; an answer that is an error is one too."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.rest = b""

    def send(self, data):
        self.socket.sendall(data)

    def reply(self):
        while b"\0" not in self.rest:
            more = self.socket.recv(1 << 20)
            if not more:
                raise ConnectionResetError
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def call(self, method, parameters=None, **flags):
        self.send(frame(method, parameters, **flags))
        return self.reply()

    def ask(self, method, parameters=None):
        answer = self.call(method, parameters)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer}")
        return answer.get("parameters", {})


class Alice:
    """What a stall has at hand. All of it ends with her process group."""

    def __init__(self, path, folder, number):
        self.path, self.folder, self.user = path, folder, number
        self.peer = self.connect()

    def connect(self):
        return Peer(self.path)

    def size(self, count):
        return max(1, round(count * OPTIONS.scale))

    def fork(self, body):
        """Has something done beside this."""
        if os.fork() == 0:
            try:
                body()
            except BaseException:
                pass
            os._exit(0)

    def pipeline(self, frames, width=64):
        """Sends many calls on one connection, and takes their answers."""
        peer, waiting, last = self.connect(), 0, None
        for data in frames:
            peer.send(data)
            waiting += 1
            if waiting == width:
                last, waiting = peer.reply(), waiting - 1
        for _ in range(waiting):
            last = peer.reply()
        return last

    def drain(self, peers):
        """Reads what comes on connections, in a process of its own, as fast as it comes."""

        def body():
            selector = select.epoll()
            by_number = {peer.socket.fileno(): peer.socket for peer in peers}
            for number in by_number:
                selector.register(number, select.EPOLLIN)
            while by_number:
                for number, _ in selector.poll():
                    if not by_number[number].recv(1 << 18):
                        selector.unregister(number)
                        by_number.pop(number)

        self.fork(body)

    def task_id(self, command, **fields):
        work = {"name": "load", "command": command, **fields}
        return self.peer.ask(TASKS + "Submit", {"work": work})["id"]

    def launch(self, name, suspend=False):
        registration = {"id": name, "command": ["/bin/sleep", "100000"]}
        self.peer.ask(APPLICATIONS + "Register", {"registration": registration})
        self.peer.ask(APPLICATIONS + "Launch", {"id": name})
        if suspend:
            self.peer.ask(APPLICATIONS + "EnterBackground", {"id": name})


# A stall is a function that prepares, yields once, and then does a part of its worst between any two yields.


def idle(alice):
    while True:
        yield
        time.sleep(0.01)


def frozen_readers(alice):
    """Launches, with idle watchers while many applications are suspended."""
    for number in range(alice.size(200)):
        alice.launch(f"frozen{number}", suspend=True)
    alice.launch("talker")
    watchers = [alice.connect() for _ in range(alice.size(100))]
    for watcher in watchers:
        watcher.send(frame(APPLICATIONS + "Watch", {"id": "talker"}, more=True))
    push = {"id": "talker", "kind": "alert", "action": "none", "payload": {"text": "x" * 4000}}
    for _ in range(70):
        alice.peer.ask(APPLICATIONS + "Push", push)
    number = 0
    yield
    while True:
        number += 1
        alice.launch(f"new{number}")
        alice.peer.ask(APPLICATIONS + "Push", push)
        yield


def adoption(alice):
    """Adoptions of processes in many units, and in as many as are allowed."""
    units = alice.size(100)
    folder = alice.units
    given = []
    for number in range(alice.size(2000)):
        process = os.fork()
        if process == 0:
            signal.pause()
            os._exit(0)
        place = f"{folder}/f{number % units}.scope"
        os.makedirs(place, exist_ok=True)
        with open(place + "/cgroup.procs", "w", encoding="ascii") as file:
            file.write(str(process))
        if number < units:
            given.append(process)
    peers = [alice.connect() for _ in range(4)]
    yield
    while True:
        for number, peer in enumerate(peers):
            few = given[:16] if number % 2 else given
            peer.send(frame(APPLICATIONS + "Adopt", {"id": f"a{number}", "pids": few[:256]}))
        for peer in peers:
            peer.reply()
        yield


def output_watchers(alice):
    """200 watchers of a task that prints what is long in JSON."""
    number = alice.task_id(
        ["/bin/sh", "-c", "sleep 1; exec tr '\\0' '\\1' < /dev/zero"],
        budget={"durationMs": 170000, "graceMs": 1000})
    peers = [alice.connect() for _ in range(alice.size(200))]
    for peer in peers:
        peer.send(frame(TASKS + "Watch", {"id": number, "output": True}, more=True))
    alice.drain(peers)
    time.sleep(2)
    yield
    while True:
        time.sleep(0.01)
        yield


def output_followers(alice):
    """200 who follow the output of that task."""
    number = alice.task_id(
        ["/bin/sh", "-c", "sleep 1; exec tr '\\0' '\\1' < /dev/zero"],
        budget={"durationMs": 170000, "graceMs": 1000})
    peers = [alice.connect() for _ in range(alice.size(200))]
    for peer in peers:
        peer.send(frame(TASKS + "Output", {"id": number, "follow": True}, more=True))
    alice.drain(peers)
    time.sleep(2)
    yield
    while True:
        time.sleep(0.01)
        yield


def pair_watchers(alice):
    """Begin and End with 1,000 watchers."""
    peers = [alice.connect() for _ in range(min(alice.size(1000), 1000))]
    for peer in peers:
        peer.send(frame(TASKS + "Watch", more=True))
    alice.drain(peers)
    yield
    while True:
        number = alice.peer.ask(TASKS + "Begin", {"name": "pair"})["id"]
        alice.peer.ask(TASKS + "End", {"id": number})
        yield


def again(alice, data):
    """Sends a large frame, whatever comes of it."""
    yield
    while True:
        try:
            peer = alice.connect()
            peer.send(data)
            peer.reply()
        except OSError:
            pass
        yield


def frame_of_keys(alice):
    """A frame of 16 MiB with 2,000,000 keys."""
    count = min(alice.size(1_300_000), 1_300_000)
    keys = ",".join(f'"{number}":0' for number in range(count))
    yield from again(alice, f'{{"method":"a.b","x":{{{keys}}}}}'.encode() + b"\0")


def frame_of_zeros(alice):
    """A frame of 16 MiB that is an array of zeros."""
    count = min(alice.size(8_000_000), 8_000_000)
    zeros = "0," * count + "0"
    yield from again(alice, f'{{"method":"a.b","x":[{zeros}]}}'.encode() + b"\0")


def frame_of_escapes(alice):
    """A frame of 4 MiB that is one string of escapes."""
    escapes = "\\n" * min(alice.size(2_000_000), 2_000_000)
    yield from again(alice, f'{{"method":"a.b","x":"{escapes}"}}'.encode() + b"\0")


def large_environment(alice):
    """Submissions with 2 MB of environment."""
    names = {f"V{number}": "" for number in range(alice.size(150_000))}
    work = {"name": "large", "command": ["true"], "environment": names}
    yield from again(alice, frame(TASKS + "Submit", {"work": work}))


def listings(alice):
    """900 connections that list 20,000 tasks of which none matches."""
    work = {"name": "queued", "command": ["true"], "earliestBeginMs": 86_400_000}
    alice.pipeline(
        frame(TASKS + "Submit", {"work": work}) for _ in range(alice.size(20_000)))
    peers = [alice.connect() for _ in range(min(alice.size(900), 1000))]
    yield
    while True:
        for peer in peers:
            peer.send(frame(TASKS + "List", {"name": "none"}))
        for peer in peers:
            peer.reply()
        yield


def application_lists(alice):
    """Lists of applications that run."""
    for number in range(alice.size(300)):
        alice.launch(f"a{number}")
    peers = [alice.connect() for _ in range(20)]
    yield
    while True:
        for peer in peers:
            peer.send(frame(APPLICATIONS + "List"))
        for peer in peers:
            peer.reply()
        yield


def many_processes(alice):
    """Signals to a task of 4,000 processes."""
    program = (
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"for _ in range({alice.size(4000)}):\n"
        "    if os.fork() == 0:\n"
        "        while True: signal.pause()\n"
        f"open('{alice.folder}/forked', 'w').close()\n"
        "while True: signal.pause()\n")
    number = alice.task_id(
        [PYTHON, "-c", program], budget={"durationMs": 500000, "graceMs": 400000})
    while not os.path.exists(alice.folder + "/forked"):
        time.sleep(0.05)
    yield
    while True:
        alice.peer.ask(TASKS + "SimulateExpiration", {"id": number})
        alice.peer.ask(TASKS + "Extend", {"id": number})
        yield


def closings(alice):
    """1,000 connections that watch and wait, closed at once."""
    number = alice.peer.ask(TASKS + "Begin", {"name": "waited"})["id"]
    yield
    while True:
        peers = []
        try:
            for index in range(min(alice.size(1000), 1000)):
                peers.append(alice.connect())
                if index % 2:
                    peers[-1].send(frame(TASKS + "Watch", more=True))
                else:
                    wait = {"id": number, "timeoutMs": 10_000_000}
                    peers[-1].send(frame(TASKS + "Wait", wait))
        except OSError:
            # Those of the last round are not all closed yet, and so many are not let in.
            pass
        alice.peer.ask(TASKS + "Show", {"id": number})
        for peer in peers:
            peer.socket.close()
        yield


STALLS = {
    function.__name__: function
    for function in (
        idle, frozen_readers, adoption, output_watchers, output_followers, pair_watchers, listings,
        application_lists, closings, frame_of_keys, frame_of_zeros, frame_of_escapes,
        large_environment, many_processes)
}


class Daemon:
    """A daemon in a folder of its own, for everybody."""

    def __init__(self, program, folder):
        os.chmod(folder, 0o711)
        self.path = folder + "/socket"
        with open(folder + "/bgtaskd.toml", "w", encoding="ascii") as file:
            file.write(SETTINGS.format(containment=OPTIONS.containment))
        self.log = open(folder + "/log", "wb")
        self.process = subprocess.Popen(
            [program, "--system", "--config", folder + "/bgtaskd.toml", "--socket", self.path,
             "--state-dir", folder + "/state"], stderr=self.log, start_new_session=True)
        deadline = time.monotonic() + 30
        while True:
            try:
                self.peer = Peer(self.path)
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    sys.exit("bgtaskd does not serve: " + open(folder + "/log").read())
                time.sleep(0.02)

    def end(self):
        ended = self.process.poll() is not None
        # Another order to stop waits for no task: one may have many processes, and a long grace.
        for _ in range(2):
            self.process.terminate()
            try:
                self.process.wait(20)
                return ended
            except subprocess.TimeoutExpired:
                pass
        self.process.kill()
        self.process.wait()
        return ended


class Units:
    """Groups as a user's service manager makes them, which the user may fill."""

    def __init__(self, number):
        self.root = None
        for line in open("/proc/mounts", encoding="utf-8"):
            fields = line.split()
            if fields[2] == "cgroup2":
                self.root = f"{fields[1]}/latency{os.getpid()}.slice"
                break
        if self.root is None:
            return
        self.folder = f"{self.root}/user@{number}.service"
        try:
            os.makedirs(self.folder)
        except OSError:
            self.root = None
            return
        for path in (self.folder, self.folder + "/cgroup.procs"):
            os.chown(path, number, number)

    def end(self):
        if self.root is None:
            return
        with open(self.root + "/cgroup.kill", "w", encoding="ascii") as file:
            file.write("1")
        deadline = time.monotonic() + 30
        while "populated 1" in open(self.root + "/cgroup.events").read():
            if time.monotonic() > deadline:
                return
            time.sleep(0.02)
        for folder, _, _ in os.walk(self.root, topdown=False):
            os.rmdir(folder)


def become(name):
    user = pwd.getpwnam(name)
    os.setgroups([user.pw_gid])
    os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)


def start(body):
    """Runs something in a process of its own, in a group of its own.

    Returns its pid, and where what it tells can be read.
    """
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.close(reading)
        status = 1
        try:
            body(lambda text: os.write(writing, text.encode() + b"\n"))
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    os.close(writing)
    return process, os.fdopen(reading, encoding="ascii")


def end(process):
    for target in (-process, process):
        try:
            os.kill(target, signal.SIGKILL)
        except OSError:
            pass
    os.waitpid(process, 0)


def do_worst(stall, path, folder, units):
    def body(tell):
        # To enter another group takes the right to the one above both, which root gives by its own hand.
        joiner = units.folder if units and units.root else None
        if joiner and stall is adoption:
            with open(joiner + "/cgroup.procs", "w", encoding="ascii") as file:
                file.write("0")
        become(OPTIONS.alice)
        alice = Alice(path, folder, os.getuid())
        alice.units = joiner
        steps = stall(alice)
        next(steps)
        tell("ready")
        for _ in steps:
            pass

    return body


def measure(path):
    def body(tell):
        become(OPTIONS.bob)
        peer = Peer(path)
        pairs, lists = [], []
        until = time.monotonic() + OPTIONS.seconds
        while time.monotonic() < until:
            begun = time.monotonic()
            number = peer.ask(TASKS + "Begin", {"name": "bob"})["id"]
            peer.ask(TASKS + "End", {"id": number})
            between = time.monotonic()
            peer.ask(TASKS + "List")
            pairs.append(between - begun)
            lists.append(time.monotonic() - between)
            time.sleep(0.001)
        tell(json.dumps([pairs, lists]))

    return body


def lines_within(file, seconds):
    readable, _, _ = select.select([file], [], [], seconds)
    return file.readline() if readable else ""


def run(program, stall):
    """What bob's pairs and lists took, in seconds; or why that is not known."""
    with tempfile.TemporaryDirectory(prefix="latency") as folder:
        shared = folder + "/alice"
        os.mkdir(shared)
        user = pwd.getpwnam(OPTIONS.alice)
        os.chown(shared, user.pw_uid, user.pw_gid)
        os.mkdir(folder + "/daemon")
        os.chmod(folder, 0o711)
        daemon = Daemon(program, folder + "/daemon")
        units = Units(user.pw_uid) if stall is adoption else None
        alice = bob = None
        try:
            if units and units.root is None:
                return "no control groups"
            alice, told = start(do_worst(stall, daemon.path, shared, units))
            if not lines_within(told, SETUP_SECONDS):
                return "not prepared"
            bob, told = start(measure(daemon.path))
            line = lines_within(told, OPTIONS.seconds + 60)
            return json.loads(line) if line else "no answer"
        finally:
            for process in (bob, alice):
                if process:
                    end(process)
            if units:
                units.end()
            if daemon.end():
                print(f"{stall.__name__}: {program} had ended", file=sys.stderr)


def cells(result):
    if isinstance(result, str):
        return [result, "", "", ""]
    texts = []
    for values in result:
        values.sort()
        for value in (values[int(len(values) * 0.99)], values[-1]):
            texts.append(f"{value * 1000:.1f}")
    return texts


def main():
    names = list(STALLS) if not OPTIONS.only else OPTIONS.only.split(",")
    daemons = [given.split("=", 1) if "=" in given else (given, given) for given in OPTIONS.daemon]
    print("What bob waits, in ms: a pair of Begin and End, and a List; 99th percentile and worst.")
    print(f"{OPTIONS.seconds:g} s each, scale {OPTIONS.scale:g}, {OPTIONS.containment}\n")
    widths = (18, 10, 12, 12, 12, 12)
    titles = ("stall", "daemon", "pair p99", "pair worst", "list p99", "list worst")
    print("".join(title.ljust(width) for title, width in zip(titles, widths)).rstrip())
    for name in names:
        for label, program in daemons:
            row = [name, label] + cells(run(program, STALLS[name]))
            print("".join(text.ljust(width) for text, width in zip(row, widths)).rstrip(),
                  flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--daemon", action="append", metavar="[LABEL=]PROGRAM",
                        help="more than once for several, whose rows stand side by side")
    parser.add_argument("--containment", choices=("cgroup", "supervisor"), default="cgroup")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--only", metavar="STALL,…", help=f"of {', '.join(STALLS)}")
    parser.add_argument("--alice", default="games", help="the user who does the worst")
    parser.add_argument("--bob", default="backup", help="the user who waits")
    OPTIONS = parser.parse_args()
    OPTIONS.daemon = OPTIONS.daemon or [ROOT + "/.build/release/bgtaskd"]
    if os.geteuid() != 0:
        sys.exit("It acts as two users, which takes root.")
    main()
