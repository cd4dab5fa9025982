from __future__ import annotations

import os
import threading
import time
import unittest

import bgtask
from bgtask import _types, _wire
from support import Daemon, DaemonTestCase


class Commands(DaemonTestCase):
    settings = "queue.slots = 2\n[queue.groups.net]\nslots = 1\n"

    def test_what_has_ended_is_removed_at_an_order(self) -> None:
        id = bgtask.submit(["true"]).id
        bgtask.wait(id)
        bgtask.clean([id])
        with self.assertRaises(bgtask.NoSuchTask):
            bgtask.show(id)

    def test_a_forked_child_has_connections_of_its_own(self) -> None:
        with bgtask.background_task("parent", budget=600) as parent:
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    with bgtask.background_task("child", budget=600) as task:
                        status = 0 if bgtask.show(task.id or 0).name == "child" else 2
                finally:
                    os._exit(status)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
            self.assertEqual(bgtask.show(parent.id or 0).state, "running")
            # The parent's connection is in step, and it is told.
            self.client.call("SimulateExpiration", id=parent.id)
            self.assertTrue(parent.wait_expired(60))
        self.assertEqual(parent.outcome, "expired")

    def connections(self) -> int:
        counters = self.client.call("org.bgtaskd.Manager.Statistics")["counters"]
        return next(one["value"] for one in counters if one["name"] == "bgtaskd_connections")

    def test_threads_share_two_connections(self) -> None:
        told = threading.Semaphore(0)
        tasks = [
            bgtask.background_task("many", budget=600, on_expiry=lambda task: told.release())
            for _ in range(100)]
        threads = [threading.Thread(target=task.__enter__) for task in tasks]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # With the one that asks, once those are gone that asked before.
        while self.connections() != 3:
            time.sleep(0.01)
        tasks[0].report(completed=1)
        self.assertEqual(bgtask.show(tasks[0].id or 0).progress, bgtask.Progress(1, None))
        for task in tasks:
            self.client.call("SimulateExpiration", id=task.id)
        for task in tasks:
            self.assertTrue(told.acquire(timeout=60))
        for task in tasks:
            task.__exit__(None, None, None)
            self.assertEqual(task.outcome, "expired")
        self.assertEqual(list(bgtask.tasks(name="many")), [])

    def test_a_command_runs_with_what_it_is_given(self) -> None:
        submitted = bgtask.submit(
            ["sh", "-c", "echo $WORD $(pwd) $(cat); echo oops >&2; exit 3"], name="given", budget=60,
            grace=1.5, env={"WORD": "hello"}, directory="/usr", input="world", priority=2)
        self.assertEqual(submitted.receipt, "accepted")
        task = bgtask.wait(submitted.id)
        self.assertEqual((task.name, task.kind, task.state, task.outcome), ("given", "run", "ended", "failed"))
        self.assertEqual((task.exit_status, task.exit_signal), (3, None))
        self.assertEqual(task.wire["budget"], {"durationMs": 60_000, "graceMs": 1500})
        pieces = list(bgtask.output(task.id))
        self.assertEqual([(one.stream, one.text) for one in pieces if one.stream == "stdout"], [("stdout", "hello /usr world\n")])
        self.assertEqual("".join(one.text for one in pieces if one.stream == "stderr"), "oops\n")
        self.assertIn(task.id, [one.id for one in bgtask.history(name="given", outcomes=["failed"])])
        self.assertEqual(bgtask.explain(task.id)[0].rule, "exit")
        again = bgtask.restart(task.id)
        self.assertEqual(bgtask.wait(again.id).wire["restartOf"], task.id)

    def test_tasks_come_after_others_and_are_watched(self) -> None:
        first = bgtask.submit(["true"], name="first", paused=True)
        second = bgtask.submit(["true"], name="second", after=[first.id])
        self.assertEqual([one.name for one in bgtask.tasks(states=["queued"])], ["first", "second"])
        events = bgtask.watch(second.id)
        self.assertEqual(next(events).kind, "present")
        self.client.call("Change", id=first.id, paused=False)
        kinds = [event.kind for event in events]
        self.assertEqual(kinds[-2:], ["began", "ended"])
        self.assertEqual(bgtask.show(second.id).outcome, "completed")

    def test_a_wait_has_an_end_and_a_task_is_cancelled(self) -> None:
        task = bgtask.submit(["sleep", "1000"], budget=300)
        with self.assertRaises(TimeoutError):
            bgtask.wait(task.id, timeout=0.01)
        self.assertGreater(bgtask.remaining(task.id).limit or 0, 200)
        self.assertEqual(bgtask.extend(task.id).bound, "ownBudget")
        bgtask.cancel(task.id, signal="SIGKILL", reason="enough")
        ended = bgtask.wait(task.id)
        self.assertEqual((ended.outcome, ended.exit_signal), ("cancelled", "SIGKILL"))
        self.assertIn("enough", ended.reason or "")

    def test_refusals_are_exceptions_by_name(self) -> None:
        with self.assertRaises(bgtask.NoSuchTask) as unknown:
            bgtask.show(1 << 40)
        self.assertEqual(unknown.exception.parameters, {"id": 1 << 40})
        with self.assertRaises(bgtask.NoSuchGroup):
            bgtask.submit(["true"], group="nope")
        with self.assertRaises(bgtask.NoSuchProfile):
            bgtask.submit(["true"], profile="nope")
        with self.assertRaises(bgtask.LimitReached) as limit:
            bgtask.submit(["true"], budget=86_400)
        self.assertEqual(limit.exception.parameters["limit"], "lifetimeMax")
        with self.assertRaises(bgtask.InvalidParameter) as invalid:
            bgtask.submit(["true"], attempts=101)
        self.assertIn("1 to 100", invalid.exception.reason or "")
        with self.assertRaises(bgtask.MethodNotFound):
            self.client.call("Nothing")
        ended = bgtask.wait(bgtask.submit(["true"]).id)
        with self.assertRaises(bgtask.AlreadyEnded):
            bgtask.cancel(ended.id)

    def test_what_can_be_seen_here_is_refused_here(self) -> None:
        for wrong in [{"budget": 0}, {"budget": -1}, {"grace": 1}, {"budget": 1, "grace": 1}]:
            with self.assertRaises(ValueError):
                bgtask.submit(["true"], **wrong)
        for command in ["true", [], b"true"]:
            with self.assertRaises(ValueError):
                bgtask.submit(command)  # type: ignore[arg-type]
        with self.assertRaises(ValueError):
            bgtask.submit(["true"], unique="keep")
        with self.assertRaises(TypeError):
            bgtask.submit(["true"], bugdet=3)


