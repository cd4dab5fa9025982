import Foundation
import TestKit
import Testing

/// What somebody else's package gets that depends on the libraries.
@Suite("A package that depends on the libraries")
struct DependentTests {
    private struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    private struct Resolved: Decodable {
        struct Pin: Decodable { let identity: String }
        let pins: [Pin]
    }

    /// A folder that is gone with the test.
    private final class Folder {
        let path = NSTemporaryDirectory() + "bgtaskd-dependent-" + UUID().uuidString

        init() throws {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func write(_ text: String, to name: String) throws {
            let url = URL(fileURLWithPath: path + "/" + name)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: url, atomically: true, encoding: .utf8)
        }
    }

    private let folder: Folder

    init() throws { folder = try Folder() }

    /// Runs a program to its end.
    ///
    /// - Returns: what it wrote.
    @discardableResult
    private func run(_ arguments: [String]) throws -> String {
        // As at somebody's who has no variable of this package's set.
        let ours = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("BGTASK") }
        let (status, text) = try Program(
            "/usr/bin/env", ours.flatMap { ["-u", $0] } + ["-u", "BGTASKD_BIN_DIR"] + arguments
        ).waitForEnd()
        guard status == 0 else {
            throw Failed(description: "\(arguments.joined(separator: " ")): \(text)")
        }
        return text
    }

    /// Makes a repository that has the files of this one, as they are now, at a version: also where they are no
    /// repository.
    private func publish(as version: String) throws -> String {
        let repository = folder.path + "/bgtaskd.git"
        let top = URL(fileURLWithPath: Place.examples).deletingLastPathComponent().path
        let git = [
            "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "git",
            "--git-dir=\(repository)", "--work-tree=\(top)",
            "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "core.bare=false",
        ]
        try run(git + ["init", "--quiet"])
        try run(git + ["add", "--all"])
        try run(git + ["commit", "--quiet", "--message=All files"])
        try run(git + ["tag", version])
        return "file://" + repository
    }

    @Test(
        "has by version and without traits the library alone, which works",
        .enabled(if: Programs.folder == Programs.buildFolder, "it is built once"))
    func dependsByVersion() throws {
        let url = try publish(as: "1.0.0")
        try folder.write(
            """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "dependent",
                dependencies: [.package(url: "\(url)", from: "1.0.0", traits: [])],
                targets: [
                    .executableTarget(
                        name: "dependent",
                        dependencies: [.product(name: "BackgroundTime", package: "bgtaskd")])
                ])
            """, to: "dependent/Package.swift")
        try folder.write(
            try String(contentsOfFile: Place.examples + "/HoldExample/main.swift", encoding: .utf8),
            to: "dependent/Sources/dependent/main.swift")
        let package = folder.path + "/dependent"
        let build =
            ["swift", "build", "--package-path", package, "--cache-path", folder.path + "/cache"]
            + ["--config-path", folder.path + "/config"]
            + ["--security-path", folder.path + "/security"]
        let text = try run(build)
        #expect(!text.contains("warning:"), "\(text)")

        let resolved = try Data(contentsOf: URL(fileURLWithPath: package + "/Package.resolved"))
        let pins = try JSONDecoder().decode(Resolved.self, from: resolved).pins
        #expect(pins.map(\.identity) == ["bgtaskd"])

        let daemon = try Daemon()
        let end = try Program(package + "/.build/debug/dependent", [daemon.socket, "600", "400"])
            .waitForEnd()
        #expect(end.text.contains("ended the task: expired"), "\(end.text)")
    }
}
