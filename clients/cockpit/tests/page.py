"""The page in a browser, with a Cockpit and a daemon of its own."""
from __future__ import annotations

import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import typing
import unittest

from support import ROOT, Daemon

try:
    from selenium import webdriver
    from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.remote.webelement import WebElement
    from selenium.webdriver.support.ui import WebDriverWait
except ModuleNotFoundError:
    webdriver = None

PAGE = ROOT / "clients/cockpit"
# What .ci/unpack has got, where Cockpit is not installed.
COCKPIT_ROOT = pathlib.Path(os.environ.get("COCKPIT_TOOLS", "/"))
COCKPIT = "usr/lib/cockpit/cockpit-ws"
BRIDGE = "usr/bin/cockpit-bridge"
CHROMEDRIVER = pathlib.Path("/usr/bin/chromedriver")
# Far more than a slow machine takes.
PATIENCE = 60


def require() -> None:
    """Skips what cannot be tested here; in CI all has to be there."""
    missing = [name for name, is_there in [
        ("python3-selenium", webdriver is not None), ("cockpit-ws", (COCKPIT_ROOT / COCKPIT).exists()),
        ("cockpit-bridge", (COCKPIT_ROOT / BRIDGE).exists()), ("chromium-driver", CHROMEDRIVER.exists()),
    ] if not is_there]
    if missing and os.environ.get("CI") != "true":
        raise unittest.SkipTest(f"these packages are missing: {', '.join(missing)}")
    assert not missing, missing


class Cockpit:
    """A Cockpit that somebody is logged in to; user: whom root makes it for. programs: a folder of those that it finds
    before others. own: the socket of a daemon of the user's own."""

    def __init__(
            self, daemon: str, user: str | None = None, host: str = "127.0.0.1", programs: str | None = None,
            own: str | None = None) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="bgtask-cockpit-")
        top = pathlib.Path(self.folder.name)
        (top / "cockpit").mkdir()
        # A copy, since the tree may be where other users cannot read.
        shutil.copytree(PAGE, top / "cockpit/bgtaskd", ignore=shutil.ignore_patterns("tests"))
        top.chmod(0o755)
        root = COCKPIT_ROOT
        if user is not None and "COCKPIT_TOOLS" in os.environ:
            root = top / "root"
            shutil.copytree(COCKPIT_ROOT / "usr", root / "usr", symlinks=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (top / "home").mkdir()
        if own is not None:
            (top / "home/bgtaskd").mkdir()
            (top / "home/bgtaskd/org.bgtaskd").symlink_to(own)
        command = [str(root / COCKPIT), "--no-tls", f"--port={port}", "--address=127.0.0.1",
                   f"--local-session={root / BRIDGE}"]
        if user is not None:
            shutil.chown(top / "home", user)
            command = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", *command]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd="/", env={
                "PATH": (programs + ":" if programs else "") + os.environ["PATH"], "LANG": "C.UTF-8",
                "HOME": str(top / "home"), "XDG_DATA_HOME": str(top), "XDG_DATA_DIRS": str(root / "usr/share"),
                "XDG_RUNTIME_DIR": str(top / "home"), "BGTASK_SOCKET": daemon,
            })
        self.url = f"http://{host}:{port}/cockpit/@localhost/bgtaskd/index.html"
        self.port = port

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


