/// Moves the options that every verb has behind the verb, where ArgumentParser looks for them.
///
/// Only what stands before the verb is moved, so neither `--` nor a command behind it is ever touched.
enum ArgumentOrder {
    private static let flags: Set<String> = ["--user", "--system", "--json"]
    private static let valued = "--socket"

    /// The same arguments with the verb before the options that every verb has.
    ///
    /// Where there is no verb they are left out, since nothing takes them then; an option that is not one of
    /// them stays where it is, for ArgumentParser to judge.
    static func verbFirst(_ arguments: [String]) -> [String] {
        var moved: [String] = []
        var kept: [String] = []
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
            } else {
                let globals = argument == "help" ? [] : moved
                return kept + [argument] + globals + arguments[(index + 1)...]
            }
            guard argument != "--" else { return arguments }
            index += 1
        }
        return kept
    }
}

/// Says in one line what is wrong with the arguments.
enum UsageText {
    private static let verbsWithCommand: Set<String> = ["run", "hold"]

    /// - Parameters:
    ///   - message: ArgumentParser's, which may have more than one line.
    ///   - verb: the first argument; `nil` where there is none.
    static func line(_ message: String, verb: String?) -> String {
        let lines = message.split(whereSeparator: \.isNewline)
            .map { $0.drop { $0 == " " } }
            .filter { !$0.isEmpty }
        var text = VisibleText.oneLine(lines.first.map(String.init) ?? "wrong arguments")
        while text.hasSuffix(".") { text.removeLast() }
        guard let verb = verb.map(VisibleText.oneLine), !verb.hasPrefix("-") else {
            return text + "; see: bgtaskctl --help"
        }
        if text == "Unexpected argument '\(verb)'" {
            return "there is no verb \(verb); see: bgtaskctl --help"
        }
        let isAboutCommand = text.contains("nexpected argument") || text.contains("<command>")
        if verbsWithCommand.contains(verb), isAboutCommand {
            return "\(text); the command goes behind --, as in: bgtaskctl \(verb) -- sleep 5"
        }
        return "\(text); see: bgtaskctl help \(verb)"
    }
}
