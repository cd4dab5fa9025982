extension ExecutorLink {
    /// Who starts commands with it: no other state folder has these numbers.
    package struct Owner: Equatable, Sendable {
        package let high: UInt64
        package let low: UInt64

        package init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    /// The executor at the other end.
    package struct Executor: Equatable, Sendable {
        /// Differs between any two of them, and any two owners of one.
        package let high: UInt64
        package let low: UInt64
        package let processID: Int32
        package let version: String
    }

    /// What has become of the connection.
    package enum News: Equatable, Sendable {
        /// It is gone, and why.
        case lost(SystemError)
        /// There is one again, and what runs is known.
        case found(Executor)
        /// It has not answered for some time.
        case silent
        /// It answers again.
        case answers
        /// It has taken the orders of which there were too many.
        case caughtUp
        /// It has let the limit of a command pass, which was killed without it.
        case limitKept(command: UInt64)
        /// It was silent for too long while nothing of it ran, and was killed.
        case killed(Executor)
    }

    /// What commands may take.
    package struct Bounds: Equatable, Sendable {
        /// How many processes and threads each may have; `nil`: as many as the machine.
        var processesMax: Int?
        /// How long they go on after this daemon, in nanoseconds, unless another comes; `nil`: as the executor was started.
        var absenceMax: UInt64?

        package init(processesMax: Int? = nil, absenceMax: UInt64? = nil) {
            self.processesMax = processesMax
            self.absenceMax = absenceMax
        }
    }
}
