"""begin + end over the socket, against beanstalkd's put + delete."""

from harness.row import AtLeast, Peer, Row


def ours(clients, depth=1):
    """Gives the generator's report, once a round."""
    def load(run):
        with run.bgtaskd() as daemon:
            return run.load(daemon, "begin-end", clients, depth)

    return lambda run: run.once(("begin-end", "bgtaskd", clients, depth), load)


def theirs(clients, depth=1):
    """The same for the peer."""
    def load(run):
        with run.beanstalkd() as daemon:
            return run.load(daemon, "put-delete", clients, depth)

    return lambda run: run.once(("begin-end", "beanstalkd", clients, depth), load)


def rate(report):
    """Pairs a second, of what gives a report."""
    return lambda run: report(run)["operationsPerSecond"]


def row(name, clients, depth=1, goal=None):
    beside = f", {depth} outstanding each" if depth > 1 else ""
    count = f"{clients:,} client" + ("s" if clients > 1 else "")
    return Row(
        name=name, title=f"begin + end, {count}{beside}", unit="pairs/s", goal=goal,
        measure=rate(ours(clients, depth)), peer=Peer("beanstalkd", rate(theirs(clients, depth))))


ROWS = [
    row("begin-end", 16, goal=AtLeast(1.5)),
    row("begin-end-1", 1),
    row("begin-end-64", 64),
    row("begin-end-1000", 1000),
    row("begin-end-pipelined", 16, depth=16),
]
