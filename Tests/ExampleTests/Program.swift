import Foundation
import TestKit

/// Where this repository is, and its examples.
enum Place {
    static let top = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    static let examples = top + "/Examples"
}

/// A program that a test runs, with both of its streams in one; ended with the value.
final class Program {
    private let process = Process()
    private let output = Pipe()
    private let input = Pipe()

    /// Starts it.
    ///
    /// - Parameters:
    ///   - variables: what its environment has besides the test's own.
    ///   - takesInput: whether it is given something by `say`; else it has nothing to read.
    init(
        _ path: String, _ arguments: [String], variables: [String: String] = [:],
        takesInput: Bool = false
    ) throws {
        var environment = ProcessInfo.processInfo.environment
        environment["BGTASKD_BIN_DIR"] = Programs.folder
        process.environment = environment.merging(variables) { _, new in new }
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = takesInput ? input : FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    deinit { stop() }

    /// Has it end, if it runs.
    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    /// Sends it a signal.
    func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Gives it something to read.
    func say(_ text: String) {
        input.fileHandleForWriting.write(Data(text.utf8))
    }

    /// Waits until the program has written this, or has closed its streams.
    func waitForOutput(_ wanted: String) -> Bool {
        var text = Data()
        while text.range(of: Data(wanted.utf8)) == nil {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return false }
            text += more
        }
        return true
    }

    /// Reads what it writes from now on and lets it go, so that it need not wait for a reader.
    func discardOutput() {
        output.fileHandleForReading.readabilityHandler = { file in
            if file.availableData.isEmpty { file.readabilityHandler = nil }
        }
    }

    /// Waits for the end of the program.
    func waitForEnd() -> (status: Int32, text: String) {
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: text, as: UTF8.self))
    }
}

/// The built daemon, in a folder of its own.
final class Daemon {
    let folder: String
    private var program: Program

    struct DidNotStart: Error {}

    var socket: String { folder + "/socket" }

    /// - Parameter settings: of its settings file.
    init(settings: String = "") throws {
        folder = NSTemporaryDirectory() + "bgtaskd-example-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        let file = folder + "/bgtaskd.toml"
        try settings.write(toFile: file, atomically: true, encoding: .utf8)
        program = try Self.start(in: folder)
    }

    private static func start(in folder: String) throws -> Program {
        let program = try Program(
            Programs.path("bgtaskd"),
            [
                "--config", folder + "/bgtaskd.toml", "--socket", folder + "/socket",
                "--state-dir", folder + "/state",
            ])
        guard program.waitForOutput("serving") else { throw DidNotStart() }
        program.discardOutput()
        return program
    }

    /// Stops it and starts the next one in the same folder.
    func restart() throws {
        program.stop()
        program = try Self.start(in: folder)
    }

    deinit {
        program.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