class Browser:
    """Chromium, and what the tests do with it."""

    def __init__(self) -> None:
        self.profile = tempfile.TemporaryDirectory(prefix="bgtask-chromium-")
        options = Options()
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--force-device-scale-factor=1", f"--user-data-dir={self.profile.name}"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(str(CHROMEDRIVER)), options=options)
        self.resize(1400)

    def close(self) -> None:
        self.driver.quit()
        self.profile.cleanup()

    def resize(self, width: int, height: int = 900) -> None:
        # By the protocol: a window of its own is never narrower than 500.
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def run(self, script: str, *arguments: object) -> typing.Any:
        return self.driver.execute_script(script, *arguments)

    def until(self, condition: typing.Callable[[], typing.Any], what: str) -> typing.Any:
        """Waits for a condition."""
        def check(_: object) -> typing.Any:
            try:
                return condition()
            except StaleElementReferenceException:
                return None
        return WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05).until(check, what)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def shown(self, selector: str, text: str = "") -> WebElement:
        """Waits for an element that is to be seen, with a text in it."""
        def find() -> WebElement | None:
            return next((one for one in self.all(selector) if one.is_displayed() and text in one.text), None)
        return self.until(find, f"{selector} with {text!r}")

    def gone(self, selector: str, text: str = "") -> None:
        self.until(lambda: not any(one.is_displayed() and text in one.text for one in self.all(selector)),
                   f"{selector} with {text!r} is still there")

    def press(self, *keys: str) -> None:
        """Presses keys where the focus is."""
        for key in keys:
            webdriver.ActionChains(self.driver).send_keys(key).perform()

    def focused(self) -> str:
        """The name of what has the focus."""
        return self.run("const e = document.activeElement;"
                        "return e.getAttribute('aria-label') ?? (e.labels?.[0]?.textContent || e.textContent)")

    def tab_to(self, name: str) -> None:
        """Goes on by Tab until something of that name has the focus, which must be to be seen then."""
        for _ in range(100):
            self.press(Keys.TAB)
            if self.focused() == name:
                outline = self.run("return getComputedStyle(document.activeElement).outlineStyle")
                assert outline != "none", f"the focus on {name!r} is not to be seen"
                return
        raise AssertionError(f"Tab does not lead to {name!r}")

    def fill(self, name: str, text: str) -> None:
        field = self.shown(f"dialog [name={name}]")
        field.clear()
        field.send_keys(text)

    def log(self) -> list[str]:
        """What the page has complained about since the last time."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


class PageTestCase(unittest.TestCase):
    """Tests with one daemon, one Cockpit and one browser."""

    looks: tuple[str, str] | None = None
    settings = "applications.suspendAfter = \"1h\"\n[queue]\nslots = 4\n[queue.groups.uploads]\nslots = 1\n"

    @classmethod
    def setUpClass(cls) -> None:
        require()
        cls.daemon = Daemon(cls.settings)
        cls.addClassCleanup(cls.daemon.close)
        os.environ["BGTASK_SOCKET"] = cls.daemon.path
        cls.cockpit = Cockpit(cls.daemon.path)
        cls.addClassCleanup(cls.cockpit.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, path: str = "", language: str = "en-us", style: str = "light") -> None:
        """Opens a view of the page anew, and waits until it knows all."""
        browser = self.browser
        if (language, style) != self.looks:
            # Only a page of that origin may set these.
            browser.driver.get(self.cockpit.url)
            browser.run("document.cookie = 'CockpitLang=' + arguments[0] + '; path=/';"
                        "localStorage.setItem('shell:style', arguments[1])", language, style)
            type(self).looks = (language, style)
        browser.driver.get("about:blank")
        browser.driver.get(f"{self.cockpit.url}#/{path}")
        self.ready()

    def go(self, path: str) -> None:
        """Goes to another view of the page."""
        browser = self.browser
        browser.run("document.querySelector('h1').dataset.isOld = ''; location.hash = '#/' + arguments[0]", path)
        browser.until(lambda: browser.run("return location.hash") == f"#/{path}" and
                      (browser.all("h1:not([data-is-old])") or path == ""), "the view is there")

    def ready(self) -> None:
        self.browser.until(lambda: self.browser.run("return document.documentElement.dataset.status") == "ready",
                           "the page is connected")

    def audit(self) -> None:
        """Fails where somebody could not use what is shown."""
        audit = (pathlib.Path(__file__).parent / "audit.js").read_text()
        found: list[str] = []

        def is_clean() -> bool:
            # What was told before is painted by then.
            found[:] = self.browser.driver.execute_async_script(
                "const done = arguments[0]; const audit = () => {" + audit + "};"
                "requestAnimationFrame(() => requestAnimationFrame(() => done(audit())))")
            return not found
        # What is judged is a page at rest: a view may be on its way.
        try:
            self.browser.until(is_clean, "a page that all can use")
        except TimeoutException:
            self.fail("\n".join(found))

    def order(self, name: str, order: str) -> None:
        """Chooses from the menu of a task."""
        self.browser.shown(f"[aria-label='Orders for {name}']").click()
        self.browser.shown("[role=menuitem]", order).click()
