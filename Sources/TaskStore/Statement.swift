internal import CSQLite
internal import Glibc

/// A prepared statement, which is used again and again.
///
/// Parameters are given in their order, from the first; `reset` begins anew.
final class Statement {
    private var handle: OpaquePointer?
    // The connection keeps its statements, and lets go of them before it ends.
    private unowned let connection: Connection
    private let operation: String
    private var parameter: Int32 = 0

    init(_ handle: OpaquePointer, of connection: Connection, _ operation: String) {
        self.handle = handle
        self.connection = connection
        self.operation = operation
    }

    deinit {
        finish()
    }

    /// Lets go of what it holds in the connection; it answers nothing afterwards.
    func finish() {
        sqlite3_finalize(handle)
        handle = nil
    }

    /// Gives the next parameter; `nil` leaves it NULL, as `reset` has made it.
    func bind(_ value: Int64?) throws(StoreError) {
        parameter += 1
        guard let value else { return }
        try check(sqlite3_bind_int64(handle, parameter, value))
    }

    /// Gives the next parameter; `nil` leaves it NULL, as `reset` has made it.
    func bind(_ value: String?) throws(StoreError) {
        parameter += 1
        guard var value else { return }
        let number = parameter
        let code = value.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) { bytes in
                sqlite3_bind_text64(
                    handle, number, bytes.baseAddress, sqlite3_uint64(bytes.count),
                    csqlite_transient(), UInt8(SQLITE_UTF8))
            }
        }
        try check(code)
    }

    /// Gives the next parameter.
    func bind(_ value: [UInt8]) throws(StoreError) {
        parameter += 1
        // Of no bytes there is no address, which would be NULL.
        guard !value.isEmpty else { return try check(sqlite3_bind_zeroblob(handle, parameter, 0)) }
        let code = value.withUnsafeBytes { bytes in
            sqlite3_bind_blob64(
                handle, parameter, bytes.baseAddress, sqlite3_uint64(bytes.count),
                csqlite_transient())
        }
        try check(code)
    }

    /// Goes on to the next row.
    ///
    /// - Returns: whether there is one.
    func step() throws(StoreError) -> Bool {
        try step(as: operation)
    }

    /// Goes on to the next row; an error names that operation.
    func step(as operation: String) throws(StoreError) -> Bool {
        errno = 0
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw connection.error(code, operation)
        }
    }

    /// Runs a statement that answers nothing, and makes it ready for its next use.
    func run() throws(StoreError) {
        defer { reset() }
        _ = try step()
    }

    /// Makes it ready for its next use; the error that this repeats has been thrown by `step`.
    func reset() {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        parameter = 0
    }

    /// The number in a column of the present row, from 0; `nil` where there is none.
    func integer(_ column: Int32) -> Int64? {
        guard sqlite3_column_type(handle, column) != SQLITE_NULL else { return nil }
        return sqlite3_column_int64(handle, column)
    }

    /// The text in a column of the present row, from 0; `nil` where there is none.
    func text(_ column: Int32) -> String? {
        guard let start = sqlite3_column_text(handle, column) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The bytes in a column of the present row, from 0; none where there are none.
    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(sqlite3_column_bytes(handle, column))
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code != SQLITE_OK else { return }
        let error = connection.error(code, operation)
        reset()
        throw error
    }
}

/// A parameter of a statement that is put together.
enum SQLValue {
    case number(Int64)
    case text(String)
}

extension Statement {
    /// Gives the next parameter.
    func bind(_ value: SQLValue) throws(StoreError) {
        switch value {
        case .number(let number): try bind(number)
        case .text(let text): try bind(text)
        }
    }
}
