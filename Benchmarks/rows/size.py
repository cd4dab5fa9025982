"""How large the programs are, what an installation takes, and whether it needs a Swift runtime."""

import os
import subprocess
import tempfile

from harness.row import AtMost, Failure, Row
from harness.run import ROOT

PROGRAMS = ("bgtaskd", "bgtaskctl", "bgtask-executor")
MEGABYTE = 1e6
# What `make build` leaves to be installed.
STRIPPED = f"{ROOT}/.build/stripped"


def folder_of(run):
    return os.path.dirname(os.path.abspath(run.options.bgtaskd))


def output(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Failure(f"{' '.join(command)}: {result.stderr.strip()}")
    return result.stdout


def stripped(program):
    """MB of a program without its symbols, which stand beside it."""
    return lambda run: os.path.getsize(f"{STRIPPED}/{program}") / MEGABYTE


def installed(run):
    """MB of all files of `make install`, without those for debuggers."""
    with tempfile.TemporaryDirectory(prefix="bgtaskd-bench-") as folder:
        output("make", "-C", ROOT, "--no-print-directory", "install", f"DESTDIR={folder}",
               f"BUILD={STRIPPED}")
        paths = [f"{place}/{name}" for place, _, names in os.walk(folder) for name in names
                 if not name.endswith(".debug")]
        return sum(os.lstat(path).st_size for path in paths) / MEGABYTE


def runtime_libraries(run):
    """Libraries of Swift that the programs load at their start."""
    return sum("swift" in library.lower() or "foundation" in library.lower()
               for program in PROGRAMS for library in libraries(f"{folder_of(run)}/{program}"))


def libraries(program):
    """The lines of ldd; none where a program needs no library at all."""
    result = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    if result.returncode == 0:
        return result.stdout.splitlines()
    if "not a dynamic executable" in result.stderr:
        return []
    raise Failure(f"ldd {program}: {result.stderr.strip()}")


def row(name, title, unit, measure, bound):
    return Row(name=name, title=title, unit=unit, measure=measure, goal=AtMost(bound),
               less_is_better=True, rounds_max=1, is_in_chart=False)


ROWS = [row(f"size-{program}", f"size of {program}, stripped", "MB", stripped(program), 20)
        for program in PROGRAMS]
ROWS += [
    row("size-installed", "all that is installed", "MB", installed, 40),
    row("size-runtime", "libraries of Swift that are loaded", "libraries", runtime_libraries, 0),
]
