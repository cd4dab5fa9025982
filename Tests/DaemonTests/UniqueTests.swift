import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("A name that has at most one task")
struct UniqueTests {
    private static let settings = "queue.slots = 4\nqueue.groups.one.slots = 1"

    private static func submit(
        _ client: VarlinkClient, _ script: String, _ unique: Tasks.Unique?, in group: String? = nil
    ) throws -> Tasks.Submit.Output {
        try client.receipt(["sh", "-c", script]) {
            $0.name = "sync"
            $0.unique = unique
            $0.group = group
        }
    }

    @Test("26: keep answers with the task that runs")
    func keepRunning() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        let first = try Self.submit(client, daemon.waits(for: "first"), .keep)
        #expect(first.receipt == .accepted)
        try client.waitForBegin(of: first.id)
        let second = try Self.submit(client, "false", .keep)
        #expect(second.receipt == .coalesced)
        #expect(second.id == first.id)
        #expect(try client.show(first.id).state == .running)
        // One that is not unique is not counted, and stands for nobody.
        let plain = try Self.submit(client, "true", nil)
        #expect(plain.receipt == .accepted)
        #expect(try client.ended(plain.id).outcome == .completed)
        try daemon.letGo("first")
        #expect(try client.ended(first.id).outcome == .completed)
        let third = try Self.submit(client, "true", .keep)
        #expect(third.receipt == .accepted)
        #expect(third.id > plain.id)
        #expect(try client.ended(third.id).outcome == .completed)
    }

    @Test("26: keep answers with the task that waits, also in the next daemon")
    func keepQueued() throws {
        var daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        var client = try daemon.connect()
        try client.pause("one")
        let first = try Self.submit(client, "true", .keep, in: "one")
        #expect(first.receipt == .accepted)
        for crashes in [true, false] {
            let again = try Self.submit(client, "false", .keep)
            #expect(again.receipt == .coalesced)
            #expect(again.id == first.id)
            daemon = try daemon.successor(Self.settings, crashes: crashes)
            client = try daemon.connect()
        }
        try client.resume("one")
        #expect(try client.ended(first.id).outcome == .completed)
        #expect(try client.ask(Tasks.List.self) { $0.ended = true }.tasks?.count == 1)
    }

    @Test(
        "26: replace stops the one that runs, and starts when it is gone",
        arguments: ContainmentMode.available)
    func replaceRunning(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode, settings: Self.settings)
        let client = try daemon.connect()
        let script = "trap 'echo told' TERM; echo ready; \(daemon.waits(for: "old"))"
        let old = try client.submit(script: script) {
            $0.name = "sync"
            $0.unique = .keep
            $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000)
        }
        try daemon.waitForOutput("ready", of: old)
        let new = try Self.submit(client, "true", .replace)
        #expect(new.receipt == .accepted)
        #expect(new.id > old)
        try daemon.waitForOutput("told", of: old)
        let explanation = try client.explanation(new.id)
        #expect(explanation.rule == "unique")
        #expect(explanation.text == "the task that it replaces is being stopped")
        #expect(try client.show(new.id).waiting == "unique")
        // From now on the new one has the name.
        #expect(try Self.submit(client, "false", .keep).id == new.id)
        try daemon.letGo("old")
        let replaced = try client.ended(old)
        #expect(replaced.outcome == .cancelled)
        #expect(replaced.reason == "cancelled by user \(geteuid()): replaced")
        #expect(try client.explanation(old).rule == "cancel")
        #expect(try client.ended(new.id).outcome == .completed)
    }

    @Test(
        "26: replace takes the place of the one that waits, in one commit",
        arguments: [true, false])
    func replaceQueued(crashes: Bool) throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try client.pause("one")
        let old = try Self.submit(client, "true", .replace, in: "one")
        #expect(old.receipt == .accepted)
        let new = try Self.submit(client, "true", .replace, in: "one")
        #expect(new.receipt == .accepted)
        let next = try daemon.successor(Self.settings, crashes: crashes)
        let other = try next.connect()
        let replaced = try other.show(old.id)
        #expect(replaced.outcome == .cancelled)
        #expect(replaced.reason == "cancelled by user \(geteuid()): replaced")
        #expect(try other.show(new.id).waiting == "paused")
        try other.resume("one")
        #expect(try other.ended(new.id).outcome == .completed)
    }

    @Test("26: what is replaced is not tried again")
    func replacedRetry() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        let old = try client.submit(script: "echo ready; sleep 1000") {
            $0.name = "sync"
            $0.unique = .keep
            $0.retry = Tasks.Retry(attempts: 5, delay: 0)
        }
        try daemon.waitForOutput("ready", of: old)
        let new = try Self.submit(client, "true", .replace)
        #expect(try client.ended(old).outcome == .cancelled)
        #expect(try client.show(old).attempt == 1)
        #expect(try client.ended(new.id).outcome == .completed)
    }

    @Test(
        "26: a name is its owner's: another's task of the same name is not touched",
        .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
    func otherOwner() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor, settings: Self.settings)
        let games = try daemon.connect(as: .games)
        let theirs = try Self.submit(games, "sleep 1000", .keep)
        try games.waitForBegin(of: theirs.id)
        let backup = try daemon.connect(as: .backup)
        for unique in [Tasks.Unique.keep, .replace] {
            let mine = try Self.submit(backup, "true", unique)
            #expect(mine.receipt == .accepted)
            #expect(try backup.ended(mine.id).outcome == .completed)
        }
        #expect(try games.show(theirs.id).state == .running)
    }

    @Test(
        "26: a program whose every run submits its successor first goes on over a restart and a crash, and no round is lost or done twice"
    )
    func loop() throws {
        var daemon = try DaemonProcess(.supervisor)
        let rounds = daemon.folder.path + "/rounds"
        try Files.write("", to: rounds)
        let again =
            "\(Programs.path("bgtaskctl")) --socket \(daemon.socketPath) run --name loop "
            + "--unique replaceQueued --attempts 9 --retry-delay 1s --retry-interrupted -- sh \"$0\""
        // A daemon that stops takes nothing new; the run that it interrupts is tried again then.
        try Files.write(
            """
            trap '' TERM
            round=$(($(wc -l < \(rounds)) + 1))
            [ $round -ge 50 ] || until \(again); do sleep 0.05; done
            echo $round >> \(rounds)
            """, to: daemon.folder.path + "/loop.sh")
        _ = try daemon.connect().submit(["sh", daemon.folder.path + "/loop.sh"]) {
            $0.name = "loop"
            $0.unique = .replaceQueued
            $0.retry = Tasks.Retry(attempts: 9, delay: 1000, onInterruption: true)
        }
        func count() -> Int { Files.text(rounds).split(separator: "\n").count }
        for (bound, crashes) in [(10, false), (25, true), (35, true)] {
            try eventually("\(bound) rounds") { count() >= bound }
            daemon = try daemon.successor("", crashes: crashes)
        }
        try eventually("all rounds") { count() >= 50 }
        let client = try daemon.connect()
        try eventually("nothing is left") { try client.ask(Tasks.List.self).tasks?.isEmpty == true }
        #expect(
            Files.text(rounds).split(separator: "\n").compactMap { Int($0) } == Array(1...50))
    }
}
