"""The page for Cockpit, in a browser."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from bgtask import Client
from page import PAGE, Browser, Cockpit, Keys, PageTestCase, require
from support import ROOT, Daemon


class Modules(unittest.TestCase):
    def test_what_needs_no_browser(self) -> None:
        try:
            tests = sorted((PAGE / "tests").glob("*.test.mjs"))
            done = subprocess.run(
                ["node", "--test", *map(str, tests)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, timeout=120)
        except FileNotFoundError:
            if os.environ.get("CI") == "true":
                raise
            self.skipTest("the package nodejs is missing")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_all_files_are_installed(self) -> None:
        listed = subprocess.run(["make", "--silent", "files"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        folder = "/usr/local/share/cockpit/bgtaskd/"
        installed = [line.removeprefix(folder) for line in listed.stdout.split("\n") if line.startswith(folder)]
        there = [path.name for path in PAGE.iterdir() if path.is_file()]
        self.assertEqual(sorted(installed), sorted(there))


class Views(PageTestCase):
    def setUp(self) -> None:
        self.client = Client(self.daemon.path)
        self.addCleanup(self.empty)

    def empty(self) -> None:
        """Leaves nothing to the next test."""
        for task in list(self.client.tasks()):
            try:
                self.client.call("Cancel", id=task.id, signal="SIGKILL" if task.kind == "run" else None)
            except Exception:
                # It has ended meanwhile.
                pass

    def run_command(self, name: str, *command: str, **more: object) -> int:
        return self.client.call("Submit", work={
            "name": name, "command": list(command or ("sleep", "1000")), **more})["id"]

    def hold(self, name: str) -> int:
        return self.client.call(
            "Begin", name=name, pid=os.getpid(), budget={"durationMs": 500000, "graceMs": 1000})["id"]

    def task(self, id: int) -> dict[str, object]:
        return self.client.call("Show", id=id)["task"]

    # --- clicks -------------------------------------------------------------------------------------

    def test_a_command_is_submitted_and_its_output_followed(self) -> None:
        browser = self.browser
        self.open()
        browser.shown("button", "Run a command").click()
        self.audit()
        browser.fill("command", "sh -c 'echo first; echo second >&2; exit 3'")
        browser.shown("dialog button", "Run").click()
        browser.shown(".toast.success", "sh is task")
        browser.shown(".below a.name", "sh").click()
        browser.shown("h1", "sh")
        browser.shown(".output", "first")
        browser.shown(".output", "second")
        browser.shown("main .label", "failed")
        browser.shown(".facts", "status 3")
        self.audit()
        browser.shown("button", "Run again").click()
        browser.shown(".toast", "sh runs again as task")

    def test_fields_are_taken_and_what_is_wrong_is_told(self) -> None:
        browser = self.browser
        self.open()
        browser.shown("button", "Run a command").click()
        browser.shown("dialog button[type=submit]").click()
        browser.shown("dialog .helper.error", "This is needed.")
        self.assertEqual(browser.focused(), "Command")
        browser.fill("command", "sleep 1000")
        browser.fill("name", "careful")
        browser.fill("budget", "3min")
        browser.fill("grace", "1min")
        browser.shown("summary").click()
        browser.shown("dialog [name=group] option[value=uploads]").click()
        browser.fill("priority", "7")
        browser.shown("dialog [name=paused]").click()
        self.audit()
        browser.shown("dialog button[type=submit]").click()
        browser.gone("dialog")
        task = next(iter(self.client.tasks(name="careful")))
        shown = self.task(task.id)
        self.assertEqual(
            {key: shown[key] for key in ["command", "budget", "group", "priority", "paused", "state"]},
            {"command": ["sleep", "1000"], "budget": {"durationMs": 180000, "graceMs": 60000},
             "group": "uploads", "priority": 7, "paused": True, "state": "queued"})

    def test_a_refusal_stays_in_the_dialog(self) -> None:
        browser = self.browser
        self.open()
        browser.shown("button", "Run a command").click()
        browser.fill("command", "true")
        browser.fill("budget", "1000d")
        browser.shown("dialog button[type=submit]").click()
        browser.shown("dialog .alert.danger")
        browser.press(Keys.ESCAPE)
        browser.gone("dialog")

    def test_extend_pause_resume_and_cancel_by_clicks(self) -> None:
        browser = self.browser
        id = self.run_command("clicked", budget={"durationMs": 500000, "graceMs": 1000})
        self.open()
        self.order("clicked", "Extend")
        browser.shown(".toast", "clicked has its whole budget again.")
        self.order("clicked", "Pause")
        browser.shown("td .label", "stopped")
        self.assertTrue(self.task(id)["paused"])
        self.order("clicked", "Resume")
        browser.shown("td .label", "running")
        self.order("clicked", "Cancel…")
        browser.fill("reason", "enough")
        self.audit()
        browser.shown("dialog button", "Cancel task").click()
        browser.shown(".below .label", "cancelled")
        ended = self.task(id)
        self.assertEqual(ended["outcome"], "cancelled")
        self.assertTrue(ended["reason"].endswith(": enough"), ended["reason"])

    # --- keyboard -----------------------------------------------------------------------------------

    def test_all_by_the_keyboard(self) -> None:
        browser = self.browser
        self.open()
        browser.tab_to("Run a command")
        browser.press(Keys.ENTER)
        browser.until(lambda: browser.focused() == "Command", "the dialog has the focus")
        browser.press("sleep 1000", Keys.TAB, "typed", Keys.ENTER)
        # The focus comes back to what has opened the dialog.
        browser.until(lambda: browser.focused() == "Run a command", "the focus comes back")
        id = next(iter(self.client.tasks(name="typed"))).id
        browser.shown("a.name", "typed")

        browser.tab_to("Orders for typed")
        browser.press(Keys.ENTER)
        browser.until(lambda: browser.focused() == "Extend", "the menu has the focus")
        self.audit()
        browser.press(Keys.ARROW_DOWN)
        self.assertEqual(browser.focused(), "Pause")
        browser.press(Keys.ENTER)
        browser.until(lambda: self.task(id).get("paused"), "it is paused")
        self.assertEqual(browser.focused(), "Orders for typed")
        browser.shown("td .label", "stopped")
        browser.press(Keys.ARROW_DOWN, Keys.END)
        browser.until(lambda: browser.focused() == "Cancel…", "the last of the menu")
        browser.press(Keys.ESCAPE)
        self.assertEqual(browser.focused(), "Orders for typed")
        self.assertEqual(browser.shown("[aria-label='Orders for typed']").get_attribute("aria-expanded"), "false")

        browser.press(Keys.ARROW_DOWN, Keys.END, Keys.ENTER)
        browser.until(lambda: browser.focused() == "Reason", "the dialog has the focus")
        # The focus stays in the dialog, however often it goes on.
        for _ in range(12):
            browser.press(Keys.TAB)
            self.assertTrue(browser.run(
                "return document.activeElement === document.body || !!document.activeElement.closest('dialog')"))
        browser.press(Keys.ESCAPE)
        browser.until(lambda: browser.focused() == "Orders for typed", "the focus comes back")
        browser.press(Keys.ARROW_DOWN, Keys.END, Keys.ENTER)
        browser.until(lambda: browser.focused() == "Reason", "the dialog has the focus")
        browser.press("done", Keys.ENTER)
        browser.shown(".below .label", "cancelled")
        # Its row is gone, and with it what had the focus: it is at the heading, not at the top of the page.
        browser.until(lambda: browser.focused() == "Running", "the focus is at the heading")

    # --- views --------------------------------------------------------------------------------------

    def test_the_queue_says_why_each_waits(self) -> None:
        browser = self.browser
        self.run_command("first", group="uploads")
        self.run_command("second", group="uploads")
        self.run_command("later", earliestBeginMs=3600000)
        self.run_command("held back", paused=True)
        self.open("queue")
        for name, why in [("second", "group's slots"), ("later", "time, "), ("held back", "paused")]:
            browser.shown("tr", name)
            self.assertIn(why, browser.shown("tr", name).text)
        self.audit()
        browser.shown("tr .button.inline", "group's slots").click()
        browser.shown("dialog li", "all slots of group uploads are taken")
        self.audit()
        browser.shown("dialog button", "Show the task").click()
        browser.shown("h1", "second")
        browser.shown(".explanations", "all slots of group uploads are taken")
        self.audit()

    def test_progress_and_attempts(self) -> None:
        browser = self.browser
        held = self.hold("photos")
        self.client.call("Report", id=held, text="packing", completed=2, total=8)
        again = self.run_command("flaky", "false", retry={"attempts": 3, "delayMs": 3600000})
        self.open()
        browser.shown(".progress", "2 of 8 · packing")
        self.assertEqual(browser.shown("[role=progressbar]").get_attribute("aria-valuenow"), "25")
        self.client.call("Report", id=held, completed=8, total=8)
        browser.shown(".progress", "8 of 8 · packing")
        self.audit()
        browser.until(lambda: self.task(again).get("attempts"), "an attempt is over")
        self.open(f"task/{again}")
        browser.shown("td", "failed")
        browser.shown(".facts", "1 of 3" if self.task(again)["attempt"] == 1 else "2 of 3")
        self.client.call("End", id=held)

    def test_applications(self) -> None:
        browser = self.browser
        self.client.call("org.bgtaskd.Applications.Register", registration={
            "id": "org.example.photos", "command": ["sleep", "1000"]})
        self.open("applications")
        browser.shown("tr", "not running")
        self.client.call("org.bgtaskd.Applications.Launch", id="org.example.photos")
        browser.shown("tr .label", "active")
        self.client.call("org.bgtaskd.Applications.EnterBackground", id="org.example.photos")
        browser.shown("tr .label", "in the background")
        self.audit()
        self.client.call("org.bgtaskd.Applications.Terminate", id="org.example.photos")
        browser.shown("tr", "it was terminated")
        self.client.call("org.bgtaskd.Applications.Unregister", id="org.example.photos")

    def test_the_history_is_filtered(self) -> None:
        browser = self.browser
        for name, command in [("good", "true"), ("bad", "false")]:
            self.client.wait(self.run_command(name, command))
        self.open("history")
        browser.shown("tr", "good")
        browser.shown("tr", "bad")
        browser.shown("[name=outcome] option[value=failed]").click()
        browser.shown("button", "Search").click()
        browser.gone("tr", "good")
        browser.shown("tr", "status 1")
        self.audit()
        since = browser.shown("[name=since]")
        since.clear()
        since.send_keys("soon", Keys.ENTER)
        browser.shown(".helper.error", "no length of time")

    def test_groups_are_paused_and_get_slots(self) -> None:
        browser = self.browser
        self.open("groups")
        self.order("uploads", "Pause")
        browser.shown("tr .label", "paused")
        self.order("uploads", "Resume")
        browser.shown("tr .label", "open")
        self.order("uploads", "Change slots…")
        browser.fill("slots", "3")
        self.audit()
        browser.shown("dialog button", "Change").click()
        browser.gone("dialog")
        self.assertEqual(self.client.call("Groups")["groups"][0]["slots"], 3)
        self.client.call("SetSlots", group="uploads")
        browser.shown("button", "Change…").click()
        browser.fill("slots", "9")
        browser.shown("dialog button", "Change").click()
        browser.shown(".slots", "9 commands may run at once")
        self.client.call("SetSlots")
        self.audit()

    def test_a_flood_of_output_is_bounded(self) -> None:
        browser = self.browser
        id = self.run_command("floods", "sh", "-c", "seq 1 60000; echo the end; sleep 1000")
        self.open(f"task/{id}")
        browser.shown(".output", "the end")
        length, pieces, sum = browser.run(
            "const o = document.querySelector('.output'); return [o.textContent.length, o.childElementCount,"
            "[...o.children].reduce((sum, one) => sum + one.textContent.length, 0)]")
        self.assertLessEqual(length, 256 * 1024 + 65536)
        self.assertEqual(length, sum)
        self.assertLess(pieces, 300)
        self.assertIn("60000", browser.shown(".output").text)

    # --- faults -------------------------------------------------------------------------------------

    def test_the_daemon_goes_and_comes_back(self) -> None:
        browser = self.browser
        self.run_command("stays", earliestBeginMs=3600000)
        self.open("queue")
        browser.shown("tr", "stays")
        self.daemon.stop(kill=True)
        # The next test needs it, whatever becomes of this one.
        self.addCleanup(lambda: self.daemon.process.poll() is None or self.daemon.start())
        browser.shown(".alert.warning", "bgtaskd has gone away")
        # What was known is still to be seen, and stays so when nobody answers the tries to come back.
        browser.run("window.tries = 0; const open = cockpit.channel;"
                    "cockpit.channel = options => { window.tries += 1; return open.call(cockpit, options); }")
        browser.until(lambda: browser.run("return window.tries") >= 3, "it has tried again")
        browser.shown(".alert.warning", "bgtaskd has gone away")
        browser.shown("tr", "stays")
        self.audit()
        self.daemon.start()
        self.ready()
        browser.gone(".alert.warning")
        self.client = Client(self.daemon.path)
        self.run_command("comes", earliestBeginMs=3600000)
        browser.shown("tr", "comes")
        browser.shown("tr", "stays")

    def test_two_thousand_tasks(self) -> None:
        browser = self.browser
        for number in range(2000):
            self.run_command(f"many {number}", paused=True, priority=number % 7)
        self.open("queue")
        browser.until(lambda: browser.shown(".count").text == "2000 tasks", "all are counted")
        self.assertEqual(len(browser.all("tbody tr")), 50)
        browser.shown(".pager", "1 to 50 of 2000")
        browser.shown("[aria-label='Next page']").click()
        browser.shown(".pager", "51 to 100 of 2000")
        browser.shown("[name=filter]").send_keys("many 1999")
        browser.until(lambda: browser.shown(".count").text == "1 task", "one is found")
        self.order("many 1999", "Cancel…")
        browser.shown("dialog button", "Cancel task").click()
        browser.shown(".empty", "Nothing waits")
        browser.shown("[name=filter]").clear()
        browser.shown("[name=filter]").send_keys("many")
        browser.until(lambda: browser.shown(".count").text == "1999 tasks", "the others are there")

    # --- hostile ------------------------------------------------------------------------------------

    def test_hostile_texts_do_nothing(self) -> None:
        browser = self.browser
        attack = ("<img src=x onerror='window.pwned=1'><script>window.pwned=1</script>"
                  "<svg onload='window.pwned=1'>\" onfocus='window.pwned=1' autofocus x='\u202e$0$1")
        name = "<img src=x onerror=window.pwned=1>"
        held = self.hold(name)
        self.client.call("Report", id=held, text=attack)
        application = "javascript.window-pwned"
        self.client.call("org.bgtaskd.Applications.Register", registration={
            "id": application, "command": ["sh", "-c", attack]})
        queued = self.run_command(name, attack, earliestBeginMs=3600000)
        printing = self.run_command(
            name, "sh", "-c", 'printf "%s\\n\\033[31m\\0" "$1"; printf %s "$1" >&2', "sh", attack)
        self.client.wait(printing)
        self.client.call("Cancel", id=self.run_command(name, paused=True), reason=attack)
        paths = ["", "queue", "applications", "history", "groups", f"task/{held}", f"task/{queued}",
                 f"task/{printing}", "task/99999999", "task/<img src=x onerror=window.pwned=1>",
                 "<img src=x onerror=window.pwned=1>", "task/__proto__", "constructor"]
        for path in paths:
            with self.subTest(path=path):
                self.open(path)
                browser.until(lambda: "Connecting" not in browser.run("return document.body.textContent"), "a view")
                if path == f"task/{printing}":
                    browser.shown(".output", "<script>window.pwned=1</script>")
                if path in ("", "queue", "history"):
                    browser.shown("a.name", "<img src=x onerror=window.pwned=1>")
                    browser.all(".kebab")[0].click()
                    browser.shown("[role=menuitem]")
                self.assertEqual(browser.run(
                    "return [...document.querySelectorAll('body script, img:not(details.timeline > img), svg, iframe,"
                    " object, [onerror], [onload], [onfocus], [autofocus], [style*=url], a[href^=javascript]')].length"
                    " + (window.pwned ?? 0)"), 0)
                self.assertNotIn("\u202e", browser.run("return document.body.textContent"))
        # The policy alone would stop it as well.
        browser.run("const e = document.createElement('div');"
                    "e.innerHTML = '<img src=data:, onerror=window.pwned=1>'; document.body.append(e);"
                    "const s = document.createElement('script'); s.textContent = 'window.pwned = 1';"
                    "document.body.append(s)")
        browser.until(lambda: len([one for one in browser.log() if "Content Security Policy" in one]) > 0,
                      "the policy stops what is inline")
        self.assertIsNone(browser.run("return window.pwned ?? null"))
        self.client.call("End", id=held)
        self.client.call("org.bgtaskd.Applications.Unregister", id=application)

    # --- looks --------------------------------------------------------------------------------------

    def test_german_and_french(self) -> None:
        browser = self.browser
        self.run_command("übersetzt", group="uploads")
        self.run_command("wartet", group="uploads")
        for language, heading, count, why, explained, title in [
            ("de-de", "Laufend", "1 Aufgabe", "Plätze der Gruppe", "Die Plätze ihrer Gruppe sind belegt.",
             "Hintergrundaufgaben"),
            ("fr-fr", "En cours", "1 tâche", "places du groupe", "Les places de son groupe sont prises.",
             "Tâches d’arrière-plan"),
        ]:
            with self.subTest(language=language):
                self.open(language=language)
                browser.shown("h1", heading)
                browser.until(lambda: browser.shown(".count").text == count, "the number of tasks")
                self.assertEqual(browser.driver.title, title)
                self.assertEqual(browser.run("return document.documentElement.lang"), language[:2])
                for width in [400, 1400]:
                    browser.resize(width)
                    self.audit()
                self.open("queue", language=language)
                browser.shown("tr .button.inline", why).click()
                browser.shown("dialog li", explained)

    def test_each_view_in_each_style_and_width(self) -> None:
        browser = self.browser
        self.addCleanup(browser.resize, 1400)
        wide = "a-name-without-any-place-where-it-could-be-broken-" * 4
        running = self.run_command(
            wide[:120], "sh", "-c", f"echo {wide * 3}; sleep 1000", group="uploads",
            budget={"durationMs": 500000, "graceMs": 100000})
        queued = self.run_command("waits", group="uploads", retry={"attempts": 2})
        self.client.wait(self.run_command("ended", "false"))
        for style in ["light", "dark"]:
            self.open(style=style)
            for width in [400, 700, 1400]:
                for path in ["", "queue", "applications", "history", "groups", f"task/{running}", f"task/{queued}"]:
                    with self.subTest(style=style, width=width, path=path):
                        browser.resize(width)
                        self.go(path)
                        if path == f"task/{running}":
                            browser.shown(".output", wide)
                        if path == "history":
                            browser.shown("tr", "ended")
                        self.assertEqual(browser.run(
                            "return document.documentElement.classList.contains('pf-theme-dark')"), style == "dark")
                        self.audit()
        # The choice in Cockpit's menu is followed at once.
        browser.run("window.dispatchEvent(new CustomEvent('cockpit-style', { detail: { style: 'light' } }))")
        self.assertFalse(browser.run("return document.documentElement.classList.contains('pf-theme-dark')"))
        self.assertEqual([one for one in browser.log() if "po.js" not in one and "favicon" not in one], [])


class WithoutDaemon(unittest.TestCase):
    def test_says_what_to_do(self) -> None:
        require()
        cockpit = Cockpit("/nonexistent/socket")
        self.addCleanup(cockpit.close)
        browser = Browser()
        self.addCleanup(browser.close)
        browser.driver.get(cockpit.url)
        browser.shown("h1", "bgtaskd is not running")
        browser.shown(".empty", "systemctl enable --now bgtaskd.socket")
        browser.shown("button", "Try again").click()
        browser.shown("h1", "bgtaskd is not running")


class Drawing(unittest.TestCase):
    PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" width="700" height="90" onload="parent.pwned = 1">
        <style>rect { fill: blue }</style><script>parent.pwned = 1; top.pwned = 1</script>
        <image href="http://127.0.0.1:9/pwned"/><rect width="700" height="90"/></svg>"""

    def draw(self, script: str) -> Browser:
        """The history, with a program in the place of bgtaskctl."""
        require()
        daemon = Daemon()
        self.addCleanup(daemon.close)
        self.programs = tempfile.TemporaryDirectory(prefix="bgtask-programs-")
        self.addCleanup(self.programs.cleanup)
        program = pathlib.Path(self.programs.name, "bgtaskctl")
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        cockpit = Cockpit(daemon.path, programs=self.programs.name)
        self.addCleanup(cockpit.close)
        browser = Browser()
        self.addCleanup(browser.close)
        browser.driver.get(cockpit.url + "#/history")
        browser.shown(".empty", "Nothing has ended")
        return browser

    def test_a_picture_is_shown_and_cannot_act(self) -> None:
        folder = tempfile.mkdtemp(prefix="bgtask-picture-")
        self.addCleanup(shutil.rmtree, folder)
        pathlib.Path(folder, "picture.svg").write_text(self.PICTURE)
        browser = self.draw(f'echo "$@" >>{folder}/calls; cat {folder}/picture.svg')
        browser.shown("summary", "Timeline").click()
        browser.until(lambda: browser.run("return document.querySelector('.timeline img').naturalWidth") == 700,
                      "the picture is drawn")
        self.assertIsNone(browser.run("return window.pwned ?? null"))
        since = browser.shown("[name=since]")
        since.clear()
        since.send_keys("2h")
        browser.shown("[name=name]").send_keys("--all", Keys.ENTER)
        calls = pathlib.Path(folder, "calls")
        browser.until(lambda: "--name=--all --since=7200000ms" in calls.read_text(), "it is drawn anew")

    def test_without_one_that_draws_there_is_none(self) -> None:
        browser = self.draw("echo 'unknown command' >&2; exit 64")
        # What comes after it is there.
        browser.shown("button", "Search").click()
        browser.shown(".empty", "Nothing has ended")
        self.assertFalse(browser.all(".timeline")[0].is_displayed())


