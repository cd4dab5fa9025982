import TaskAPI
import Testing
import Varlink

@Suite("What the log takes of one owner")
struct AllowanceTests {
    @Test("entries over the rate are left out, counted, and said")
    func entriesOverTheRate() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "limits.auditRatePerOwnerMax = 5")
        let client = try daemon.connect()
        let countMax = 200
        for _ in 0..<countMax { _ = try client.call(Tasks.End.self, Tasks.End.Input()) }
        try daemon.waitForLog("Entries about an owner's tasks were not logged")
        try eventually("all are logged or counted; the log says:\n\(daemon.log)") {
            let lines = daemon.log.split(separator: "\n")
            let logged = lines.count { $0.contains("The invalid task 0 was ended") }
            let missed = lines.filter { $0.contains("were not logged") }.compactMap { line in
                line.split(separator: "=").last?.split { !$0.isNumber }.first.flatMap { Int($0) }
            }
            return logged + missed.reduce(0, +) == countMax && logged < countMax
        }
    }
}
