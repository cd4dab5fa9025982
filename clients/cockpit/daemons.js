/** Which daemons there are on this machine for the person who is logged in. */

/** Of the system, as `DaemonSocketPath` of bgtaskctl has it. */
const systemPath = "/run/bgtaskd/org.bgtaskd";

/**
 * Finds the sockets: `$BGTASK_SOCKET` where the session has it, the system's, and the user's own if it is there.
 *
 * @returns {Promise<{name: string, path: string}[]>} the first is the one to begin with; name is `chosen`, `system` or
 *     `user`.
 */
export async function findDaemons() {
    const script = 'printf "%s\\n" "$BGTASK_SOCKET" "$XDG_RUNTIME_DIR"; ' +
        '[ -S "$XDG_RUNTIME_DIR/bgtaskd/org.bgtaskd" ] && echo yes; :';
    let chosen = "", folder = "", isThere = "";
    try {
        [chosen, folder, isThere] =
            (await cockpit.spawn(["sh", "-c", script], { err: "message" })).split("\n");
    } catch (error) {
        console.warn("bgtaskd: the environment of the session is not known:", error.message);
    }
    return [
        ...chosen ? [{ name: "chosen", path: chosen }] : [],
        { name: "system", path: systemPath },
        ...isThere ? [{ name: "user", path: `${folder}/bgtaskd/org.bgtaskd` }] : [],
    ];
}

/** The names of the machine's users, by uid; empty where they cannot be read. */
export async function userNames() {
    try {
        const text = await cockpit.file("/etc/passwd").read() ?? "";
        return new Map(text.split("\n").map(line => line.split(":"))
            .filter(parts => parts.length > 2).map(parts => [Number(parts[2]), parts[0]]));
    } catch (error) {
        console.warn("bgtaskd: users are shown by number:", error.message);
        return new Map();
    }
}
