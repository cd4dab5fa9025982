"""A real daemon for tests, in a folder of its own. BGTASKD_BIN_DIR says where the programs are."""
from __future__ import annotations

import os
import pathlib
import subprocess
import tempfile
import unittest

from bgtask import Client

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = pathlib.Path(os.environ.get("BGTASKD_BIN_DIR", ROOT / ".build/debug"))


class Daemon:
    def __init__(self, settings: str = "") -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="bgtask-python-")
        self.path = self.folder.name + "/socket"
        self.settings = self.folder.name + "/bgtaskd.toml"
        pathlib.Path(self.settings).write_text(settings)
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [PROGRAMS / "bgtaskd", "--config", self.settings, "--socket", self.path,
             "--state-dir", self.folder.name + "/state"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "serving" in line:
                return
        raise RuntimeError("the daemon did not start")

    def stop(self, kill: bool = False) -> None:
        self.process.kill() if kill else self.process.terminate()
        # What it still says has to be read, or it would wait.
        self.process.communicate()

    def close(self) -> None:
        if self.process.returncode is None:
            self.stop()
        self.folder.cleanup()


class DaemonTestCase(unittest.TestCase):
    """Tests against one daemon."""

    settings = ""

    @classmethod
    def setUpClass(cls) -> None:
        cls.daemon = Daemon(cls.settings)
        cls.addClassCleanup(cls.daemon.close)
        os.environ["BGTASK_SOCKET"] = cls.daemon.path
        cls.client = Client()
