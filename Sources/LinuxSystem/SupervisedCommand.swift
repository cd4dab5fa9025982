internal import CLinux
internal import Glibc

/// A command under a supervisor of its own.
final class SupervisedCommand {
    private var phase: Phase
    private var remains = Remains.processes
    /// What its processes used, told by the supervisor when none is left.
    private(set) var use: ProcessUse?

    /// How far the command itself is.
    private enum Phase {
        /// The supervisor is to start it. Becomes `running` or `ended`.
        case launching(LaunchRequest)
        /// By its process number. Becomes `ended`.
        case running(Int32)
        /// Its exit, or that it could not start, has been reported.
        case ended
    }

    /// What is left of the command and of all that it started. Each becomes only what stands further down.
    private enum Remains {
        case processes
        /// The supervisor alone: by a report or by its exit status it has said that no process is left.
        case supervisor
        case nothing
    }

    private let host: ProcessHost
    /// Until it is reaped.
    private var supervisor: WatchedChild?
    private var control: OwnedDescriptor?
    private let controlToken: WatchList.Token
    private var isOrderedToKill = false
    /// All processes of the command have been stopped, and not told to go on.
    private(set) var isFrozen = false
    /// Orders to thaw that were not answered yet. A report of a freeze that comes meanwhile is about an earlier order.
    private var thawsUnderWay = 0

    /// What a supervisor's report means for the task.
    enum Report {
        case event(ProcessEvent.What)
        case frozen
        case freezeFailed(SystemError)
        case thawed
    }

    private init(
        _ request: LaunchRequest,
        host: ProcessHost,
        supervisor: WatchedChild,
        control: consuming OwnedDescriptor,
        token: WatchList.Token
    ) {
        phase = .launching(request)
        self.host = host
        self.supervisor = supervisor
        self.control = consume control
        controlToken = token
    }

    /// Who is woken by a supervisor's reports and by its end, and with which roles.
    struct Listener {
        let owner: any WatchOwner
        let reportRole: Int
        let endRole: Int
    }

    /// Starts the supervisor at `path`, which starts the command.
    static func start(
        _ request: LaunchRequest,
        path: String,
        output: OutputPipeEnds,
        host: ProcessHost,
        listener: Listener
    ) throws(LaunchError) -> SupervisedCommand {
        do throws(SystemError) {
            return try begin(request, path, output, host, listener)
        } catch {
            let isSupervisors = error.operation == supervisorOperation
            throw LaunchError(
                stage: isSupervisors ? .supervisor : .prepare,
                errno: error.errno,
                subject: isSupervisors ? path : request.arguments.first ?? ""
            )
        }
    }

    private static func begin(
        _ request: LaunchRequest,
        _ path: String,
        _ output: OutputPipeEnds,
        _ host: ProcessHost,
        _ listener: Listener
    ) throws(SystemError) -> SupervisedCommand {
        var sockets = try DescriptorPair.sockets(.sequencedPacket, nonBlocking: false)
        let control = sockets.takeFirst()
        try control.setNonBlocking()
        let token = try host.watches.add(
            control.rawValue,
            .input,
            owner: listener.owner,
            role: listener.reportRole
        )
        do throws(SystemError) {
            let supervisor = try startSupervisor(
                request,
                path,
                output,
                sockets.takeSecond(),
                host,
                listener
            )
            return SupervisedCommand(
                request,
                host: host,
                supervisor: supervisor,
                control: control,
                token: token
            )
        } catch {
            host.watches.remove(token, control.rawValue)
            throw error
        }
    }

    // MARK: - What is left

    /// Its process, while it runs.
    var processID: Int32? { if case .running(let processID) = phase { processID } else { nil } }

    /// The supervisor has said that no process is left.
    var isEmpty: Bool { remains != .processes }

    /// No process is left, the supervisor included.
    var isGone: Bool { remains == .nothing }

    /// Takes note that no process is left, where the supervisor could not say so.
    func noteGone() { remains = .nothing }

    // MARK: - Orders

    func signal(_ number: Int32) {
        order(CLX_ORDER_SIGNAL, number)
    }

    /// Begins to stop all processes, or lets them go on; `frozen`, `freezeFailed` or `thawed` is the answer.
    ///
    /// - Returns: whether the supervisor could be told.
    @discardableResult
    func setFrozen(_ frozen: Bool) -> Bool {
        guard order(frozen ? CLX_ORDER_FREEZE : CLX_ORDER_THAW, 0) else { return false }
        if !frozen {
            isFrozen = false
            thawsUnderWay += 1
        }
        return true
    }

    /// The supervisor, while it can be told something.
    var supervisorID: Int32? { isEmpty ? nil : supervisor?.processID }

    /// None of its processes is stopped, and no earlier order will stop one.
    var isThawed: Bool { supervisorID == nil || !isFrozen && thawsUnderWay == 0 }

    /// The second call kills the supervisor itself; its processes then become children of this one.
    func kill() {
        order(CLX_ORDER_KILL, 0)
        // A process of the same user may have stopped the supervisor.
        if !isGone { supervisor?.signal(isOrderedToKill ? SIGKILL : SIGCONT) }
        isOrderedToKill = true
    }

