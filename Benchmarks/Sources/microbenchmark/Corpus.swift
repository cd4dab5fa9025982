internal import TaskAPI

/// Calls as clients write them, with the NUL at the end of each (varlink.org, Method Call).
enum Corpus {
    /// Borrows time.
    static func begin(_ name: String) -> [UInt8] {
        call(Tasks.Begin.name, "{\"name\":\"\(name)\"}")
    }

    /// Gives it back.
    static func end(_ id: Int) -> [UInt8] {
        call(Tasks.End.name, "{\"id\":\(id)}")
    }

    /// What one client or another asks all day.
    static let typical: [[UInt8]] = [
        begin("upload of a file"),
        call(
            Tasks.Begin.name,
            #"{"name": "flush the cache", "profile": "short", "#
                + #""budget": {"durationMs": 30000, "graceMs": 5000}}"#),
        end(1_234_567),
        call(Tasks.Submit.name, #"{"work":{"name":"load","command":["true"]}}"#),
        call(
            Tasks.Submit.name,
            #"{"work":{"name":"nightly backup","command":["/usr/bin/rsync","-a","--delete","#
                + #""/home/zoë/","backup:/srv/zoë/"],"directory":"/home/zoë","environment":"#
                + #"{"LANG":"en_US.UTF-8","RSYNC_RSH":"ssh -i \"/home/zo\u00eb/.ssh/backup\""},"#
                + #""profile":"extended","budget":{"durationMs":600000,"graceMs":6000},"#
                + #""expiration":{"signal":"SIGTERM"},"priority":10,"#
                + #""conditions":["network","externalPower"],"minimumIntervalMs":86400000,"#
                + #""unique":"keep","retry":{"attempts":3,"delayMs":30000}}}"#),
        call(Tasks.Cancel.name, #"{"id":1234567,"reason":"not needed any more"}"#),
    ]

    /// Opens a stream of events.
    static let watch = Array("{\"method\":\"\(Tasks.Watch.name)\",\"more\":true}".utf8) + [0]

    /// A submission with so many variables, of some 80 bytes for each repetition of a text.
    static func large(variables: Int, repetitions: Int = 1) -> [UInt8] {
        let words =
            #"a value of some length, with \"quotes\", a \u00e9, an é and a \\ in its middle, "#
        let text = String(repeating: words, count: repetitions)
        let lines = (0..<variables).map { "\"VARIABLE_\($0)\": \"\(text)\($0)\"" }
        let environment = lines.joined(separator: ", ")
        return call(
            Tasks.Submit.name,
            "{\"work\":{\"name\":\"large\",\"command\":[\"true\"],\"environment\":{\(environment)}}}"
        )
    }

    private static func call(_ method: String, _ parameters: String) -> [UInt8] {
        Array("{\"method\":\"\(method)\",\"parameters\":\(parameters)}".utf8) + [0]
    }
}
