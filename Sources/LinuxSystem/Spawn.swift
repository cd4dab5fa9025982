internal import CLinux
internal import Glibc

/// A child that runs its program.
struct SpawnedProcess: ~Copyable {
    let processID: Int32
    /// A pidfd(2).
    let descriptor: OwnedDescriptor
}

/// Starts a process (see `clx_spawn`); returns when it runs the program or has failed to.
///
/// - Parameters:
///   - descriptors: element i becomes descriptor i of the child.
///   - group: the folder of the cgroup to start in.
func spawn(
    _ request: LaunchRequest, descriptors: [Int32], group: Int32? = nil
) throws(LaunchError) -> SpawnedProcess {
    let command = request.arguments.first ?? ""
    guard !request.arguments.isEmpty, !request.searchPath.utf8.contains(0),
        request.directory?.utf8.contains(0) != true,
        let arguments = CStringList(request.arguments),
        let environment = CStringList(request.environment)
    else { throw LaunchError(stage: .prepare, errno: EINVAL, subject: command) }
    var native = clx_spawn_request()
    native.arguments = UnsafePointer(arguments.pointers)
    native.environment = UnsafePointer(environment.pointers)
    native.descriptor_count = UInt32(descriptors.count)
    native.cgroup = group ?? -1
    native.file_mode_mask = request.fileModeMask
    native.open_files_soft = request.openFilesSoft
    let result = withBorrowed(request, descriptors, &native) { native in
        var result = clx_spawn_result()
        _ = clx_spawn(&native, &result)
        return result
    }
    // The C side has done with their memory here, and not before.
    _ = consume arguments
    _ = consume environment
    guard result.pid > 0 else {
        throw LaunchError(stage: result.stage, errno: result.error, request: request)
    }
    return SpawnedProcess(processID: result.pid, descriptor: OwnedDescriptor(result.pidfd))
}

/// Lends the request's texts and arrays to the C structure for the length of `body`.
private func withBorrowed<Result>(
    _ request: LaunchRequest,
    _ descriptors: [Int32],
    _ native: inout clx_spawn_request,
    _ body: (inout clx_spawn_request) -> Result
) -> Result {
    let user = request.user
    native.changes_user = user != nil
    native.user = user?.user ?? 0
    native.group = user?.group ?? 0
    native.group_count = user?.groups.count ?? 0
    return request.searchPath.withCString { searchPath in
        (request.directory ?? "").withCString { directory in
            descriptors.withUnsafeBufferPointer { descriptors in
                (user?.groups ?? []).withUnsafeBufferPointer { groups in
                    native.search_path = searchPath
                    native.directory = request.directory == nil ? nil : directory
                    native.descriptors = descriptors.baseAddress
                    native.groups = groups.baseAddress
                    return body(&native)
                }
            }
        }
    }
}
