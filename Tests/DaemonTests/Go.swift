/// Has commands of a daemon wait for each other, so that they print together however slow the machine is.
struct Go {
    private let path: String

    init(_ daemon: DaemonProcess) {
        path = daemon.folder.path + "/go"
    }

    /// What a shell does once it is given.
    func command(_ script: String) -> [String] {
        ["sh", "-c", "until [ -e \(path) ]; do sleep 0.1; done; \(script)"]
    }

    func give() throws { try Files.write("", to: path) }
}
