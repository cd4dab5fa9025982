/// Goes through the columns of a row: to name, to bind or to read them.
protocol ColumnVisitor {
    associatedtype Failure: Error

    mutating func column(_ name: StaticString, _ value: inout Int64) throws(Failure)
    mutating func column(_ name: StaticString, _ value: inout Int64?) throws(Failure)
    mutating func column(_ name: StaticString, _ value: inout String) throws(Failure)
    mutating func column(_ name: StaticString, _ value: inout String?) throws(Failure)
}

/// Gathers the names of columns.
struct ColumnNames: ColumnVisitor {
    private(set) var names: [String] = []

    static let ofTask: [String] = {
        var row = TaskRow()
        var visitor = ColumnNames()
        row.visit(&visitor)
        return visitor.names
    }()

    static let ofLiveTask: [String] = {
        var row = TaskRow()
        var visitor = ColumnNames()
        row.visitLive(&visitor)
        return visitor.names
    }()

    static let ofEnd: [String] = {
        var row = EndRow()
        var visitor = ColumnNames()
        row.visit(&visitor)
        return visitor.names
    }()

    mutating func column(_ name: StaticString, _ value: inout Int64) throws(Never) { add(name) }
    mutating func column(_ name: StaticString, _ value: inout Int64?) throws(Never) { add(name) }
    mutating func column(_ name: StaticString, _ value: inout String) throws(Never) { add(name) }
    mutating func column(_ name: StaticString, _ value: inout String?) throws(Never) { add(name) }

    private mutating func add(_ name: StaticString) {
        names.append("\(name)")
    }
}

/// Gives a row's values to a statement, one parameter a column.
struct ColumnBinder: ColumnVisitor {
    let statement: Statement

    mutating func column(_ name: StaticString, _ value: inout Int64) throws(StoreError) {
        try statement.bind(value)
    }

    mutating func column(_ name: StaticString, _ value: inout Int64?) throws(StoreError) {
        try statement.bind(value)
    }

    mutating func column(_ name: StaticString, _ value: inout String) throws(StoreError) {
        try statement.bind(value)
    }

    mutating func column(_ name: StaticString, _ value: inout String?) throws(StoreError) {
        try statement.bind(value)
    }
}

/// Takes a row's values from a statement, from the column `next` on.
struct ColumnReader: ColumnVisitor {
    let statement: Statement
    let path: String
    var next: Int32 = 0

    mutating func column(_ name: StaticString, _ value: inout Int64) throws(StoreError) {
        value = try required(name, statement.integer(next))
    }

    mutating func column(_ name: StaticString, _ value: inout Int64?) throws(StoreError) {
        value = statement.integer(next)
        next += 1
    }

    mutating func column(_ name: StaticString, _ value: inout String) throws(StoreError) {
        value = try required(name, statement.text(next))
    }

    mutating func column(_ name: StaticString, _ value: inout String?) throws(StoreError) {
        value = statement.text(next)
        next += 1
    }

    private mutating func required<Value>(
        _ name: StaticString, _ value: Value?
    ) throws(StoreError) -> Value {
        guard let value else {
            throw .damaged("read", path, "a row has no \(name); \(StoreError.remedy)")
        }
        next += 1
        return value
    }
}

extension Connection {
    /// What a statement answers with, row by row.
    func rows<Row>(
        _ sql: String, _ parameters: [SQLValue],
        _ read: (inout ColumnReader) throws(StoreError) -> Row
    ) throws(StoreError) -> [Row] {
        let statement = try statement(sql, "read")
        defer { statement.reset() }
        for parameter in parameters { try statement.bind(parameter) }
        var rows: [Row] = []
        while try statement.step() {
            var reader = ColumnReader(statement: statement, path: path)
            rows.append(try read(&reader))
        }
        return rows
    }
}
