internal import CLinux
internal import Glibc

/// What a thread runs.
private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

/// Starts a detached thread that runs `body`, with all signals blocked but SIGPROF: they are the business of the loop.
///
/// - Throws: as of pthread_create(3): EAGAIN at a limit.
package func startThread(
    stackBytes: Int = 512 << 10, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
    let retained = Unmanaged.passRetained(ThreadBody(body))
    let error = clx_thread_start(
        stackBytes,
        { argument in
            if let argument {
                Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
            }
            return nil
        },
        retained.toOpaque()
    )
    guard error != 0 else { return }
    retained.release()
    throw SystemError(operation: "start a thread", errno: error)
}
