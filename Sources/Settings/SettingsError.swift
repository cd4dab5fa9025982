/// One thing that is wrong with the settings, as `BadSettings` carries it.
package struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file's path, or `command line`.
    package let file: String
    /// Counted from 1; `nil` where the whole file is meant.
    package let line: Int?
    /// In characters, counted from 1; `nil` together with ``line``.
    package let column: Int?
    /// What is wrong, on one line; it begins with the key's path where it is about a key.
    package let text: String

    /// `FILE:LINE:COLUMN: text`, or `FILE: text`.
    package var description: String {
        let place = [
            file.onOneLine(lengthMax: 4096), line.map(String.init), column.map(String.init),
        ]
        return place.compactMap(\.self).joined(separator: ":") + ": " + text
    }
}

/// Why the settings were refused: everything that was found, in the order of the files.
package struct SettingsErrors: Error, Sendable, Equatable, CustomStringConvertible {
    package let first: SettingsError
    package let others: [SettingsError]

    /// - Returns: `nil` where there is no error.
    init?(_ errors: [SettingsError]) {
        guard let first = errors.first else { return nil }
        self.first = first
        others = Array(errors.dropFirst())
    }

    /// All of them, never empty.
    package var all: [SettingsError] { [first] + others }

    /// One line for each.
    package var description: String { all.map(\.description).joined(separator: "\n") }
}
