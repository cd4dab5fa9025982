internal import Glibc

/// Processes that belong together, and that a `ProcessHost` watches: its `poll` tells what happens to
/// them. For one thread.
package protocol ProcessSet: AnyObject {
    /// The number that the caller gave them, which comes back with their events.
    var identifier: UInt64 { get }

    /// What can hold them still.
    var freezer: FreezeMethod { get }

    /// Where they live, also those that are started later. No other processes live there.
    var homes: [ProcessHome] { get }

    /// Whether all of them are frozen, read now; `false` after the event `gone`.
    var isFrozen: Bool { get }

    /// All of them, zombies left out.
    func processIDs() throws(SystemError) -> [Int32]

    /// Sends a signal to every one of them.
    ///
    /// Frozen processes handle no signal but SIGKILL. A command is thawed for any other; adopted processes that a unit's
    /// freeze holds have to be thawed by the caller first.
    ///
    /// - Returns: how many got it; `nil` where somebody else was told to do it.
    @discardableResult
    func signal(_ number: Int32) throws(SystemError) -> Int?

    /// Orders the end of every one of them, the frozen included; `gone` tells when.
    func kill() throws(SystemError)

    /// Ends the use: no more events.
    func close()
}

extension ProcessSet {
    /// Sends a signal that asks them to end, and lets those go on that somebody has stopped: they would handle none
    /// (systemd.kill(5), which has SIGCONT sent after KillSignal= too).
    package func ask(_ number: Int32) throws(SystemError) {
        try signal(number)
        if ![SIGKILL, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU].contains(number) {
            try signal(SIGCONT)
        }
    }
}
