"""What the examples of applications share: a program that bgtaskd has launched, and what it is told.

    bgtaskctl app register NAME -- COMMAND
    bgtaskctl app launch NAME
"""
import os
import select
import sys
import time

from hold import Varlink


class Application:
    """This program as bgtaskd knows it."""

    def __init__(self):
        try:
            self.id, socket = os.environ["BGTASK_APPLICATION"], os.environ["BGTASK_SOCKET"]
        except KeyError as name:
            raise RuntimeError(f"there is no {name.args[0]}; see bgtaskctl help app launch") from None
        self.is_in_front = False
        # The connection that is told is busy with that; a second one asks, and holds the tasks.
        self.told, self.asking = Varlink(socket), Varlink(socket)
        self.events = self.told.call("org.bgtaskd.Applications.Watch", more=True, id=self.id)

    def next_event(self, within=None):
        """Waits for what happens next; None where that takes longer than so many milliseconds.

        The first event tells the present state. What the program has missed since its launch follows, and
        then what happens, in its order. There is no other after willTerminate.
        """
        if b"\0" not in self.told.received:
            seconds = None if within is None else max(within, 0) / 1000
            if not select.select([self.told.socket], [], [], seconds)[0]:
                return None
        event = next(self.events)["event"]
        self.is_in_front = event["state"] in ("inactive", "active")
        return event

    def ask(self, method, **parameters):
        [answer] = self.asking.call("org.bgtaskd." + method, **parameters)
        return answer

    def begin(self, name):
        """Borrows time: until its end the application is not suspended.

        Returns the task. It ends with this program, if not before.
        """
        return self.ask("Tasks.Begin", name=name, application=self.id)["id"]

    def end(self, task):
        """Gives the time back."""
        self.ask("Tasks.End", id=task)

    def set_badge(self, number):
        """Sets the number that the user sees on the application."""
        self.ask("Applications.SetBadge", id=self.id, badge=number)

    def delivered(self, delivery):
        """Says that it is done with a message, for which that is owed."""
        self.ask("Applications.Delivered", id=self.id, deliveryId=delivery)


def now():
    """Milliseconds on a clock that goes on while the machine sleeps, and that nobody can set."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def say(line):
    print(line, flush=True)


def run(program, usage):
    """Runs a program with its arguments, and ends with one line where that fails."""
    required, arguments = usage.partition("[")[0].split()[1:], usage.split()[1:]
    if not len(required) <= len(sys.argv) - 1 <= len(arguments):
        sys.exit("usage: " + usage)
    try:
        program(*sys.argv[1:])
    except (OSError, RuntimeError, ValueError) as error:
        sys.exit(f"{usage.split()[0]}: {error}")
