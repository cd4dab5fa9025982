#!/usr/bin/env python3
"""Uploads in the background: on leaving the front it borrows the time for it, and gives it back when done.

    upload.py SOURCE DESTINATION [PIECE_MS [INTERVAL_SECONDS]]

At most once in INTERVAL_SECONDS (600), of which only successful uploads count. DESTINATION is a file here, and
PIECE_MS (100) the time that the network takes for a piece.
"""
import os
import pathlib

from application import launched, now, run, say

PIECE = 65536


class Upload:
    """A copy that goes on where it was stopped: DESTINATION.part is what is there already."""

    def __init__(self, source, destination):
        self.source, self.destination = source, destination
        self.partial = destination + ".part"

    def send_piece(self):
        """Returns whether it was the last one."""
        with open(self.source, "rb") as source, open(self.partial, "ab") as partial:
            source.seek(partial.tell())
            partial.write(source.read(PIECE))
            sent, size = partial.tell(), os.fstat(source.fileno()).st_size
        say(f"sent {sent} of {size} bytes")
        if sent < size:
            return False
        os.replace(self.partial, self.destination)
        return True


class Interval:
    """Keeps two uploads apart. A file knows the last one, since a suspended application may be killed."""

    def __init__(self, path, seconds):
        self.path, self.seconds = pathlib.Path(path), seconds
        # The clock starts anew with the machine.
        self.boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()

    def is_over(self):
        try:
            boot, begin = self.path.read_text().split()
        except FileNotFoundError:
            return True
        return boot != self.boot or now() - int(begin) >= self.seconds * 1000

    def start(self):
        self.path.write_text(f"{self.boot} {now()}\n")


def main(source, destination, piece_ms=100, interval_seconds=600):
    upload = Upload(source, destination)
    interval = Interval(destination + ".last", int(interval_seconds))
    application = launched()
    uploads, task = False, None
    while True:
        # While it uploads, a piece is due where nothing else happens.
        event = application.next_event(int(piece_ms) / 1000 if uploads else None)
        callback = event.callback if event else None
        if callback == "willTerminate":
            return
        if callback == "didEnterBackground":
            if not uploads and not interval.is_over():
                say(f"no upload: the last one is less than {interval_seconds} s ago")
                continue
            uploads, task = True, application.background_task("upload").begin()
            say("uploads")
        elif callback == "backgroundTimeExpiring" and uploads:
            uploads = False
            say("stops, since the time is nearly over")
        elif not event:
            try:
                uploads = not upload.send_piece()
                if not uploads:
                    interval.start()
                    say("done")
            except OSError as error:
                uploads = False
                say(f"failed: {error.strerror}")
        # In front it needs no borrowed time to go on.
        if task and (application.is_in_front or not uploads):
            task.end()
            task = None


if __name__ == "__main__":
    run(main, "upload.py SOURCE DESTINATION [PIECE_MS [INTERVAL_SECONDS]]")
