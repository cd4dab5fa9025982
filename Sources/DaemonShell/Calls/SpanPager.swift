internal import BudgetCore
internal import TaskAPI
internal import TaskStore
internal import Varlink

/// Tells in which states applications were: what goes on and what is on its way to the disk at the time of the call, then
/// what the disk has, page by page, as its reader takes them.
final class SpanPager: Pager {
    /// What it needs of the others.
    struct Parts {
        let core: Core
        let pool: ConnectionPool
        let streams: ReplyStreams
        let lookups: HistoryLookups
    }

    /// A span that is to be told.
    private enum Row {
        case present(ApplicationSpan)
        case stored(StoredSpan)
    }

    /// Spans of an answer that is one message.
    private static let countMax = 1000
    /// Spans that are read from the disk at once, and that are told before others have their turn.
    private static let pageSize = 256
    /// What one takes in memory, about.
    private static let overhead = 192

    private let parts: Parts
    private let filter: SpanFilter
    /// Spans that began after the call are not told.
    private let through: UInt64
    /// Those of memory, which the disk may have by the time that it is read.
    private var told: Set<UInt64>
    private var rows: ArraySlice<Row>
    private var cursor: SpanCursor?
    private var isReading = false
    private var isDiskDone = false
    /// What the one answer without `more` will hold; `nil` with `more`, where each span is a reply.
    private var collected: [Row]?

    /// - Parameter waiting: the spans that have ended and that the disk does not have, the newest end first.
    init(_ parts: Parts, _ filter: SpanFilter, waiting: [StoredSpan], more: Bool) {
        self.parts = parts
        self.filter = filter
        let open = parts.core.registry.presentSpans(of: filter.owner)
        let present = open.filter { span in
            filter.application.map { $0.utf8.elementsEqual(span.key.id.utf8) } ?? true
        }.sorted { ($0.beganAt, $0.number) > ($1.beganAt, $1.number) }
        through = parts.core.registry.spanNumberLast
        told = Set(present.map(\.number) + waiting.map(\.number))
        rows = (present.map(Row.present) + waiting.map(Row.stored))[...]
        collected = more ? nil : []
    }

    var heldBytes: Int {
        (rows.count + (collected?.count ?? 0)) * Self.overhead + told.count * 16
    }

    func release() { (rows, told, collected) = ([], [], collected.map { _ in [] }) }

    func ended(for client: Client) { parts.lookups.forget(client) }

    func readerHasRoom(_ client: Client) {
        if !isReading { parts.streams.enqueue(client) }
    }

    func makePiece(for client: Client) {
        let before = client.connection.pendingOutputCount
        var count = 0
        defer {
            let made = max(client.connection.pendingOutputCount - before, 0)
            parts.streams.charge(count * ReplyRounds.rowCost + made)
            // What waits for its reader to take something goes on when that is so.
            if count > 0 { parts.pool.markDirty(client) }
        }
        while count < Self.pageSize, !rows.isEmpty {
            guard parts.pool.mayMakeMore(for: client) else { return parts.pool.account(client) }
            guard collected?.count != Self.countMax else {
                return finish(client, isTruncated: true)
            }
            guard let row = rows.popFirst() else { break }
            count += 1
            tell(row, to: client)
        }
        parts.pool.account(client)
        // That may have been too much for its account's buffers: there is nobody to answer then.
        guard !client.isClosed else { return }
        if !rows.isEmpty { return parts.streams.enqueue(client) }
        if isDiskDone { finish(client, isTruncated: false) } else { readPage(for: client) }
    }

    private func tell(_ row: Row, to client: Client) {
        guard collected == nil else {
            collected?.append(row)
            return
        }
        var output = Applications.History.Output()
        output.span = wire(row, parts.core.clocks)
        client.reply(output, continues: true)
    }

    private func wire(_ row: Row, _ clocks: ClockPair) -> Applications.Span {
        switch row {
        case .present(let span): Applications.Span(span, at: clocks.boot)
        case .stored(let span): Applications.Span(span, at: clocks.time)
        }
    }

    private func readPage(for client: Client) {
        isReading = true
        let question = HistoryThread.Question.spans(
            filter, through: through, after: cursor, countMax: Self.pageSize)
        parts.lookups.ask(question, for: client) { [unowned self] answer in
            isReading = false
            switch answer {
            case .spans(let page):
                cursor = page.next
                isDiskDone = page.next == nil
                rows = page.spans.filter { !told.contains($0.number) }.map(Row.stored)[...]
                parts.streams.enqueue(client)
            case .failed(let error):
                client.closeCall()
                client.reply(.unreadable(error))
                parts.pool.resume(client)
            case .task, .submission, .ended, .page, .output: break
            }
        }
    }

    private func finish(_ client: Client, isTruncated: Bool) {
        var output = Applications.History.Output()
        // All by the same clocks, so that a span ends when the next begins.
        let clocks = parts.core.clocks
        output.spans = collected?.map { wire($0, clocks) }
        if isTruncated { output.truncated = true }
        client.closeCall()
        client.reply(output)
        parts.pool.resume(client)
    }
}
