"""Which rows are measured, and whether what they need is there."""

import fnmatch
import os
import shutil
import sys
from dataclasses import replace


def choose(subjects, options):
    """The rows that --rows names, in the table's order, with titles that tell the options."""
    rows = [row for subject in subjects.values() for row in subject]
    chosen = set()
    for name in options.rows:
        found = [row.name for row in rows if fnmatch.fnmatch(row.name, name)]
        found = found or [row.name for row in subjects.get(name, [])]
        if not found:
            sys.exit(f"no row and no subject is named {name}: see --list")
        chosen.update(found)
    return [replace(row, title=row.title.format(**vars(options)))
            for row in rows if row.name in chosen]


def show(rows):
    """Names the rows, with their goals."""
    for row in rows:
        against = f" against {row.peer.name}" if row.peer else ""
        goal = f", {row.goal}" if row.goal else ""
        print(f"{row.name:28} {row.title}, {row.unit}{against}{goal}")


def check_programs(options):
    """Ends where a program is not there that every row needs."""
    for program, remedy in (
            (options.bgtaskd, "make build"),
            (options.programs + "/load-generator", "swift build -c release in Benchmarks"),
            ("beanstalkd", "Benchmarks/deps")):
        if shutil.which(program) is None:
            sys.exit(f"{os.path.basename(program)} is not there: {remedy}")
