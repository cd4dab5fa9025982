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

extension StoreError: CustomStringConvertible {
    /// `commit /var/lib/bgtaskd/tasks.db: No space left on device (SQLite code 13)`.
    package var description: String {
        let number = code == 0 ? "" : " (SQLite code \(code))"
        return "\(operation) \(path): \(text)\(number)"
    }
}
