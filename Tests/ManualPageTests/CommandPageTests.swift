import Foundation
import TestKit
import Testing

@Suite("The manual pages of the programs")
struct CommandPageTests {
    @Test(
        "have the sections that readers look for",
        arguments: ["bgtask-executor.8", "bgtaskctl.1", "bgtaskd.8"])
    func sections(name: String) throws {
        let sections = try ManualPage(name).sections
        let expected = [
            "NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES",
            "EXAMPLES", "SEE ALSO",
        ]
        #expect(sections.filter(expected.contains) == expected)
    }

    @Test("bgtaskctl(1) has every verb, and with each its own options and no others")
    func verbs() throws {
        let verbs = try CommandLine.of("bgtaskctl").verbs
        let common = Self.common(to: verbs)
        let parts = try ManualPage("bgtaskctl.1").parts(of: "COMMANDS")
        #expect(parts.map(\.title).sorted() == (verbs.map(\.name) + ["help"]).sorted())
        for verb in verbs {
            let part = try #require(parts.first { $0.title == verb.name })
            let own = verb.command.options.subtracting(common).filter { $0.hasPrefix("--") }
            #expect(part.usage.hasPrefix("bgtaskctl \(verb.name)"))
            #expect(CommandLine.options(in: part.usage) == own, "\(verb.name)")
        }
    }

    @Test("bgtaskctl(1) explains each option, and none that does not exist")
    func options() throws {
        let verbs = try CommandLine.of("bgtaskctl").verbs
        let own = verbs.map(\.command.options)
        let parts = try ManualPage("bgtaskctl.1").parts(of: "OPTIONS")
        #expect(Self.explained(parts) == own.reduce([]) { $0.union($1) })
        #expect(Self.explained(Array(parts.prefix(1))) == Self.common(to: verbs))
    }

    @Test("bgtaskctl(1) has every outcome, and every state that can be asked for")
    func outcomes() throws {
        let arguments = try CommandLine.of("bgtaskctl").verbs.flatMap { $0.command.arguments ?? [] }
        let page = try ManualPage("bgtaskctl.1")
        let outcomes = try #require(arguments.first { $0.valueName == "outcome" }?.allValues)
        #expect(page.section("DESCRIPTION").entries.map(\.tag) == outcomes)
        let states = try #require(arguments.first { $0.valueName == "state" }?.allValues)
        let state = page.section("OPTIONS").entries.first { $0.tag == "--state state" }
        for name in states { #expect(state?.text.contains(name) == true, "\(name)") }
        for name in ["condition", "which"] {
            let values = try #require(arguments.first { $0.valueName == name }?.allValues)
            let entry = page.parts(of: "OPTIONS").flatMap(\.entries)
                .first { $0.tag.hasSuffix(" \(name)") }
            for value in values { #expect(entry?.text.contains(value) == true, "\(value)") }
        }
    }

    @Test("bgtaskctl(1) explains each callback of an application")
    func callbacks() throws {
        let arguments = try CommandLine.of("bgtaskctl").verbs.flatMap { $0.command.arguments ?? [] }
        let callbacks = try #require(arguments.first { $0.valueName == "callback" }?.allValues)
        let tags = try ManualPage("bgtaskctl.1").section("APPLICATIONS").entries
            .flatMap { $0.tag.components(separatedBy: ", ") }
        #expect(tags.sorted() == callbacks.sorted())
    }

    @Test("bgtaskd(8) has each option in its synopsis, and explains it")
    func daemonOptions() throws {
        let options = try Self.daemonOptions()
        let page = try ManualPage("bgtaskd.8")
        #expect(Self.explained([page.section("OPTIONS")]) == options)
        let usage = CommandLine.options(in: page.section("SYNOPSIS").usage)
        #expect(usage == options.subtracting(["-h", "--help", "--version"]))
    }

    @Test("the shells complete each option of bgtaskd", arguments: ["bash", "zsh", "fish"])
    func daemonCompletions(shell: String) throws {
        let file = ManualPage.folder.appendingPathComponent(
            "../../config/completions/bgtaskd.\(shell)")
        let text = try String(contentsOf: file, encoding: .utf8)
        for option in try Self.daemonOptions() where option != "-h" {
            let name = option.dropFirst(2)
            #expect(text.contains(shell == "fish" ? "-l \(name)" : option), "\(option)")
        }
    }

    /// The options of the daemon, as it tells them itself.
    private static func daemonOptions() throws -> Set<String> {
        let help = try Program.said(by: Programs.path("bgtaskd"), ["--help"])
        let lines = String(decoding: help, as: UTF8.self).split(separator: "\n")
        let options = lines.filter { $0.hasPrefix("  -") }.map { line in
            line.dropFirst(2).prefix(16)
        }
        return CommandLine.options(in: options.joined(separator: " "))
    }

    @Test("bgtaskd(8) explains each field of the journal")
    func journalFields() throws {
        let source = ManualPage.folder.appendingPathComponent(
            "../../Sources/Systemd/Journal/JournalField.swift")
        let words = try String(contentsOf: source, encoding: .utf8).split { $0 == "\"" }
        let fields = words.filter {
            $0.hasPrefix("BGTASK_") && $0.count > 7 && $0.allSatisfy { $0.isUppercase || $0 == "_" }
        }
        let tags = try ManualPage("bgtaskd.8").section("JOURNAL").entries
            .flatMap { $0.tag.components(separatedBy: ", ") }
        #expect(fields.count > 10)
        for field in fields { #expect(tags.contains(String(field)), "\(field)") }
    }

    /// The options that all verbs have.
    private static func common(to verbs: [(name: String, command: CommandLine.Command)])
        -> Set<String>
    {
        let options = verbs.map(\.command.options)
        return options.dropFirst().reduce(options.first ?? []) { $0.intersection($1) }
    }

    private static func explained(_ parts: [ManualPage.Part]) -> Set<String> {
        CommandLine.options(in: parts.flatMap(\.entries).map(\.tag).joined(separator: " "))
    }
}
