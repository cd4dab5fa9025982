internal import CSQLite
internal import Glibc

/// Something that the store could not do: what, why, and in which file.
package struct StoreError: Error, Equatable, Sendable {
    /// What it means for whoever uses the store.
    package enum Cause: Equatable, Sendable {
        /// No room for what is to be written; heals when there is.
        case diskFull
        /// The file or its file system takes no writing; heals when it does.
        case readOnly
        /// Another process holds the database; heals when it lets go.
        case locked
        /// The disk answered with an error; may heal.
        case inputOutput
        /// What the file holds makes no sense; does not heal.
        case damaged
        /// The file is something else than a store of tasks.
        case foreign
        /// The file was written by a later version, with this schema version.
        case newer(Int)
        /// A change that does not fit what is stored, such as the end of a task that has ended.
        case contradiction
        /// The store has been closed.
        case closed
        case other
    }

    package let cause: Cause
    /// What was tried, in a word or two: `open`, `commit`.
    package let operation: String
    /// The path of the database, or `:memory:`.
    package let path: String
    /// SQLite's extended result code; 0 where the error is not SQLite's.
    package let code: Int32
    /// Why it failed, in plain words, and what to do where that is known.
    package let text: String

    package init(
        cause: Cause,
        operation: String,
        path: String,
        code: Int32 = 0,
        text: String
    ) {
        self.cause = cause
        self.operation = operation
        self.path = path
        self.code = code
        self.text = text
    }

    /// Whether the same change may succeed later without anybody changing the file.
    package var mayHeal: Bool {
        switch cause {
        case .diskFull, .readOnly, .locked, .inputOutput: true
        case .damaged, .foreign, .newer, .contradiction, .closed, .other: false
        }
    }
}

extension StoreError {
    /// The error that a connection has just answered with.
    ///
    /// - Parameters:
    ///   - systemError: the errno that the call left, and 0 where no system call failed; SQLite keeps
    ///     none of a failed commit.
    ///   - handle: the connection, which has the words; `nil` where there is none.
    init(
        code: Int32, errno systemError: Int32, handle: OpaquePointer?, operation: String,
        path: String
    ) {
        let cause = StoreError.cause(code: code, errno: systemError)
        self.init(
            cause: cause, operation: operation, path: path, code: code,
            text: StoreError.text(cause, code: code, errno: systemError, handle: handle))
    }

    /// A file that is not as the store would have left it.
    static func damaged(_ operation: String, _ path: String, _ text: String) -> StoreError {
        StoreError(
            cause: .damaged, operation: operation, path: path, code: SQLITE_CORRUPT, text: text)
    }

    /// What to do about a file that cannot be used; the store itself never replaces one.
    static let remedy =
        "move the file away, with those beside it whose names begin the same, to start with an empty "
        + "store, or put a backup in its place"

    private static func cause(code: Int32, errno: Int32) -> Cause {
        switch code & 0xFF {
        case SQLITE_FULL: return .diskFull
        case SQLITE_READONLY: return .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED: return .locked
        case SQLITE_CORRUPT: return .damaged
        case SQLITE_NOTADB: return .foreign
        case SQLITE_CONSTRAINT: return .contradiction
        case SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_PERM:
            switch errno {
            case ENOSPC, EDQUOT: return .diskFull
            case EROFS, EACCES, EPERM: return .readOnly
            default: return .inputOutput
            }
        default: return .other
        }
    }

    private static func text(
        _ cause: Cause, code: Int32, errno: Int32, handle: OpaquePointer?
    ) -> String {
        let message = handle.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        let said = message.map { String(cString: $0) } ?? "unknown error"
        switch cause {
        case .damaged: return "the database is damaged (\(said)); \(remedy)"
        case .foreign: return "not a store of tasks (\(said)); \(remedy)"
        case .locked: return "another process is writing to the database (\(said))"
        case .diskFull where errno != EDQUOT: return "no space left on the disk (\(said))"
        default:
            guard errno != 0, let reason = strerror(errno) else { return said }
            return "\(String(cString: reason)) (\(said))"
        }
    }
}

extension StoreError: CustomStringConvertible {
    /// `commit /var/lib/bgtaskd/tasks.db: No space left on device (SQLite code 13)`.
    package var description: String {
        let number = code == 0 ? "" : " (SQLite code \(code))"
        return "\(operation) \(path): \(text)\(number)"
    }
}
