import Foundation
import TestKit
import Testing

/// Runs a suite in a process of its own: a host takes every child of its process that it does not know for an orphan,
/// and kills it, which other suites' children would not survive.
///
/// Where BGTASK_ALONE is set, as `make test` sets it, this process is the suite's own.
struct OwnProcess: SuiteTrait, TestScoping {
    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        if getenv("BGTASK_ALONE") != nil { return try await function() }
        let arguments = [
            "/proc/self/exe", "--testing-library", "swift-testing", "--filter",
            "^\\QLinuxSystemTests.LinuxTests\\E/",
        ]
        let child = try Self.start(arguments)
        let status = await withCheckedContinuation { ended in
            Thread.detachNewThread {
                var status: Int32 = 0
                waitpid(child, &status, 0)
                ended.resume(returning: status)
            }
        }
        guard status == 0 else {
            throw Failed(description: "the tests in a process of their own ended with \(status)")
        }
    }

    private static func start(_ arguments: [String]) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads that run tests block all signals.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = arguments.map { strdup($0) } + [nil]
        var variables = [strdup("BGTASK_ALONE=1")]
        var next = environ
        while let variable = next.pointee {
            variables.append(strdup(variable))
            next += 1
        }
        variables.append(nil)
        defer { for text in words + variables { free(text) } }
        var child: pid_t = 0
        let failure = posix_spawn(&child, Programs.executable, nil, &attributes, &words, &variables)
        guard failure == 0 else {
            throw Failed(
                description: "cannot start the tests: \(String(cString: strerror(failure)))")
        }
        return child
    }
}
