import Foundation

/// The files of the repository that the rules are for.
enum RepositoryFiles {
    /// Its top folder.
    static let top = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// All of Sources/, Tests/ and the benchmarks that is code.
    static func all() throws -> [SourceFile] { try once.get() }

    /// Taking a file apart takes its time.
    private static let once = Result { try read() }

    private static func read() throws -> [SourceFile] {
        var files: [SourceFile] = []
        for folder in ["Sources", "Tests", "Benchmarks/Sources"] {
            let names = try FileManager.default.subpathsOfDirectory(
                atPath: top.appendingPathComponent(folder).path
            )
            for name in names.sorted() {
                guard [".swift", ".c", ".h"].contains(where: { name.hasSuffix($0) }) else {
                    continue
                }
                let path = "\(folder)/\(name)"
                let url = top.appendingPathComponent(path)
                files.append(
                    SourceFile(path: path, text: try String(contentsOf: url, encoding: .utf8))
                )
            }
        }
        return files
    }
}
