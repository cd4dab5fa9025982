import Foundation
import TestKit
import Testing

/// The daemon killed again and again under load; `make torture` does so for longer.
@Suite(
    "Killed with SIGKILL under a load of submissions", .serialized, .timeLimit(.minutes(15)))
struct TortureTests {
    /// Runs the script with files in a folder that is gone afterwards.
    private func torture(_ arguments: String...) throws -> Box.Result {
        let folder = "/tmp/bgtask-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700])
        let result = try Box.run(
            "torture", ["--build", Programs.folder] + arguments, ["TMPDIR": folder])
        try FileManager.default.removeItem(atPath: folder)
        return result
    }

    @Test("the daemon loses nothing that it answered, runs nothing twice, and leaves no process")
    func kills() throws {
        let run = try torture("--kills", "12")
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let counts = run.line.split(separator: "\n").last ?? ""
        // A load that got no answers would prove nothing.
        #expect(counts.hasPrefix("12 kills, ") && counts.contains(" completed"), "\(run)")
    }

    @Test(
        "commands that bgtask-executor runs go on over each end of the daemon, and end with that program",
        arguments: ["daemon", "both"])
    func executor(killed: String) throws {
        let run = try torture("--kills", "12", "--executor", killed)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        let counts = run.line.split(separator: "\n").last ?? ""
        #expect(counts.hasPrefix("12 kills, ") && counts.contains(" completed"), "\(run)")
    }

    @Test("a daemon that keeps its tasks in memory alone is seen to lose them")
    func memory() throws {
        let run = try torture("--kills", "2", "--durability", "memory")
        #expect(run.status == 1)
        #expect(run.output.contains("is lost"), "\(run.output)\(run.errors)")
    }
}
