internal import Glibc

/// What a command writes its standard output and error to.
final class OutputPipeEnds {
    private let outputEnd: OwnedDescriptor
    private let errorEnd: OwnedDescriptor

    fileprivate init(_ output: consuming OwnedDescriptor, _ error: consuming OwnedDescriptor) {
        outputEnd = output
        errorEnd = error
    }

    /// Makes the pipes the user's own: to open /dev/stderr or /proc/self/fd/1, as scripts do, needs
    /// the right to open the pipe itself.
    fileprivate func give(to user: LaunchRequest.User) throws(SystemError) {
        for end in [output, error] {
            try systemCall("fchown", "pipe") { fchown(end, user.user, user.group) }
        }
    }

    var output: Int32 { outputEnd.rawValue }
    var error: Int32 { errorEnd.rawValue }
}

/// The pipes of a command's standard output and error.
struct OutputPipes: ~Copyable {
    /// To be let go of when the command has ended at the latest, so that what is left of its own are the last.
    let writingEnds: OutputPipeEnds
    private var readingEnds: DescriptorPair

    private init(_ output: consuming DescriptorPair, _ error: consuming DescriptorPair) {
        writingEnds = OutputPipeEnds(output.takeSecond(), error.takeSecond())
        readingEnds = DescriptorPair(output.takeFirst(), error.takeFirst())
    }

    static func open(for request: LaunchRequest) throws(LaunchError) -> OutputPipes {
        do throws(SystemError) {
            let pipes = OutputPipes(try .pipe(), try .pipe())
            if let user = request.user { try pipes.writingEnds.give(to: user) }
            return pipes
        } catch {
            throw LaunchError(
                stage: .prepare,
                errno: error.errno,
                subject: request.arguments.first ?? ""
            )
        }
    }

    consuming func takeReadingEnds() -> DescriptorPair {
        readingEnds
    }
}
