"""How late expiration handlers fire with 100,000 live held tasks.

One client begins them one after the other, so that the instant of each begin lies between its call and its
reply, some tens of microseconds apart. Then it watches all of them on a second connection. It does
nothing while they fire but to read and to note the time: what it read it looks into afterwards, so that it
holds up nothing. A handler is due at its begin and the budget less the grace. Its lateness is the most that
it can be, with the begin at the time of the call and the end when the event was read; where that is below
zero, it was early. All clocks are
CLOCK_MONOTONIC. Three figures stand beside it: what the daemon itself logged (BGTASK_USED_USEC), which is when
its turn began, without the way to the client; for how much of the time other processes kept the daemon from a
processor, which must be far below 1 % where p99 is to be the daemon's own; and how late a bare timerfd is.

The load is that of begin-end with 16 clients, by another user, whose tasks the watch does not show. On a
machine with two cores the daemon and the load alone fill these, and the client takes its part of them too.
"""

import os
import re
import shutil
import subprocess
import time

from harness.driver import Driver, drive
from harness.process import Process
from harness.row import AtMost, Failure, Row, Unmeasurable

# What the driver gives its tasks as the grace.
GRACE_MS = 600_000
SETTINGS = {"daemon.logLevel": "info", "profiles.default.lifetimeMax": "1d",
            "budget.warnAfter": "infinity"}
NOBODY = 65534
SPREAD_MS = {True: 2_000, False: 20_000}
BEGINS = 1500
BEGIN_INTERVAL_NS = 1_000_000
USED = re.compile(
    rb"was warned.* BGTASK_BUDGET_USEC=(\d+) BGTASK_USED_USEC=(\d+)")


def tasks(run):
    return 5_000 if run.quick else 100_000


def lead_ms(run):
    """Time to begin all before the first is due, also on a busy machine."""
    return 2_000 if run.quick else 25_000


def fired(run, spread_ms, beside):
    """What the driver tells of the handlers, and what `beside` gives, called before the first is due."""
    with run.bgtaskd(SETTINGS) as daemon:
        os.chmod(daemon.folder, 0o755)
        with Driver(run, daemon, "expire", tasks(run), lead_ms(run), spread_ms) as driver:
            told = beside(run, daemon, driver.answer()["first_due_ns"] / 1e9)
            report = driver.answer()
            held_up = Process(daemon.process.pid).held_up_seconds()
        return report | {"beside": told, "heldUp": held_up, "logged": logged(daemon)}


def timer(run):
    """How late a bare timerfd is, in microseconds, right after the idle scene."""
    run.once(("lateness", idle), idle)
    with run.bgtaskd() as daemon:
        return drive(run, daemon, "timer", 500 if run.quick else 5000, 1000)["late"]


def logged(daemon):
    """The lateness that the log has, in microseconds, from the least to the most."""
    with open(daemon.folder + "/log", "rb") as file:
        return sorted(int(used) - (int(budget) - GRACE_MS * 1000)
                      for budget, used in USED.findall(file.read()))


def idle(run):
    """Handlers that are due over 20 s, on a machine that does nothing else."""
    def held_up(run, daemon, first_due):
        sleep_until(first_due)
        return Process(daemon.process.pid).held_up_seconds()

    return fired(run, SPREAD_MS[run.quick], held_up)


