/// The `<N>` that a program puts before a line to say how urgent it is (sd-daemon(3)).
package enum LevelPrefix {
    /// The most urgent that a line may make itself.
    ///
    /// What is above is about the whole machine: journald sends emergencies to all terminals (wall(1)),
    /// which is not for everyone's tasks to do.
    package static let mostUrgent = JournalLevel.critical

    /// Takes the prefix off a line.
    ///
    /// - Returns: the level that it asks for, at most ``mostUrgent``, `nil` where there is none; and the
    ///   text after it.
    package static func split(
        _ line: ArraySlice<UInt8>
    ) -> (level: JournalLevel?, text: ArraySlice<UInt8>) {
        let start = line.startIndex
        guard line.count >= 3, line[start] == UInt8(ascii: "<"),
            line[start + 2] == UInt8(ascii: ">"),
            line[start + 1] >= UInt8(ascii: "0"),
            let level = JournalLevel(rawValue: line[start + 1] - UInt8(ascii: "0"))
        else { return (nil, line) }
        return (max(level, mostUrgent), line[(start + 3)...])
    }
}
