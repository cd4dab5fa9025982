internal import CLinux
internal import Glibc

/// A child that runs its program.
struct SpawnedProcess: ~Copyable {
    let processID: Int32
    /// A pidfd(2).
    let descriptor: OwnedDescriptor

    init(_ result: clx_spawn_result) {
        processID = result.pid
        descriptor = OwnedDescriptor(result.pidfd)
    }
}

/// A request in the form in which the C half takes it, with the memory that it points to.
final class NativeRequest {
    let request: LaunchRequest
    /// The child's descriptor 0: its input, or an open /dev/null of its own. What one user did to a shared one, as with
    /// fcntl(2) and flock(2), would be seen by the others.
    private let input: OwnedDescriptor
    /// Element i becomes descriptor i of the child. But for the first they are the caller's, like the group.
    private let descriptors: UnsafeMutableBufferPointer<Int32>
    private let groups: UnsafeMutableBufferPointer<UInt32>
    private let arguments: CStringList
    private let environment: CStringList
    /// The search path, the directory and its fallback.
    private let places: CStringList
    private let cgroup: Int32

    /// Takes what the child has from its descriptor 1 on, and the folder of the cgroup to start in, or -1.
    init(
        _ request: LaunchRequest,
        descriptors: [Int32],
        cgroup: Int32 = -1
    ) throws(LaunchError) {
        guard !request.arguments.isEmpty, let arguments = CStringList(request.arguments),
            let environment = CStringList(request.environment),
            let places = CStringList([
                request.searchPath, request.directory ?? "", request.directoryFallback ?? "",
            ])
        else {
            throw LaunchError(
                stage: .prepare,
                errno: EINVAL,
                subject: request.arguments.first ?? ""
            )
        }
        do throws(SystemError) {
            if let bytes = request.input {
                input = try readableMemoryFile(bytes)
            } else {
                input = try .open("/dev/null", flags: O_RDONLY)
            }
        } catch {
            throw LaunchError(
                stage: .prepare, errno: error.errno, subject: request.arguments.first ?? "")
        }
        self.request = request
        self.arguments = arguments
        self.environment = environment
        self.places = places
        self.cgroup = cgroup
        self.descriptors = .allocate(capacity: descriptors.count + 1)
        _ = self.descriptors.initialize(from: [input.rawValue] + descriptors)
        let groups = request.user?.groups ?? []
        self.groups = .allocate(capacity: groups.count)
        _ = self.groups.initialize(from: groups)
    }

    deinit {
        descriptors.deallocate()
        groups.deallocate()
    }

    /// Valid for as long as this object lives.
    var native: clx_spawn_request {
        var native = clx_spawn_request()
        native.arguments = UnsafePointer(arguments.pointers)
        native.environment = UnsafePointer(environment.pointers)
        native.search_path = UnsafePointer(places.pointers[0])
        native.directory = request.directory == nil ? nil : UnsafePointer(places.pointers[1])
        native.directory_fallback =
            request.directoryFallback == nil ? nil : UnsafePointer(places.pointers[2])
        native.descriptors = UnsafePointer(descriptors.baseAddress)
        native.descriptor_count = UInt32(descriptors.count)
        native.cgroup = cgroup
        native.file_mode_mask = request.fileModeMask
        native.open_files_soft = request.openFilesSoft
        native.no_new_privileges = request.hasNoNewPrivileges
        native.changes_user = request.user != nil
        native.user = request.user?.user ?? 0
        native.group = request.user?.group ?? 0
        native.groups = UnsafePointer(groups.baseAddress)
        native.group_count = groups.count
        return native
    }
}

/// Starts a process (see `clx_spawn`) with these descriptors from 1 on, in the cgroup whose folder is
/// given; returns when it runs the program or has failed to.
func spawn(
    _ request: LaunchRequest,
    descriptors: [Int32],
    cgroup: Int32 = -1
) throws(LaunchError) -> SpawnedProcess {
    let prepared = try NativeRequest(request, descriptors: descriptors, cgroup: cgroup)
    let result = withExtendedLifetime(prepared) {
        var native = prepared.native
        var result = clx_spawn_result()
        _ = clx_spawn(&native, &result)
        return result
    }
    guard result.pid > 0 else {
        throw LaunchError(stage: result.stage, errno: result.error, request: request)
    }
    return SpawnedProcess(result)
}
