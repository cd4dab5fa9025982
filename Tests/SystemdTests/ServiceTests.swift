import CSystemd
import Glibc
import Systemd
import Testing

@Suite("The service manager's protocol")
struct ServiceTests {
    @Test("notifications arrive as systemd expects them, and a status cannot forge one")
    func notifies() throws {
        let manager = try BoundSocket(SOCK_DGRAM)
        let before = EventLoop.monotonicNanoseconds() / 1_000
        let ended = try Probe.run("notify", environment: ["NOTIFY_SOCKET=\(manager.path)", "A=b"])
        let after = EventLoop.monotonicNanoseconds() / 1_000
        #expect(ended.status == 0)
        let datagrams = manager.datagrams()
        try #require(datagrams.count == 5)
        #expect(datagrams[0] == "READY=1\nSTATUS=first READY=0 [31m")
        #expect(datagrams[1] == "STATUS=second")
        let reloading = datagrams[2].split(separator: "\n")
        #expect(reloading.first == "RELOADING=1")
        let instant = reloading.last?.split(separator: "=").last.flatMap { UInt64($0) }
        #expect((before...after).contains(try #require(instant)))
        #expect(reloading.last?.hasPrefix("MONOTONIC_USEC=") == true)
        #expect(datagrams[3] == "EXTEND_TIMEOUT_USEC=7000000")
        #expect(datagrams[4].utf8.count <= 4_096)
        #expect(datagrams[4].hasPrefix("STOPPING=1\nSTATUS=ééé"))
        #expect(datagrams[4].hasSuffix("é"))
    }

    @Test("a manager that does not read holds nothing up, and hears the last word when it does")
    func managerStandsStill() throws {
        let manager = try BoundSocket(SOCK_DGRAM)
        let notifier = ServiceNotifier(path: manager.path)
        for number in 0..<2000 {
            try notifier.status("status \(number)")
            try notifier.watchdog()
        }
        try notifier.reloading()
        try notifier.ready()
        #expect(notifier.hasUnsent)
        #expect(manager.datagrams().contains("STATUS=status 0"))
        try notifier.flush()
        #expect(!notifier.hasUnsent)
        #expect(manager.datagrams() == ["STATUS=status 1999\nREADY=1"])
    }

    @Test("without a service manager notifications go nowhere and are no error")
    func hasNoManager() throws {
        let ended = try Probe.run("notify")
        #expect(ended.status == 0)
    }

    @Test("a service manager that is gone is an error that names the call")
    func managerIsGone() throws {
        let ended = try Probe.run("notify", environment: ["NOTIFY_SOCKET=/nowhere/at/all"])
        #expect(ended.status == 1)
        #expect(ended.output.contains("sd_notify: No such file or directory"))
    }

    @Test("a child inherits nothing that lets it speak for us")
    func cleansEnvironment() throws {
        let manager = try BoundSocket(SOCK_DGRAM)
        let ended = try Probe.run(
            "notify",
            environment: ["NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=1", "A=NOTIFY_SOCKET"]
        )
        #expect(ended.output.contains("\"A=NOTIFY_SOCKET\""))
        #expect(!ended.output.contains("\"NOTIFY_SOCKET="))
        #expect(!ended.output.contains("WATCHDOG_USEC"))
        #expect(
            ServiceEnvironment.forChild(of: ["LISTEN_FDS=1", "=odd", "PATH"]) == ["=odd", "PATH"]
        )
    }

    @Test("passed sockets come with their names, closed on exec, and leave the environment")
    func takesSockets() throws {
        let (one, two) = (
            try BoundSocket(SOCK_STREAM, listening: true),
            try BoundSocket(SOCK_STREAM, listening: true)
        )
        let ended = try Probe.run(
            "listen",
            environment: ["LISTEN_FDS=2", "LISTEN_FDNAMES=api:unknown"],
            passing: [one.descriptor, two.descriptor]
        )
        #expect(ended.output == "3 api cloexec=true\n4 unknown cloexec=true\nleft: []\n")
    }

    @Test("without passed sockets there are none")
    func hasNoSockets() throws {
        let ended = try Probe.run("listen")
        #expect(ended.output.hasPrefix("left: "))
        #expect(ended.status == 0)
    }

    @Test(
        "a passed descriptor of another kind is refused with its number and name",
        arguments: [
            try BoundSocket(SOCK_DGRAM), try BoundSocket(SOCK_STREAM, listening: false),
        ] as [BoundSocket]
    )
    func refusesOtherKinds(socket: BoundSocket) throws {
        let ended = try Probe.run(
            "listen",
            environment: ["LISTEN_FDS=1", "LISTEN_FDNAMES=api"],
            passing: [socket.descriptor]
        )
        #expect(ended.status == 1)
        #expect(ended.output.contains("descriptor 3 \"api\" must be a listening Unix stream"))
    }

    @Test("a descriptor that was promised and not passed is refused")
    func refusesMissing() throws {
        let ended = try Probe.run("listen", environment: ["LISTEN_FDS=1"])
        #expect(ended.status == 1)
    }

    @Test("the journal is chosen where standard error leads there, and text elsewhere")
    func choosesDestination() throws {
        let pipe = try Pipe()
        var status = stat()
        #expect(fstat(pipe.writer, &status) == 0)
        let stream = "JOURNAL_STREAM=\(status.st_dev):\(status.st_ino)"
        let journal = try Probe.run(
            "destination",
            environment: [stream],
            standardError: pipe.writer
        )
        #expect(journal.output == "journal\n")
        let redirected = try Probe.run("destination", environment: [stream])
        #expect(redirected.output == "text(descriptor: 2, levelPrefix: false)\n")
        let none = try Probe.run("destination", standardError: pipe.writer)
        #expect(none.output == "text(descriptor: 2, levelPrefix: false)\n")
    }
}

extension BoundSocket: @unchecked Sendable {}  // Its descriptor never changes.
