/// One row of the table of settings: everything that is known about a key.
///
/// `Root` is ``Settings``, or ``Settings/Profile`` and ``Settings/Group`` for the keys that each of
/// those has.
package struct SettingKey<Root: Sendable>: Sendable {
    /// The dotted path within `Root`: `limits.clientsMax`; for a profile `grace`.
    package let name: String
    package let type: SettingType
    package let changes: SettingChange
    /// One sentence for whoever sets it.
    package let meaning: String
    /// Reads the present value.
    package let value: @Sendable (Root) -> SettingValue
    /// Takes the value over from another root.
    let copy: @Sendable (_ from: Root, _ to: inout Root) -> Void
    /// Checks what a file says and stores it.
    package let assign: @Sendable (inout Root, TOMLValue) throws(SettingProblem) -> Void

    static func integer(
        _ name: String,
        _ path: SettingPath<Root, Int>,
        _ range: ClosedRange<Int>,
        _ meaning: String,
        _ changes: SettingChange = .byReload
    ) -> SettingKey {
        let type = SettingType.integer(range)
        return SettingKey(
            name: name,
            type: type,
            changes: changes,
            meaning: meaning,
            value: { .integer($0[keyPath: path]) },
            copy: { $1[keyPath: path] = $0[keyPath: path] },
            assign: { (root, given) throws(SettingProblem) in
                guard case .integer(let number) = given else { throw type.mismatch(given) }
                guard range.contains(number) else { throw type.outOfRange("\(number)") }
                root[keyPath: path] = number
            }
        )
    }

    static func flag(
        _ name: String,
        _ path: SettingPath<Root, Bool>,
        _ meaning: String,
        _ changes: SettingChange = .byReload
    ) -> SettingKey {
        SettingKey(
            name: name,
            type: .flag,
            changes: changes,
            meaning: meaning,
            value: { .flag($0[keyPath: path]) },
            copy: { $1[keyPath: path] = $0[keyPath: path] },
            assign: { (root, given) throws(SettingProblem) in
                guard case .boolean(let flag) = given else {
                    throw SettingType.flag.mismatch(given)
                }
                root[keyPath: path] = flag
            }
        )
    }

    /// A group of the user database; whether there is one of that name is for the start to say.
    static func group(
        _ name: String,
        _ path: SettingPath<Root, String>,
        _ meaning: String,
        _ changes: SettingChange = .byReload
    ) -> SettingKey {
        let type = SettingType.group
        return SettingKey(
            name: name,
            type: type,
            changes: changes,
            meaning: meaning,
            value: { .word($0[keyPath: path]) },
            copy: { $1[keyPath: path] = $0[keyPath: path] },
            assign: { (root, given) throws(SettingProblem) in
                guard case .string(let text) = given else { throw type.mismatch(given) }
                guard isDatabaseName(text) else {
                    throw SettingProblem(text: "expected \(type), found \(given.found)")
                }
                root[keyPath: path] = text
            }
        )
    }

    /// Users of the user database; whether there are such is for the start to say.
    static func users(
        _ name: String,
        _ path: SettingPath<Root, [String]>,
        _ meaning: String,
        _ changes: SettingChange = .byReload
    ) -> SettingKey {
        let type = SettingType.users
        return SettingKey(
            name: name,
            type: type,
            changes: changes,
            meaning: meaning,
            value: { .words($0[keyPath: path]) },
            copy: { $1[keyPath: path] = $0[keyPath: path] },
            assign: { (root, given) throws(SettingProblem) in
                guard case .array(let list) = given else { throw type.mismatch(given) }
                var users: [String] = []
                for element in list {
                    switch element {
                    case .string(let text) where !text.isEmpty && isDatabaseName(text):
                        users.append(text)
                    case .integer(let number) where number >= 0 && number < Int(UInt32.max):
                        users.append("\(number)")
                    default:
                        throw SettingProblem(
                            text: "expected \(type), found \(element.found) in it")
                    }
                }
                root[keyPath: path] = users
            }
        )
    }

    /// Whether the user database may have a user or a group of that name; empty is none.
    private static func isDatabaseName(_ text: String) -> Bool {
        text.utf8.count <= 256
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
    }

    static func choice<Word: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String,
        _ path: SettingPath<Root, Word>,
        _ meaning: String,
        _ changes: SettingChange = .byReload
    ) -> SettingKey {
        let words = Word.allCases.map(\.rawValue)
        let type = SettingType.choice(words)
        return SettingKey(
            name: name,
            type: type,
            changes: changes,
            meaning: meaning,
            value: { .word($0[keyPath: path].rawValue) },
            copy: { $1[keyPath: path] = $0[keyPath: path] },
            assign: { (root, given) throws(SettingProblem) in
                guard case .string(let text) = given else { throw type.mismatch(given) }
                guard let word = Word(rawValue: text) else {
                    let hint = Spelling.hint(for: text, among: words)
                    throw SettingProblem(text: "expected \(type), found \(given.found)\(hint)")
                }
                root[keyPath: path] = word
            }
        )
    }

    static func time(
        _ name: String,
        _ path: SettingPath<Root, Duration>,
        _ range: ClosedRange<Duration>,
        _ meaning: String,
        _ changes: SettingChange = .byReload
    ) -> SettingKey {
        let type = SettingType.time(range, infinity: false)
        return SettingKey(
            name: name,
            type: type,
            changes: changes,
            meaning: meaning,
            value: { .time($0[keyPath: path]) },
            copy: { $1[keyPath: path] = $0[keyPath: path] },
            assign: { (root, given) throws(SettingProblem) in
                if let duration = try type.duration(given) { root[keyPath: path] = duration }
            }
        )
    }

    /// A time that can be absent: `infinity`, where that is allowed.
    static func time(
        _ name: String,
        _ path: SettingPath<Root, Duration?>,
        _ range: ClosedRange<Duration>,
        infinity: Bool,
        _ meaning: String,
        _ changes: SettingChange = .byReload
    ) -> SettingKey {
        let type = SettingType.time(range, infinity: infinity)
        return SettingKey(
            name: name,
            type: type,
            changes: changes,
            meaning: meaning,
            value: { .time($0[keyPath: path]) },
            copy: { $1[keyPath: path] = $0[keyPath: path] },
            assign: { (root, given) throws(SettingProblem) in
                root[keyPath: path] = try type.duration(given)
            }
        )
    }
}

/// When a changed setting is in force.
package enum SettingChange: Sendable, Equatable {
    /// After `Reload`.
    case byReload
    /// Only after the daemon starts again.
    case byRestart
}

/// Where a setting lies in the settings.
typealias SettingPath<Root, Value> = any WritableKeyPath<Root, Value> & Sendable
