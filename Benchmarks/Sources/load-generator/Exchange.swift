/// What a client says in one operation, and what it expects to hear.
struct Exchange {
    /// A good reply: how it begins, whether the number of what was made follows, and what comes then.
    struct Reply {
        var start: String
        var hasNumber = false
        var rest = ""
    }

    /// The first request, whole.
    var request: String
    var reply: Reply

    /// The request that follows the first one's reply, around the number that it told.
    var following: (before: String, after: String, reply: Reply)?

    /// The last byte of each reply.
    var terminator: UInt8

    static let named: [(name: String, exchange: Exchange)] = [
        ("begin-end", beginEnd),
        ("put-delete", putDelete),
        ("submit", submit),
        ("put", put),
        // The echo server answers with as many bytes as bgtaskd.
        ("echo", beginEnd),
    ]

    private static let beginEnd = Exchange(
        request: #"{"method":"org.bgtaskd.Tasks.Begin","parameters":{"name":"load"}}"# + "\0",
        reply: Reply(start: #"{"parameters":{"id":"#, hasNumber: true, rest: ","),
        following: (
            before: #"{"method":"org.bgtaskd.Tasks.End","parameters":{"id":"#,
            after: "}}\0",
            reply: Reply(start: #"{"parameters":{"outcome":"completed"}}"#)
        ),
        terminator: 0
    )

    private static let submission =
        #"{"method":"org.bgtaskd.Tasks.Submit","parameters":"#
        + #"{"work":{"name":"load","command":["true"]}}}"#

    private static let submit = Exchange(
        request: submission + "\0",
        reply: Reply(
            start: #"{"parameters":{"id":"#, hasNumber: true, rest: #","receipt":"accepted""#),
        terminator: 0
    )

    private static let inserted = Reply(start: "INSERTED ", hasNumber: true, rest: "\r")

    /// A job with as many bytes as bgtaskd is told of a task.
    private static func put(_ body: String) -> String {
        "put 0 0 60 \(body.utf8.count)\r\n\(body)\r\n"
    }

    private static let putDelete = Exchange(
        request: put(String(beginEnd.request.dropLast())),
        reply: inserted,
        following: (before: "delete ", after: "\r\n", reply: Reply(start: "DELETED\r")),
        terminator: UInt8(ascii: "\n")
    )

    private static let put = Exchange(
        request: put(submission), reply: inserted, terminator: UInt8(ascii: "\n"))
}
