internal import CLinux

/// Has this process look at what /proc says of processes through a mount of its own from here on, on whose names nobody else can
/// mount anything (`clinux_proc.h`). To be called before there are other threads. Without the rights for one it looks at /proc as
/// everybody else does.
package func makeOwnProc() { _ = clx_proc_begin() }
