/// A number of a text is out of the range of `Int` or `Double`, where its value is asked for.
package struct JSONRangeError: Error, Equatable, Sendable {
    /// A step from a container to one of its elements or members.
    package enum Step: Equatable, Sendable {
        case index(Int)
        case key(String)
    }

    /// The way to the number, the innermost step first.
    package private(set) var steps: [Step] = []

    /// The same error as seen from the container around it.
    func inside(_ step: Step) -> JSONRangeError {
        var error = self
        error.steps.append(step)
        return error
    }
}
