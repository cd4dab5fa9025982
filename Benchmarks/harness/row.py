"""What a row of the table is, and what a goal is.

A subject is a module in Benchmarks/rows/; its list `ROWS` holds its rows, and bench finds them there. A row
of one's own takes two steps: a function that takes the `Run` and gives a figure, and a `Row` in that list.

    def lateness(run):
        with run.bgtaskd({"limits.tasksPerOwnerMax": 200_000}) as daemon:
            return p99_of_lateness(daemon.path)

    ROWS = [Row(name="lateness", title="handler lateness, p99", unit="ms", measure=lateness,
                less_is_better=True, goal=AtMost(1))]

Where one measurement gives several rows, each asks for it with `run.once(key, function)`, which measures once
a round. A function that cannot measure on this machine raises `Unmeasurable` with the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass


class Unmeasurable(Exception):
    """What a row needs is not on this machine; the reason is the message."""


class Failure(Exception):
    """Something that was measured did not do as it should; the table names it and bench exits with 1."""


@dataclass(frozen=True)
class AtLeast:
    """The least that is promised."""

    bound: float

    def is_reached(self, value):
        return value >= self.bound

    def __str__(self):
        return f"≥ {self.bound:,g}"


@dataclass(frozen=True)
class AtMost:
    """The most that is promised."""

    bound: float

    def is_reached(self, value):
        return value <= self.bound

    def __str__(self):
        return f"≤ {self.bound:,g}"


@dataclass(frozen=True)
class Peer:
    """What a row is compared with."""

    name: str
    measure: Callable


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table."""

    # For --rows and results.json: words with dashes.
    name: str
    # May name options, as in "{sync_ms:g} ms".
    title: str
    unit: str
    # Takes the Run, gives the figure of bgtaskd.
    measure: Callable
    # Measured after it, in each round; without one there is no ratio.
    peer: Peer | None = None
    # For the ratio where there is a peer, for the figure where there is none.
    goal: AtLeast | AtMost | None = None
    # The ratio is turned round, so that above 1 always means better than the peer.
    less_is_better: bool = False
    # The goal is for the worst round, and not for the median: for what must never happen.
    every_round: bool = False
    # For what takes long.
    rounds_max: int | None = None
    # What stands in bgtaskd's column, where it is not bgtaskd.
    subject: str = "bgtaskd"
    # Whether the chart has a bar for its ratio.
    is_in_chart: bool = True

    def ratio(self, ours, theirs):
        """How many times better than the peer."""
        better, worse = (theirs, ours) if self.less_is_better else (ours, theirs)
        return better / worse if worse else float("inf")
