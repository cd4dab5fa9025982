internal import CLinux
internal import Glibc

/// Why the processes of a task cannot be held together in the wished way, in words.
package struct ContainmentRefusal: Error, Equatable, Sendable, CustomStringConvertible {
    package let reason: String

    package var description: String { reason }
}

/// Where the cgroup v2 hierarchy is mounted, and which group of it is ours (cgroups(7)).
package struct CgroupHierarchy: Equatable {
    /// The folder of our own group.
    package let ownFolder: String
    /// The name of our own group as /proc/PID/cgroup shows it: `/system.slice/x.service`.
    package let ownName: String

    /// The name of the leaf that a daemon has for itself.
    static let leafName = "daemon"

    /// - Parameter root: a folder that stands for /; empty for the machine's own.
    /// - Throws: a refusal where there is no such hierarchy, or our group is not in what is
    ///   mounted of it.
    package init(root: String = "") throws(ContainmentRefusal) {
        let mounts: String
        let groups: String
        do {
            mounts = try readText(root + "/proc/self/mountinfo")
            groups = try readText(root + "/proc/self/cgroup")
        } catch {
            throw ContainmentRefusal(reason: error.description)
        }
        let found = try CgroupHierarchy(mountInformation: mounts, groups: groups)
        self.init(ownFolder: root + found.ownFolder, ownName: found.ownName)
    }

    /// Reads the texts of /proc/self/mountinfo (proc_pid_mountinfo(5)) and /proc/self/cgroup.
    package init(mountInformation: String, groups: String) throws(ContainmentRefusal) {
        let mounts = mountInformation.lines.compactMap(Self.mount)
        guard !mounts.isEmpty else {
            throw ContainmentRefusal(reason: "no cgroup v2 hierarchy is mounted")
        }
        guard let name = unifiedGroup(in: groups).map(String.init) else {
            throw ContainmentRefusal(reason: "this process is in no cgroup v2 group")
        }
        guard name.rest(behind: "/..") == nil, name.rest(before: " (deleted)") == nil else {
            throw ContainmentRefusal(
                reason: "the group of this process, \(name), is outside of its cgroup namespace"
            )
        }
        for (root, point) in mounts {
            guard let below = Self.path(name, below: root) else { continue }
            ownFolder = point + below
            ownName = name == "/" ? "" : name
            return
        }
        throw ContainmentRefusal(reason: "the group of this process, \(name), is not mounted")
    }

    /// Where a group that /proc/PID/cgroup names is mounted.
    package static func folder(ofGroup name: String) throws(ContainmentRefusal) -> String {
        let mounts: String
        do {
            mounts = try readText("/proc/self/mountinfo")
        } catch {
            throw ContainmentRefusal(reason: error.description)
        }
        for (root, point) in mounts.lines.compactMap(mount) {
            if let below = path(name, below: root) { return point + below }
        }
        throw ContainmentRefusal(reason: "the group \(name) is not mounted")
    }

    /// The name that /proc/PID/cgroup has for the group of a folder; the folder itself where it is in no
    /// hierarchy, so that nobody is in a group of that name.
    static func name(ofFolder folder: String) -> String {
        let mounts = (try? readText("/proc/self/mountinfo")) ?? ""
        for (root, point) in mounts.lines.compactMap(mount) {
            guard let below = path(folder, below: point) else { continue }
            return root == "/" ? below : root + below
        }
        return folder
    }

    private init(ownFolder: String, ownName: String) {
        self.ownFolder = ownFolder
        self.ownName = ownName
    }

    /// Where tasks have their groups: our own group, or the one above where we are in the leaf of a
    /// delegated one already (`enterLeaf`, or DelegateSubgroup= of systemd.resource-control(5)).
    var delegated: CgroupHierarchy {
        let leaf = "/" + Self.leafName
        guard ownName.hasSuffix(leaf), !hasDelegationMark() else { return self }
        let above = CgroupHierarchy(
            ownFolder: String(ownFolder.dropLast(leaf.count)),
            ownName: String(ownName.dropLast(leaf.count))
        )
        return above.isDelegated ? above : self
    }

    /// Moves this process into a leaf of its delegated group, beside the groups of the tasks: a group
    /// with processes of its own can give its children no controllers (the kernel's cgroup-v2.rst, "No
    /// Internal Process Constraint"). A group that was not delegated stays as it is.
    func enterLeaf() throws(SystemError) {
        guard isDelegated else { return }
        let leaf = ownFolder + "/" + Self.leafName
        if mkdir(leaf, 0o755) != 0, errno != EEXIST {
            throw SystemError(operation: "mkdir", errno: errno, subject: leaf)
        }
        try writeText("0", to: leaf + "/cgroup.procs")
    }

    /// Has the memory and the processes of the groups in a tree below ours counted, where we were given the
    /// controllers; elsewhere nothing changes. What the processes themselves count of memory has to do, and
    /// nothing but the limits of the user and the machine bounds how many they are.
    func count(below tree: String) {
        for folder in isDelegated ? [ownFolder, tree] : [tree] {
            // One by one: where one of them is missing, the other is still had.
            for controller in ["+memory", "+pids"] {
                try? writeText(controller, to: folder + "/cgroup.subtree_control")
            }
        }
    }

    /// Whether we may make groups below our own, by the rules of systemd's delegation
    /// (systemd.io/CGROUP_DELEGATION): nobody else manages them.
    package func checkDelegated() throws(ContainmentRefusal) {
        if isOurs || isOwned { return }
        throw ContainmentRefusal(
            reason: "the group \(ownName) is not delegated to this process"
                + " (a unit needs Delegate=yes)"
        )
    }

    /// Whether groups below our own are ours for good: nobody but us manages them.
    var isOurs: Bool { ownName.isEmpty || isDelegated }

    /// By the mark that a service manager puts on the group; those of users (systemd 252) put none, and
    /// there it is a user's own group with no other process in it.
    private var isDelegated: Bool { hasDelegationMark() || isOwned && isAlone }

    /// Whether the user, who is not root, may make groups in it.
    private var isOwned: Bool {
        var status = stat()
        return geteuid() != 0 && stat(ownFolder, &status) == 0 && status.st_uid == geteuid()
            && access(ownFolder, W_OK) == 0
    }

    private var isAlone: Bool {
        guard let processes = try? readText(ownFolder + "/cgroup.procs") else { return false }
        return processes.split(separator: "\n").allSatisfy { $0 == "\(getpid())" }
    }

    /// Root alone writes the first mark. The second is its owner's word: root does not take a user's, who
    /// could have root's daemon live in a group that the user may freeze and kill.
    private func hasDelegationMark() -> Bool {
        var status = stat()
        let isOwn = stat(ownFolder, &status) == 0 && status.st_uid == geteuid()
        for attribute in isOwn ? ["trusted.delegate", "user.delegate"] : ["trusted.delegate"] {
            var value: UInt8 = 0
            if getxattr(ownFolder, attribute, &value, 1) == 1, value == UInt8(ascii: "1") {
                return true
            }
        }
        return false
    }

    /// The root and the mount point of a cgroup2 line, `nil` for other lines.
    private static func mount(_ line: Substring) -> (root: String, point: String)? {
        let fields = line.parts(between: " ")
        guard let dash = fields.firstIndex(of: "-"), dash >= 6, dash + 1 < fields.count,
            fields[dash + 1] == "cgroup2"
        else { return nil }
        return (unescape(fields[3]), unescape(fields[4]))
    }

    /// What is left of `name` below `root`, with a slash before it; empty for `root` itself.
    private static func path(_ name: String, below root: String) -> String? {
        if name == root { return "" }
        if root == "/" { return name }
        return name.rest(behind: root + "/").map { "/" + $0 }
    }

    /// Blanks and backslashes are octal there: `\040`.
    private static func unescape(_ field: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(field.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(code)
                rest = rest.dropFirst(3)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
