import Glibc
import Settings

/// A folder that lives as long as its test.
final class TestFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/bgtaskd-settings-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure() }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    struct Failure: Error {}

    deinit {
        remove(path)
    }

    private func remove(_ path: String) {
        if Glibc.unlink(path) == 0 { return }
        if let stream = opendir(path) {
            while let entry = readdir(stream) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != "." && name != ".." { remove(path + "/" + name) }
            }
            closedir(stream)
        }
        rmdir(path)
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        try write(name, bytes: Array(text.utf8))
    }

    @discardableResult
    func write(_ name: String, bytes: [UInt8]) throws -> String {
        let file = path + "/" + name
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/" + part
            mkdir(folder, 0o700)
        }
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure() }
        defer { close(descriptor) }
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw Failure() }
        return file
    }
}

/// Loads one text as the only file.
func load(_ text: String, overrides: [SettingsOverride] = []) throws -> LoadedSettings {
    let folder = try TestFolder()
    let file = try folder.write("bgtaskd.toml", text)
    return try SettingsLoader(location: .named(file), overrides: overrides).load()
}

/// The errors of one text, the file's name being `F`.
func problems(_ text: String) throws -> [String] {
    try problems(bytes: Array(text.utf8))
}

func problems(bytes: [UInt8]) throws -> [String] {
    let folder = try TestFolder()
    let file = try folder.write("F", bytes: bytes)
    do throws(SettingsErrors) {
        _ = try SettingsLoader(location: .named(file)).load()
        return []
    } catch {
        return error.all.map { problem in
            let text = problem.description
            return text.hasPrefix(file) ? "F" + text.dropFirst(file.count) : text
        }
    }
}
