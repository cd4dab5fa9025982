"""The daemon and its peer, each as a process in folders of its own."""

import os
import shutil
import socket
import subprocess
import tempfile
import time

from .row import Failure

PATIENCE = 60


class Server:
    """A process that serves on a Unix socket, until it is left.

    `path` is the socket, `state` a folder on the disk, `folder` one for all else, `process` the process.
    """

    name = ""

    def __init__(self, disk, environment=None):
        self.disk = disk
        self.environment = dict(os.environ) | (environment or {})
        self.folder = self.state = self.path = self.process = None

    def arguments(self):
        """The command line, where the folders are there."""
        raise NotImplementedError

    def __enter__(self):
        # Not on the disk: its path may be longer than that of a socket may be.
        self.folder = tempfile.mkdtemp(prefix="bgtaskd-bench-")
        self.path = self.folder + "/socket"
        os.makedirs(self.disk, exist_ok=True)
        self.state = tempfile.mkdtemp(prefix=self.name + "-", dir=self.disk)
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        """Starts the process and waits until it serves; for one that was stopped too."""
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(
                self.arguments(), stdout=log, stderr=log, env=self.environment)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.connect().close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise Failure(f"{self.name} does not serve: {self.log()}") from None
                time.sleep(0.01)

    def stop(self):
        """Ends the process, with what is in its folders left there."""
        if self.process is None:
            return
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure(f"{self.name} did not end within {PATIENCE} s: {self.log()}") from None
        finally:
            self.process = None

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder)
            shutil.rmtree(self.state)

    def connect(self):
        """A connection of one's own."""
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(self.path)
        except OSError:
            connection.close()
            raise
        return connection

    def processor_seconds(self):
        """What the process has used so far, with all its threads."""
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def log(self):
        """The last of what it said."""
        with open(self.folder + "/log", "rb") as file:
            return file.read()[-1000:].decode(errors="replace").strip() or "it said nothing"


class Bgtaskd(Server):
    """The daemon that `make build` made, with settings for a load."""

    name = "bgtaskd"

    # Enough for every row; the budgets of what is held are the usual ones. The log is that of a busy service:
    # at "info", the usual level, it has lines for each task that is run, as no peer has them.
    settings = {
        "daemon.logLevel": "warning",
        "limits.tasksPerOwnerMax": 2_000_000,
        "limits.clientsMax": 10_000,
        "limits.clientsPerOwnerMax": 10_000,
        "limits.queueDepthMax": 10_000_000,
        "limits.queueDepthPerOwnerMax": 10_000_000,
        "limits.bufferBytesPerOwnerMax": 1 << 30,
    }

    def __init__(self, program, disk, settings=None, environment=None):
        super().__init__(disk, environment)
        self.program = program
        self.settings = Bgtaskd.settings | (settings or {})

    def arguments(self):
        settings = self.folder + "/bgtaskd.toml"
        with open(settings, "w", encoding="utf-8") as file:
            for key, value in self.settings.items():
                file.write(f"{key} = {toml(value)}\n")
        return [self.program, "--config", settings, "--socket", self.path, "--state-dir", self.state]


class Beanstalkd(Server):
    """Debian's beanstalkd; where it is durable, it syncs each job to its log before it answers."""

    name = "beanstalkd"

    def __init__(self, disk, is_durable=False, environment=None):
        super().__init__(disk, environment)
        self.is_durable = is_durable

    def arguments(self):
        durable = ["-b", self.state, "-f0"] if self.is_durable else []
        return ["beanstalkd", "-l", "unix:" + self.path, *durable]


class EchoServer(Server):
    """Answers with as many bytes as bgtaskd, and does nothing else."""

    name = "echo-server"

    def __init__(self, program, disk):
        super().__init__(disk)
        self.program = program

    def arguments(self):
        return [self.program, self.path]


def toml(value):
    """A value as it stands in the settings."""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
