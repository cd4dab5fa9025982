"""What the daemon tells monitoring systems, read by Prometheus, by node_exporter and by Prometheus's parser for Python.

$BGTASKD_BIN_DIR has the programs; $METRICS_TOOLS what .ci/unpack has got. Without that the tests with
Prometheus are skipped.
"""
from __future__ import annotations

import http.server
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = pathlib.Path(os.environ.get("BGTASKD_BIN_DIR", ROOT / ".build/debug"))
TOOLS = pathlib.Path(os.environ.get("METRICS_TOOLS", ROOT / ".build/prometheus")) / "root/usr"
RULES = ROOT / "config/bgtaskd.rules.yml"
DASHBOARD = ROOT / "config/bgtaskd.dashboard.json"
HAS_TOOLS = (TOOLS / "bin/promtool").exists()
needs_tools = unittest.skipUnless(HAS_TOOLS, "Prometheus could not be had; see .ci/unpack")

SETTINGS = """
queue.slots = 2
[queue.groups.net]
slots = 1
[queue.groups.idle]
slots = 3
"""
PATIENCE = 60.0


def wait_for(what: str, is_there):  # type: ignore[no-untyped-def]
    """Asks until it is there, and returns that."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if value := is_there():
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Daemon:
    def __init__(self, folder: str) -> None:
        self.socket = folder + "/socket"
        settings = pathlib.Path(folder, "bgtaskd.toml")
        settings.write_text(SETTINGS)
        self.process = subprocess.Popen(
            [PROGRAMS / "bgtaskd", "--config", settings, "--socket", self.socket,
             "--state-dir", folder + "/state"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "serving" in line:
                break
        else:
            raise RuntimeError("the daemon did not start")
        # What it says has to be read, or it would wait.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def run(self, *arguments: str, status: int = 0) -> str:
        ran = subprocess.run(
            [PROGRAMS / "bgtaskctl", "--socket", self.socket, *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        assert ran.returncode == status, (arguments, ran)
        return ran.stdout

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


folder: tempfile.TemporaryDirectory[str]
daemon: Daemon


def setUpModule() -> None:
    global folder, daemon
    folder = tempfile.TemporaryDirectory(prefix="bgtask-metrics-")
    daemon = Daemon(folder.name)
    daemon.run("run", "--wait", "--", "true")
    # Warned and stopped, so that it is known how late that was.
    daemon.run(
        "run", "--wait", "--budget", "3s", "--grace", "200ms", "--", "sh", "-c",
        "trap '' TERM; while :; do sleep 0.05; done", status=124)
    daemon.run("run", "--group", "net", "--", "sleep", "1000")
    daemon.run("run", "--group", "net", "--", "sleep", "1000")
    daemon.run("run", "--in", "1h", "--", "true")
    # How much is on the disk is told as of the call before.
    wait_for("a look at the disk", lambda: "bgtaskd_store_free_bytes" in daemon.run("stats"))


def tearDownModule() -> None:
    daemon.stop()
    folder.cleanup()


def families(text: str) -> dict[str, str]:
    """The type of each metric, as the text format of Prometheus tells it."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))


def samples(text: str) -> dict[str, float]:
    lines = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in lines}


def dashboard_expressions() -> list[str]:
    return [
        target["expr"] for panel in json.loads(DASHBOARD.read_text())["panels"]
        for target in panel.get("targets", [])]


def metric_names(expression: str) -> set[str]:
    return set(re.findall(r"\b(?:bgtaskd|node)_[a-z0-9_]+", expression))


