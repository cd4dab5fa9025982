import Foundation
import TestKit

/// A program's command line, as swift-argument-parser tells it of the program itself.
struct CommandLine: Decodable {
    struct Command: Decodable {
        var commandName: String
        var subcommands: [Command]?
        var arguments: [Argument]?

        /// The verbs that do something, each with the words that call it, such as `group list`.
        var verbs: [(name: String, command: Command)] {
            (subcommands ?? []).filter { $0.commandName != "help" }.flatMap { verb in
                let inner = verb.verbs.map { ("\(verb.commandName) \($0.name)", $0.command) }
                return inner.isEmpty ? [(verb.commandName, verb)] : inner
            }
        }

        /// The names of its options as they are typed, such as `-f` and `--follow`.
        var options: Set<String> {
            Set((arguments ?? []).flatMap { $0.names ?? [] }.map(\.typed))
        }
    }

    struct Argument: Decodable {
        var names: [Name]?
        var valueName: String?
        var allValues: [String]?
    }

    struct Name: Decodable {
        var kind: String
        var name: String

        var typed: String { (kind == "long" ? "--" : "-") + name }
    }

    var command: Command

    static func of(_ program: String) throws -> Command {
        let text = try Program.said(by: Programs.path(program), ["--experimental-dump-help"])
        return try JSONDecoder().decode(CommandLine.self, from: text).command
    }

    /// The options in a text, as they are typed.
    static func options(in text: String) -> Set<String> {
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "-" }
        return Set(
            words.filter { $0.hasPrefix("-") && $0.contains(where: \.isLetter) }.map(String.init))
    }
}
