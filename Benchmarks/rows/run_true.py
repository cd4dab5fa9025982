"""`true` from the submission to the recorded outcome, two at once.

A submission is answered when the disk has it, and a task has ended when the disk has its outcome. The
clients submit on while the first tasks run already: bgtaskd over connections that stay, the others as they
can be asked, which is by a process for each job. Two rows ask bgtaskd in that way too. What a slow disk
costs shows beside the row with the state in memory: a task starts when the disk has that it does.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time

from harness.call import call
from harness.driver import drive
from harness.measuring import say
from harness.row import AtLeast, Failure, Peer, Row, Unmeasurable
from harness.run import ROOT
from rows.durable_submit import sync_time

SLOTS = 2
CLIENTS = 16


def count(run, usual):
    """How many are run; fewer of what is slow."""
    return usual // 20 if run.quick else usual


def bgtaskd(settings=None, containment="auto"):
    """Tasks a second of the daemon, once a round."""
    settings = {"queue.slots": SLOTS, "daemon.containment": containment} | (settings or {})

    def measure(run):
        number = count(run, 4000)
        say(f"  a write and its sync: {sync_time(run):.3f} ms")
        try:
            with run.bgtaskd(settings) as daemon:
                seconds = drive(run, daemon, "submit", number, CLIENTS)["seconds"]
                counters = call(daemon, "org.bgtaskd.Manager.Statistics")["counters"]
        except Failure as failure:
            if containment == "cgroup" and "set daemon.containment" in str(failure):
                raise Unmeasurable("no control groups can be made here") from None
            raise
        ended = {counter["labels"]["outcome"]: counter["value"] for counter in counters
                 if counter["name"] == "bgtaskd_ended_total"}
        if ended["completed"] != number or sum(ended.values()) != number:
            raise Failure(f"of {number} tasks ended: {ended}")
        return number / seconds

    return lambda run: run.once(("run-true", containment, *settings.values()), measure)


def run_loop(run, number, *command, environment=None):
    """Runs a command so often, two at once; gives the seconds."""
    words = [run.program("spawn-loop"), str(number), str(SLOTS), *command]
    return seconds_of(words, environment)


def seconds_of(words, environment=None):
    """What a spawn-loop tells."""
    result = subprocess.run(words, capture_output=True, text=True, check=False,
                            env=dict(os.environ) | (environment or {}))
    if result.returncode != 0:
        raise Failure(f"{' '.join(words)}: {result.stderr.strip()}")
    return json.loads(result.stdout.splitlines()[-1])["seconds"]


def posix_spawn(run):
    """Processes a second of a program that does nothing else."""
    number = count(run, 4000)
    return number / run_loop(run, number, "true")


def task_spooler(run):
    """Jobs a second of a server of its own, submitted two at once; their output is not kept."""
    if shutil.which("tsp") is None:
        raise Unmeasurable("task-spooler is not installed: Benchmarks/deps")
    number = count(run, 400)
    with tempfile.TemporaryDirectory(prefix="task-spooler-") as folder:
        environment = {"TS_SOCKET": folder + "/socket", "TMPDIR": folder}

        def tsp(*words):
            return subprocess.run(["tsp", *words], capture_output=True, text=True, check=False,
                                  env=dict(os.environ) | environment)

        tsp("-S", str(SLOTS))
        try:
            start = time.perf_counter()
            run_loop(run, number, "tsp", "-n", "true", environment=environment)
            for job in range(number - SLOTS, number):
                tsp("-w", str(job))
            seconds = time.perf_counter() - start
            finished = sum(" finished " in line for line in tsp("-l").stdout.splitlines())
        finally:
            tsp("-K")
    if finished != number:
        raise Failure(f"of {number} jobs {finished} finished")
    return number / seconds


def systemd_run(run):
    """Units a second of a systemd that is booted in a container for it, two started at once."""
    if os.geteuid() != 0 or shutil.which("systemd-nspawn") is None:
        raise Unmeasurable("a systemd of its own needs root and systemd-nspawn")
    number = count(run, 200)
    box = ROOT + "/Tests/System/systemd-box"
    programs = os.path.dirname(os.path.realpath(run.program("spawn-loop")))
    environment = dict(os.environ) | {"SYSTEMD_BOX_NAME": f"bench-{os.getpid()}"}
    start = subprocess.run(
        [box, "start", "--owner", str(os.getpid()), "--bind-ro", f"{programs}:/run/programs"],
        capture_output=True, text=True, check=False, env=environment)
    if start.returncode != 0:
        raise Unmeasurable("no systemd boots here: " + start.stderr.strip())
    try:
        return number / seconds_of(
            [box, "exec", "--raw", "--", "/run/programs/spawn-loop", str(number), str(SLOTS),
             "systemd-run", "--quiet", "--wait", "true"], environment)
    finally:
        subprocess.run([box, "stop"], check=False, env=environment)


def by_command(run):
    """Tasks a second of the daemon where each is asked for by a process, which waits for its end."""
    def measure(run):
        number = count(run, 400)
        with run.bgtaskd({"queue.slots": SLOTS}) as daemon:
            command = os.path.join(os.path.dirname(run.options.bgtaskd), "bgtaskctl")
            return number / run_loop(
                run, number, command, "--socket", daemon.path, "run", "--wait", "--", "true")

    return run.once(("run-true", "command"), measure)


def row(name, title, measure, peer, goal=None, **others):
    return Row(name=name, title=f"run true, 2 slots{title}", unit="tasks/s", measure=measure,
               peer=Peer(*peer), goal=goal, **others)


SPAWN_LOOP = ("posix_spawn loop", lambda run: run.once(("run-true", "posix_spawn"), posix_spawn))

TASK_SPOOLER = ("task-spooler",
                lambda run: run.once(("run-true", "task-spooler"), task_spooler))
SYSTEMD_RUN = ("systemd-run --wait",
               lambda run: run.once(("run-true", "systemd-run"), systemd_run))

ROWS = [
    row("run-true", "", bgtaskd(), SPAWN_LOOP, AtLeast(0.6)),
    row("run-true-task-spooler", "", bgtaskd(), TASK_SPOOLER, AtLeast(3)),
    row("run-true-systemd-run", "", bgtaskd(), SYSTEMD_RUN, AtLeast(20), rounds_max=3),
    row("run-true-cgroup", ", in control groups", bgtaskd(containment="cgroup"), SPAWN_LOOP),
    row("run-true-supervisor", ", under supervisors", bgtaskd(containment="supervisor"),
        SPAWN_LOOP),
    row("run-true-command-task-spooler", ", each by a command", by_command, TASK_SPOOLER),
    row("run-true-command-systemd-run", ", each by a command", by_command, SYSTEMD_RUN,
        rounds_max=3),
    row("run-true-memory", ", state in memory", bgtaskd({"store.durability": "memory"}), SPAWN_LOOP),
]
