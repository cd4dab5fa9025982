internal import TaskAPI

/// Shows what one task or several have printed.
struct OutputReader {
    private let session: Session
    private let input: Tasks.Output.Input
    private let output: OutputText

    /// - Parameter input: what is asked of each of them.
    init(_ session: Session, _ input: Tasks.Output.Input) {
        self.session = session
        self.input = input
        output = OutputText(session.console)
    }

    /// Shows what a task has printed.
    ///
    /// - Parameter isNamed: whether a line in front of it names the task.
    func show(_ id: Int, _ connection: DaemonConnection, isNamed: Bool) throws(Failure) {
        var input = input
        input.id = id
        var isNamed = isNamed
        try connection.stream(Tasks.Output.self, input) { piece throws(Failure) in
            if isNamed, !piece.text.isEmpty {
                name(id)
                isNamed = false
            }
            output.show(piece)
        }
    }

    /// Shows what several tasks print, as it comes, until all have ended.
    ///
    /// - Returns: the exit status.
    func follow(_ ids: [Int]) throws(Failure) -> Int32 {
        var open: [(id: Int, connection: DaemonConnection)] = []
        for id in ids {
            var input = input
            input.id = id
            let connection = try session.connect()
            try connection.send(Tasks.Output.self, input, more: true)
            open.append((id, connection))
        }
        var named: Int?
        var status: Int32 = 0
        while !open.isEmpty {
            for (id, connection) in open {
                do throws(Failure) {
                    while let (piece, continues) = try connection.replyIfReady(Tasks.Output.self) {
                        if named != id, !piece.text.isEmpty {
                            name(id)
                            named = id
                        }
                        output.show(piece)
                        guard continues else {
                            open.removeAll { $0.id == id }
                            break
                        }
                    }
                } catch {
                    session.console.report(error)
                    status = ExitStatus.refused
                    open.removeAll { $0.id == id }
                }
            }
            session.console.flush()
            guard !open.isEmpty else { break }
            _ = Waiting.wait(for: open.map(\.connection.descriptor), until: nil)
        }
        return status
    }

    private func name(_ id: Int) {
        if !session.console.isJSON { session.console.write("==> task \(id) <==\n") }
    }
}
