"""Load for the torture tests: submits run tasks as fast as it gets answers, and keeps what was answered.

Each task's command writes its mark, which no other has, at the end of a file, so that a task that ran twice is
seen. As a program, in the virtual machine: torture_load.py SOCKET MARKS PREFIX CONNECTIONS prints "ID MARK" for
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


def work(mark, marks, is_long):
    """A command that writes its mark with one write, and, if it is long, stays until its handler fires."""
    script = 'echo "$0" >>"$1"' + ("; exec sleep 600" if is_long else "")
    result = {
        "name": "torture",
        "command": ["/bin/sh", "-c", script, mark, marks],
        "directory": "/",
    }
    if is_long:
        result["budget"] = {"durationMs": 4000, "graceMs": 3000}
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
                    self.submit(daemon, f"{self.prefix}-{number}-{count}", chance.random() < 0.05)
            except (OSError, ConnectionError):
                self.is_stopping.wait(0.01)
            except Exception as error:
                self.failures.append(f"connection {number}: {error!r}")
                return

    def submit(self, daemon, mark, is_long):
        try:
            answer = daemon.call("org.bgtaskd.Tasks.Submit", work=work(mark, self.marks, is_long))
        except Refused as refusal:
            # The queue is full, or the daemon does not take work now: that is no promise.
            if refusal.error not in (LIMIT_REACHED, "org.bgtaskd.Tasks.NotAccepting"):
                raise
            self.is_stopping.wait(0.02)
            return
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
