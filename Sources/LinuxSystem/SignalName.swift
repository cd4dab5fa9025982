internal import CLinux
internal import Glibc

/// Signals by name, as in signal(7), and back.
package enum SignalName {
    private static let standard: [(number: Int32, name: String)] = [
        (SIGHUP, "HUP"), (SIGINT, "INT"), (SIGQUIT, "QUIT"), (SIGILL, "ILL"), (SIGTRAP, "TRAP"),
        (SIGABRT, "ABRT"), (SIGBUS, "BUS"), (SIGFPE, "FPE"), (SIGKILL, "KILL"), (SIGUSR1, "USR1"),
        (SIGSEGV, "SEGV"), (SIGUSR2, "USR2"), (SIGPIPE, "PIPE"), (SIGALRM, "ALRM"),
        (SIGTERM, "TERM"), (SIGSTKFLT, "STKFLT"), (SIGCHLD, "CHLD"), (SIGCONT, "CONT"),
        (SIGSTOP, "STOP"), (SIGTSTP, "TSTP"), (SIGTTIN, "TTIN"), (SIGTTOU, "TTOU"),
        (SIGURG, "URG"), (SIGXCPU, "XCPU"), (SIGXFSZ, "XFSZ"), (SIGVTALRM, "VTALRM"),
        (SIGPROF, "PROF"), (SIGWINCH, "WINCH"), (SIGIO, "IO"), (SIGPWR, "PWR"), (SIGSYS, "SYS"),
    ]

    private static let synonyms: [(number: Int32, name: String)] = [
        (SIGIOT, "IOT"), (SIGCHLD, "CLD"), (SIGPOLL, "POLL"),
    ]

    /// The number of a name: `SIGTERM`, `TERM`, `RTMIN+3`, `SIGRTMAX-1`. `nil` where there is
    /// no such signal. Capitals count.
    package static func number(of name: String) -> Int32? {
        let short = name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name
        if let known = (standard + synonyms).first(where: { $0.name == short }) {
            return known.number
        }
        let lowest = clx_signal_realtime_min()
        let highest = clx_signal_realtime_max()
        guard short.hasPrefix("RTM") else { return nil }
        let isFromTop = short.hasPrefix("RTMAX")
        guard isFromTop || short.hasPrefix("RTMIN") else { return nil }
        guard let offset = offset(short.dropFirst(5), sign: isFromTop ? "-" : "+") else {
            return nil
        }
        guard offset <= highest - lowest else { return nil }
        return isFromTop ? highest - offset : lowest + offset
    }

    /// The name of a number: `SIGTERM`, `SIGRTMIN+3`; the bare number where it has no name.
    package static func name(of number: Int32) -> String {
        if let known = standard.first(where: { $0.number == number }) { return "SIG\(known.name)" }
        let lowest = clx_signal_realtime_min()
        if number == lowest { return "SIGRTMIN" }
        if number > lowest, number <= clx_signal_realtime_max() {
            return "SIGRTMIN+\(number - lowest)"
        }
        return "\(number)"
    }

    private static func offset(_ text: Substring, sign: Character) -> Int32? {
        if text.isEmpty { return 0 }
        guard text.first == sign else { return nil }
        let digits = text.dropFirst()
        guard digits.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        return Int32(digits)
    }
}
