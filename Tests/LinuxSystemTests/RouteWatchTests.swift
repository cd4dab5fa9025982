import Glibc
import LinuxSystem
import TestKit
import Testing

extension LinuxTests {
    /// The kernel's own routes, in a network namespace of the test's.
    @Suite(.enabled(if: getuid() == 0, "a network namespace needs root"))
    struct RouteWatchTests {
        /// A process that prints each state of the routes in a network namespace of its own.
        private final class Namespace {
            let harness: Harness
            private let task: TestTask
            private let output: OwnedDescriptor
            private var text = ""

            init(_ arguments: String..., mode: String = "routes") throws {
                harness = try Harness(.supervisor)
                task = try harness.makeTask()
                let program = try builtProgram("process-test-daemon")
                var process = try task.start(
                    LaunchRequest(arguments: arguments + [program, mode]))
                output = process.takeStandardOutput()
            }

            deinit {
                try? task.kill()
                try? harness.waitUntilGone(task)
                task.close()
            }

            /// Waits for the states that follow, and forgets them.
            func expect(_ states: String...) throws {
                let expected = states.map { $0 + "\n" }.joined()
                try harness.waitFor {
                    text += try readAvailable(output)
                    return text.utf8.count >= expected.utf8.count
                }
                #expect(text == expected)
                text = ""
            }

            private func process() throws -> pid_t {
                try harness.waitFor { harness.startedProcessID != nil }
                return try #require(harness.startedProcessID)
            }

            private func isStopped() throws -> Bool {
                try ProcessStat.fields(contents(of: "/proc/\(process())/stat")).first == "T"
            }

            func waitUntilStopped() throws {
                try harness.waitFor { try isStopped() }
            }

            func goOn() throws {
                kill(try process(), SIGCONT)
            }

            /// Waits for a state after however many others; who stops meanwhile goes on.
            func expectAtLast(_ state: String) throws {
                try harness.waitFor {
                    if try isStopped() { try goOn() }
                    text += try readAvailable(output)
                    return text.split(separator: "\n").last.map(String.init) == state
                }
                text = ""
            }

            /// Runs commands inside; their events are in the way of nobody.
            func run(_ script: String) throws {
                let outcome = try harness.run(
                    "nsenter", "--target", "\(process())", "--net", "sh", "-ec", script)
                #expect(outcome.exit == .status(0), "\(script): \(outcome.error)")
            }

            /// A script that adds a default route and deletes it, so many changes in all.
            static func changes(_ count: Int) -> String {
                """
                for n in $(seq 1 \(count / 2)); do
                    echo route add default via 192.0.2.1; echo route delete default
                done | ip -batch -
                """
            }

            /// Changes the routes so many times at once, and looks whether the last change is told.
            func expectWhatIsSo(after count: Int) throws {
                try run(Self.changes(count) + "\nip route add default via 192.0.2.1 table 5")
                try expectAtLast("out")
                try run("ip route delete default table 5")
                try expectAtLast("none")
            }

            /// Two interfaces that are wired to each other.
            func wire() throws {
                try run(
                    """
                    ip link add out type veth peer name far
                    ip link set far up; ip link set out up
                    ip address add 192.0.2.2/24 dev out
                    """)
            }
        }

        @Test("a default route that comes and goes is told, and other routes are not")
        func comesAndGoes() throws {
            let namespace = try Namespace("unshare", "--net")
            try namespace.expect("none")
            try namespace.wire()
            try namespace.run("ip route add 198.51.100.0/24 via 192.0.2.1")
            try namespace.run("ip route add default via 192.0.2.1")
            try namespace.expect("out")
            try namespace.run("ip route delete default")
            try namespace.expect("none")
            try namespace.run("ip -6 route add default via fe80::1 dev out")
            try namespace.expect("out")
            try namespace.run("ip -6 route delete default")
            try namespace.expect("none")
        }

        @Test("a default route counts while its interface is up and has a carrier")
        func links() throws {
            let namespace = try Namespace("unshare", "--net")
            try namespace.expect("none")
            try namespace.wire()
            try namespace.run("ip route add default via 192.0.2.1")
            try namespace.expect("out")
            try namespace.run("ip link set far down")
            try namespace.expect("none")
            try namespace.run("ip link set far up")
            try namespace.expect("out")
            // The kernel drops the route with the interface, and does not say so.
            try namespace.run("ip link set out down")
            try namespace.expect("none")
            try namespace.run("ip link set out up; ip route add default via 192.0.2.1")
            try namespace.expect("out")
            try namespace.run("ip link delete out")
            try namespace.expect("none")
        }

        @Test("a default route that goes with its nexthop or its address is gone")
        func goesWithAnother() throws {
            let namespace = try Namespace("unshare", "--net")
            try namespace.expect("none")
            try namespace.wire()
            try namespace.run(
                "ip nexthop add id 7 via 192.0.2.1 dev out; ip route add default nhid 7")
            try namespace.expect("out")
            // Of these two the kernel says nothing about the route; nor of the third before Linux 6.7.
            try namespace.run("ip link set lo up; ip nexthop replace id 7 blackhole")
            try namespace.expect("none")
            try namespace.run("ip nexthop replace id 7 via 192.0.2.1 dev out")
            try namespace.expect("out")
            try namespace.run("ip nexthop delete id 7")
            try namespace.expect("none")
            try namespace.run(
                """
                ip address add 192.0.2.9/24 dev out
                ip route add default via 192.0.2.1 src 192.0.2.9
                """)
            try namespace.expect("out")
            try namespace.run("ip address delete 192.0.2.9/24 dev out")
            try namespace.expect("none")
        }

        @Test("routes that lead nowhere and routes to ourselves are no default routes")
        func nowhere() throws {
            let namespace = try Namespace("unshare", "--net")
            try namespace.expect("none")
            try namespace.wire()
            try namespace.run(
                """
                ip link set lo up
                ip route add blackhole default metric 10
                ip -6 route add unreachable default metric 10
                ip route add throw default table 7
                ip route add default dev lo metric 20
                """)
            // Of several that share the load one will do, and of any table.
            try namespace.run(
                "ip route add default table 9 nexthop via 192.0.2.1 nexthop via 192.0.2.3")
            try namespace.expect("out")
        }

        @Test("a thousand changes at once end in what is so")
        func burst() throws {
            let namespace = try Namespace("unshare", "--net")
            try namespace.expect("none")
            try namespace.wire()
            try namespace.expectWhatIsSo(after: 1000)
        }

        @Test("more changes than the kernel keeps, in the middle of an answer, end in what is so")
        func burstIntoAnswer() throws {
            let namespace = try Namespace("unshare", "--net", mode: "routes-by-parts")
            try namespace.waitUntilStopped()
            try namespace.wire()
            // More than it takes at once, so that it asks before it has come to the end.
            try namespace.run(Namespace.changes(40))
            try namespace.goOn()
            try namespace.waitUntilStopped()
            try namespace.expectWhatIsSo(after: 4000)
        }
    }
}