class TheText(unittest.TestCase):
    def test_it_is_what_has_happened(self) -> None:
        told = samples(daemon.run("stats", "--prometheus"))
        self.assertEqual(told["bgtaskd_up"], 1)
        self.assertEqual(told['bgtaskd_ended_total{outcome="completed"}'], 1)
        self.assertEqual(told['bgtaskd_ended_total{outcome="overrun"}'], 1)
        self.assertEqual(told["bgtaskd_handler_lateness_seconds_count"], 1)
        self.assertEqual(told["bgtaskd_limit_lateness_seconds_count"], 1)
        self.assertEqual(told["bgtaskd_queue_wait_seconds_count"], 3)
        self.assertGreater(told["bgtaskd_store_commit_seconds_count"], 3)
        self.assertGreater(told["bgtaskd_store_commit_seconds_sum"], 0)
        self.assertEqual(told['bgtaskd_tasks{state="running"}'], 1)
        self.assertEqual(told['bgtaskd_queue_tasks{place="ready"}'], 1)
        self.assertEqual(told['bgtaskd_queue_tasks{place="early"}'], 1)
        self.assertEqual(told['bgtaskd_group_slots{group="idle"}'], 3)
        self.assertEqual(told['bgtaskd_group_slots_taken{group="net"}'], 1)
        self.assertEqual(told['bgtaskd_group_tasks_queued{group="net"}'], 1)
        self.assertEqual(told["bgtaskd_slots"], 2)
        self.assertEqual(told["bgtaskd_slots_taken"], 1)
        self.assertLess(abs(told["bgtaskd_start_time_seconds"] - time.time()), 3600)
        self.assertGreater(told["bgtaskd_store_free_bytes"], 0)

    def test_each_metric_is_explained_with_its_type_and_unit(self) -> None:
        page = (ROOT / "docs/monitoring.md").read_text()
        rows = re.findall(r"^\| `(bgtaskd_\w+)` \| (\w+) \|(?: (\w+))? \|", page, re.MULTILINE)
        if not pathlib.Path("/proc/pressure/memory").exists():
            rows = [row for row in rows if row[0] != "bgtaskd_memory_pressure_ratio"]
        explained = {name: "gauge" if kind == "info" else kind for name, kind, _ in rows}
        self.assertEqual(families(daemon.run("stats", "--prometheus")), explained)
        open_metrics = daemon.run("stats", "--openmetrics")
        units = dict(re.findall(r"^# UNIT (\S+) (\S+)$", open_metrics, re.MULTILINE))
        self.assertEqual(units, {name: unit for name, _, unit in rows if unit})
        kinds = families(open_metrics)
        self.assertEqual([kinds["bgtaskd_build"], kinds["bgtaskd_ended"]], ["info", "counter"])

    @needs_tools
    def test_promtool_has_nothing_to_say_of_it(self) -> None:
        checked = subprocess.run(
            [TOOLS / "bin/promtool", "check", "metrics"], input=daemon.run("stats", "--prometheus"),
            capture_output=True, text=True)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))

    @needs_tools
    def test_open_metrics_are_what_the_strict_parser_takes(self) -> None:
        sys.path.insert(0, str(TOOLS / "lib/python3/dist-packages"))
        from prometheus_client.openmetrics import parser

        text = daemon.run("stats", "--openmetrics")
        parsed = {family.name: family for family in parser.text_string_to_metric_families(text)}
        self.assertEqual(parsed["bgtaskd_ended"].type, "counter")
        self.assertEqual(parsed["bgtaskd_store_commit_seconds"].unit, "seconds")
        self.assertEqual(len(parsed), len(families(text)))
        with self.assertRaises(ValueError):
            list(parser.text_string_to_metric_families(text.replace("# EOF\n", "")))


class RulesAndDashboard(unittest.TestCase):
    @needs_tools
    def test_the_rules_are_right_and_do_what_they_are_for(self) -> None:
        for arguments in (["check", "rules", RULES],
                          ["test", "rules", ROOT / "Tests/Metrics/rules_test.yml"]):
            checked = subprocess.run(
                [TOOLS / "bin/promtool", *arguments], capture_output=True, text=True)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_each_alert_is_tested_and_explained(self) -> None:
        alerts = set(re.findall(r"alert: (\w+)", RULES.read_text()))
        tests = (ROOT / "Tests/Metrics/rules_test.yml").read_text()
        fires = set(re.findall(r"alertname: (\w+)\n\s+exp_alerts:\n\s+- exp_labels", tests))
        self.assertEqual(alerts, fires)
        page = (ROOT / "docs/monitoring.md").read_text()
        self.assertEqual(alerts, set(re.findall(r"^\| `(Bgtaskd\w+)` \|", page, re.MULTILINE)))

    def test_the_dashboard_can_be_imported(self) -> None:
        board = json.loads(DASHBOARD.read_text())
        self.assertGreaterEqual(board["schemaVersion"], 39)
        self.assertNotIn("id", board)
        variables = {one["name"]: one["type"] for one in board["templating"]["list"]}
        self.assertEqual(variables, {"datasource": "datasource", "instance": "query"})
        numbers = [panel["id"] for panel in board["panels"]]
        self.assertEqual(len(numbers), len(set(numbers)))
        taken: set[tuple[int, int]] = set()
        for panel in board["panels"]:
            place = panel["gridPos"]
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells
            for target in panel.get("targets", []):
                self.assertEqual(target["datasource"]["uid"], "${datasource}")
                self.assertIn('instance=~"$instance"', target["expr"])

    def test_each_metric_has_a_place_on_the_dashboard_or_in_a_rule_or_says_little(self) -> None:
        used = set().union(*map(metric_names, [*dashboard_expressions(), RULES.read_text()]))
        used = {re.sub(r"_(bucket|count|sum)$", "", name) for name in used}
        says_little = {
            "bgtaskd_application_spans_dropped_total", "bgtaskd_events_waited_total",
            "bgtaskd_group_tasks_running",
            "bgtaskd_refusals_not_logged_total", "bgtaskd_stopping", "bgtaskd_tasks_live",
            "bgtaskd_tasks_queued", "bgtaskd_watchdog_interval_seconds"}
        self.assertEqual(set(families(daemon.run("stats", "--prometheus"))) - used, says_little)


