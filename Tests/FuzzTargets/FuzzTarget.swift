/// What reads bytes that somebody else wrote, one kind of them each.
///
/// The fuzzer feeds them mutants, and the tests the inputs that are kept in the corpus.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Calls of every method with every field, at the extremes and in sequences.
    case calls
    /// A client's bytes, in pieces of any size.
    case frames
    /// JSON texts, and what is written of them again.
    case json
    /// What tasks say of themselves.
    case notices
    /// The parameters of each method, the replies to it, and interface descriptions.
    case parameters
    /// Settings files and time spans.
    case settings

    /// Takes one input; traps where something does not hold that must.
    package func run(_ bytes: [UInt8]) {
        switch self {
        case .calls: Calls.run(bytes)
        case .frames: Frames.run(bytes)
        case .json: JSONTexts.run(bytes)
        case .notices: Notices.run(bytes)
        case .parameters: Parameters.run(bytes)
        case .settings: SettingsTexts.run(bytes)
        }
    }
}
