"""Load for the torture tests: submits run tasks as fast as it gets answers, and keeps what was answered.

Each task's command writes its mark, which no other has, and the number of the attempt at the end of a file, so
that an attempt that ran twice is seen. Some are tried again, whose first attempt fails, and some have a unique
name; these hold a lock while they run, and whoever finds it held says so in the file. As a program, in the virtual machine: torture_load.py SOCKET MARKS PREFIX CONNECTIONS prints "ID MARK" for
each answer, until it is ended.
"""
import json
import random
import socket
import sys
import threading
import time

LIMIT_REACHED = "org.bgtaskd.Tasks.LimitReached"


class Refused(Exception):
    def __init__(self, error, parameters):
        super().__init__(f"{error} {parameters}")
        self.error = error


class Varlink:
    """A connection to the daemon: JSON objects ended by NUL, answers in the order of the calls."""

    def __init__(self, path, seconds=60):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(seconds)
        self.socket.connect(path)
        self.buffer = b""

    def call(self, method, **parameters):
        self.send(method, parameters)
        return self.answer()

    def send(self, method, parameters, more=False):
        message = {"method": method, "parameters": parameters}
        if more:
            message["more"] = True
        self.socket.sendall(json.dumps(message).encode() + b"\0")

    def answer(self):
        return self.message().get("parameters", {})

    def answers(self, method, **parameters):
        """All answers to a call with `more`."""
        self.send(method, parameters, more=True)
        while True:
            message = self.message()
            yield message.get("parameters", {})
            if not message.get("continues"):
                return

    def message(self):
        while b"\0" not in self.buffer:
            data = self.socket.recv(1 << 16)
            if not data:
                raise ConnectionError("the daemon closed the connection")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        if "error" in message:
            raise Refused(message["error"], message.get("parameters", {}))
        return message


ATTEMPTS_MAX = {"once": 1, "long": 1, "unique": 1, "retried": 3}
KINDS = ["long"] + ["unique"] * 2 + ["retried"] * 2 + ["once"] * 15

WRITE = 'echo "$0/$BGTASK_ATTEMPT" >>"$1"'
LOCK = 'exec 9>"$1.$2"; flock -n 9 || { echo "$0/twice" >>"$1"; exit; }; '
SCRIPTS = {
    "once": WRITE,
    "long": WRITE + "; exec sleep 600",
    "unique": LOCK + WRITE + "; sleep 0.1",
    "retried": LOCK + WRITE + '; sleep 0.1; [ "$BGTASK_ATTEMPT" -gt 1 ]',
}


def kind_of(mark):
    """The kind of a task, which its mark tells."""
    return mark.rsplit("-", 1)[1]


def work(mark, marks):
    """A command that writes its mark with one write; a long one stays until its handler fires."""
    kind = kind_of(mark)
    lock = mark.split("-")[1] if kind == "unique" else mark
    result = {
        "name": "torture",
        "command": ["/bin/sh", "-c", SCRIPTS[kind], mark, marks, lock],
        "directory": "/",
    }
    if kind == "long":
        result["budget"] = {"durationMs": 4000, "graceMs": 3000}
    elif kind == "unique":
        result.update(name=f"torture {lock}", unique="keep")
    elif kind == "retried":
        result["retry"] = {"attempts": ATTEMPTS_MAX[kind], "delayMs": 100, "onInterruption": True}
    return result


class Load:
    """Connections that submit until they are told to stop; a daemon that is gone is awaited."""

    def __init__(self, path, marks, prefix, answered, connections, seed):
        self.path, self.marks, self.prefix, self.answered = path, marks, prefix, answered
        self.is_stopping = threading.Event()
        self.failures = []
        self.threads = [
            threading.Thread(target=self.run, args=(number, random.Random(f"{seed}-{number}")))
            for number in range(connections)
        ]
        for thread in self.threads:
            thread.start()

    def run(self, number, chance):
        count = 0
        while not self.is_stopping.is_set():
            try:
                daemon = Varlink(self.path)
                while not self.is_stopping.is_set():
                    count += 1
                    self.submit(daemon, f"{self.prefix}-{number}-{count}-{chance.choice(KINDS)}")
            except (OSError, ConnectionError):
                self.is_stopping.wait(0.01)
            except Exception as error:
                self.failures.append(f"connection {number}: {error!r}")
                return

    def submit(self, daemon, mark):
        try:
            answer = daemon.call("org.bgtaskd.Tasks.Submit", work=work(mark, self.marks))
        except Refused as refusal:
            # The queue is full, or the daemon does not take work now: that is no promise.
            if refusal.error not in (LIMIT_REACHED, "org.bgtaskd.Tasks.NotAccepting"):
                raise
            self.is_stopping.wait(0.02)
            return
        # Another task that was answered stands for it.
        if answer.get("receipt") != "coalesced":
            self.answered(answer["id"], mark)

    def stop(self):
        self.is_stopping.set()
        for thread in self.threads:
            thread.join()


def main():
    path, marks, prefix, connections = sys.argv[1:]
    lock = threading.Lock()

    def answered(number, mark):
        with lock:
            sys.stdout.write(f"{number} {mark}\n")
            sys.stdout.flush()

    load = Load(path, marks, prefix, answered, int(connections), prefix)
    while not load.failures:
        time.sleep(0.1)
    load.stop()
    sys.exit("\n".join(load.failures))


if __name__ == "__main__":
    main()
