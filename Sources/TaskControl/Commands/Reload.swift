internal import ArgumentParser
internal import TaskAPI
internal import Varlink

/// Has the daemon read its settings again.
struct Reload: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Have the daemon read its settings again.",
        discussion: """
            Says which settings have changed, and which of them act only after a restart. If one is \
            wrong, all stay as they were.

            Example: bgtaskctl --system reload
            """
    )

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let console = session.console
        let reloaded = try session.connect().call(Manager.Reload.self, Empty())
        var fields = Fields()
        for key in reloaded.changed where !reloaded.needRestart.contains(key) {
            fields.add("changed", key)
        }
        for key in reloaded.needRestart { fields.add("needs a restart", key, .yellow) }
        console.show(reloaded, fields.text(console.style))
        if reloaded.changed.isEmpty, reloaded.needRestart.isEmpty {
            console.hint("no setting has changed")
        }
        return 0
    }
}
