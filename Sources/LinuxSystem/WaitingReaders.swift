internal import CLinux
internal import Glibc

/// The same as ``ProcessReaders`` for a thread that has nothing else to do, and waits.
package final class WaitingReaders {
    private let pool: ReaderPool
    private var readers: UnsafeMutablePointer<clx_readers> { pool.readers }
    private var maker: OwnedDescriptor?

    package init() throws(SystemError) { pool = try ReaderPool() }

    /// - Parameter maker: makes those that read (``CloserProcess/Maker/duplicate()``).
    package func have(_ maker: consuming OwnedDescriptor) { self.maker = consume maker }

    /// Whether some do not come back.
    var areHeldUp: Bool {
        _ = clx_readers_lack_process(readers, UInt64(MonotonicClock.now()))
        return readers.pointee.count > 1 && readers.pointee.open_count == 0
    }

    /// Looks at processes.
    ///
    /// - Returns: those that are there.
    /// - Throws: ETIMEDOUT where those who read are held up.
    func look(at processes: [Int32]) throws(SystemError) -> [ProcessLook] {
        var looks: [ProcessLook] = []
        var rest = processes[...]
        while !rest.isEmpty {
            looks += try answer(to: .looks(at: rest)).looks
            rest = rest.dropFirst(ProcessReaders.looksMax)
        }
        return looks
    }

    /// Looks at all processes, by rising number.
    ///
    /// - Throws: as above.
    func all() throws(SystemError) -> [ProcessLook] {
        var looks: [ProcessLook] = []
        var page = clx_question()
        page.kind = CLX_ASKS_PAGE
        repeat {
            let answer = try answer(to: page)
            looks += answer.looks
            page.from = answer.next
        } while page.from != 0
        return looks
    }

    private func answer(to question: clx_question) throws(SystemError) -> clx_answer {
        var question = question
        var answer = clx_answer()
        let number = clx_readers_ask(readers, &question, UInt64(MonotonicClock.now()))
        guard number != 0 else { throw SystemError(operation: "send", errno: EAGAIN) }
        while !clx_readers_hear(readers, &answer) || !answer.is_first || answer.number != number {
            if clx_readers_lack_process(readers, UInt64(MonotonicClock.now())) {
                let maker = maker?.rawValue ?? -1
                let process = try systemCall("sendmsg") { clx_closer_make(maker) }
                _ = clx_readers_employ(readers, process)
            }
            var answers = pollfd(fd: readers.pointee.questions.0, events: Int16(POLLIN), revents: 0)
            poll(&answers, 1, clx_readers_next_look(readers))
        }
        guard answer.error == 0 else {
            throw SystemError(operation: "read", errno: answer.error, subject: "/proc")
        }
        return answer
    }
}
