internal import CLinux
internal import Glibc

/// What a supervisor is told to run, as a memory file (see `clx_supervisor_request`).
///
/// Not as arguments or environment: every user may read the arguments of a process, and the
/// environment would be the supervisor's own.
func supervisorRequestFile(_ request: LaunchRequest) throws(SystemError) -> OwnedDescriptor {
    let places = [request.searchPath, request.directory ?? "", request.directoryFallback ?? ""]
    let strings = places + request.arguments + request.environment
    guard !request.arguments.isEmpty, !strings.contains(where: { $0.utf8.contains(0) }) else {
        throw SystemError(operation: "start", errno: EINVAL)
    }
    let groups = request.user?.groups ?? []
    var header = clx_supervisor_request()
    header.magic = UInt32(CLX_SUPERVISOR_MAGIC)
    header.argument_count = UInt32(request.arguments.count)
    header.environment_count = UInt32(request.environment.count)
    header.group_count = UInt32(groups.count)
    header.changes_user = request.user == nil ? 0 : 1
    header.user = request.user?.user ?? 0
    header.group = request.user?.group ?? 0
    header.file_mode_mask = request.fileModeMask
    header.no_new_privileges = request.hasNoNewPrivileges ? 1 : 0
    header.open_files_soft = request.openFilesSoft

    var bytes = withUnsafeBytes(of: header) { Array($0) }
    groups.withUnsafeBytes { bytes.append(contentsOf: $0) }
    for string in strings {
        bytes.append(contentsOf: string.utf8)
        bytes.append(0)
    }
    let file = OwnedDescriptor(
        try systemCall("memfd_create") { clx_memory_file("bgtask-request") }
    )
    try writeAll(bytes, to: file.rawValue)
    return file
}

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
