"""Measures rows: round after round, bgtaskd and its peer in turn."""

import statistics
import sys
import traceback
from dataclasses import dataclass, field

from .row import Failure, Row, Unmeasurable


@dataclass
class Outcome:
    """What was measured of one row."""

    row: Row
    ours: list = field(default_factory=list)
    theirs: list = field(default_factory=list)
    # Why there are no figures, where it is no fault.
    reason: str | None = None
    # What went wrong.
    failure: str | None = None

    @property
    def ratios(self):
        return [self.row.ratio(*pair) for pair in zip(self.ours, self.theirs)]

    @property
    def judged(self):
        """What the goal is for; `None` where nothing was measured."""
        figures = self.ratios if self.row.peer else self.ours
        if not figures:
            return None
        if not self.row.every_round:
            return statistics.median(figures)
        smaller_is_worse = self.row.peer or not self.row.less_is_better
        return min(figures) if smaller_is_worse else max(figures)

    @property
    def is_reached(self):
        """Whether the goal is; `None` where there is no goal, or nothing to judge."""
        if self.row.goal is None or self.judged is None or self.failure:
            return None
        return self.row.goal.is_reached(self.judged)


def measure(rows, run):
    """Measures all rows and says on standard error how far it is."""
    if run.load_before > 0.5:
        say(f"the machine is busy already (load average {run.load_before:.1f}): "
            "the figures will be those of a busy machine")
    outcomes = []
    for number, row in enumerate(rows, 1):
        rounds = min(run.options.rounds, row.rounds_max or run.options.rounds)
        outcome = Outcome(row)
        outcomes.append(outcome)
        try:
            for run.round in range(1, rounds + 1):
                say(f"{number} of {len(rows)}: {row.title}, round {run.round} of {rounds}")
                ours = row.measure(run)
                theirs = row.peer.measure(run) if row.peer else None
                outcome.ours.append(ours)
                if row.peer:
                    outcome.theirs.append(theirs)
        except Unmeasurable as reason:
            outcome.reason = str(reason)
        except Failure as failure:
            outcome.failure = str(failure)
        except Exception as fault:
            # A fault of one row, after which the others can still be measured.
            traceback.print_exc()
            outcome.failure = f"{type(fault).__name__}: {fault}"
        if outcome.failure:
            say(f"{row.name}: {outcome.failure}")
    return outcomes


def say(text):
    print(text, file=sys.stderr, flush=True)
