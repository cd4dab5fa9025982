import CSQLite
import Glibc
import TaskStore
import TestKit
import Testing

/// A folder of its own for a test, removed with all that is in it; in memory where that can be had, for
/// tests wait for a disk thousands of times otherwise.
final class Folder: Sendable {
    let path: String

    struct Failure: Error {
        var what: String
        var errno: Int32
    }

    init() throws {
        let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(parent)/bgtaskd-store-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(what: "mkdtemp", errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in Folder.names(path) { unlink(path + "/" + name) }
        rmdir(path)
    }

    var database: String { path + "/tasks.db" }

    func open(vfs: String? = nil) throws(StoreError) -> TaskStore {
        try TaskStore.open(path: database, durability: .commit, vfs: vfs)
    }

    /// The error of opening the store.
    func refusal() -> StoreError? {
        do throws(StoreError) {
            _ = try open()
            return nil
        } catch {
            return error
        }
    }

    static func names(_ folder: String) -> [String] { TestKit.names(inFolder: folder) }

    /// What a file holds; nothing where it is not there.
    static func bytes(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { return result }
            result += buffer[..<count]
        }
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        guard let file = fopen(path, "w") else { throw Failure(what: path, errno: errno) }
        defer { fclose(file) }
        guard fwrite(bytes, 1, bytes.count, file) == bytes.count else {
            throw Failure(what: path, errno: errno)
        }
    }

    static func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}

/// A connection such as sqlite3(1) has.
final class Visitor {
    private var handle: OpaquePointer?

    struct Failure: Error, Equatable {
        var code: Int32
        var text: String
    }

    init(_ path: String) throws {
        try check(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil))
    }

    deinit {
        sqlite3_close_v2(handle)
    }

    func execute(_ sql: String) throws {
        try check(sqlite3_exec(handle, sql, nil, nil, nil))
    }

    /// The rows of a query, each as text joined by `|`.
    func rows(_ sql: String) throws -> [String] {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        var rows: [String] = []
        while true {
            let code = sqlite3_step(statement)
            guard code == SQLITE_ROW else {
                if code != SQLITE_DONE { try check(code) }
                return rows
            }
            let columns = (0..<sqlite3_column_count(statement)).map { column in
                sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
            }
            rows.append(columns.joined(separator: "|"))
        }
    }

    private func check(_ code: Int32) throws {
        guard code != SQLITE_OK else { return }
        throw Failure(code: code, text: String(cString: sqlite3_errmsg(handle)))
    }
}
