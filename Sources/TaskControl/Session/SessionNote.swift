internal import Glibc

/// Says once a session that a user's own daemon ends with it.
///
/// Without lingering (loginctl(1)) systemd stops a user's manager some seconds after the last logout, and so the
/// daemon and its tasks.
enum SessionNote {
    static func tell(_ console: Console) {
        guard let folder = Surroundings.value("XDG_RUNTIME_DIR"),
            access("/run/systemd/system", F_OK) == 0, !lingers()
        else { return }
        // The folder is gone with the session, and the file in it.
        let file = open(folder + "/bgtaskctl-noted", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        close(file)
        console.notice(
            "your own daemon and its tasks end with your last session; to keep them: loginctl enable-linger"
        )
    }

    private static func lingers() -> Bool {
        guard let entry = getpwuid(geteuid()) else { return false }
        return access("/var/lib/systemd/linger/" + String(cString: entry.pointee.pw_name), F_OK)
            == 0
    }
}
