import CallFuzz
import Glibc

/// Whether the fuzzer is to end now.
// The handler of one signal alone writes it, once.
nonisolated(unsafe) var isAskedToEnd: sig_atomic_t = 0

/// Calls a daemon until it is told to end, also where that is started anew meanwhile.
final class Fuzzer {
    private let target: Target
    private let trace: String
    private let fuzz: CallFuzz
    private var surprises = 0

    init(socket path: String, seed: UInt64, seconds: Int, trace: String, processIDs: [Int]) {
        let target = Target(path: path, end: .now + .seconds(seconds))
        self.target = target
        self.trace = trace
        fuzz = CallFuzz(seed: seed, processIDs: processIDs) { target.connect() }
    }

    func run() {
        do {
            // Something to be about, then the extremes, then whatever comes.
            try fuzz.callAtRandom(200)
            try fuzz.callSystematically {
                noteSurprises()
                return target.mayGoOn
            }
            while target.mayGoOn {
                try fuzz.callAtRandom(100)
                noteSurprises()
            }
        } catch {
            if target.mayGoOn { print("unreachable") }
        }
        noteSurprises()
        fuzz.hangUp()
        report()
    }

    private func noteSurprises() {
        guard fuzz.counts.surprises > surprises else { return }
        surprises = fuzz.counts.surprises
        guard let file = fopen(trace, "w") else { return }
        for call in fuzz.recent { fputs(call + "\n", file) }
        fclose(file)
    }

    private func report() {
        print("calls \(fuzz.counts.calls)")
        print("surprises \(fuzz.counts.surprises)")
        print("connections \(target.connectionCount)")
        for (name, count) in fuzz.counts.answers.sorted(by: { $0.key < $1.key }) {
            print("answer \(name) \(count)")
        }
    }
}

/// The socket that is called.
private final class Target {
    private let path: String
    private let end: ContinuousClock.Instant
    private(set) var connectionCount = 0

    init(path: String, end: ContinuousClock.Instant) {
        self.path = path
        self.end = end
    }

    var mayGoOn: Bool { isAskedToEnd == 0 && ContinuousClock.now < end }

    /// Connects, for up to a minute again and again: the daemon may be starting.
    func connect() -> Int32? {
        let latest = min(end, ContinuousClock.now + .seconds(60))
        repeat {
            if let descriptor = connectOnce() {
                connectionCount += 1
                return descriptor
            }
            poll(nil, 0, 20)
        } while isAskedToEnd == 0 && ContinuousClock.now < latest
        return nil
    }

    private func connectOnce() -> Int32? {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            return nil
        }
        return descriptor
    }
}
