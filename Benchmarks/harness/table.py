"""The table that bench prints."""

import statistics

HEADINGS = ["row", "bgtaskd", "spread", "peer", "median", "spread", "ratio", "goal", "reached"]


def text(outcomes):
    """The table: medians with what is between the least and the most, and the ratio to the peer."""
    lines = [cells(outcome) for outcome in outcomes]
    widths = [max(len(line[column]) for line in [HEADINGS, *lines])
              for column in range(len(HEADINGS))]
    rule = ["-" * width for width in widths]
    printed = []
    for line in [HEADINGS, rule, *lines]:
        printed.append("  ".join(cell.ljust(width) if is_text(column) else cell.rjust(width)
                                 for column, (cell, width) in enumerate(zip(line, widths))).rstrip())
    for outcome in outcomes:
        if outcome.reason or outcome.failure:
            state = "failed" if outcome.failure else "not measured"
            printed.append(f"{outcome.row.name} {state}: {outcome.failure or outcome.reason}")
    return "\n".join(printed)


def is_text(column):
    return HEADINGS[column] in ("row", "peer", "goal", "reached")


def cells(outcome):
    """One line of the table."""
    row = outcome.row
    title = f"{row.title} ({row.unit})"
    if row.subject != "bgtaskd":
        title = f"{row.subject}: {title}"
    peer = row.peer.name if row.peer else ""
    return [title, *spread(outcome.ours), peer, *spread(outcome.theirs), ratio(outcome),
            str(row.goal or ""), reached(outcome)]


def spread(figures):
    """The median, and the least and the most."""
    if not figures:
        return ["", ""]
    return [number(statistics.median(figures)), f"{number(min(figures))}–{number(max(figures))}"]


def ratio(outcome):
    ratios = outcome.ratios
    return f"{number(statistics.median(ratios))} ×" if ratios else ""


def reached(outcome):
    if outcome.failure:
        return "failed"
    if outcome.reason:
        return "not measured"
    return {True: "yes", False: "NO", None: ""}[outcome.is_reached]


def number(value):
    """As many digits as say something."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    for least, digits in ((100, 0), (10, 1), (0.1, 2)):
        if abs(value) >= least:
            return f"{value:.{digits}f}"
    return f"{value:.2g}"
