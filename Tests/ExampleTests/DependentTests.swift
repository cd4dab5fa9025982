import Foundation
import TestKit
import Testing

/// What somebody else's package gets that depends on the libraries.
@Suite("A package that depends on the libraries")
struct DependentTests {
    private struct Resolved: Decodable {
        struct Pin: Decodable { let identity: String }
        let pins: [Pin]
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Makes a repository that has the files of this one, as they are now, at a version: also where they are no
    /// repository.
    private func publish(as version: String) throws -> String {
        let repository = folder.path + "/bgtaskd.git"
        let git = [
            "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "git",
            "--git-dir=\(repository)", "--work-tree=\(Place.top)",
            "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "core.bare=false",
        ]
        try Tool.run(git + ["init", "--quiet"])
        try Tool.run(git + ["add", "--all"])
        try Tool.run(git + ["commit", "--quiet", "--message=All files"])
        try Tool.run(git + ["tag", version])
        return "file://" + repository
    }

    @Test(
        "has by version and without traits the library alone, which works",
        .enabled(if: Programs.folder == Programs.buildFolder, "it is built once"))
    func dependsByVersion() throws {
        let url = try publish(as: "1.0.0")
        let package = DependentPackage(
            at: folder.path + "/dependent",
            dependency: ".package(url: \"\(url)\", from: \"1.0.0\", traits: [])",
            products: [(name: "BackgroundTime", package: "bgtaskd")])
        try package.write(program: Place.examples + "/HoldExample/main.swift")
        let text = try package.build([
            "--cache-path", folder.path + "/cache", "--config-path", folder.path + "/config",
            "--security-path", folder.path + "/security",
        ])
        #expect(!text.contains("warning:"), "\(text)")

        let resolved = try Data(
            contentsOf: URL(fileURLWithPath: package.path + "/Package.resolved"))
        let pins = try JSONDecoder().decode(Resolved.self, from: resolved).pins
        #expect(pins.map(\.identity) == ["bgtaskd"])

        let daemon = try Daemon()
        let end = try Program(package.program, [daemon.socket, "60600", "60000"])
            .waitForEnd()
        #expect(end.text.contains("ended the task: expired"), "\(end.text)")
    }
}
