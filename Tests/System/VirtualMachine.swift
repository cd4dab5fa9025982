import Foundation
import TestKit
import Testing

/// A virtual machine for what no container can do: its clock can be set, and its power cut.
///
/// `vm-box` makes it; it sees this machine's own root, read-only. Its processor is emulated, so whatever
/// happens inside takes several times as long as outside.
enum VirtualMachine {
    /// What it boots from; `vm-prepare` fills it.
    private static let kernelFolder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent(".build/vm").path

    /// Why none can start here; `nil` where one can, and where CI demands it.
    static let reasonAgainst: String? = {
        let environment = ProcessInfo.processInfo.environment
        if environment["BGTASK_SANITIZED"] != nil {
            return "programs with a sanitizer are too slow for an emulated machine"
        }
        if environment["CI"] == "true" { return nil }
        if geteuid() != 0 {
            return "the virtual machine shows a part of this one, which needs root"
        }
        let files = ["/usr/bin/python3", "/usr/bin/qemu-system-x86_64", "/usr/lib/qemu/virtiofsd"]
        if let missing = files.first(where: { !FileManager.default.isExecutableFile(atPath: $0) }) {
            return "the virtual machine needs \(missing); see `make test-deps`"
        }
        guard FileManager.default.fileExists(atPath: "\(kernelFolder)/version") else {
            return "the virtual machine needs a kernel: Tests/System/vm-prepare \(kernelFolder)"
        }
        return nil
    }()

    /// Boots it; one that does not come up is an error with the console's last lines.
    static func start() throws {
        let started = try script(
            [
                "start", "--owner", "\(getpid())", "--timeout", "500",
                "--bind-ro", Programs.buildFolder, "--bind-ro", Programs.folder,
            ])
        guard started.status == 0 else { throw Box.Failed(description: started.errors) }
    }

    /// Cuts its power.
    static func stop() throws {
        _ = try script(["cut"])
    }

    /// Runs a command inside, as a unit of its own, for at most `seconds` (then its status is 124).
    static func exec(_ command: String..., seconds: Int = 300) throws -> Box.Result {
        try script(["exec", "-T", "\(seconds)", "--"] + command)
    }

    private static func script(_ arguments: [String]) throws -> Box.Result {
        try Box.run(
            "vm-box", arguments,
            ["VM_BOX_NAME": "bgtaskd-\(getpid())", "VM_BOX_HOME": kernelFolder])
    }
}

/// Starts the virtual machine before a suite and cuts its power after.
struct VirtualMachineTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try VirtualMachine.start()
        do {
            try await function()
        } catch {
            try VirtualMachine.stop()
            throw error
        }
        try VirtualMachine.stop()
    }
}

/// All tests that need a virtual machine: suites nested in here share one, one test at a time.
@Suite(
    "In a virtual machine",
    .serialized,
    .enabled(
        if: VirtualMachine.reasonAgainst == nil,
        Comment(rawValue: VirtualMachine.reasonAgainst ?? "")),
    .timeLimit(.minutes(30)),
    VirtualMachineTrait()
)
enum VirtualMachineTests {}
