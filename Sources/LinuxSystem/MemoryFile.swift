internal import CLinux
internal import Glibc

/// A file in memory with these bytes, to be read from its beginning, which none but root can open for writing.
func readableMemoryFile(_ bytes: [UInt8]) throws(SystemError) -> OwnedDescriptor {
    let file = OwnedDescriptor(
        try systemCall("memfd_create") { clx_memory_file("bgtask-input") })
    try writeAll(bytes, to: file.rawValue)
    _ = try systemCall("fchmod") { fchmod(file.rawValue, 0o444) }
    return try .open("/proc/self/fd/\(file.rawValue)", flags: O_RDONLY)
}

private func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemError) {
    var written = 0
    while written < bytes.count {
        let offset = written
        written += try systemCall("write", "memory file") {
            bytes.withUnsafeBytes { all in
                let rest = UnsafeRawBufferPointer(rebasing: all[offset...])
                return pwrite(descriptor, rest.baseAddress, rest.count, offset)
            }
        }
    }
}
