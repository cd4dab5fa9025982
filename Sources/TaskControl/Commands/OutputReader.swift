internal import TaskAPI

/// Which part of an output is wanted.
struct OutputPart: Equatable {
    /// So many of the last lines; `nil`: all.
    var linesMax: Int?
    /// One stream alone.
    var stream: String?
}

/// Shows what one task or several have printed.
struct OutputReader {
    private let session: Session
    private let input: Tasks.Output.Input
    private let part: OutputPart
    private let output: OutputText

    /// - Parameter input: what is asked of each of them.
    init(_ session: Session, _ input: Tasks.Output.Input, _ part: OutputPart = OutputPart()) {
        self.session = session
        self.input = input
        self.part = part
        output = OutputText(session.console)
    }

    /// Shows what a task has printed.
    ///
    /// - Parameter isNamed: whether a line in front of it names the task.
    /// - Returns: whether there was anything.
    func show(
        _ id: Int, _ connection: DaemonConnection, isNamed: Bool
    ) throws(Failure) -> Bool {
        var input = input
        input.id = id
        var isNamed = isNamed
        var hasPrinted = false
        if let linesMax = part.linesMax {
            let (lines, next) = try lastLines(of: id, linesMax, connection)
            hasPrinted = next ?? 0 > 0
            if isNamed, !lines.isEmpty { name(id) }
            isNamed = isNamed && lines.isEmpty
            for line in lines { output.show(line, of: id) }
            guard input.follow == true else { return hasPrinted }
            input.from = next
        }
        try connection.stream(Tasks.Output.self, input) { piece throws(Failure) in
            hasPrinted = hasPrinted || !piece.text.isEmpty || piece.next ?? 0 > 0
            guard isWanted(piece) else { return }
            if isNamed, !piece.text.isEmpty {
                name(id)
                isNamed = false
            }
            output.show(piece, of: id)
        }
        return hasPrinted
    }

    /// The last lines of what a task has printed so far, and where it goes on. What is missing before them is with the
    /// first, where less is kept than was asked for.
    private func lastLines(
        of id: Int, _ linesMax: Int, _ connection: DaemonConnection
    ) throws(Failure) -> (lines: [Tasks.Output.Output], next: Int?) {
        var input = input
        input.id = id
        input.follow = nil
        var last = LastLines(linesMax)
        var (dropped, next) = (0, Int?.none)
        try connection.stream(Tasks.Output.self, input) { piece throws(Failure) in
            next = piece.next ?? next
            dropped += piece.dropped ?? 0
            if isWanted(piece) { last.add(piece.text, of: piece.stream) }
        }
        var lines = last.lines.map { line in
            var piece = Tasks.Output.Output()
            piece.stream = line.stream
            piece.text = line.text
            return piece
        }
        guard dropped > 0, lines.count < linesMax else { return (lines, next) }
        if lines.isEmpty { lines.append(Tasks.Output.Output()) }
        lines[0].dropped = dropped
        return (lines, next)
    }

    /// Whether a piece is of the stream that is wanted; what is missing is of either.
    private func isWanted(_ piece: Tasks.Output.Output) -> Bool {
        part.stream == nil || piece.stream == part.stream || piece.text.isEmpty
    }

    /// Shows what several tasks print, as it comes, until all have ended.
    ///
    /// - Returns: the exit status.
    func follow(_ ids: [Int]) throws(Failure) -> Int32 {
        var open: [(id: Int, connection: DaemonConnection)] = []
        var named: Int?
        var status: Int32 = 0
        for id in ids {
            var input = input
            input.id = id
            let connection = try session.connect()
            if let linesMax = part.linesMax {
                do throws(Failure) {
                    let (lines, next) = try lastLines(of: id, linesMax, connection)
                    for line in lines { show(line, of: id, &named) }
                    input.from = next
                } catch {
                    session.console.notice(error.line)
                    status = ExitStatus.refused
                    continue
                }
            }
            try connection.send(Tasks.Output.self, input, more: true)
            open.append((id, connection))
        }
        while !open.isEmpty {
            for (id, connection) in open {
                do throws(Failure) {
                    while let (piece, continues) = try connection.replyIfReady(Tasks.Output.self) {
                        if isWanted(piece) { show(piece, of: id, &named) }
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

    /// Shows a piece, below the name of its task where the one before it was another's.
    private func show(_ piece: Tasks.Output.Output, of id: Int, _ named: inout Int?) {
        if named != id, !piece.text.isEmpty {
            name(id)
            named = id
        }
        output.show(piece, of: id)
    }

    private func name(_ id: Int) {
        if !session.console.isJSON { session.console.write("==> task \(id) <==\n") }
    }
}