class OwnDaemon(unittest.TestCase):
    def test_ones_own_daemon_is_offered_where_it_is(self) -> None:
        require()
        daemon, own = Daemon(), Daemon()
        self.addCleanup(daemon.close)
        self.addCleanup(own.close)
        cockpit = Cockpit(daemon.path, own=own.path)
        self.addCleanup(cockpit.close)
        browser = Browser()
        self.addCleanup(browser.close)
        browser.driver.get(cockpit.url)
        browser.shown("button", "Run a command")
        self.assertEqual([one.text for one in browser.all("[name=daemon] option")],
                         [daemon.path, "of the system", "your own"])
        browser.shown("[name=daemon] option[value=user]").click()
        browser.until(lambda: browser.all("[name=all]") == [], "all tasks are one's own there")
        browser.shown("button", "Run a command").click()
        browser.fill("command", "sleep 1000")
        browser.shown("dialog button[type=submit]").click()
        browser.shown("a.name", "sleep")
        self.assertEqual([[task.name for task in Client(one.path).tasks()] for one in [daemon, own]], [[], ["sleep"]])


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class TwoUsers(unittest.TestCase):
    def test_each_sees_their_own(self) -> None:
        require()
        daemon = Daemon()
        self.addCleanup(daemon.close)
        os.chmod(daemon.folder.name, 0o755)
        browser = Browser()
        self.addCleanup(browser.close)
        # Cookies are by host, whatever the port.
        hosts = {"backup": "127.0.0.1", "games": "localhost"}
        users = {user: Cockpit(daemon.path, user, host) for user, host in hosts.items()}
        for user, cockpit in users.items():
            self.addCleanup(cockpit.close)
            browser.driver.get(cockpit.url)
            browser.shown("button", "Run a command").click()
            browser.fill("command", "sleep 1000")
            browser.fill("name", f"of {user}")
            browser.shown("dialog button[type=submit]").click()
            browser.shown("a.name", f"of {user}")
            self.assertEqual([one.text for one in browser.all("a.name")], [f"of {user}"])
            # There is no administrator to be.
            self.assertEqual(browser.all("[name=all]"), [])
        # A link to a task of somebody else leads nowhere.
        browser.driver.get("about:blank")
        browser.driver.get(users["games"].url + "#/task/1")
        browser.shown("h1", "There is no such task")
        browser.driver.get("about:blank")
        # Only one of them holds the cookie of a host.
        root = Cockpit(daemon.path, None, "127.0.0.1")
        self.addCleanup(root.close)
        browser.driver.delete_all_cookies()
        browser.driver.get(root.url)
        browser.shown(".empty", "Nothing runs")
        browser.shown("[name=all] option[value=all]").click()
        browser.shown("a.name", "of backup")
        browser.shown("a.name", "of games")
        browser.shown("td", "games")
        browser.shown("[aria-label='Orders for of games']").click()
        browser.shown("[role=menuitem]", "Cancel…").click()
        browser.shown("dialog button", "Cancel task").click()
        browser.gone(".card > .table a.name", "of games")


if __name__ == "__main__":
    unittest.main()
