"""How long a begin and its end take at a fixed rate, from the instant when the pair was due.

The rate is half of what the slower of the two does with as many clients, the same for both.
"""

from harness.row import Peer, Row
from rows import begin_end

CLIENTS = 16


def half_rate(run):
    """Pairs a second that both can do."""
    return min(begin_end.rate(side(CLIENTS))(run) for side in (begin_end.ours, begin_end.theirs)) / 2


def ours(run):
    rate = half_rate(run)
    with run.bgtaskd() as daemon:
        return run.load(daemon, "begin-end", CLIENTS, rate=rate)


def theirs(run):
    rate = half_rate(run)
    with run.beanstalkd() as daemon:
        return run.load(daemon, "put-delete", CLIENTS, rate=rate)


def row(percentile):
    def latency(name, load):
        return lambda run: run.once(("latency", name), load)["latency"][percentile]

    return Row(
        name=f"latency-{percentile}", title=f"begin + end at half the rate, {percentile}", unit="µs",
        less_is_better=True, measure=latency("bgtaskd", ours),
        peer=Peer("beanstalkd", latency("beanstalkd", theirs)))


ROWS = [row("p50"), row("p99"), row("p99.9")]
