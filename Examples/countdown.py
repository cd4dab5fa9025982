#!/usr/bin/env python3
"""A countdown that stays right over a time away, in which it does not run.

    countdown.py [SECONDS]

Without SECONDS it takes 5 minutes.
"""
from application import launched, now, run, say


def clock(milliseconds):
    """Minutes and seconds: 4:59, or 4:58.250."""
    fraction = f".{milliseconds % 1000:03}" if milliseconds % 1000 else ""
    return f"{milliseconds // 60000}:{milliseconds // 1000 % 60:02}{fraction}"


def main(seconds=300):
    remaining = int(seconds) * 1000
    application = launched()
    since = None  # when the present second began, in front
    while remaining > 0:
        second = remaining % 1000 or 1000
        event = application.next_event(
            None if since is None else (since + second - now()) / 1000)
        if not event:
            remaining, since = remaining - second, since + second
            say(clock(remaining))
            continue
        if not application.is_in_front and since is not None:
            # No more than this second: whoever reads of it late was away, which counts on the return.
            remaining, since = remaining - min(now() - since, second), None
            say(f"leaves with {clock(remaining)}")
        if event.callback == "willEnterForeground":
            away = event.wire["backgroundMs"]
            remaining = max(remaining - away, 0)
            say(f"was away for {clock(away)}")
        if event.callback == "willTerminate":
            return
        if application.is_in_front and since is None:
            since = now()
            say(clock(remaining))
    say("the time is over")


if __name__ == "__main__":
    run(main, "countdown.py [SECONDS]")
