internal import TaskAPI
internal import Varlink

extension Failure {
    /// Turns an error about an application into a line; `nil` where it is no such error.
    static func applicationRefusal(_ error: RemoteError) -> String? {
        switch error.name {
        case Applications.NoSuchApplication.name:
            guard let unknown = try? error.decode(Applications.NoSuchApplication.self) else {
                return nil
            }
            return "there is no application \(unknown.id), or it is not yours; "
                + "see: bgtaskctl app list"
        case Applications.CannotContain.name:
            guard let refused = try? error.decode(Applications.CannotContain.self) else {
                return nil
            }
            return "process \(refused.pid) cannot be adopted: \(refused.reason)"
        case Applications.WrongState.name:
            guard let wrong = try? error.decode(Applications.WrongState.self) else { return nil }
            let next =
                wrong.state == .notRunning
                ? "start it: bgtaskctl app launch \(pasted(wrong.id))"
                : "see: bgtaskctl app explain \(pasted(wrong.id))"
            return "\(wrong.id) \(ApplicationText.words(for: wrong.state)), "
                + "and this cannot be done then; \(next)"
        case Applications.NotRegistered.name:
            guard let bare = try? error.decode(Applications.NotRegistered.self) else { return nil }
            return "\(bare.id) has no command that could be started; "
                + "give it one: bgtaskctl app register \(pasted(bare.id)) -- COMMAND"
        case Applications.CannotStart.name:
            guard let failed = try? error.decode(Applications.CannotStart.self) else { return nil }
            return "\(failed.id) could not be started: \(failed.reason)"
        default: return nil
        }
    }

    /// An application in a command line that is there to be copied: others choose their ids, and what they chose is no
    /// text for a shell.
    private static func pasted(_ id: String) -> String { ShellWord.isPlain(id) ? id : "ID" }
}
