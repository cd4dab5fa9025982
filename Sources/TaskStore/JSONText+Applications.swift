internal import BudgetCore
internal import JSON

extension JSONText {
    static func array(of units: [AdoptedUnit]) -> String {
        let objects = units.map { unit in
            JSONValue.object(
                [("name", .string(unit.name))]
                    + (unit.user.map { [("user", .integer(Int($0)))] } ?? []))
        }
        return JSONValue.array(objects).text
    }

    static func array(of tasks: [HeldTask]) -> String {
        let objects = tasks.map { task in
            var members: [(key: String, value: JSONValue)] = [
                ("id", .integer(Int(clamping: task.id.rawValue))), ("name", .string(task.name)),
                ("ageMs", .integer(Int(milliseconds(task.age)))),
            ]
            if let duration = task.duration {
                members.append(("durationMs", .integer(Int(millisecondsUp(duration)))))
            }
            if let grace = task.grace {
                members.append(("graceMs", .integer(Int(milliseconds(grace)))))
            }
            return JSONValue.object(members)
        }
        return JSONValue.array(objects).text
    }

    /// - Returns: `nil` where the text is no array of units.
    static func units(_ text: String) -> [AdoptedUnit]? {
        guard case .array(let elements) = value(text) else { return nil }
        var units: [AdoptedUnit] = []
        for element in elements {
            guard case .string(let name) = element["name"] else { return nil }
            var unit = AdoptedUnit(name: name, user: nil)
            if let user = element["user"] {
                guard case .integer(let integer) = user, let number = UInt32(exactly: integer)
                else { return nil }
                unit.user = number
            }
            units.append(unit)
        }
        return units
    }

    /// - Returns: `nil` where the text is no array of held tasks.
    static func heldTasks(_ text: String) -> [HeldTask]? {
        guard case .array(let elements) = value(text) else { return nil }
        var tasks: [HeldTask] = []
        for element in elements {
            guard case .integer(let integer) = element["id"], let id = UInt64(exactly: integer),
                case .string(let name) = element["name"],
                let age = duration(element["ageMs"] ?? .null)
            else { return nil }
            var task = HeldTask(
                id: TaskID(rawValue: id), name: name, age: age, duration: nil, grace: nil)
            if let member = element["durationMs"] {
                guard let duration = duration(member) else { return nil }
                task.duration = duration
            }
            if let member = element["graceMs"] {
                guard let grace = duration(member) else { return nil }
                task.grace = grace
            }
            tasks.append(task)
        }
        return tasks
    }

    private static func duration(_ value: JSONValue) -> Duration? {
        guard case .integer(let milliseconds) = value else { return nil }
        return .milliseconds(milliseconds)
    }
}
