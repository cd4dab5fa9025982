from __future__ import annotations

import asyncio
import unittest
import unittest.mock
from typing import Any

import bgtask
from bgtask import aio
from support import DaemonTestCase


class Async(DaemonTestCase, unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.aio = aio.Client(self.daemon.path)

    async def test_a_body_in_time_is_completed(self) -> None:
        async with self.aio.background_task("quick", budget=60) as task:
            self.assertEqual((await self.aio.show(task.id or 0)).state, "running")
        self.assertEqual((task.outcome, task.expired), ("completed", False))

    async def test_a_body_is_cancelled_and_has_its_grace(self) -> None:
        saved = False
        with self.assertRaises(bgtask.Expired) as expired:
            async with aio.background_task("late", budget=600, grace=599.9):
                try:
                    await asyncio.sleep(600)
                except asyncio.CancelledError:
                    await asyncio.sleep(0)
                    saved = True
                    raise
        self.assertTrue(saved)
        self.assertEqual(expired.exception.outcome, "expired")
        # The task that it ran in goes on.
        await asyncio.sleep(0)

    async def test_a_time_that_is_up_before_the_body_begins_cancels_it(self) -> None:
        begin = aio._Holder._begin

        async def slow(holder: Any, task: aio.BackgroundTask, parameters: dict[str, Any]) -> None:
            await begin(holder, task, parameters)
            while not task.expired:
                await asyncio.sleep(0.01)

        began = False
        with unittest.mock.patch.object(aio._Holder, "_begin", slow):
            with self.assertRaises(bgtask.Expired):
                async with aio.background_task("late", budget=600, grace=599.9):
                    began = True
                    await asyncio.sleep(600)
        self.assertTrue(began)
        self.assertEqual([task async for task in self.aio.tasks()], [])

    async def test_who_is_cancelled_just_when_it_has_begun_holds_nothing(self) -> None:
        begin = aio._Holder._begin

        async def cancelled(
            holder: Any, task: aio.BackgroundTask, parameters: dict[str, Any]
        ) -> None:
            await begin(holder, task, parameters)
            assert task._body is not None
            task._body.cancel()

        async def body() -> None:
            async with aio.background_task("given up", budget=600):
                raise AssertionError("it was not cancelled")

        with unittest.mock.patch.object(aio._Holder, "_begin", cancelled):
            with self.assertRaises(asyncio.CancelledError):
                await asyncio.create_task(body())
        while [task async for task in self.aio.tasks()]:
            await asyncio.sleep(0.01)

    async def test_one_that_has_expired_can_begin_again(self) -> None:
        task = aio.background_task("again", budget=600)
        with self.assertRaises(bgtask.Expired):
            async with task:
                await self.aio.call("SimulateExpiration", id=task.id)
                await asyncio.sleep(600)
        async with task:
            await asyncio.sleep(0)
            self.assertFalse(task.expired)
        self.assertEqual(task.outcome, "completed")

    async def connections(self) -> int:
        counters = (await self.aio.call("org.bgtaskd.Manager.Statistics"))["counters"]
        return next(one["value"] for one in counters if one["name"] == "bgtaskd_connections")

    async def test_two_connections_hold_a_thousand_tasks_and_each_is_told(self) -> None:
        begun, over = asyncio.Semaphore(0), 0

        async def body() -> None:
            nonlocal over
            try:
                async with aio.background_task("one of many", budget=600) as task:
                    begun.release()
                    await asyncio.sleep(600)
            except bgtask.Expired:
                over += 1
                assert task.outcome == "expired", task.outcome

        bodies = [asyncio.create_task(body()) for _ in range(1000)]
        for _ in bodies:
            await begun.acquire()
        held = [task async for task in self.aio.tasks(name="one of many")]
        self.assertEqual(len(held), 1000)
        # With the one that asks, once those are gone that asked before.
        while await self.connections() != 3:
            await asyncio.sleep(0.01)
        for task in held:
            await self.aio.call("SimulateExpiration", id=task.id)
        await asyncio.gather(*bodies)
        self.assertEqual(over, 1000)
        self.assertEqual([task async for task in self.aio.tasks()], [])

    async def test_who_is_cancelled_while_it_begins_holds_nothing(self) -> None:
        async def body() -> None:
            async with aio.background_task("given up", budget=600):
                await asyncio.sleep(600)

        async with aio.background_task("stays", budget=600):
            bodies = [asyncio.create_task(body()) for _ in range(50)]
            await asyncio.sleep(0)
            for number, one in enumerate(bodies):
                for _ in range(number % 5):
                    await asyncio.sleep(0)
                one.cancel()
            for one in bodies:
                with self.assertRaises(asyncio.CancelledError):
                    await one
            while [task async for task in self.aio.tasks(name="given up")]:
                await asyncio.sleep(0.01)
            # The connection is in step all the same.
            async with aio.background_task("later", budget=600) as later:
                self.assertEqual((await self.aio.show(later.id or 0)).name, "later")

    async def test_progress_is_shown(self) -> None:
        async with self.aio.background_task("photos", budget=600) as task:
            await task.report("packing", completed=3, total=8)
            shown = await self.aio.show(task.id or 0)
            self.assertEqual(shown.progress, bgtask.Progress(3, 8))
            self.assertEqual(shown.status, "packing")

    async def test_somebody_elses_cancel_stays_one(self) -> None:
        begun = asyncio.Event()

        async def body() -> None:
            async with aio.background_task("x", budget=600):
                begun.set()
                await asyncio.sleep(600)

        task = asyncio.create_task(body())
        await begun.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task

    async def test_a_coroutine_function_is_decorated(self) -> None:
        @aio.background_task("function", budget=60)
        async def work(number: int) -> int:
            return number + 1

        self.assertEqual(await asyncio.gather(work(1), work(2)), [2, 3])

    async def test_commands(self) -> None:
        submitted = await self.aio.submit(["sh", "-c", "echo hello"], name="hello", paused=True)
        events = self.aio.watch(submitted.id)
        self.assertEqual((await anext(events)).kind, "present")
        await self.aio.call("Change", id=submitted.id, paused=False)
        self.assertEqual([event.kind async for event in events][-1], "ended")
        self.assertEqual((await self.aio.wait(submitted.id)).outcome, "completed")
        self.assertEqual("".join([one.text async for one in self.aio.output(submitted.id)]), "hello\n")
        self.assertEqual([one.id async for one in self.aio.history(name="hello")], [submitted.id])
        self.assertEqual([one.id async for one in self.aio.tasks(name="hello")], [])
        again = await self.aio.restart(submitted.id)
        self.assertEqual((await self.aio.wait(again.id)).outcome, "completed")
        with self.assertRaises(TimeoutError):
            waiting = await self.aio.submit(["true"], paused=True)
            await self.aio.wait(waiting.id, timeout=0.01)
        self.assertEqual((await self.aio.explain(waiting.id))[0].rule, "pausedTask")
        await self.aio.cancel(waiting.id)

    async def test_without_a_daemon(self) -> None:
        nowhere = aio.Client("/nonexistent/socket")
        with self.assertRaises(bgtask.DaemonNotFound):
            async with nowhere.background_task("x"):
                self.fail("it has begun")
        async with nowhere.background_task("x", required=False) as task:
            self.assertIsNone((await task.remaining()).limit)

    async def test_many_at_once(self) -> None:
        async def one() -> str | None:
            async with self.aio.background_task("many", budget=60) as task:
                pass
            return task.outcome

        outcomes = await asyncio.gather(*(one() for _ in range(100)))
        self.assertEqual(outcomes, ["completed"] * 100)


if __name__ == "__main__":
    unittest.main()