    /// Lets go of the supervisor, which then ends everything.
    func closeControl() {
        guard let control = control.take() else { return }
        host.watches.remove(controlToken, control.rawValue)
    }

    @discardableResult
    private func order(_ kind: clx_supervisor_order_kind, _ number: Int32) -> Bool {
        guard let control = control?.rawValue else { return false }
        var message = clx_supervisor_order(kind: kind.rawValue, number: number)
        // Fails where the supervisor is gone, or has a thousand orders waiting while it is
        // stopped: nothing would come of one more.
        return send(control, &message, MemoryLayout.size(ofValue: message), Int32(MSG_NOSIGNAL)) > 0
    }

    // MARK: - What happens

    /// Reads what the supervisor has said since the last time.
    func readReports(index: Int) -> [Report] {
        var reports: [Report] = []
        while let control = control?.rawValue {
            var message = clx_supervisor_report()
            let size = MemoryLayout.size(ofValue: message)
            let count = recv(control, &message, size, 0)
            if count == size {
                if let report = understand(message, index: index) { reports.append(report) }
            } else if count < 0, errno == EINTR || errno == ECONNRESET {
                // Reset: it ended with an order unread. What it had said before is still to be read.
                continue
            } else if count < 0, errno == EAGAIN {
                break
            } else {
                closeControl()
            }
        }
        return reports
    }

    /// - Returns: whether the supervisor has ended.
    func reapSupervisor() -> Bool {
        guard let exit = supervisor?.reap() else { return false }
        supervisor = nil
        if exit == .status(0) { noteEmpty() }
        return true
    }

    /// Records how the command ended, where the supervisor could not report it.
    ///
    /// - Returns: `nil` where it has been told.
    func end(_ exit: Exit, index: Int) -> Report? {
        if case .ended = phase { return nil }
        phase = .ended
        return .event(.exited(index: index, exit))
    }

    private func noteEmpty() {
        if remains == .processes { remains = .supervisor }
    }

    private func understand(_ message: clx_supervisor_report, index: Int) -> Report? {
        switch clx_supervisor_report_kind(message.kind) {
        case CLX_REPORT_STARTED:
            phase = .running(message.pid)
            return .event(.started(index: index, processID: message.pid))
        case CLX_REPORT_FAILED:
            guard case .launching(let request) = phase else { return nil }
            phase = .ended
            let stage = clx_stage(UInt32(bitPattern: message.stage))
            let error = LaunchError(stage: stage, errno: message.code, request: request)
            return .event(.startFailed(index: index, error))
        case CLX_REPORT_EXITED: return end(.status(message.code), index: index)
        case CLX_REPORT_SIGNALLED: return end(.signal(message.code), index: index)
        case CLX_REPORT_GONE:
            noteEmpty()
            // A command begins with the supervisor's peak, which is small enough to be counted as its own.
            use = ProcessUse(
                cpuMicroseconds: message.cpu_us,
                memoryPeakBytes: message.memory_peak_bytes
            )
            return nil
        default: return understandFreeze(message)
        }
    }

    private func understandFreeze(_ message: clx_supervisor_report) -> Report? {
        switch clx_supervisor_report_kind(message.kind) {
        case CLX_REPORT_THAWED:
            thawsUnderWay = max(thawsUnderWay - 1, 0)
            isFrozen = false
            return .thawed
        case CLX_REPORT_FROZEN where thawsUnderWay == 0:
            isFrozen = true
            return .frozen
        case CLX_REPORT_FREEZE_FAILED where thawsUnderWay == 0:
            return .freezeFailed(Self.freezeError(message.pid, message.code))
        default: return nil
        }
    }

    private static func freezeError(_ processID: Int32, _ code: Int32) -> SystemError {
        SystemError(
            operation: "stop", errno: code, subject: "process \(processID)",
            detail: code == ETIMEDOUT ? "it does not stop, or starts others all the time" : nil)
    }

    private static let supervisorOperation = "start supervisor"

    private static func startSupervisor(
        _ request: LaunchRequest,
        _ path: String,
        _ output: OutputPipeEnds,
        _ control: consuming OwnedDescriptor,
        _ host: ProcessHost,
        _ listener: Listener
    ) throws(SystemError) -> WatchedChild {
        let file = try supervisorRequestFile(request)
        // What ps(1) shows; the command that is run is in the file.
        let command = String((request.arguments.first ?? "").unicodeScalars.prefix(128))
        var supervisor = LaunchRequest(
            arguments: [path, command],
            directory: "/",
            searchPath: "",
            fileModeMask: 0o077
        )
        // The command gets it from there.
        supervisor.input = request.input
        let spawned: SpawnedProcess
        do throws(LaunchError) {
            spawned = try spawn(
                supervisor,
                descriptors: [
                    output.output, output.error, control.rawValue, file.rawValue,
                ] + (host.stateLock.map { [$0] } ?? [])
            )
        } catch {
            throw SystemError(operation: supervisorOperation, errno: error.errno, subject: path)
        }
        return try WatchedChild(
            spawned,
            host: host,
            owner: listener.owner,
            role: listener.endRole
        )
    }
}