class OpenMetricsHandler(http.server.BaseHTTPRequestHandler):
    """What a small exporter would be: bgtaskctl at each scrape."""

    def do_GET(self) -> None:
        body = daemon.run("stats", "--openmetrics").encode()
        self.send_response(200)
        self.send_header(
            "Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@needs_tools
class Scraped(unittest.TestCase):
    """A Prometheus that scrapes node_exporter, which reads our file, and OpenMetrics directly."""

    @classmethod
    def setUpClass(cls) -> None:
        textfiles = pathlib.Path(folder.name, "textfiles")
        textfiles.mkdir()
        daemon.run("stats", "--prometheus", "--output", str(textfiles / "bgtaskd.prom"))
        node_port, cls.port = free_port(), free_port()
        cls.start([
            TOOLS / "bin/prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{node_port}",
            "--collector.disable-defaults", "--collector.textfile",
            f"--collector.textfile.directory={textfiles}"])
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OpenMetricsHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        settings = pathlib.Path(folder.name, "prometheus.yml")
        settings.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [
                {"job_name": "node", "static_configs": [{"targets": [f"127.0.0.1:{node_port}"]}]},
                {"job_name": "direct", "static_configs": [
                    {"targets": [f"127.0.0.1:{server.server_address[1]}"]}]}]}))
        cls.start([
            TOOLS / "bin/prometheus", f"--config.file={settings}",
            f"--storage.tsdb.path={folder.name}/tsdb",
            f"--web.listen-address=127.0.0.1:{cls.port}"])
        for job in ("node", "direct"):
            # Two scrapes at least: a rate needs them.
            wait_for(
                f"scrapes of {job}",
                lambda job=job: cls.values(f'count_over_time(bgtaskd_up{{job="{job}"}}[1m]) > 1'))

    @classmethod
    def start(cls, command: list[object]) -> None:
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.send_signal, signal.SIGKILL)

    @classmethod
    def ask(cls, path: str, **parameters: str) -> dict:  # type: ignore[type-arg]
        query = urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{cls.port}/api/v1/{path}?{query}") as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error) if "json" in str(error.headers.get("Content-Type")) else {}
        except OSError:
            # It is not there yet.
            return {}

    @classmethod
    def values(cls, expression: str) -> list[float]:
        answer = cls.ask("query", query=expression)
        return [float(one["value"][1]) for one in answer.get("data", {}).get("result", [])]

    def test_the_values_come_through(self) -> None:
        for job in ("node", "direct"):
            for expression, value in [
                ("bgtaskd_up", 1), ('bgtaskd_ended_total{outcome="overrun"}', 1),
                ("bgtaskd_queue_wait_seconds_count", 3), ('bgtaskd_group_slots{group="idle"}', 3),
                ("bgtaskd_build_info", 1)]:
                name, _, rest = expression.partition("{")
                labels = f'{{job="{job}"' + ("," + rest if rest else "}")
                self.assertEqual(self.values(name + labels), [value], (job, expression))
        self.assertEqual(self.values('node_textfile_scrape_error{job="node"}'), [0])

    def test_percentiles_are_within_the_bounds_of_what_was_recorded(self) -> None:
        told = samples(daemon.run("stats", "--prometheus"))
        bounds = [
            float(name.split('"')[1]) for name, value in told.items()
            if name.startswith("bgtaskd_handler_lateness_seconds_bucket") and value == 1]
        for job in ("node", "direct"):
            [late] = self.values(
                f'histogram_quantile(1, bgtaskd_handler_lateness_seconds_bucket{{job="{job}"}})')
            self.assertAlmostEqual(late, min(bounds))
            [wait] = self.values(
                f'histogram_quantile(0.9, bgtaskd_queue_wait_seconds_bucket{{job="{job}"}})')
            self.assertGreater(wait, 0)

    def test_each_expression_is_about_metrics_that_there_are(self) -> None:
        known = set(self.ask("label/__name__/values")["data"])
        rules = [
            rule for group in self.ask("rules")["data"]["groups"] for rule in group["rules"]]
        self.assertEqual(len(rules), RULES.read_text().count("- alert:"))
        expressions = [rule["query"] for rule in rules] + dashboard_expressions()
        for expression in expressions:
            self.assertTrue(metric_names(expression), expression)
            self.assertLessEqual(metric_names(expression), known, expression)
            plain = expression.replace("$instance", ".*").replace("$__rate_interval", "1m")
            self.assertEqual(self.ask("query", query=plain).get("status"), "success", plain)
        for expression in dashboard_expressions():
            plain = expression.replace("$instance", ".*").replace("$__rate_interval", "1m")
            if not plain.endswith("> 0"):
                self.assertTrue(self.values(plain), f"nothing is shown for {plain}")

    def test_the_rules_are_evaluated_and_none_fires_for_a_daemon_that_is_well(self) -> None:
        def evaluated() -> list[dict]:  # type: ignore[type-arg]
            groups = self.ask("rules").get("data", {}).get("groups", [])
            rules = [rule for group in groups for rule in group["rules"]]
            return rules if rules and all(rule["health"] != "unknown" for rule in rules) else []

        for rule in wait_for("the rules", evaluated):
            self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None), rule["name"])
            self.assertEqual(rule["state"], "inactive", rule["name"])


if __name__ == "__main__":
    unittest.main()
