extension SettingKey {
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

extension SettingType {
    /// Reads a time span in its range; `nil` is infinity, and comes only where that is allowed.
    fileprivate func duration(_ given: TOMLValue) throws(SettingProblem) -> Duration? {
        guard case .time(let range, let infinity) = self, case .string(let text) = given else {
            throw mismatch(given)
        }
        let span: TimeSpan
        do throws(TimeSpan.Failure) {
            span = try TimeSpan(parsing: text)
        } catch {
            throw SettingProblem(
                text: "\(text.quotedOnOneLine) is not a time span: \(error); expected \(self)"
            )
        }
        guard let duration = span.duration else {
            guard infinity else { throw outOfRange(text) }
            return nil
        }
        guard range.contains(duration) else { throw outOfRange(text) }
        return duration
    }

    func mismatch(_ given: TOMLValue) -> SettingProblem {
        var hint = ""
        switch (self, given) {
        case (.time, .integer), (.time, .float), (.time, .date): hint = "; write it as \"180s\""
        case (.integer, .string(let text)) where Int(text) != nil: hint = "; leave out the quotes"
        case (.flag, .string("true")), (.flag, .string("false")): hint = "; leave out the quotes"
        default: break
        }
        return SettingProblem(text: "expected \(self), found \(given.found)\(hint)")
    }

    func outOfRange(_ text: String) -> SettingProblem {
        SettingProblem(text: "\(text.onOneLine(lengthMax: 64)) is out of range: expected \(self)")
    }
}
