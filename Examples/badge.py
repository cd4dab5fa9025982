#!/usr/bin/env python3
"""Keeps its badge right: the number of unread messages, whatever way they came in.

    badge.py INBOX

The inbox is a folder with a file for each unread message. Who sends one puts it there and pushes
{"message": NAME}. It is told of some messages twice and of others not at all, so it never adds one: it counts.
"""
import os

from application import launched, run, say


def main(inbox):
    application = launched()
    while True:
        event = application.next_event()
        if event.callback == "willTerminate":
            return
        message = (event.payload or {}).get("message")
        # The user has opened it. The name is from outside: it counts only where the inbox has it.
        if event.callback == "didReceiveNotificationResponse" and message in os.listdir(inbox):
            os.remove(os.path.join(inbox, message))

        unread = len(os.listdir(inbox))
        application.set_badge(unread)
        if message:
            say(f"{event.callback} {message}: {unread} unread")
        # From here on it may be suspended again.
        application.delivered(event)


if __name__ == "__main__":
    run(main, "badge.py INBOX")
