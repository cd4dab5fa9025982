import Foundation

/// A package that somebody else has, with one program.
struct DependentPackage {
    /// Its folder.
    let path: String
    private let dependencies: [String]
    private let products: [(name: String, package: String)]

    /// - Parameters:
    ///   - dependency: on this package, as a manifest says it.
    ///   - others: other dependencies.
    ///   - products: what the program uses.
    init(
        at path: String, dependency: String, others: [String] = [],
        products: [(name: String, package: String)]
    ) {
        self.path = path
        dependencies = [dependency] + others
        self.products = products
    }

    /// Writes its files, as far as they have changed.
    ///
    /// - Parameter program: the file that is its program.
    func write(program: String) throws {
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "dependent",
                dependencies: [\(dependencies.joined(separator: ", "))],
                targets: [
                    .executableTarget(name: "dependent", dependencies: [
                        \(products.map { ".product(name: \"\($0.name)\", package: \"\($0.package)\")" }
                            .joined(separator: ", "))
                    ])
                ])

            """
        let sources = path + "/Sources/dependent"
        try FileManager.default.createDirectory(
            atPath: sources, withIntermediateDirectories: true)
        try Self.write(manifest, to: path + "/Package.swift")
        try Self.write(
            String(contentsOfFile: program, encoding: .utf8), to: sources + "/main.swift")
    }

    private static func write(_ text: String, to file: String) throws {
        guard (try? String(contentsOfFile: file, encoding: .utf8)) != text else { return }
        try text.write(toFile: file, atomically: true, encoding: .utf8)
    }

    /// Builds it.
    ///
    /// - Returns: what the compiler wrote.
    func build(_ options: [String] = []) throws -> String {
        try Tool.run(["swift", "build", "--package-path", path] + options)
    }

    /// Its program, when it has been built.
    var program: String { path + "/.build/debug/dependent" }
}

/// A program of the machine that a test needs.
enum Tool {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs it to its end, as at somebody's who has no variable of this package's set.
    ///
    /// - Returns: what it wrote.
    @discardableResult
    static func run(_ arguments: [String]) throws -> String {
        let ours = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("BGTASK") }
        let (status, text) = try Program(
            "/usr/bin/env", (ours + ["BGTASKD_BIN_DIR"]).flatMap { ["-u", $0] } + arguments
        ).waitForEnd()
        guard status == 0 else {
            throw Failed(description: "\(arguments.joined(separator: " ")): \(text)")
        }
        return text
    }
}

/// A folder that is gone with its owner.
final class TemporaryFolder {
    let path = NSTemporaryDirectory() + "bgtaskd-dependent-" + UUID().uuidString

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
