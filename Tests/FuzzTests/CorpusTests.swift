import FuzzTargets
import Glibc
import Testing

@Suite("The fuzzer's corpus")
struct CorpusTests {
    private static let folder: String = {
        let file = #filePath
        return file.prefix(upTo: file.lastIndex(of: "/") ?? file.endIndex) + "/Corpus"
    }()

    @Test("every input that was kept is taken without harm", arguments: FuzzTarget.allCases)
    func replayed(target: FuzzTarget) throws {
        let folder = "\(Self.folder)/\(target.rawValue)"
        let names = try Self.names(in: folder)
        #expect(names.count >= 10, "\(folder)")
        for name in names { target.run(try Self.bytes(of: "\(folder)/\(name)")) }
    }

    private struct Unreadable: Error {
        let path: String
    }

    private static func names(in folder: String) throws -> [String] {
        guard let stream = opendir(folder) else { throw Unreadable(path: folder) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted()
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Unreadable(path: path) }
        defer { close(file) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { return content }
            content += buffer[..<count]
        }
    }
}
