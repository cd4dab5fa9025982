internal import CLinux
internal import Glibc

/// The starts that are under way on other threads. One descriptor is readable when any of them is done.
final class PendingLaunches: WatchOwner {
    /// Is told whether its command was started.
    protocol Client: AnyObject {
        func launched(
            index: Int,
            _ process: consuming SpawnedProcess,
            _ events: inout [ProcessEvent]
        )
        func launchFailed(index: Int, _ error: LaunchError, _ events: inout [ProcessEvent])
    }

    private struct Entry {
        let launch: OpaquePointer
        /// What the thread reads is kept until it is done.
        let prepared: NativeRequest
        let client: any Client
        let index: Int
    }

    private let completion: OwnedDescriptor
    private var entries: [Entry] = []

    init(watches: WatchList) throws(SystemError) {
        completion = try .event()
        _ = try watches.add(completion.rawValue, .input, owner: self, role: 0)
    }

    /// Begins a start. The client keeps the descriptors of the request open until it is told how the start went.
    func begin(
        _ prepared: NativeRequest,
        client: any Client,
        index: Int
    ) throws(LaunchError) {
        var native = prepared.native
        guard let launch = clx_launch_begin(&native, completion.rawValue) else {
            throw LaunchError(
                stage: .prepare,
                errno: errno,
                subject: prepared.request.arguments.first ?? ""
            )
        }
        entries.append(
            Entry(
                launch: launch,
                prepared: prepared,
                client: client,
                index: index
            )
        )
    }

    /// The processes of the starts whose clients have not been told yet.
    var processIDs: [Int32] { entries.map { clx_launch_process($0.launch) } }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        // First of all: a launch that is done after this makes the descriptor readable again.
        completion.takeEvents()
        var index = 0
        while index < entries.count {
            var result = clx_spawn_result()
            if clx_launch_finish(entries[index].launch, &result) {
                emit(entries.remove(at: index), result, &events)
            } else {
                index += 1
            }
        }
    }

    private func emit(_ entry: Entry, _ result: clx_spawn_result, _ events: inout [ProcessEvent]) {
        if result.pid > 0 {
            entry.client.launched(index: entry.index, SpawnedProcess(result), &events)
        } else {
            let error = LaunchError(
                stage: result.stage,
                errno: result.error,
                request: entry.prepared.request
            )
            entry.client.launchFailed(index: entry.index, error, &events)
        }
    }
}
