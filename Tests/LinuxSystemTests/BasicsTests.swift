import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// What needs neither sockets nor processes.
    @Suite struct BasicsTests {
        @Test("the boot-time clock is not behind the monotonic one, and both go forward")
        func clocks() {
            let first = MonotonicClock.now()
            #expect(first > 0)
            #expect(MonotonicClock.now() >= first)
            #expect(BootTimeClock.now() >= first)
        }

        @Test("a wait for two descriptors ends with either of them, or with the time")
        func waitForEither() throws {
            let one = try OwnedDescriptor.event()
            let other = try OwnedDescriptor.event()
            other.countEvent()
            try one.waitReadable(or: other.rawValue, milliseconds: -1)
            other.takeEvents()
            try one.waitReadable(or: other.rawValue, milliseconds: 1)
            one.countEvent()
            try one.waitReadable(or: other.rawValue, milliseconds: -1)
            try one.waitReadable(or: nil, milliseconds: -1)
        }

        @Test("an epoll tells what is ready, by token, and can be watched itself")
        func epoll() throws {
            let inner = try Epoll()
            let outer = try Epoll()
            var batch = EpollBatch(capacity: 4)
            let event = try OwnedDescriptor.event()
            try inner.add(event.rawValue, .input, token: .max)
            try outer.add(inner.descriptor, .input, token: 7)
            try outer.poll(into: &batch)
            #expect(batch.count == 0)

            var one: UInt64 = 1
            #expect(write(event.rawValue, &one, 8) == 8)
            try outer.poll(into: &batch)
            #expect(batch.count == 1)
            #expect(batch[0].token == 7)
            try inner.poll(into: &batch)
            #expect(batch[0].token == .max)
            #expect(batch[0].readiness == .input)

            try inner.modify(event.rawValue, .output, token: 3)
            try inner.poll(into: &batch)
            #expect(batch[0].token == 3)
            try inner.remove(event.rawValue)
            try inner.poll(into: &batch)
            #expect(batch.count == 0)
        }

        @Test("a batch takes what fits, and the rest comes with the next poll")
        func batches() throws {
            let epoll = try Epoll()
            var batch = EpollBatch(capacity: 2)
            var pairs: [Int32] = []
            for token in 0..<5 {
                var pair = try DescriptorPair.sockets(.stream, nonBlocking: true)
                pairs.append(pair.takeFirst().take())
                pairs.append(pair.takeSecond().take())
                try epoll.add(pairs[2 * token], .output, token: UInt64(token))
            }
            var seen: Set<UInt64> = []
            for _ in 0..<3 {
                try epoll.poll(into: &batch)
                #expect(batch.count == 2)
                for index in 0..<batch.count { seen.insert(batch[index].token) }
            }
            #expect(seen == [0, 1, 2, 3, 4])
            for descriptor in pairs { close(descriptor) }
        }

        @Test("an owned descriptor is closed at its end, unless it was taken")
        func ownership() throws {
            let number: Int32
            do {
                let descriptor = try OwnedDescriptor.open("/dev/null", flags: O_RDONLY)
                number = fcntl(descriptor.rawValue, F_DUPFD_CLOEXEC, 500)
                let owner = OwnedDescriptor(number)
                #expect(fcntl(owner.rawValue, F_GETFD) == FD_CLOEXEC)
            }
            #expect(fcntl(number, F_GETFD) == -1)
            let taken = try OwnedDescriptor.event().take()
            #expect(fcntl(taken, F_GETFD) == FD_CLOEXEC)
            close(taken)
        }

        @Test(
            "signals have names",
            arguments: [
                ("SIGTERM", SIGTERM), ("TERM", SIGTERM), ("SIGKILL", SIGKILL), ("HUP", SIGHUP),
                ("RTMIN", 34), ("SIGRTMIN+3", 37), ("RTMAX", 64), ("RTMAX-1", 63), ("CLD", SIGCHLD),
            ]
        )
        func signalNumbers(name: String, number: Int32) {
            #expect(SignalName.number(of: name) == number)
            #expect(SignalName.number(of: SignalName.name(of: number)) == number)
        }

        @Test(
            "what is no signal has no number",
            arguments: [
                "", "SIG", "NOPE", "sigterm", "RTMIN-1", "RTMIN+31", "RTMAX+1", "RTMIN+",
                "RTMIN++1",
                "RTMIN+99999999999", "15", "SIGSIGTERM",
            ]
        )
        func noSignals(name: String) {
            #expect(SignalName.number(of: name) == nil)
        }

        private static let hybrid = """
            31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
            32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
            41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
            """

        @Test("the hierarchy is found wherever it is mounted")
        func hierarchy() throws {
            let own = try CgroupHierarchy(
                mountInformation: Self.hybrid,
                groups: "9:name=systemd:/\n0::/a.slice/b.service\n"
            )
            #expect(own.ownFolder == "/sys/fs/cgroup/unified/a.slice/b.service")
            #expect(own.ownName == "/a.slice/b.service")
            let root = try CgroupHierarchy(mountInformation: Self.hybrid, groups: "0::/\n")
            #expect(root.ownFolder == "/sys/fs/cgroup/unified")
            #expect(root.ownName == "")
            let bound = try CgroupHierarchy(
                mountInformation:
                    "1 2 0:3 /a.slice /with\\040blank rw shared:9 master:1 - cgroup2 none rw",
                groups: "0::/a.slice/b\n"
            )
            #expect(bound.ownFolder == "/with blank/b")
        }

        @Test(
            "where no group of ours can be reached, the reason is told",
            arguments: [
                ("", "0::/\n", "no cgroup v2 hierarchy is mounted"),
                (hybrid, "1:cpu:/\n", "this process is in no cgroup v2 group"),
                (hybrid, "0::/../x\n", "outside of its cgroup namespace"),
                ("1 2 0:3 /a /mnt rw - cgroup2 none rw", "0::/ab\n", "/ab, is not mounted"),
            ]
        )
        func noHierarchy(mounts: String, groups: String, reason: String) {
            let error = #expect(throws: ContainmentRefusal.self) {
                try CgroupHierarchy(mountInformation: mounts, groups: groups)
            }
            #expect(error?.reason.contains(reason) == true)
        }

        @Test("a tree's name depends on the state folder alone")
        func treeNames() {
            #expect(CgroupTree.hexadecimal(CgroupTree.stableHash("")) == "cbf29ce484222325")
            #expect(CgroupTree.hexadecimal(CgroupTree.stableHash("foobar")) == "85944171f73967e8")
            #expect(CgroupTree.hexadecimal(0xf) == "000000000000000f")
        }
    }
}
