package import Varlink

/// Why a verb failed: one line for a person, and an exit status.
package struct Failure: Error, Equatable, Sendable {
    /// What is wrong and what to do, without the program's name and without control characters.
    package let line: String
    /// `nil`: the status that the verb has for refusals.
    let status: Int32?
    /// What the daemon replied with, for a script; `nil` where it is not the daemon that refuses.
    let refusal: RemoteError?
    /// Whether the daemon has closed the connection, as it does where it ends.
    let isDisconnection: Bool

    package init(
        _ line: String, status: Int32? = nil, refusal: RemoteError? = nil,
        isDisconnection: Bool = false
    ) {
        self.line = VisibleText.oneLine(line)
        self.status = status
        self.refusal = refusal
        self.isDisconnection = isDisconnection
    }
}
