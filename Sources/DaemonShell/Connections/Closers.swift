internal import BudgetCore
internal import Glibc
package import LinuxSystem
package import Logging
internal import Systemd

/// Has what strangers have sent let go of by processes of their own, one after the other for each account: whoever sends
/// what cannot be let go of makes nobody else wait, and has no more processes by its subordinate uids.
package final class Closers: DescriptorCloser {
    /// Called with what was taken; `nil` where nobody knows what became of it. The text of a message is in the buffer.
    package typealias Completion = (NotifySocket.Receipt?, UnsafeMutableRawBufferPointer) -> Void

    /// One process, and what it takes for somebody.
    private final class Closer: DescriptorHandler {
        let process: CloserProcess
        let account: OwnerID
        private unowned let owner: Closers
        private var registration: DescriptorPoll.Registration?
        /// Of what it takes; and of what it closes, which nobody waits for.
        private var completions: [UInt64: Completion?] = [:]
        private var tokenLast: UInt64 = 0

        init(_ process: CloserProcess, of account: OwnerID, owner: Closers) throws(SystemError) {
            self.process = process
            self.account = account
            self.owner = owner
            registration = try owner.poll.add(process.descriptor, .input, self)
        }

        func ready(_ readiness: Readiness) { owner.ready(self) }

        /// How much it was given and has not done.
        var openCount: Int { completions.count }

        func close(_ descriptor: Int32) throws(SystemError) {
            tokenLast += 1
            try process.close(descriptor, token: tokenLast)
            completions.updateValue(nil, forKey: tokenLast)
        }

        func take(_ descriptor: Int32, _ completion: @escaping Completion) throws(SystemError) {
            tokenLast += 1
            try process.take(descriptor, token: tokenLast)
            completions.updateValue(completion, forKey: tokenLast)
        }

        func takeCompletion(_ token: UInt64) -> Completion? {
            completions.removeValue(forKey: token) ?? nil
        }

        /// - Returns: those that have no answer, and never will.
        func end() -> [Completion] {
            if let registration { owner.poll.remove(registration) }
            registration = nil
            defer { completions = [:] }
            return completions.keys.sorted().compactMap { completions[$0] ?? nil }
        }
    }

    /// An open socket that could not be given to anybody yet.
    private struct Waiting {
        let descriptor: Int32
        let user: UInt32
    }

    private let poll: DescriptorPoll
    private let log: Logger
    private let made: (CloserProcess.Maker) -> Void
    private var maker: CloserProcess.Maker?
    private let accounts: AccountSource
    /// The one of each account that has room, and all that have not ended.
    private var current: [OwnerID: Closer] = [:]
    private var all: [ObjectIdentifier: Closer] = [:]
    private var waiting: [Waiting] = []
    private var costs: [OwnerID: CallCost] = [:]
    private let remover: NameRemover
    /// When it is looked again whether what was to be removed is, and who has removed it has ended.
    private(set) var nextLook: Instant?

    /// - Parameters:
    ///   - maker: `nil` where there is none yet.
    ///   - made: gets this one and others that take its place.
    package init(
        _ poll: DescriptorPoll, _ maker: CloserProcess.Maker?, _ accounts: AccountSource,
        _ log: Logger,
        made: @escaping (CloserProcess.Maker) -> Void = { _ in }
    ) throws(SystemError) {
        remover = try NameRemover()
        self.poll = poll
        self.maker = maker
        self.accounts = accounts
        self.log = log
        self.made = made
        if let maker { made(maker) }
    }

    /// Closes a socket that has something of this user. Where no process can be had for that, it stays open until one can.
    package func close(_ descriptor: consuming OwnedDescriptor, of user: UInt32) {
        closeWaiting()
        let socket = Waiting(descriptor: descriptor.take(), user: user)
        do throws(SystemError) {
            try give(socket)
        } catch {
            // Of a shortage it is said once.
            if waiting.isEmpty {
                log.say(.descriptorsNotClosed, [.owner: "\(socket.user)", .reason: "\(error)"])
            }
            waiting.append(socket)
        }
    }

    // MARK: - What others may have mounted on

    /// Has a socket or a folder removed. Nobody in particular is its cause: everybody may mount something on what they see.
    package func remove(_ path: String) {
        do throws(SystemError) {
            try remover.remove(path)
        } catch {
            log.say(.nameNotRemoved, [.reason: "\(error)"])
        }
        look()
    }

    /// Sees to it that what waits to be removed is.
    func look() {
        do throws(SystemError) {
            if remover.lacksProcess {
                try withMaker { maker throws(SystemError) in try maker.make(for: remover) }
            }
        } catch {
            log.say(.nameNotRemoved, [.reason: "\(error)"])
        }
        nextLook = remover.nextLook.map { Instant.measured() + .milliseconds($0) }
    }

    /// Waits a moment for all that is to be removed.
    func endRemovals() {
        look()
        guard !remover.end(milliseconds: NameRemover.endMillisecondsMax) else { return }
        log.say(.nameNotRemoved, [.reason: "its removal is held up"])
    }

    // MARK: - What is to be closed

    /// Whether this user has sent so much that could not be let go of yet that no more sockets should be made for it: all
    /// that waits there counts for this process's user in the kernel, which makes a user with many sockets on their way wait
    /// for others'.
    package func isCrowded(by user: UInt32) -> Bool {
        let account = account(of: user)
        return all.values.reduce(0) { $0 + ($1.account == account ? $1.openCount : 0) }
            >= Self.openMax
    }

    private func account(of user: UInt32) -> OwnerID {
        accounts.accounts.account(of: OwnerID(rawValue: user))
    }

    private static let openMax = 256

    package func cost(of user: UInt32) -> CallCost {
        let account = account(of: user)
        if let cost = costs[account] { return cost }
        if costs.count >= Self.costsMax { costs = costs.filter { !$0.value.isNothing } }
        let cost = CallCost()
        costs[account] = cost
        return cost
    }

    /// So many are kept whether they say anything or not.
    private static let costsMax = 1024

    /// Has one datagram of a socket taken, with the descriptors that came with it.
    ///
    /// - Throws: where no process can be had for that.
    package func take(
        _ socket: Int32, of user: UInt32, _ completion: @escaping Completion
    ) throws(SystemError) {
        closeWaiting()
        try withCloser(of: user) { closer throws(SystemError) in
            try closer.take(socket, completion)
        }
    }

    /// Gives it to a process, and closes it here.
    private func give(_ socket: Waiting) throws(SystemError) {
        try withCloser(of: socket.user) { closer throws(SystemError) in
            try closer.close(socket.descriptor)
        }
    }

    private func closeWaiting() {
        guard let next = waiting.last, (try? give(next)) != nil else { return }
        waiting.removeLast()
    }

    // MARK: - The processes

    /// Has something done with a process of this user's account: with a new one where the last has ended, or has all that it can hold.
    private func withCloser(
        of user: UInt32, _ body: (Closer) throws(SystemError) -> Void
    ) throws(SystemError) {
        let account = account(of: user)
        if let closer = current[account] {
            do throws(SystemError) {
                return try body(closer)
            } catch  where error.errno == EPIPE {
                end(closer)
            } catch  where error.errno == EAGAIN {
                // It goes on with what it has, and ends then.
                current[account] = nil
            }
        }
        let closer = try make(of: account)
        try body(closer)
    }

    private func make(of account: OwnerID) throws(SystemError) -> Closer {
        let process = try withMaker { maker throws(SystemError) in try maker.make() }
        let closer = try Closer(process, of: account, owner: self)
        current[account] = closer
        all[ObjectIdentifier(closer)] = closer
        return closer
    }

    /// Connects to a socket of a user's, by a process with that user's rights that passes bytes on.
    ///
    /// - Throws: as ``CloserProcess/Maker/connect(to:as:)``.
    package func connect(
        to path: String, as user: UInt32
    ) throws(SystemError) -> OwnedDescriptor {
        try withMaker { maker throws(SystemError) in try maker.connect(to: path, as: user) }
    }

    /// A process as of a closer, for another use; see ``CloserProcess/Maker/makeProcess()``.
    package func makeProcess() throws(SystemError) -> OwnedDescriptor {
        try withMaker { maker throws(SystemError) in try maker.makeProcess() }
    }

    /// How others have such processes made; see ``CloserProcess/Maker/duplicate()``.
    func duplicateMaker() throws(SystemError) -> OwnedDescriptor {
        // Where it has ended, another one takes its place here.
        _ = try makeProcess()
        return try withMaker { maker throws(SystemError) in try maker.duplicate() }
    }

    /// With another maker where somebody has ended the one that there was.
    private func withMaker<Made: ~Copyable>(
        _ body: (CloserProcess.Maker) throws(SystemError) -> Made
    ) throws(SystemError) -> Made {
        if let maker {
            do throws(SystemError) {
                return try body(maker)
            } catch  where error.errno == EPIPE {}
        }
        let made = try CloserProcess.Maker()
        self.made(made)
        maker = made
        return try body(made)
    }

    private func ready(_ closer: Closer) {
        do throws(SystemError) {
            while let answer = try closer.process.answer(into: poll.buffer) {
                closer.takeCompletion(answer.token)?(answer.receipt, poll.buffer)
            }
        } catch {
            end(closer)
        }
    }

    private func end(_ closer: Closer) {
        if current[closer.account] === closer { current[closer.account] = nil }
        all[ObjectIdentifier(closer)] = nil
        for completion in closer.end() { completion(nil, poll.buffer) }
    }
}
