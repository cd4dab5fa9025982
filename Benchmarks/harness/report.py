"""What is left of a run: the table, the figures as JSON, and the chart."""

import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time

from . import chart, table
from .run import ROOT


def write(outcomes, run):
    """Prints the table, writes the results and draws the chart."""
    options = run.options
    results = {"machine": machine() | {"loadBefore": run.load_before}, "command": ["Benchmarks/bench", *sys.argv[1:]],
               "quick": options.quick, "rounds": options.rounds, "seconds": options.seconds,
               "rows": [figures(outcome) for outcome in outcomes], "reports": run.reports}
    for path in (options.results, options.chart):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(options.results, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1, ensure_ascii=False)
        file.write("\n")
    print(table.text(outcomes))
    print(f"\n{machine_line(results)}")
    draw(options)


def draw(options):
    """Draws the chart of the results that are written."""
    with open(options.results, encoding="utf-8") as file:
        results = json.load(file)
    with open(options.chart, "w", encoding="utf-8") as file:
        file.write(chart.svg(results["rows"], machine_line(results)))


def figures(outcome):
    """All that is known of a row."""
    row = outcome.row
    facts = {"name": row.name, "title": row.title, "unit": row.unit, "subject": row.subject,
             "lessIsBetter": row.less_is_better, "isInChart": row.is_in_chart,
             "figures": outcome.ours, "goal": None if row.goal is None else str(row.goal),
             "goalBound": row.goal and row.goal.bound, "isReached": outcome.is_reached,
             "notMeasured": outcome.reason, "failure": outcome.failure}
    if outcome.ours:
        facts["median"] = statistics.median(outcome.ours)
    if row.peer:
        facts |= {"peer": row.peer.name, "peerFigures": outcome.theirs}
        ratios = [ratio for ratio in outcome.ratios if math.isfinite(ratio)]
        if ratios:
            facts |= {"peerMedian": statistics.median(outcome.theirs), "ratios": ratios,
                      "ratio": statistics.median(ratios)}
    return facts


def machine():
    """What it was measured on."""
    model = platform.machine()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"],
                            capture_output=True, text=True, check=False)
    return {"processor": model, "cores": os.cpu_count(), "kernel": platform.release(),
            "commit": commit.stdout.strip(), "loadAfter": os.getloadavg()[0],
            "date": time.strftime("%Y-%m-%d")}


def machine_line(results):
    """The same as a sentence."""
    known = results["machine"]
    rounds = "1 round" if results["rounds"] == 1 else f"{results['rounds']} rounds"
    return (f"{known['processor']}, {known['cores']} cores, Linux {known['kernel']}; "
            f"{rounds} of {results['seconds']:g} s each")
