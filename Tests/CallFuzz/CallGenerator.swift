import JSON
import Varlink

/// Makes calls that may or may not be right, from the descriptions of the interfaces alone.
///
/// Commands are a few harmless programs, whatever else is random.
package struct CallGenerator<Source: RandomNumberGenerator> {
    /// What the choices are drawn from.
    package private(set) var random: Source
    /// What answers have told.
    package var known = KnownValues()
    /// The numbers of processes that may hold tasks.
    private let processIDs: [Int]

    package init(_ random: Source, processIDs: [Int] = []) {
        self.random = random
        self.processIDs = processIDs
    }

    /// Methods that make what the others are about come more often.
    private static var methods: [DescribedMethod] {
        DescribedMethods.weighted
    }

    /// Any number, for choices that are not about calls.
    package mutating func choose() -> UInt64 { random.next() }

    /// Makes the next call.
    package mutating func next() -> Generated {
        let method = Self.methods.randomElement(using: &random) ?? DescribedMethod.all[0]
        if chance(400) { return broken(method) }
        if chance(5), let extreme = ExtremeField.all.randomElement(using: &random),
            let value = extreme.values.randomElement(using: &random)
        {
            return extreme.call(value)
        }
        var flags = ""
        let streams = method.name.hasSuffix(".Watch") || method.name.hasSuffix(".Output")
        if streams ? !chance(10) : chance(12) { flags += ",\"more\":true" }
        if chance(20) { flags += ",\"oneway\":true" }
        let name = chance(100) ? method.name + "x" : method.name
        let parameters = value(of: method.input, named: "")
        return Generated(name, parameters, flags: flags)
    }

    /// One of a number of calls.
    private mutating func chance(_ count: Int) -> Bool {
        Int.random(in: 0..<count, using: &random) == 0
    }

    private mutating func broken(_ method: DescribedMethod) -> Generated {
        let name = method.name
        let texts = [
            "", "[]", "{}", "{\"method\":1}", "{\"method\":\"\(name)\",\"more\":1}",
            CallText.call(name, "{\"id\":\"\\ud800\"}"), CallText.call(name, "{\"id\":1,\"id\":1}"),
            CallText.call(name, "{\"id\":01}"), CallText.call(name, "[]"),
            "{\"method\":\"\(name)\"",
            String(repeating: "[", count: 100), CallText.call("x", "{}"),
            CallText.call(name, "{}", flags: ",\"upgrade\":true"),
        ]
        return Generated(broken: texts.randomElement(using: &random) ?? "", method: name)
    }

    private mutating func value(of type: VarlinkType, named name: String) -> String {
        if chance(60) { return Extremes.others.randomElement(using: &random) ?? "null" }
        switch type {
        case .optional(let inner): return chance(20) ? "null" : value(of: inner, named: name)
        case .bool: return Bool.random(using: &random) ? "true" : "false"
        case .int: return number(named: name)
        case .float: return Extremes.odditiesOfNumbers.randomElement(using: &random) ?? "0"
        case .enumeration(let members):
            return "\"\(members.randomElement(using: &random) ?? "")\""
        case .string: return text(named: name)
        case .array(let element): return list(of: element, named: name)
        case .map(let element): return map(of: element)
        case .structure(let fields): return object(fields)
        case .object, .any: return payload()
        case .named: return "null"
        }
    }

    private mutating func object(_ fields: [VarlinkType.Field]) -> String {
        var members: [String] = []
        for field in fields {
            if case .optional = field.type {
                guard chance(3) else { continue }
            } else if chance(60) {
                continue
            }
            members.append("\"\(field.name)\":\(value(of: field.type, named: field.name))")
        }
        if chance(60) {
            members.append("\"unknown\":\(Int.random(in: .min ... .max, using: &random))")
        }
        if chance(4) { members.shuffle(using: &random) }
        return "{" + members.joined(separator: ",") + "}"
    }

    private mutating func number(named name: String) -> String {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return String(Extremes.integers.randomElement(using: &random) ?? 0)
        case 1:
            let edge = Int.max / (Extremes.units.dropFirst().randomElement(using: &random) ?? 1000)
            let distance = Int.random(in: -2000...2000, using: &random)
            return String(Bool.random(using: &random) ? edge + distance : distance - edge)
        case 2 where chance(4):
            return Extremes.odditiesOfNumbers.randomElement(using: &random) ?? "0"
        case 2: return String(Int.random(in: .min ... .max, using: &random))
        default: break
        }
        if name == "id" || name == "deliveryId" || name == "value",
            let number = known.number(using: &random)
        {
            return String(number &+ (chance(20) ? 1 : 0))
        }
        if name == "pid", let own = processIDs.randomElement(using: &random) { return String(own) }
        let most = [1, 10, 100, 1000, 10_000].randomElement(using: &random) ?? 1
        return String(Int.random(in: 0...most, using: &random))
    }

    private mutating func text(named name: String) -> String {
        if chance(12) { return Extremes.texts.randomElement(using: &random) ?? "\"\"" }
        let choices: [String] =
            switch name {
            case "id", "application": KnownValues.applications
            case "profile": ["default", "extended", "short", "long", "unlimited", "none"]
            case "group": ["fuzzed", "none"]
            case "signal": ["SIGTERM", "SIGINT", "SIGKILL", "SIGUSR1", "", "TERM", "SIG0"]
            case "directory": ["/", "/tmp", "/nonexistent", "tmp", "/root"]
            case "interface": ["org.bgtaskd.Tasks", "org.varlink.service", "none"]
            default: KnownValues.names
            }
        return JSONValue.string(choices.randomElement(using: &random) ?? "").text
    }

    private mutating func list(of element: VarlinkType, named name: String) -> String {
        if name == "command", !chance(8) {
            return [
                #"["/bin/true"]"#, #"["/bin/sleep","0.1"]"#, #"["/bin/sleep","1"]"#,
                #"["/bin/false"]"#, #"["/bin/echo","fuzzed"]"#, #"["/nonexistent/program"]"#,
            ].randomElement(using: &random) ?? "[]"
        }
        let count = [0, 1, 1, 2, 3, 20, 300].randomElement(using: &random) ?? 0
        var elements: [String] = []
        for _ in 0..<count { elements.append(value(of: element, named: name)) }
        // Whatever follows, it is looked for in no folder of programs.
        if name == "command" { elements.insert("\"/nonexistent/program\"", at: 0) }
        return "[" + elements.joined(separator: ",") + "]"
    }

    private mutating func map(of element: VarlinkType) -> String {
        let count = [0, 1, 2, 50].randomElement(using: &random) ?? 0
        var members: [String: String] = [:]
        for _ in 0..<count {
            let key =
                chance(20)
                ? Extremes.texts.randomElement(using: &random) ?? "\"\""
                : "\"V\(Int.random(in: 0..<100, using: &random))\""
            members[key] = value(of: element, named: "")
        }
        return "{"
            + members.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
            .joined(separator: ",") + "}"
    }

    private mutating func payload() -> String {
        let texts = [
            "{}", #"{"aps":{"alert":"text","badge":1}}"#, #"{"n":[1,2.5,-9223372036854775808]}"#,
            #"{"long":""# + String(repeating: "x", count: 4200) + "\"}",
        ]
        return texts.randomElement(using: &random) ?? "{}"
    }
}

/// The methods of which a generator chooses.
private enum DescribedMethods {
    private static let frequent = [
        "Tasks.Begin", "Tasks.Begin", "Tasks.End", "Tasks.Submit", "Tasks.Submit", "Tasks.Submit",
        "Tasks.Cancel", "Tasks.Cancel", "Tasks.Extend", "Applications.Register",
        "Applications.Launch", "Applications.Activate", "Applications.EnterBackground",
        "Applications.Push", "Tasks.History", "Tasks.List",
    ]

    static let weighted =
        DescribedMethod.all
        + frequent.compactMap { name in
            DescribedMethod.all.first { $0.name == "org.bgtaskd.\(name)" }
        }
}
