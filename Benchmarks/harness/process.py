"""What the kernel tells of a process: its memory, its waiting, its use of the processor."""

import os
import time


def fields(path):
    """The lines of a file of /proc that have the form `name: value`."""
    with open(path, encoding="ascii") as file:
        return dict(line.strip().split(":", 1) for line in file if ":" in line)


def kilobytes(field):
    return int(field.split()[0])


class Process:
    """A process by its id."""

    def __init__(self, number):
        self.number = number

    def with_children(self):
        """Itself and those that it has started, such as a daemon's executor."""
        folder, numbers = f"/proc/{self.number}/task", []
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/children", encoding="ascii") as file:
                numbers += file.read().split()
        return [self, *(Process(int(number)) for number in numbers)]

    def anonymous_bytes(self):
        """Resident memory that no file stands behind."""
        return kilobytes(fields(f"/proc/{self.number}/status")["RssAnon"]) * 1024

    def resident_bytes(self):
        return kilobytes(fields(f"/proc/{self.number}/smaps_rollup")["Rss"]) * 1024

    def private_bytes(self):
        """Resident memory that it shares with nobody and that differs from any file."""
        return kilobytes(fields(f"/proc/{self.number}/smaps_rollup")["Private_Dirty"]) * 1024

    def unshared_bytes(self):
        """The same, and the pages of files that are in no other process at the moment."""
        clean = kilobytes(fields(f"/proc/{self.number}/smaps_rollup")["Private_Clean"]) * 1024
        return self.private_bytes() + clean

    def waits(self):
        """How often its threads have waited for something: so often they were woken."""
        folder = f"/proc/{self.number}/task"
        return sum(int(fields(f"{folder}/{thread}/status")["voluntary_ctxt_switches"])
                   for thread in os.listdir(folder))

    def held_up_seconds(self):
        """How long its threads were ready to run while others had the processors."""
        folder, seconds = f"/proc/{self.number}/task", 0
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/schedstat", encoding="ascii") as file:
                seconds += int(file.read().split()[1]) / 1e9
        return seconds

    def processor_seconds(self):
        """Of the processor that all its threads have used, those that have ended included."""
        # clock_getcpuclockid(3) of another process, which Python does not have.
        return time.clock_gettime((~self.number << 3) | 2)
