"""Whether the load generator is fast enough to measure bgtaskd with.

Against a server that only echoes, it must reach 1.5 times what bgtaskd does: what the row begin-end shows is
bgtaskd's limit then, and not the generator's. Both are measured here, one right after the other.
"""

from harness.row import AtLeast, Peer, Row

CLIENTS = 16


def echo(run):
    with run.echo_server() as server:
        return run.load(server, "echo", CLIENTS)["operationsPerSecond"]


def bgtaskd(run):
    with run.bgtaskd() as server:
        return run.load(server, "begin-end", CLIENTS)["operationsPerSecond"]


ROWS = [
    Row(name="generator", title="against an echo server, 16 clients", unit="pairs/s",
        subject="load generator", measure=echo, goal=AtLeast(1.5), is_in_chart=False,
        peer=Peer("bgtaskd", bgtaskd)),
]
