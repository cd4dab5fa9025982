/// The pipes of a command's standard output and error.
struct OutputPipes: ~Copyable {
    private var output: DescriptorPair
    private var error: DescriptorPair
    private let outputEnd: OwnedDescriptor
    private let errorEnd: OwnedDescriptor

    private init(_ output: consuming DescriptorPair, _ error: consuming DescriptorPair) {
        outputEnd = output.takeSecond()
        errorEnd = error.takeSecond()
        self.output = output
        self.error = error
    }

    static func open(for request: LaunchRequest) throws(LaunchError) -> OutputPipes {
        do throws(SystemError) {
            return OutputPipes(try .pipe(), try .pipe())
        } catch {
            throw LaunchError(
                stage: .prepare, errno: error.errno, subject: request.arguments.first ?? "")
        }
    }

    /// What the command writes to.
    var writingEnds: (output: Int32, error: Int32) { (outputEnd.rawValue, errorEnd.rawValue) }

    /// Closes the writing ends here, so that the command's own are the last.
    consuming func takeReadingEnds() -> DescriptorPair {
        DescriptorPair(output.takeFirst(), error.takeFirst())
    }
}
