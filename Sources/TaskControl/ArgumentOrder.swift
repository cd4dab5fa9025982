internal import Settings

/// Moves the options that every verb has behind the verb, where ArgumentParser looks for them.
///
/// Only what stands before the verb is moved, so neither `--` nor a command behind it is ever touched.
package enum ArgumentOrder {
    private static let flags: Set<String> = ["--user", "--system", "--json", "--no-pager"]
    private static let valued = "--socket"
    /// The verbs that have verbs of their own; the options stand behind those.
    static let families: Set<String> = ["app", "group"]

    /// Whether they ask for JSON, for where they are too wrong to be parsed.
    static func askForJSON(_ arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains("--json")
    }

    /// The same arguments with the verb before the options that every verb has.
    ///
    /// Where there is no verb they are left out, since nothing takes them then; an option that is not one of
    /// them stays where it is, for ArgumentParser to judge.
    package static func verbFirst(_ arguments: [String]) -> [String] {
        var moved: [String] = []
        var kept: [String] = []
        var isInFamily = false
        var index = 0
        while index < arguments.count {
            let argument = arguments[index]
            if flags.contains(argument) || argument.hasPrefix(valued + "=") {
                moved.append(argument)
            } else if argument == valued, index + 1 < arguments.count {
                moved += [argument, arguments[index + 1]]
                index += 1
            } else if argument.hasPrefix("-") {
                kept.append(argument)
            } else if !isInFamily, families.contains(argument) {
                isInFamily = true
                kept.append(argument)
            } else {
                let globals = argument == "help" ? [] : moved
                return kept + [argument] + globals + arguments[(index + 1)...]
            }
            guard argument != "--" else { return arguments }
            index += 1
        }
        return isInFamily ? kept + moved : kept
    }
}

/// Says in one line what is wrong with the arguments.
package enum UsageText {
    /// The verbs that take a command, each with what stands before it.
    private static let verbsWithCommand = [
        "run": "run", "hold": "hold", "app register": "app register ID --",
    ]

    /// The verb that the arguments begin with, with both of its words where it is one of a family's.
    ///
    /// - Parameter message: says what is wrong; it may be that the family has no such verb.
    static func verb(of arguments: [String], refusedWith message: String) -> String? {
        guard let first = arguments.first, ArgumentOrder.families.contains(first) else {
            return arguments.first
        }
        guard let second = arguments.dropFirst().first, !second.hasPrefix("-"),
            !message.contains("'\(second)'")
        else { return first }
        return "\(first) \(second)"
    }

    /// What other programs of this kind call what some verbs do.
    private static let foreignVerbs = [
        "add": "run", "submit": "run", "exec": "run", "kill": "cancel", "stop": "cancel",
        "remove": "clean", "rm": "clean", "clear": "clean", "purge": "clean", "follow": "logs -f",
        "tail": "logs -f", "ls": "list",
        "ps": "list", "queue": "list", "stash": "pause", "enqueue": "resume", "start": "resume",
        "parallel": "slots", "switch": "edit --priority", "retry": "restart",
    ]

    /// Says that there is no such verb, and which may have been meant; `nil` where there is one.
    ///
    /// - Parameter verb: with both of its words where it is one of a family's.
    static func unknownVerb(_ verb: String) -> String? {
        let name = verb.split(separator: " ").first.map(String.init) ?? verb
        guard !Bgtaskctl.verbs.contains(name), name != "help" else { return nil }
        let hint =
            foreignVerbs[name].map { "; \($0) does that here" }
            ?? Spelling.hint(for: name, among: Bgtaskctl.verbs)
        let shown = VisibleText.oneLine(name)
        return "there is no command \(shown)\(hint.isEmpty ? "; see: bgtaskctl --help" : hint)"
    }

    /// - Parameters:
    ///   - message: ArgumentParser's, which may have more than one line.
    ///   - verb: the first argument; `nil` where there is none.
    package static func line(_ message: String, verb: String?) -> String {
        let lines = message.split(whereSeparator: \.isNewline)
            .map { $0.drop { $0 == " " } }
            .filter { !$0.isEmpty }
        var text = VisibleText.oneLine(lines.first.map(String.init) ?? "wrong arguments")
        if text.hasSuffix(":") {
            let values = lines.dropFirst().map {
                VisibleText.oneLine(String($0.drop { "- ".contains($0) }))
            }
            text += " " + values.joined(separator: ", ")
        }
        while text.hasSuffix(".") { text.removeLast() }
        guard let verb = verb.map(VisibleText.oneLine), !verb.hasPrefix("-") else {
            return text + "; see: bgtaskctl --help"
        }
        if let unknown = unknownVerb(verb) { return unknown }
        let isAboutCommand = text.contains("nexpected argument") || text.contains("<command>")
        if isAboutCommand, let words = verbsWithCommand[verb] {
            return "\(text); write it as in: bgtaskctl \(words) sleep 5"
        }
        return "\(text); see: bgtaskctl help \(verb)"
    }
}
