"""What a row's measurement is given: the options, the servers, the load, and what the round knows already."""

import json
import os
import subprocess

from .row import Failure
from .servers import Beanstalkd, Bgtaskd, EchoServer

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Run:
    """One run of the benchmark.

    `options` are those of the command line: `seconds` is how long one measurement takes, `quick` says that it
    is to be seen whether the rows work, with small numbers. `round` counts from 1.
    """

    # Where the state of servers lies, so that syncs are those of a disk.
    disk = ROOT + "/.build/bench/state"

    def __init__(self, options):
        self.options = options
        self.seconds = options.seconds
        self.quick = options.quick
        self.round = 0
        self.load_before = os.getloadavg()[0]
        # What the load generator said, for the results.
        self.reports = []
        self._known = {}

    def once(self, key, function):
        """What `function` gives for this run, called once a round for all rows that ask for `key`."""
        place = (self.round, key)
        if place not in self._known:
            self._known[place] = function(self)
        return self._known[place]

    def bgtaskd(self, settings=None, environment=None):
        """A daemon that is not started yet; `settings` are by key path, such as "queue.slots"."""
        return Bgtaskd(self.options.bgtaskd, self.disk, settings, environment)

    def beanstalkd(self, is_durable=False, environment=None):
        """A beanstalkd that is not started yet."""
        return Beanstalkd(self.disk, is_durable, environment)

    def echo_server(self):
        """The echo server of this package, not started yet."""
        return EchoServer(self.program("echo-server"), self.disk)

    def program(self, name):
        """The path of a program of this package, such as load-generator."""
        return os.path.join(self.options.programs, name)

    def load(self, server, exchange, clients=16, depth=1, rate=None):
        """Puts a load on a server and gives the generator's report; see `load-generator --help`."""
        arguments = [self.program("load-generator"), exchange, server.path,
                     "--clients", str(clients), "--depth", str(depth), "--seconds", str(self.seconds)]
        if rate is not None:
            arguments += ["--rate", str(int(rate))]
        used = server.processor_seconds()
        try:
            result = subprocess.run(
                arguments, capture_output=True, text=True, timeout=self.seconds + 60, check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"{' '.join(arguments)} does not end; {server.log()}") from None
        if result.returncode != 0:
            raise Failure(f"{' '.join(arguments)}: {result.stderr.strip()}; "
                          f"{server.name}: {server.log()}")
        report = json.loads(result.stdout)
        report["serverProcessorSeconds"] = round(server.processor_seconds() - used, 2)
        self.reports.append({"round": self.round, "server": server.name, "exchange": exchange,
                             "clients": clients, "depth": depth, "rate": rate, **report})
        return report
