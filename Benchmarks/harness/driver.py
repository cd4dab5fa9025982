"""The program task-driver, which gives the daemon tasks and keeps what it borrows."""

import json
import select
import subprocess

from .row import Failure


# For the longest that a driver does, on a slow machine.
PATIENCE = 600


class Driver:
    """A driver in one of its modes, until it is left."""

    def __init__(self, run, server, *arguments):
        self.command = [run.program("task-driver"), server.path, *map(str, arguments)]
        self.process = None

    def __enter__(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.communicate()

    def answer(self):
        """The next thing that it tells."""
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise Failure(f"{' '.join(self.command)}: no answer after {PATIENCE} s")
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{' '.join(self.command)}: {self.process.stderr.read().strip()}")
        return json.loads(line)

    def order(self, *words):
        """Has a driver that holds do something, and gives what it tells of it."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.answer()


def drive(run, server, *arguments):
    """Has a driver do one thing, and gives what it tells of it."""
    with Driver(run, server, *arguments) as driver:
        return driver.answer()
