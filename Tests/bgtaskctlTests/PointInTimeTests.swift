import Glibc
import Testing
import TaskControl

@Suite("A point in time on the command line")
struct PointInTimeTests {
    /// Seconds since 1970 of a local time.
    private func instant(
        _ year: Int32, _ month: Int32, _ day: Int32, _ hour: Int32, _ minute: Int32
    ) -> time_t {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
        (parts.tm_hour, parts.tm_min, parts.tm_isdst) = (hour, minute, -1)
        return mktime(&parts)
    }

    @Test(
        "is the next one that it can mean",
        arguments: [
            ("22:00", 10 * 3600), ("12:01", 60), ("12:00:30", 30), ("11:59", 86400 - 60),
            ("today 13:00", 3600), ("tomorrow", 12 * 3600), ("tomorrow 8:30", 20 * 3600 + 1800),
            ("Tomorrow  08:30:15", 20 * 3600 + 1815), ("2026-03-03 12:00", 86400),
            ("2026-03-02", -12 * 3600), ("today 11:00", -3600),
        ])
    func points(text: String, seconds: Int) throws {
        let now = instant(2026, 3, 2, 12, 0)
        #expect(try PointInTime.parse(text).seconds(after: now) == seconds)
    }

    @Test(
        "is the last one that it can mean where it is to be over",
        arguments: [
            ("11:59", 60), ("12:01", 86400 - 60), ("today", 12 * 3600), ("yesterday", 36 * 3600),
            ("yesterday 13:00", 23 * 3600), ("2026-03-02 11:00", 3600), ("2026-03-01T12:00", 86400),
            ("12:00", 0), ("tomorrow", nil), ("today 13:00", nil), ("2026-03-03", nil),
        ] as [(String, Int?)])
    func past(text: String, seconds: Int?) throws {
        let now = instant(2026, 3, 2, 12, 0)
        #expect(try PointInTime.parse(text).seconds(before: now) == seconds)
    }

    @Test(
        "is refused where it is none",
        arguments: [
            "", "now", "24:00", "12:60", "12", "12:00:60", "tomorrow 8", "8:30 tomorrow", "1:2:3:4",
            "2026-13-01", "2026-00-01", "2026-01-32", "26-01-01", "tomorrow 8:30 please", "-1:00",
            "99999:00", "12:00Z", "2026-01-01T12:00X", "2026-01-01T12:00.5Z",
            "2026-01-01T12:00:00.Z",
            "2026-01-01T12:00+1", "2026-01-01T12:00+0:1:0:0", "2026-01-01T12:00+1:30",
            "2026-01-01T12:00+24:00", "2026-01-01T12:00:00.5x", "2026-01-01Z",
        ])
    func refused(text: String) {
        #expect(throws: (any Error).self) { try PointInTime.parse(text) }
    }

    @Test(
        "is that of its zone, and a fraction of a second is left out",
        arguments: [
            ("2026-03-02T12:00:00.250Z", 0), ("2026-03-02T12:00Z", 0),
            ("2026-03-02 12:00:07+01:00", -3593), ("2026-03-02T12:00-0530", 19800),
            ("2026-03-03T00:00+12:00", 0), ("2026-03-02T12:00:01,490574087+00:00", 1),
            ("2026-03-02T13:00+01", 0),
        ])
    func zones(text: String, seconds: Int) throws {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday, parts.tm_hour) = (126, 2, 2, 12)
        let now = timegm(&parts)
        #expect(try PointInTime.parse(text).seconds(after: now) == seconds)
        #expect(try PointInTime.parse("2026-02-30T12:00Z").seconds(after: now) == nil)
    }

    @Test("is no day that the calendar does not have")
    func noSuchDay() throws {
        let now = instant(2026, 1, 1, 0, 0)
        #expect(try PointInTime.parse("2026-02-29").seconds(after: now) == nil)
        #expect(try PointInTime.parse("2028-02-29").seconds(after: now) != nil)
    }
}

@Suite("The variables of a command")
struct EnvironmentOptionTests {
    private func file(_ text: String) throws -> (folder: TemporaryFolder, path: String) {
        let folder = try TemporaryFolder()
        // The folder's own file, which goes with it.
        let path = folder.path + "/socket"
        let stream = try #require(fopen(path, "w"))
        fputs(text, stream)
        fclose(stream)
        return (folder, path)
    }

    @Test("are those of the files, then those that are named; the last counts")
    func order() throws {
        let first = try file("A=1\n# a comment\n\nB=x=y\nC=\n")
        let second = try file("A=2")
        let variables = try EnvironmentOption.variables(
            ["C=3", "D=4"], files: [first.path, second.path])
        #expect(variables == ["A": "2", "B": "x=y", "C": "3", "D": "4"])
    }

    @Test("are all of one's own where that is asked for")
    func all() throws {
        let variables = try EnvironmentOption.variables(["PATH=/x"], withAll: true)
        #expect(variables["PATH"] == "/x")
        #expect(variables["HOME"] == getenv("HOME").map { String(cString: $0) })
    }

    @Test("of a file that has something else are refused, with the line")
    func badFile() throws {
        let bad = try file("A=1\nexport B\n")
        let error = #expect(throws: (any Error).self) {
            try EnvironmentOption.variables([], files: [bad.path])
        }
        #expect("\(try #require(error))".contains("\(bad.path):2: a line is NAME=VALUE"))
        #expect(throws: (any Error).self) {
            try EnvironmentOption.variables([], files: ["/nonexistent/file"])
        }
    }
}
