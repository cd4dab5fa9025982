import Glibc
import LinuxSystem
import TestKit
import Testing

extension LinuxTests {
    /// Sockets, credentials, locks.
    @Suite struct SocketTests {
        private let folder: TemporaryFolder
        private var path: String { folder.path + "/socket" }

        init() throws {
            folder = try TemporaryFolder()
        }

        private func connection(to path: String) throws -> OwnedDescriptor {
            let client = OwnedDescriptor(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            let result = withSocketAddress(path) { connect(client.rawValue, $0, $1) }
            guard result == 0 else { throw SystemError(operation: "connect", errno: errno) }
            return client
        }

        private func mode(of path: String) -> UInt32 {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
        }

        private func failure(_ body: () throws(SystemError) -> Void) -> SystemError? {
            do {
                try body()
                return nil
            } catch {
                return error
            }
        }

        @Test("a peer's credentials come from the kernel")
        func credentials() throws {
            let listener = try UnixListener(path: path, mode: 0o666)
            let client = try connection(to: path)
            guard case .connection(let accepted) = try listener.accept() else {
                Issue.record("nobody was accepted")
                return
            }
            let peer = try PeerCredentials(of: accepted.rawValue)
            #expect(peer.user == getuid())
            #expect(peer.group == getgid())
            #expect(peer.processID == getpid())
            var groups = [gid_t](repeating: 0, count: 65_536)
            let count = getgroups(Int32(groups.count), &groups)
            #expect(peer.groups.sorted() == groups.prefix(Int(count)).sorted())
            #expect(fcntl(accepted.rawValue, F_GETFL) & O_NONBLOCK != 0)
            #expect(fcntl(accepted.rawValue, F_GETFD) & FD_CLOEXEC != 0)
            _ = consume client
        }

        @Test("nobody waiting is not an error")
        func nobody() throws {
            let listener = try UnixListener(path: path, mode: 0o600)
            guard case .none = try listener.accept() else {
                Issue.record("somebody was accepted")
                return
            }
        }

        @Test("the socket has its mode whatever the umask, and its folders are made")
        func modes() throws {
            let deep = folder.path + "/a/b/socket"
            let listener = try UnixListener(path: deep, mode: 0o666, folderMode: 0o700)
            #expect(mode(of: deep) == 0o666)
            #expect(mode(of: folder.path + "/a/b") == 0o700)
            #expect(listener.descriptor >= 0)
        }

        @Test("a path of 107 bytes is served, a longer one is refused with the number")
        func length() throws {
            let longest = path + String(repeating: "x", count: 107 - path.utf8.count)
            do {
                let listener = try UnixListener(path: longest, mode: 0o600)
                _ = try connection(to: longest)
                #expect(listener.descriptor >= 0)
            }
            #expect(access(longest, F_OK) != 0)
            let error = failure { () throws(SystemError) in
                _ = try UnixListener(path: longest + "x", mode: 0o600)
            }
            #expect(error?.errno == ENAMETOOLONG)
            #expect(error?.description.hasSuffix("107 bytes at most, this one has 108") == true)
        }

        @Test("a stale socket is replaced, a served one and other files are left alone")
        func stale() throws {
            let first = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            #expect(withSocketAddress(path) { bind(first, $0, $1) } == 0)
            close(first)
            do {
                let listener = try UnixListener(path: path, mode: 0o600)
                let second = failure { () throws(SystemError) in
                    _ = try UnixListener(path: path, mode: 0o600)
                }
                #expect(second?.errno == EADDRINUSE)
                #expect(second?.description == "bind \(path): already served")
                #expect(listener.descriptor >= 0)
                _ = try connection(to: path)
            }
            #expect(access(path, F_OK) != 0)
            close(open(path, O_CREAT | O_WRONLY, 0o600))
            let other = failure { () throws(SystemError) in
                _ = try UnixListener(path: path, mode: 0o600)
            }
            #expect(other?.errno == EEXIST)
            #expect(access(path, F_OK) == 0)
        }

        @Test("a file that took the socket's place is not removed with it")
        func replaced() throws {
            do {
                let listener = try UnixListener(path: path, mode: 0o600)
                unlink(path)
                close(open(path, O_CREAT | O_WRONLY, 0o600))
                #expect(listener.descriptor >= 0)
            }
            #expect(access(path, F_OK) == 0)
        }

        @Test("an inherited socket is served, and its file stays")
        func inherited() throws {
            let listener = try UnixListener(path: path, mode: 0o600)
            do {
                let copy = try UnixListener(inherited: OwnedDescriptor(dup(listener.descriptor)))
                let client = try connection(to: path)
                guard case .connection = try copy.accept() else {
                    Issue.record("nobody was accepted")
                    return
                }
                _ = consume client
            }
            #expect(access(path, F_OK) == 0)
            let error = failure { () throws(SystemError) in
                var pair = try DescriptorPair.sockets(.stream, nonBlocking: true)
                _ = try UnixListener(inherited: pair.takeFirst())
            }
            #expect(error?.errno == EINVAL)
        }

        @Test("a state folder is locked once, and the owner is named")
        func lock() throws {
            do {
                let lock = try StateLock(folder: folder.path)
                let error = failure { () throws(SystemError) in
                    _ = try StateLock(folder: folder.path)
                }
                #expect(error?.errno == EWOULDBLOCK)
                #expect(error?.description == "lock \(folder.path): in use by process \(getpid())")
                _ = consume lock
            }
            _ = try StateLock(folder: folder.path)
        }

        @Test("what a dead owner's children still hold of a state folder's lock is waited for")
        func lockOfDead() throws {
            // Beyond what /proc/sys/kernel/pid_max can be.
            let dead = 1 << 23
            let path = folder.path + "/lock"
            let held = try OwnedDescriptor.open(path, flags: O_RDWR | O_CREAT, mode: 0o600)
            #expect(flock(held.rawValue, LOCK_EX | LOCK_NB) == 0)
            let text = Array("\(dead)\n".utf8)
            #expect(write(held.rawValue, text, text.count) == text.count)
            let number = held.take()
            try startThread { close(number) }
            _ = try StateLock(folder: folder.path)
        }

        @Test("a failed call reads as the manual page would say it")
        func description() {
            let error = failure { () throws(SystemError) in
                _ = try OwnedDescriptor.open("/nonexistent/x", flags: O_RDONLY)
            }
            #expect(error?.description == "open /nonexistent/x: No such file or directory")
        }
    }
}