class BackgroundTasks(DaemonTestCase):
    def test_a_body_in_time_is_completed(self) -> None:
        with bgtask.background_task("quick", budget=60) as task:
            self.assertFalse(task.expired)
            self.assertEqual(bgtask.show(task.id or 0).state, "running")
            self.assertLess(task.remaining().warning or 0, 60)
        self.assertEqual(task.outcome, "completed")

    def test_a_body_is_told_and_has_its_grace(self) -> None:
        told = threading.Event()
        with bgtask.background_task(
            "told", budget=300, grace=299.9, on_expiry=lambda _: told.set()
        ) as task:
            self.assertTrue(task.wait_expired(60))
            self.assertTrue(told.wait(60))
            task.extend()
            self.assertFalse(task.expired)
        self.assertIn(task.outcome, ["completed", "expired"])

    def test_who_extends_it_takes_the_warning_back_and_it_can_begin_again(self) -> None:
        task = bgtask.background_task("twice", budget=600)
        for _ in range(2):
            with task:
                self.assertFalse(task.expired)
                bgtask.Client().call("SimulateExpiration", id=task.id)
                self.assertTrue(task.wait_expired(60))
                bgtask.extend(task.id or 0)
                while task.expired:
                    time.sleep(0.01)
            self.assertEqual(task.outcome, "completed")

    def test_a_body_that_stays_is_over(self) -> None:
        with self.assertRaises(bgtask.Expired) as expired:
            with bgtask.background_task("late", budget=0.2, grace=0.1) as task:
                while bgtask.show(task.id or 0).state != "ended":
                    pass
        self.assertEqual(expired.exception.outcome, "overrun")

    def test_what_the_body_raises_comes_out(self) -> None:
        with self.assertRaises(KeyError):
            with bgtask.background_task("fails") as task:
                raise KeyError("x")
        self.assertEqual(task.outcome, "completed")

    def test_a_function_is_decorated_and_called_again(self) -> None:
        @bgtask.background_task("function", budget=60)
        def work(number: int) -> int:
            return number + 1

        self.assertEqual((work(1), work(2)), (2, 3))
        names = [one.name for one in bgtask.tasks(ended=True)]
        self.assertEqual(names.count("function"), 2)

    def test_many_threads_have_tasks_of_their_own(self) -> None:
        outcomes = []

        def work() -> None:
            with bgtask.background_task("many", budget=60) as task:
                pass
            outcomes.append(task.outcome)

        threads = [threading.Thread(target=work) for _ in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(outcomes, ["completed"] * 50)


class WithoutDaemon(unittest.TestCase):
    def test_it_is_the_callers_choice(self) -> None:
        nowhere = bgtask.Client("/nonexistent/socket")
        with self.assertRaises(bgtask.DaemonNotFound) as missing:
            with nowhere.background_task("x"):
                self.fail("it has begun")
        self.assertIn("/nonexistent/socket", str(missing.exception))
        with nowhere.background_task("x", required=False) as task:
            self.assertIsNone(task.id)
            self.assertIsNone(task.remaining().limit)
            self.assertFalse(task.expired)

    def test_a_daemon_that_goes_takes_the_time_with_it(self) -> None:
        daemon = Daemon()
        self.addCleanup(daemon.close)
        client = bgtask.Client(daemon.path)
        with client.background_task("x", budget=600) as task:
            daemon.stop(kill=True)
            self.assertTrue(task.wait_expired(60))
        self.assertIsNone(task.outcome)
        daemon.start()
        with client.background_task("y", budget=60) as task:
            pass
        self.assertEqual(task.outcome, "completed")

    def test_the_socket_is_found_as_bgtaskctl_finds_it(self) -> None:
        before = os.environ.pop("BGTASK_SOCKET", None)
        try:
            self.assertEqual(_wire.socket_path("unix:/x"), "/x")
            os.environ["BGTASK_SOCKET"] = "/y"
            self.assertEqual(_wire.socket_path(), "/y")
        finally:
            os.environ.pop("BGTASK_SOCKET", None)
            if before is not None:
                os.environ["BGTASK_SOCKET"] = before


class Values(unittest.TestCase):
    def test_times_are_rounded_up_and_a_grace_is_shorter(self) -> None:
        self.assertEqual(_types.milliseconds(0.0001), 1)
        self.assertEqual(_types.milliseconds(1.5), 1500)
        self.assertIsNone(_types.milliseconds(None))
        self.assertEqual(_types.budget(180, None), {"durationMs": 180_000, "graceMs": 5000})
        self.assertEqual(_types.budget(2, None), {"durationMs": 2000, "graceMs": 500})
        self.assertEqual(_types.budget(0.0001, None), {"durationMs": 1, "graceMs": 0})

    def test_messages_come_in_any_pieces(self) -> None:
        frames = _wire.Frames()
        text = b'{"parameters":{"a":"\xc3\xa9"},"continues":true}\0{}\0'
        found = []
        for byte in text:
            frames.add(bytes([byte]))
            reply = frames.next()
            if reply is not None:
                found.append(reply)
        self.assertEqual(found, [({"a": "é"}, True), ({}, False)])


if __name__ == "__main__":
    unittest.main()
