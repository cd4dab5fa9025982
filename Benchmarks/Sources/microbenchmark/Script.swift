internal import BudgetCore

/// A fixed piece of work, the same in each run, whose instructions and allocations are counted.
enum Script: String, CaseIterable {
    /// A unit is a begin and an end, each a call in a turn of its own, with 1,000 other tasks live.
    case beginEnd = "begin-end"
    /// A unit is the typical calls, read and answered by nobody; with each fiftieth comes a large one.
    case parse

    /// As many units as there is material for.
    var countMax: Int {
        switch self {
        case .beginEnd: 10_000
        case .parse: 1000
        }
    }

    /// Does so many units. What they need is made before, for `countMax` units, so that two runs differ
    /// by the work alone.
    func run(_ count: Int) throws {
        switch self {
        case .beginEnd: try beginEnd(count)
        case .parse: try parse(count)
        }
    }

    private func beginEnd(_ count: Int) throws {
        let standing = 1000
        let begin = Corpus.begin("upload of a file")
        let ends = (1...countMax).map { Corpus.end(standing + $0) }
        let server = Server(try .standing(standing))
        for end in ends.prefix(count) {
            try server.answer(begin)
            try server.answer(end)
        }
    }

    private func parse(_ count: Int) throws {
        let typical = Corpus.typical
        let large = Corpus.large(variables: 500)
        var load = WireLoad()
        for number in 0..<count {
            for frame in typical { try load.answer(frame) }
            if number % 50 == 0 { try load.answer(large) }
        }
    }
}
