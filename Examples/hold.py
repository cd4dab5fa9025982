#!/usr/bin/env python3
"""Works under a time limit: begins a task, is told that the time is nearly over, saves, and ends the task in time.

    hold.py STATE_FILE [SECONDS [GRACE_SECONDS]]

Without SECONDS the daemon's default budget is asked for.
"""
import json

from application import bgtask, run, say


def main(state_file, seconds=None, grace="1"):
    budget = {"budget": float(seconds), "grace": float(grace)} if seconds else {}
    # The time belongs to this program: if it dies, the claim is gone with it.
    with bgtask.background_task("hold.py", **budget) as task:
        done = 0
        while not task.wait_expired(0.1):  # Here the real work would be done, a piece at a time.
            done += 1
        with open(state_file, "w") as file:
            json.dump({"done": done}, file)
        say(f"told that the time is nearly over: saved after {done} pieces")
    say(f"ended the task: {task.outcome}")


if __name__ == "__main__":
    run(main, "hold.py STATE_FILE [SECONDS [GRACE_SECONDS]]")
