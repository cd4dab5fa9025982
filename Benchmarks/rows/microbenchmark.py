"""The daemon's parts alone, with no socket between: what they cost, and how that grows with what there is.

The figures are by the processor's time, of `microbenchmark SUBJECT`, which prints a line NAME, FIGURE, UNIT for
each row of its subject.
"""

import os
import subprocess

from harness.row import AtLeast, AtMost, Failure, Row, Unmeasurable


def figures(subject):
    """Gives the figures of a subject by the name of their row, once a round."""
    def measure(run):
        program = os.path.join(os.path.dirname(run.options.bgtaskd), "microbenchmark")
        if not os.access(program, os.X_OK):
            raise Unmeasurable("microbenchmark is not there: make microbenchmark")
        done = subprocess.run([program, subject], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"microbenchmark {subject} ended with {done.returncode}: {done.stderr.strip()}")
        lines = [line.split("\t") for line in done.stdout.splitlines()]
        return {name: (float(figure), unit) for name, figure, unit in lines}

    return lambda run: run.once(("microbenchmark", subject), measure)


def row(subject, name, title, unit, goal=None):
    def measure(run):
        figure, its_unit = figures(subject)(run).get(name, (None, None))
        if its_unit != unit:
            raise Failure(f"microbenchmark {subject} gives no {name} in {unit}")
        return figure

    is_cost = unit in ("times", "µs", "bytes")
    return Row(name=name, title=title, unit=unit, measure=measure, goal=goal,
               less_is_better=is_cost, is_in_chart=False)


def sizes(subject, name, title, unit, counts, of_what, goals=None, growth=None):
    """A row for each count of what there is, and one for the growth of the cost between the ends."""
    rows = [row(subject, f"{name}-{count}", f"{title}, {count:,} {of_what}", unit,
                (goals or {}).get(count))
            for count in counts]
    ends = f"{counts[0]:,} to {counts[-1]:,} {of_what}"
    return rows + [row(subject, f"{name}-growth", f"{title}: growth of the cost, {ends}", "times", growth)]


LIVE = [1000, 10_000, 100_000, 1_000_000]
QUEUED = DUE = [1000, 100_000]

ROWS = [
    *sizes("registry", "registry-pairs", "registry alone, begin + end", "pairs/s", LIVE, "live",
           goals={1_000_000: AtLeast(2_000_000)}, growth=AtMost(1.5)),
    *sizes("registry", "registry-replacements", "the same, end of any task + begin of another",
           "pairs/s", LIVE, "live"),
    row("registry", "registry-task-memory", "memory of a live held task, of 1,000,000", "bytes",
        AtMost(250)),
    row("wire", "wire-calls", "calls read and answered", "calls/s"),
    row("wire", "wire-calls-bytes", "the same, in bytes read", "MB/s"),
    row("wire", "wire-calls-pipelined", "calls read and answered, six that come together", "calls/s"),
    row("wire", "wire-document-small", "a submission of 10 kB read", "MB/s"),
    row("wire", "wire-document-large", "a submission of 1 MB read", "MB/s"),
    row("wire", "wire-document-growth", "a submission read: growth of a byte's cost, 10 kB to 1 MB",
        "times"),
    row("wire", "wire-replies", "replies to a begin written", "replies/s"),
    row("wire", "wire-events", "events of a task written", "events/s"),
    row("wire", "wire-events-bytes", "the same, in bytes", "MB/s"),
    *sizes("queue", "queue-submit", "a submission", "operations/s", QUEUED, "queued"),
    *sizes("queue", "queue-cancel", "a cancel", "operations/s", QUEUED, "queued"),
    *sizes("queue", "queue-start", "an end and the next start", "operations/s", QUEUED, "queued"),
    *sizes("deadlines", "deadline-handler", "a handler fires", "µs", DUE, "due at once"),
    *sizes("deadlines", "deadline-hard-limit", "a task is stopped", "µs", DUE, "due at once"),
]
