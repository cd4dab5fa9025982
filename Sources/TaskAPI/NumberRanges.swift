package import Varlink

// What numbers a call may have, each range in one place. They are checked where the call is decoded, so that no
// arithmetic behind it can overflow; what has narrower limits (a profile, the settings) refuses them with these.

extension ClosedRange<Int> {
    /// Ids of tasks and deliveries; 0 is the invalid one.
    package static var identifiers: Self { 0...Int.max }
    /// Ids of processes: the kernel's PID_MAX_LIMIT.
    package static var processIDs: Self { 1...4_194_304 }
    /// Ids of users; the highest of 32 bits is none.
    package static var owners: Self { 0...4_294_967_294 }
    /// Slots of the daemon, or of a group.
    package static var slotCounts: Self { 1...10_000 }
    /// The time of a budget: up to a hundred years.
    package static var budgetMilliseconds: Self { 1...spanMax }
    /// A time that may be none at all: a grace, a timeout, how long ago something was.
    package static var milliseconds: Self { 0...spanMax }
    /// How long a task may be held back: up to 366 days.
    package static var waitMilliseconds: Self { 0...366 * 86_400_000 }
    /// Before another attempt: up to 5 hours.
    package static var retryMilliseconds: Self { 0...5 * 3_600_000 }
    /// Places in what a task printed: up to an exbibyte.
    package static var positions: Self { 0...1 << 60 }
    /// Units of work: up to 2^53, which every JSON parser keeps exactly.
    package static var units: Self { 0...1 << 53 }
    package static var attempts: Self { 1...100 }
    package static var priorities: Self { -1000...1000 }
    /// A number on an icon.
    package static var badges: Self { 0...Int(Int32.max) }
    /// How many applications are meant.
    package static var counts: Self { 1...1_000_000 }
    /// syslog(3).
    package static var logLevels: Self { 0...7 }
    /// Limits of a cgroup: memory, up to an exbibyte.
    package static var memoryBytes: Self { 0...1 << 60 }
    /// Processes that a cgroup may have.
    package static var taskCounts: Self { 0...4_194_304 }
    /// Shares of the processor: cgroup-v2's cpu.weight.
    package static var cpuWeights: Self { 1...10_000 }

    private static var spanMax: Int { 100 * 366 * 86_400_000 }
}

extension CountLimit {
    /// Arguments of a command.
    package static let arguments = CountLimit("argumentsMax", max: 32_768)
    package static let environment = CountLimit("environmentVariablesMax", max: 4096)
    /// Members of an enumeration that are listed.
    package static let members = CountLimit("membersMax", max: 64)
}
