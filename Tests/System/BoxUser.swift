import Testing

/// An ordinary user of the box, whose manager runs without a login.
enum BoxUser {
    static let name = "bgtask-user"
    static let uid = 4243

    /// Makes the user where there is none yet, and starts the user's manager.
    static func linger() throws {
        try Installation.succeed(
            Installation.shell(
                """
                id \(name) >/dev/null 2>&1 || useradd --create-home --uid \(uid) --shell /bin/sh \(name)
                loginctl enable-linger \(name) && systemctl start user@\(uid).service
                """))
        try Box.wait(for: "active", from: "systemctl", "is-active", "user@\(uid).service")
    }

    /// Ends the user's manager, and all that is the user's.
    static func stop() throws {
        try Installation.succeed(
            Installation.shell(
                """
                loginctl disable-linger \(name) && systemctl stop user@\(uid).service &&
                rm -rf /home/\(name)/.local /home/\(name)/.config
                """))
    }

    /// Runs a script as the user, with what a login would set.
    static func shell(_ script: String) throws -> Box.Result {
        try Box.execRaw(
            "setpriv", "--reuid=\(uid)", "--regid=\(uid)", "--init-groups", "env", "-C", "/",
            "HOME=/home/\(name)", "USER=\(name)", "XDG_RUNTIME_DIR=/run/user/\(uid)",
            "PATH=/usr/local/bin:/usr/bin:/bin", "sh", "-c", script)
    }
}
