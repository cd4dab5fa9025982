import Foundation
import Testing

/// What installs the Debian packages of builds and tests.
@Suite("The packages that a build and the tests need")
struct DepsTests {
    private enum Sudo: String {
        case isNotThere, asksForPassword, givesRoot
    }

    /// Runs `.ci/deps` as an ordinary user, where all packages but `MISSING` are installed, and prints its status and
    /// what it has said. Stubs stand for Swift, dpkg, apt and sudo.
    private static let script = """
        set -eu
        folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
        bin=$folder/bin
        mkdir "$bin"
        for tool in cat env grep mktemp rm; do ln -s "$(command -v $tool)" "$bin/$tool"; done
        stub() { printf '#!/bin/bash\\n%s\\n' "$2" >"$bin/$1"; chmod 755 "$bin/$1"; }
        stub swift ''
        stub dpkg-query 'case " $MISSING " in *" ${!#} "*) exit 1 ;; *) echo installed ;; esac'
        stub apt-get 'echo "apt-get $*" >>"$CALLS"'
        case $SUDO in
        asksForPassword) stub sudo 'exit 1' ;;
        givesRoot) stub sudo '[[ $1 == --non-interactive ]] && "${@:2}"' ;;
        esac
        cp "$DEPS" "$folder/deps"
        : >"$folder/calls"
        chmod 755 "$folder" "$folder/deps"
        chmod 666 "$folder/calls"
        user=()
        if ((EUID == 0)); then user=(setpriv --reuid 65534 --regid 65534 --clear-groups); fi
        status=0
        "${user[@]}" env -i PATH="$bin" MISSING="$MISSING" CALLS="$folder/calls" \\
            "$folder/deps" "$@" 2>&1 || status=$?
        cat "$folder/calls"
        echo "status $status"
        """

    /// The lines that it prints, what apt-get was called with, and the status at the end.
    private func run(
        _ arguments: String, missing: String, sudo: Sudo = .asksForPassword
    ) throws -> [String] {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments =
            ["-c", Self.script, "bash"] + arguments.split(separator: " ").map(String.init)
        process.environment = [
            "PATH": "/usr/bin:/bin", "MISSING": missing, "SUDO": sudo.rawValue,
            "DEPS": Box.project.appendingPathComponent(".ci/deps").path,
        ]
        process.standardOutput = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("says nothing where all are there")
    func complete() throws {
        #expect(try run("tests", missing: "") == ["status 0"])
        #expect(try run("packages make", missing: "valgrind") == ["status 0"])
    }

    @Test("a build needs nothing of the tests")
    func build() throws {
        let missing = "qemu-system-x86 groff-base systemd-container dbus e2fsprogs sqlite3 valgrind"
        #expect(try run("build", missing: missing) == ["status 0"])
    }

    @Test(
        "prints the line to paste where sudo asks for a password, and fails for what a build needs",
        arguments: [
            ("build", "libsystemd-dev socat make", "libsystemd-dev make", 1),
            ("tests", "libsystemd-dev socat", "libsystemd-dev socat", 1),
            ("tests", "socat sqlite3", "socat sqlite3", 0),
            ("packages socat", "socat sqlite3", "socat", 1),
        ])
    func line(arguments: String, missing: String, wanted: String, status: Int) throws {
        let said = try run(arguments, missing: missing)
        let install = "sudo apt-get install --yes --no-install-recommends \(wanted)"
        #expect(said.dropFirst() == ["sudo apt-get update && \(install)", "status \(status)"])
        #expect(said[0].contains("no root"), "\(said)")
    }

    @Test("the line to paste has no sudo where there is none")
    func root() throws {
        let said = try run("build", missing: "make", sudo: .isNotThere)
        let install = "apt-get install --yes --no-install-recommends make"
        #expect(said.dropFirst() == ["apt-get update && \(install)", "status 1"])
    }

    @Test("installs what is missing where sudo gives root")
    func installs() throws {
        #expect(
            try run("tests", missing: "socat make", sudo: .givesRoot) == [
                "deps: installing make socat",
                "apt-get update --quiet",
                "apt-get install --yes --no-install-recommends make socat --quiet",
                "status 0",
            ])
    }

    @Test("refuses what it does not know", arguments: ["", "all", "packages", "build tests"])
    func usage(arguments: String) throws {
        #expect(try run(arguments, missing: "").last == "status 64")
    }
}
