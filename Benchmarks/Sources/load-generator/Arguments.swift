import BenchmarkSockets

/// The command line.
struct Arguments {
    static let usage = """
        load-generator EXCHANGE SOCKET [--clients N] [--depth N] [--seconds S] [--warm-up S] [--rate N]

        Puts a load on a server from one thread, and prints what it saw as one line of JSON.

          EXCHANGE   begin-end or submit (bgtaskd), put-delete or put (beanstalkd), echo (echo-server)
          --clients  connections; 16 unless told
          --depth    operations that each connection has under way at once; 1 unless told
          --seconds  how long it measures; 5 unless told
          --warm-up  how long before that it does not count; 0.5 unless told
          --rate     operations a second, begun when they are due and not when earlier ones are done: each
                     latency counts from the instant when the operation was due. Without it each connection
                     begins the next operation when one is done.

        Latencies are of whole operations: of begin and end, of put and delete, in microseconds. `begun` counts
        the operations of the warm-up too, all else only those after it. With a rate the generator waits for
        no event but looks for it all the time, and so uses a whole processor.
        """

    var exchange: Exchange
    var path: String
    var clients = 16
    var depth = 1
    var seconds = 5.0
    var warmUp = 0.5
    var rate: Double?

    init(_ arguments: [String]) throws {
        var plain: [String] = []
        var rest = arguments[...]
        var options: [String: Double] = [:]
        while let argument = rest.popFirst() {
            if argument.hasPrefix("--") {
                guard Self.options.contains(argument) else {
                    throw SocketError("\(argument) is not an option; see --help")
                }
                guard let value = rest.popFirst().flatMap(Double.init), value >= 0 else {
                    throw SocketError("\(argument) needs a number")
                }
                options[argument] = value
            } else {
                plain.append(argument)
            }
        }
        guard plain.count == 2 else { throw SocketError("what and where? see --help") }
        guard let named = Exchange.named.first(where: { $0.name == plain[0] }) else {
            throw SocketError("\(plain[0]) is not an exchange; see --help")
        }
        exchange = named.exchange
        path = plain[1]
        clients = try Self.count(options["--clients"], or: clients, max: 20_000)
        depth = try Self.count(options["--depth"], or: depth, max: 64)
        seconds = options["--seconds"] ?? seconds
        warmUp = options["--warm-up"] ?? warmUp
        rate = options["--rate"]
        guard seconds > 0, rate != 0 else { throw SocketError("0 seconds or a rate of 0") }
    }

    private static let options = ["--clients", "--depth", "--seconds", "--warm-up", "--rate"]

    private static func count(_ value: Double?, or usual: Int, max: Int) throws -> Int {
        guard let value else { return usual }
        guard let count = Int(exactly: value), 1...max ~= count else {
            throw SocketError("\(value) is not a whole number from 1 to \(max)")
        }
        return count
    }
}
