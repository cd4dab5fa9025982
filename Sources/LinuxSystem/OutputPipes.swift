/// What a command writes its standard output and error to.
final class OutputPipeEnds {
    private let outputEnd: OwnedDescriptor
    private let errorEnd: OwnedDescriptor

    fileprivate init(_ output: consuming OwnedDescriptor, _ error: consuming OwnedDescriptor) {
        outputEnd = output
        errorEnd = error
    }

    var output: Int32 { outputEnd.rawValue }
    var error: Int32 { errorEnd.rawValue }
}

/// The pipes of a command's standard output and error.
struct OutputPipes: ~Copyable {
    /// To be let go of once the command has them, so that its own are the last.
    let writingEnds: OutputPipeEnds
    private var readingEnds: DescriptorPair

    private init(_ output: consuming DescriptorPair, _ error: consuming DescriptorPair) {
        writingEnds = OutputPipeEnds(output.takeSecond(), error.takeSecond())
        readingEnds = DescriptorPair(output.takeFirst(), error.takeFirst())
    }

    static func open(for request: LaunchRequest) throws(LaunchError) -> OutputPipes {
        do throws(SystemError) {
            return OutputPipes(try .pipe(), try .pipe())
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
