import BenchmarkSockets

/// The program.
@main
enum LoadGenerator {
    static func main() {
        Program.run("load-generator") {
            if CommandLine.arguments.contains("--help") {
                print(Arguments.usage)
                return
            }
            var load = try Load(Arguments(Array(CommandLine.arguments.dropFirst())))
            print(try load.run().report)
        }
    }
}
