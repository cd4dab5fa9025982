import TestKit
import Testing

extension VirtualMachineTests {
    /// Memory that is really short, which this machine must not be.
    @Suite("Memory pressure")
    struct PressureTests {
        private static let unit = "bgtaskd-pressure"
        private static let socket = "/run/\(unit)/socket"

        /// Makes three suspended applications and one in front, and then pressure; prints what happened.
        ///
        /// One process does all of it, since each that is started takes seconds on an emulated processor. A
        /// program that takes more memory than its group should have (MemoryHigh=) waits for it, which counts as
        /// pressure for the whole machine, and harms nobody.
        private static let script = #"""
            import json, os, select, socket, subprocess, sys

            class Client:
                def __init__(self):
                    self.file = socket.socket(socket.AF_UNIX)
                    self.file.connect(sys.argv[1])
                    self.reader = self.file.makefile("rb")
                def send(self, method, **parameters):
                    call = {"method": "org.bgtaskd.Applications." + method, "parameters": parameters}
                    if method == "Watch":
                        call["more"] = True
                    self.file.sendall(json.dumps(call).encode() + b"\0")
                def reply(self):
                    text = b""
                    while not text.endswith(b"\0"):
                        text += self.reader.read(1)
                    return json.loads(text[:-1])["parameters"]
                def call(self, method, **parameters):
                    self.send(method, **parameters)
                    return self.reply()

            def is_quiet():
                """Whether the kernel tells of no pressure for three of its windows."""
                file = os.open("/proc/pressure/memory", os.O_RDWR | os.O_NONBLOCK)
                os.write(file, b"some 200000 2000000\0")
                poll = select.poll()
                poll.register(file, select.POLLPRI)
                found = poll.poll(6000)
                os.close(file)
                return not found

            client, watcher = Client(), Client()
            script = "memory=$(head -c 4000000 /dev/zero | tr '\\0' x); exec 3<>/run/fifo; read line <&3"
            subprocess.run(["mkfifo", "-m", "666", "/run/fifo"])
            names = ["a", "b", "c", "front"]
            for name in names:
                client.call("Register", registration={"id": name, "command": ["sh", "-c", script]})
            watcher.send("Watch")
            for name in names:
                watcher.reply()

            def watch(is_last):
                while True:
                    event = watcher.reply()["event"]
                    print(event["application"], event.get("callback", "-"), event["state"], flush=True)
                    if is_last(event):
                        return

            def suspend(front, *left, method="Launch"):
                client.call(method, id=front)
                waiting = {(name, "suspended") for name in left} | {(front, "active")}
                def is_last(event):
                    waiting.discard((event["application"], event["state"]))
                    return not waiting
                watch(is_last)

            suspend("a")
            suspend("b", "a")
            suspend("c", "b")
            suspend("a", "c", method="Activate")
            suspend("front", "a")
            print("pressure", flush=True)
            subprocess.run(["systemd-run", "--quiet", "--unit=hog", "--property=MemoryHigh=8M", "tail", "/dev/zero"])
            killed = []
            def is_last(event):
                if event["state"] == "notRunning":
                    killed.append(event["application"])
                return len(killed) == 3
            watch(is_last)
            subprocess.run(["systemctl", "stop", "hog"])
            print("no pressure", flush=True)
            for name in names:
                application = client.call("Show", id=name)["application"]
                print(name, application["state"], application.get("lastTermination", {}).get("reason"))
            while True:
                while not is_quiet():
                    pass
                client.call("Activate", id="front")
                suspend("b", "front", method="Activate")
                if is_quiet():
                    break
            print("quiet")
            for name in ("b", "front"):
                print(name, client.call("Show", id=name)["application"]["state"])
            """#

        @Test("3.20: those that are suspended go, the least recently used first, until it ends")
        func order() throws {
            try startDaemon()
            defer { _ = try? VirtualMachine.exec("systemctl", "stop", Self.unit) }
            let told = try VirtualMachine.exec(
                "python3", "-IS", "-c", Self.script, Self.socket, seconds: 600)
            try #require(told.status == 0, "\(told)")
            let parts = told.output.split(
                separator: try Regex("(?:no )?pressure\n|quiet\n"), omittingEmptySubsequences: false
            )
            try #require(parts.count == 4, "\(told.output)")

            // Those that are ended are not told; who is in front is, and stays.
            let warning = "front didReceiveMemoryWarning active"
            let events = parts[1].split(separator: "\n").map(String.init)
            #expect(events.contains(warning))
            #expect(
                events.filter { $0 != warning } == [
                    "b - notRunning", "c - notRunning", "a - notRunning",
                ])
            #expect(
                parts[2].hasPrefix(
                    """
                    a notRunning memoryPressure
                    b notRunning memoryPressure
                    c notRunning memoryPressure
                    front active None

                    """), "\(parts[2])")
            #expect(parts[2].contains("b didFinishLaunching"), "the next launch is cold")
            #expect(parts[3] == "b active\nfront suspended\n")

            let entries = try VirtualMachine.exec(
                "journalctl", "-u", Self.unit, "-o", "json", "--output-fields=MESSAGE,BGTASK_REASON"
            )
            let sources =
                "/sys/fs/cgroup/system.slice/\(Self.unit).service/memory.pressure; the pressure of the machine"
            #expect(entries.output.contains("the pressure of the daemon's group, \(sources)"))
        }

        private func startDaemon() throws {
            let started = try VirtualMachine.exec(
                "sh", "-c",
                """
                echo "applications.suspendAfter = '0s'" >/run/\(Self.unit).toml &&
                systemd-run --quiet --unit=\(Self.unit) -p Type=notify -p Delegate=yes -p KillMode=mixed \
                    -p StateDirectory=\(Self.unit) -p RuntimeDirectory=\(Self.unit) \
                    -p TimeoutStartSec=300 '\(Programs.path("bgtaskd"))' --system \
                    --config /run/\(Self.unit).toml --socket \(Self.socket) --state-dir /var/lib/\(Self.unit)
                """)
            try #require(started.status == 0, "\(started.errors)")
        }
    }
}
