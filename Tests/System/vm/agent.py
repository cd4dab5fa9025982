"""The agent of vm-box inside the machine: runs commands that are asked for over a virtio-serial port.

Frames both ways: one byte of type, the payload's length in four bytes (big endian), the payload.
  to the agent:  P a tag   X 8 bytes of job, then JSON {argv, opts}   I input (empty: its end)   K stop the job
  from it:       R the tag   O output   E errors   Q the status in four bytes; each of these behind the job
"""
import glob
import json
import os
import struct
import subprocess
import threading
import time


def find_port():
    while True:
        for name in glob.glob("/sys/class/virtio-ports/*/name"):
            with open(name) as file:
                if file.read().strip() == "box":
                    return "/dev/" + name.split("/")[-2]
        time.sleep(0.05)


class Port:
    def __init__(self):
        self.descriptor = os.open(find_port(), os.O_RDWR)
        self.lock = threading.Lock()

    def put(self, kind, payload=b""):
        with self.lock:
            frame = kind + struct.pack(">I", len(payload)) + payload
            while frame:
                frame = frame[os.write(self.descriptor, frame):]

    def read(self, count):
        data = b""
        while len(data) < count:
            piece = os.read(self.descriptor, count - len(data))
            # Nothing comes while no client of the host has the port open.
            if not piece:
                time.sleep(0.02)
            data += piece
        return data

    def get(self):
        kind = self.read(1)
        return kind, self.read(struct.unpack(">I", self.read(4))[0])


class Job:
    """A command in a unit of its own."""

    count = 0

    def __init__(self, port, payload):
        Job.count += 1
        self.port, self.name = port, payload[:8]
        self.unit = f"box-exec-{os.getpid()}-{Job.count}.service"
        request = json.loads(payload[8:])
        # A shell of its own, or systemd-run would look for the program outside the unit's PATH.
        argv = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *request["argv"]]
        self.process = subprocess.Popen(
            ["systemd-run", "-q", "--wait", "--pipe", "--collect", "--service-type=exec",
             f"--unit={self.unit}", "--setenv=HOME=/root", "--setenv=TERM=dumb",
             *request["opts"], "--", *(word.replace("$", "$$") for word in argv)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        threading.Thread(target=self.finish, daemon=True).start()

    def pump(self, file, kind):
        while data := file.read1(65536):
            self.port.put(kind, self.name + data)

    def finish(self):
        pumps = [
            threading.Thread(target=self.pump, args=pair, daemon=True)
            for pair in ((self.process.stdout, b"O"), (self.process.stderr, b"E"))
        ]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        self.port.put(b"Q", self.name + struct.pack(">i", self.process.wait()))

    def feed(self, data):
        try:
            if data:
                self.process.stdin.write(data)
                self.process.stdin.flush()
            else:
                self.process.stdin.close()
        except (BrokenPipeError, ValueError):
            pass

    def stop(self):
        subprocess.run(["systemctl", "stop", self.unit])


def serve():
    port = Port()
    job = None
    while True:
        kind, payload = port.get()
        if kind == b"P":
            port.put(b"R", payload)
        elif kind == b"X":
            job = Job(port, payload)
        elif kind == b"I" and job:
            job.feed(payload)
        elif kind == b"K" and job:
            job.stop()


serve()
