"""What the examples share: where the package is, the clock, and how a program ends.

    bgtaskctl app register NAME -- COMMAND
    bgtaskctl app launch NAME
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "clients/python/src"))

import bgtask


def launched():
    """This program as bgtaskd knows it."""
    try:
        return bgtask.Application()
    except ValueError as error:
        raise RuntimeError(f"{error}; see bgtaskctl help app launch") from None


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
    except (OSError, RuntimeError, ValueError, bgtask.Error) as error:
        sys.exit(f"{usage.split()[0]}: {error}")
