"""A million live held tasks: what they take, what they cost others, and what is left when they are gone.

One client holds them all. Memory is what the kernel counts as resident: that of a task is the growth of
RssAnon by the number of tasks. A pair is a begin and an end, one call after the other, with each of two
daemons in turn, of which one has few tasks and one has many.

Of what is there after all have ended, the most is what the daemon keeps of the last 10,000 that ended
(limits.endedHeldMax), which idle it does not have.
"""

import statistics
import threading
import time

from harness.call import call
from harness.driver import Driver, drive
from harness.process import Process
from harness.row import AtMost, Failure, Peer, Row

SETTINGS = {"profiles.default.lifetimeMax": "1d", "budget.warnAfter": "infinity"}
# Nobody's time is over before the measurement is.
DURATION_MS = 43_200_000
FEW = 1000
SLICES = 5


def many(run):
    return 20_000 if run.quick else 1_000_000


def settled(process):
    """Resident and private bytes, once they have stayed the same for a second."""
    before, deadline = None, time.monotonic() + 20
    while True:
        now = (process.resident_bytes(), process.private_bytes())
        if now == before or time.monotonic() > deadline:
            return now
        before = now
        time.sleep(1)


def million(run):
    """Everything that is measured of a daemon with many tasks, beside one with few."""
    with run.bgtaskd(SETTINGS) as little, run.bgtaskd(SETTINGS) as large:
        process = Process(large.process.pid)
        idle, anonymous = settled(process), process.anonymous_bytes()
        with Driver(run, little, "hold") as other, Driver(run, large, "hold") as holder:
            other.order("begin", FEW, DURATION_MS)
            holder.order("begin", many(run), DURATION_MS)
            told = {"taskBytes": (process.anonymous_bytes() - anonymous) / many(run)}
            told |= pairs(run, other, little, holder, large)
            told["pageSeconds"] = statistics.median(page(large) for _ in range(SLICES))
            holder.order("end")
        after = settled(process)
        told |= {"residentRatio": after[0] / idle[0], "privateRatio": after[1] / idle[1]}
    return told


def pairs(run, other, little, holder, large):
    """Microseconds a pair, with few and with many: until it is answered, and of the daemon's processor."""
    told = {"answered": ([], []), "processor": ([], [])}
    for _ in range(SLICES):
        for index, (driver, daemon) in enumerate(((other, little), (holder, large))):
            process, number = Process(daemon.process.pid), 200 if run.quick else 4000
            used = process.processor_seconds()
            told["answered"][index].append(driver.order("pairs", number)["pair"]["p50"])
            told["processor"][index].append((process.processor_seconds() - used) / number * 1e6)
    return {key: [statistics.median(values) for values in both] for key, both in told.items()}


def page(daemon):
    """Seconds that a page of the list takes."""
    start = time.perf_counter()
    tasks = call(daemon, "org.bgtaskd.Tasks.List")["tasks"]
    seconds = time.perf_counter() - start
    if len(tasks) != 1000:
        raise Failure(f"a page has {len(tasks)} tasks")
    return seconds


def after_pairs(run):
    """How many times the idle memory is there after as many pairs, resident and private."""
    with run.bgtaskd(SETTINGS) as daemon:
        process = Process(daemon.process.pid)
        idle = settled(process)
        with Driver(run, daemon, "hold") as driver:
            driver.order("pipelined-pairs", many(run))
        after = settled(process)
    return after[0] / idle[0], after[1] / idle[1]


def abandoned(run):
    """The longest that a begin of another client takes, in ms, while the holder of many goes away.

    It begins a task each millisecond, whether those before it have been answered or not.
    """
    with run.bgtaskd(SETTINGS) as daemon:
        with Driver(run, daemon, "hold") as holder:
            holder.order("begin", many(run), DURATION_MS)
            reports = []
            prober = threading.Thread(
                target=lambda: reports.append(drive(run, daemon, "begins", 3000, 1000)))
            prober.start()
            time.sleep(0.5)
        prober.join()
    return max(reports[0]["took_ns"]) / 1e6


def of_million(figure):
    return lambda run: figure(run.once(("memory", "million"), million))


def of_pairs(index):
    return lambda run: run.once(("memory", "pairs"), after_pairs)[index]


def row(name, title, unit, measure, goal=None, peer=None):
    return Row(name=name, title=title, unit=unit, measure=measure, goal=goal, peer=peer,
               less_is_better=True, rounds_max=3, is_in_chart=False)


def pair_row(name, title, kind):
    return row(name, title, "µs", of_million(lambda told: told[kind][1]),
               peer=Peer("the same with 1,000 live", of_million(lambda told: told[kind][0])))


ROWS = [
    row("memory-task", "memory of a live held task, of 1,000,000", "bytes",
        of_million(lambda told: told["taskBytes"]), AtMost(250)),
    pair_row("memory-pair", "begin + end with 1,000,000 live, answered", "answered"),
    pair_row("memory-pair-processor", "begin + end with 1,000,000 live, processor", "processor"),
    row("memory-page", "list of one page with 1,000,000 live", "ms",
        of_million(lambda told: told["pageSeconds"] * 1000)),
    row("memory-back", "resident after they end, by idle", "times",
        of_million(lambda told: told["residentRatio"]), AtMost(1.2)),
    row("memory-back-private", "private after they end, by idle", "times",
        of_million(lambda told: told["privateRatio"])),
    row("memory-pairs", "resident after 1,000,000 pairs, by idle", "times", of_pairs(0), AtMost(1.2)),
    row("memory-pairs-private", "private after 1,000,000 pairs, by idle", "times", of_pairs(1)),
    row("memory-abandoned", "longest begin while the holder of 1,000,000 goes", "ms", abandoned),
]
