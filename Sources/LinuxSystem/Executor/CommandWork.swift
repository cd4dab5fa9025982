internal import CExecutor
internal import Glibc

/// What a command is started with, as bgtask-executor takes it: in a memory file that nobody can change any more.
enum CommandWork {
    /// - Parameters:
    ///   - handler: what is run as its expiration handler; empty: nothing.
    ///   - processesMax: how many processes and threads it may have; `nil`: no bound of its own.
    static func file(
        _ request: LaunchRequest, handler: [String], processesMax: Int?
    ) throws(LaunchError) -> OwnedDescriptor {
        let lists = [
            [request.searchPath, request.directory ?? "", request.directoryFallback ?? ""],
            request.arguments, handler, request.environment,
        ]
        let subject = request.arguments.first ?? ""
        // A NUL inside of one would make two of it.
        guard !lists.joined().contains(where: { $0.utf8.contains(0) }), !request.arguments.isEmpty
        else { throw LaunchError(stage: .prepare, errno: EINVAL, subject: subject) }
        let header = header(of: request, handler, processesMax)
        let bytes = bytes(header, request.user?.groups ?? [], lists)
        let file = bytes.withUnsafeBytes { executor_sealed_file($0.baseAddress, $0.count) }
        guard file >= 0 else {
            throw LaunchError(stage: .prepare, errno: errno, subject: subject)
        }
        return OwnedDescriptor(file)
    }

    private static func header(
        of request: LaunchRequest, _ handler: [String], _ processesMax: Int?
    ) -> executor_work_header {
        var header = executor_work_header()
        header.magic = UInt32(EXECUTOR_WORK_MAGIC)
        header.argument_count = UInt32(request.arguments.count)
        header.handler_argument_count = UInt32(handler.count)
        header.environment_count = UInt32(request.environment.count)
        header.file_mode_mask = request.fileModeMask
        header.processes_max = processesMax.map { UInt32(clamping: $0) } ?? 0
        header.open_files_soft = request.openFilesSoft
        if request.hasNoNewPrivileges { header.flags |= EXECUTOR_NO_NEW_PRIVILEGES.rawValue }
        guard let user = request.user else { return header }
        header.flags |= EXECUTOR_CHANGES_USER.rawValue
        (header.user, header.group) = (user.user, user.group)
        header.group_count = UInt32(user.groups.count)
        return header
    }

    private static func bytes(
        _ header: executor_work_header, _ groups: [UInt32], _ lists: [[String]]
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(
            MemoryLayout<executor_work_header>.size + groups.count * MemoryLayout<UInt32>.size
                + lists.joined().reduce(0) { $0 + $1.utf8.count + 1 })
        withUnsafeBytes(of: header) { bytes.append(contentsOf: $0) }
        groups.withUnsafeBytes { bytes.append(contentsOf: $0) }
        for text in lists.joined() {
            bytes.append(contentsOf: text.utf8)
            bytes.append(0)
        }
        return bytes
    }
}
