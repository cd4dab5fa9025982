internal import ArgumentParser
internal import Glibc
internal import TaskAPI

extension TimelineGrouping: ExpressibleByArgument {}

/// Draws what happened, from the history and the present.
struct Timeline: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Draw when tasks waited, ran and ended, from the history and the present.",
        usage: "bgtaskctl timeline [<options>]",
        discussion: """
            The tasks of one name have a row, and an application has one above those of its tasks. Without \
            --since the last 24 hours are drawn, from the first thing in them on. On a terminal the picture is \
            made of characters; --svg, --html and -o make one for a browser, which shows what is to be \
            told of a task where the pointer rests on it. What is too much to be drawn one by one is drawn as \
            columns with its number.

            Example: bgtaskctl timeline --since 2h
            Example: bgtaskctl timeline --since 7d --name backup -o backups.html
            """
    )

    @OptionGroup var filter: FilterOptions

    @Option(
        help: ArgumentHelp("Draw up to then; now if not given.", valueName: "time"),
        transform: SinceOption.milliseconds)
    var until: Int?

    @Option(
        help: ArgumentHelp(
            "What has a row: all tasks of a name, each task, or each application.",
            valueName: "what"))
    var by = TimelineGrouping.name

    @Option(
        help: ArgumentHelp(
            "At most so many rows; those that took the least time are drawn as one.",
            valueName: "count"))
    var rows: Int?

    @Option(
        help: ArgumentHelp(
            "The width, in columns of text or in pixels.", valueName: "count"))
    var width: Int?

    @Flag(help: "Draw as SVG.")
    var svg = false

    @Flag(help: "Draw as an HTML page with a summary.")
    var html = false

    @Option(
        name: [.customShort("o"), .customLong("output-file")],
        help: ArgumentHelp(
            "Write there: an HTML page if it ends in .html, and SVG otherwise.", valueName: "file"),
        completion: .file())
    var outputFile: String?

    @OptionGroup var global: GlobalOptions

    /// What is made.
    private enum Form { case blocks, svg, html }

    private var form: Form {
        if svg { return .svg }
        guard !html else { return .html }
        guard let outputFile else { return .blocks }
        let name = outputFile.lowercased()
        return name.hasSuffix(".html") || name.hasSuffix(".htm") ? .html : .svg
    }

    /// The ending of a file's name that says that it holds another kind of picture.
    private static func foreignEnding(of path: String) -> String? {
        ["png", "jpg", "jpeg", "gif", "webp", "pdf", "ps", "eps", "txt"].map { "." + $0 }
            .first { path.lowercased().hasSuffix($0) }
    }

    private static let rowsMax = 10_000
    private static let spanUsual = 86_400_000

    func validate() throws {
        if svg && html { throw ValidationError("give --svg or --html, not both") }
        if global.json, form != .blocks {
            throw ValidationError(
                "--json prints the tasks and no picture: leave out --svg, --html and -o")
        }
        if outputFile?.isEmpty == true { throw ValidationError("the path of -o is empty") }
        if !svg, !html, let outputFile, let ending = Self.foreignEnding(of: outputFile) {
            throw ValidationError(
                "no picture is drawn as \(ending): name a file that ends in .svg or .html, or give --svg or --html"
            )
        }
        if let rows, !(1...Self.rowsMax ~= rows) {
            throw ValidationError("--rows must be within 1 and \(Self.rowsMax)")
        }
        let widths = form == .blocks ? TimelineBlocks.widths : TimelineSVG.widths
        if let width, !(widths ~= width) {
            let range = "\(widths.lowerBound) and \(widths.upperBound)"
            throw ValidationError("--width must be within \(range)")
        }
        if (filter.since ?? Self.spanUsual) <= (until ?? 0) {
            throw ValidationError(
                filter.since == nil
                    ? "--until is more than a day ago; give --since too"
                    : "--until must be later than --since")
        }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let console = session.console
        var past = TimelinePast(filter, since: filter.since ?? Self.spanUsual)
        try past.read(session.connect(), json: console.isJSON ? console : nil)
        guard !console.isJSON else { return 0 }
        let entries = past.entries(until: until)
        let axis = axis(of: entries, past.now)
        switch form {
        case .blocks:
            let width = width ?? Self.width(of: console.style)
            let chart = chart(entries, axis, TimelineBlocks.scale(width: width))
            let set = TimelineBlocks.CharacterSet.of(Surroundings.value)
            console.page(TimelineBlocks.text(chart, width: width, console.style, set))
        case .svg:
            let width = width ?? TimelineSVG.widthUsual
            let chart = chart(entries, axis, TimelineSVG.scale(width: width))
            try write(TimelineSVG.text(chart, width: width), console)
        case .html:
            let width = width ?? TimelineSVG.widthUsual
            let chart = chart(entries, axis, TimelineSVG.scale(width: width))
            let users = UserNames()
            let summary = TimelineSummary(entries, axis: axis, users: users.name)
            try write(TimelinePage.text(chart, summary, width: width), console)
        }
        return 0
    }

    private static func width(of style: Style) -> Int {
        guard style.isTerminal else { return TimelineBlocks.widthUsual }
        let widths = TimelineBlocks.widths
        return min(max(style.width, widths.lowerBound), widths.upperBound)
    }

    /// What was asked for; where nothing was, from the first thing on that is to be seen.
    private func axis(of entries: [TimelineEntry], _ now: Int) -> TimeAxis {
        let end = now - (until ?? 0)
        guard filter.since == nil else {
            // A time of day was asked for in whole seconds: its own tick is not to be missed.
            let begin = (now - (filter.since ?? 0)) / 1000 * 1000
            return TimeAxis(begin: begin, end: end, clock: .here)
        }
        let earliest = now - Self.spanUsual
        // An application may run for ever.
        let tasks = entries.filter(\.isTask)
        let drawn = tasks.isEmpty ? entries : tasks
        guard !drawn.isEmpty else { return TimeAxis(begin: earliest, end: end, clock: .here) }
        let first = max(earliest, drawn.reduce(end) { min($0, $1.begin) })
        return TimeAxis(
            begin: max(earliest, first - (end - first) / 50), end: end, clock: .here)
    }

    private func chart(
        _ entries: [TimelineEntry], _ axis: TimeAxis, _ scale: TimelineScale
    ) -> TimelineChart {
        var limits = TimelineLimits()
        if let rows { limits.rows = rows }
        return TimelineChart(
            entries, axis: axis, by: by, scale: scale, limits: limits, users: UserNames().name)
    }

    private func write(_ text: String, _ console: Console) throws(Failure) {
        guard let outputFile, outputFile != "-" else { return console.write(text) }
        try TextFile(path: outputFile).write(text)
    }
}
