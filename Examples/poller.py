#!/usr/bin/env python3
"""Follows a position while it is in front, and lets it be in the background.

    poller.py POSITION_FILE [INTERVAL_MS]

Looks every second if not told otherwise, and says the position where it is another one.
"""
import pathlib

from application import launched, run, say


def main(position_file, interval_ms=1000):
    application = launched()
    polls, position = False, None
    while True:
        event = application.next_event(int(interval_ms) / 1000 if polls else None)
        if event and event.callback == "willTerminate":
            return
        if application.is_in_front != polls:
            polls = not polls
            say("polls" if polls else "stops")
        if polls:
            line = pathlib.Path(position_file).read_text().partition("\n")[0]
            if line != position:
                say(f"position {line}")
            position = line


if __name__ == "__main__":
    run(main, "poller.py POSITION_FILE [INTERVAL_MS]")
