from __future__ import annotations

import asyncio
import unittest

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
