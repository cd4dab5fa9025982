internal import CLinux

/// Does something in which the kernel may have this thread let go of what strangers have mapped: to look at a process that may
/// end meanwhile (`clinux_waits.h`). What a signal ends is not waited for longer than 2 ms.
package func withBoundedWaits<Result>(
    _ body: () throws(SystemError) -> Result
) throws(SystemError) -> Result {
    clx_waits_begin()
    defer { clx_waits_end() }
    return try body()
}
