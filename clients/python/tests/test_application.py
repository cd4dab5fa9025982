"""A program that does tasks itself, which the daemon wakes it for."""
from __future__ import annotations

import bgtask
from support import DaemonTestCase


class ApplicationTest(DaemonTestCase):
    def setUp(self) -> None:
        self.client.call(
            "org.bgtaskd.Applications.Register",
            registration={"id": "sync", "command": ["sleep", "1000"]})
        self.application = bgtask.Application("sync", self.client)
        self.addCleanup(self.application.close)

    def event(self, callback: str) -> bgtask.ApplicationEvent:
        while True:
            event = self.application.next_event(60)
            assert event is not None, "nothing happened for a minute"
            if event.callback == callback:
                return event

    def test_does_a_task_itself(self) -> None:
        submitted = self.application.submit("refresh", budget=60, unique="replaceQueued")
        event = self.event("performTask")
        self.assertEqual((event.task, event.identifier), (submitted.id, "refresh"))
        self.assertEqual(event.state, "background")
        self.application.delivered(event)
        self.assertEqual(self.client.wait(submitted.id).outcome, "completed")
        again = self.application.submit("refresh")
        self.application.delivered(self.event("performTask"), success=False)
        self.assertEqual(self.client.wait(again.id).outcome, "failed")

    def test_says_what_it_handles(self) -> None:
        self.application.handles(["didBecomeActive"])
        with self.assertRaises(bgtask.NotAccepting):
            self.application.submit("refresh")
        self.application.handles(None)
        submitted = self.application.submit("refresh", paused=True)
        self.client.cancel(submitted.id)

    def test_says_that_a_task_is_done(self) -> None:
        task = self.client.background_task("upload").begin()
        assert task.id is not None
        bgtask.complete(task.id, success=False)
        self.assertEqual(self.client.show(task.id).outcome, "failed")
        task.end()