def loaded(run):
    """The same beside the load of begin-end."""
    if os.geteuid() != 0:
        raise Unmeasurable("a load by another user needs root")
    spread_ms = SPREAD_MS[run.quick]

    def load(run, daemon, first_due):
        sleep_until(first_due - 1)
        seconds = spread_ms / 1000 + 1
        # A copy, since others may not enter the folder that this program is in.
        program = shutil.copy(run.program("load-generator"), daemon.folder)
        words = [program, "begin-end", daemon.path, "--clients", "16", "--depth", "1",
                 "--seconds", str(seconds)]
        result = subprocess.run(words, user=NOBODY, group=NOBODY, extra_groups=[],
                                capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise Failure(f"{' '.join(words)}: {result.stderr.strip()}")

    return fired(run, spread_ms, load)


def together(run):
    """All within the same millisecond; another client begins a task each millisecond meanwhile."""
    def begin(run, daemon, first_due):
        sleep_until(first_due - 0.2)
        with Driver(run, daemon, "begins", BEGINS, BEGIN_INTERVAL_NS // 1000) as driver:
            return driver.answer()

    return fired(run, 0, begin)


def sleep_until(instant):
    time.sleep(max(instant - time.monotonic(), 0))


def lateness(scene, figure):
    """A figure of a scene's lateness in ms, by the client's clock."""
    return lambda run: run.once(("lateness", scene), scene)["late_at_most"][figure] / 1000


def bare_timer(figure):
    """A figure of what any timer is late here and now, in ms."""
    return lambda run: run.once(("lateness", timer), timer)[figure] / 1000


def held_up(run):
    """For which share of the idle scene others kept the daemon from a processor, in %."""
    scene = run.once(("lateness", idle), idle)
    return (scene["heldUp"] - scene["beside"]) / (SPREAD_MS[run.quick] / 1000) * 100


def own_lateness(run):
    """The daemon's own figure of the same, p99 in ms."""
    late = run.once(("lateness", idle), idle)["logged"]
    if not late:
        raise Failure("the log has no handler")
    return late[int((len(late) - 1) * 0.99)] / 1000


def early(run):
    """Handlers that fired before they were due, in all scenes that were measured in this round."""
    scenes = [run.once(("lateness", idle), idle), run.once(("lateness", together), together)]
    if os.geteuid() == 0:
        scenes.append(run.once(("lateness", loaded), loaded))
    return sum(scene["early"] + sum(late < 0 for late in scene["logged"]) for scene in scenes)


def all_fired(run):
    """Milliseconds from the first that is due until the last event was read."""
    scene = run.once(("lateness", together), together)
    return (scene["last_fired_ns"] - scene["first_due_ns"]) / 1e6


def begin_meanwhile(run):
    """What a begin takes that was to be sent between the two, p99 in ms."""
    scene = run.once(("lateness", together), together)
    start = scene["beside"]["start_ns"]
    took = sorted(
        took for index, took in enumerate(scene["beside"]["took_ns"])
        if scene["first_due_ns"] <= start + index * BEGIN_INTERVAL_NS <= scene["last_fired_ns"])
    if not took:
        raise Failure("no begin was to be sent while the handlers fired")
    return took[int((len(took) - 1) * 0.99)] / 1e6


def row(name, title, measure, goal=None, unit="ms", **others):
    return Row(name=name, title=title, unit=unit, measure=measure, goal=goal, less_is_better=True,
               rounds_max=3, **others)


ROWS = [
    row("lateness-p50", "handler lateness, 100,000 live, p50", lateness(idle, "p50"), AtMost(0.2)),
    row("lateness-p99", "handler lateness, 100,000 live, p99", lateness(idle, "p99"), AtMost(1)),
    row("lateness-max", "handler lateness, 100,000 live, worst", lateness(idle, "max")),
    row("lateness-own-p99", "the same by the daemon's own clock, p99", own_lateness),
    row("lateness-held-up", "kept from a processor by others meanwhile", held_up,
        unit="% of the time"),
    row("lateness-timer-p99", "lateness, p99", bare_timer("p99"),
        subject="a bare timerfd"),
    row("lateness-loaded-p50", "handler lateness under load, p50", lateness(loaded, "p50")),
    row("lateness-loaded-p99", "handler lateness under load, p99", lateness(loaded, "p99")),
    row("lateness-loaded-max", "handler lateness under load, worst", lateness(loaded, "max")),
    row("due-together", "100,000 handlers due at once: all fired", all_fired, AtMost(1000)),
    row("due-together-begin", "begin during that, p99", begin_meanwhile, AtMost(20)),
    row("lateness-early", "handlers that fired early", early, AtMost(0), unit="handlers",
        every_round=True),
]
