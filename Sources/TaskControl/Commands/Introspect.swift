internal import ArgumentParser
internal import Settings
internal import Varlink

/// Shows how programs call the daemon, as the daemon says it.
struct Introspect: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show the interfaces by which programs call the daemon.",
        discussion: """
            Without an interface their names, one a line; with one its description in the words of \
            Varlink: every method, field, range and error.

            Example: bgtaskctl introspect org.bgtaskd.Tasks
            """
    )

    @Argument(
        help: ArgumentHelp("The interface.", valueName: "interface"), completion: .interfaces)
    var interface: String?

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        let console = session.console
        let service = try connection.call(ServiceInterface.GetInfo.self, Empty())
        guard let interface else {
            console.show(
                service, service.interfaces.map { VisibleText.oneLine($0) + "\n" }.joined())
            return 0
        }
        guard service.interfaces.contains(interface) else {
            let hint = Spelling.hint(for: interface, among: service.interfaces)
            throw Failure(
                "there is no interface \(interface)"
                    + (hint.isEmpty ? "; bgtaskctl introspect names them" : hint))
        }
        let reply = try connection.call(
            ServiceInterface.GetInterfaceDescription.self, .init(interface: interface))
        if console.isJSON {
            console.write(JSONLine.text(reply))
        } else {
            console.passOn(reply.description, toErrors: false)
        }
        return 0
    }
}
