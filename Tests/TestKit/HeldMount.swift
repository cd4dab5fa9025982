internal import Glibc

/// A file system that somebody has mounted, in a mount namespace of theirs, on what others see: whoever removes that lets go of
/// it, and no signal ends that wait.
///
/// All go on that wait when the value that stands for it goes.
package final class HeldMount {
    private let server: SilentServer

    /// Why there can be none, or `nil`.
    package static let refusal: String? =
        if geteuid() != 0 {
            "only root mounts without a user namespace"
        } else if access("/dev/fuse", R_OK | W_OK) != 0 {
            "there is no /dev/fuse"
        } else {
            hasHolder ? nil : "nothing holds a file system without ustat(2)"
        }

    #if arch(x86_64)
        private static let hasHolder = true
    #else
        private static let hasHolder = false
    #endif

    /// - Parameter path: a folder or a file of any kind.
    package init(on path: String) throws {
        // It says "ready", and "hangs" with who holds it.
        server = try SilentServer(
            ["hang-unmount", path],
            by: ["/usr/bin/unshare", "--mount", "--propagation", "private"], saying: "hangs")
    }
}
