// Measures the daemon's parts alone, or does a piece of work to be counted.
//
//     microbenchmark SUBJECT         prints NAME, FIGURE and UNIT, with tabs between
//     microbenchmark script NAME N   does N units of a script, for valgrind (Tests/InstructionCount)

internal import Glibc

let arguments = CommandLine.arguments.dropFirst()

if arguments.count == 1, let name = arguments.first, let subject = Subject(rawValue: name) {
    try subject.measure()
} else if arguments.count == 3, arguments.first == "script",
    let script = Script(rawValue: arguments[2]), let count = Int(arguments[3]),
    (0...script.countMax).contains(count)
{
    try script.run(count)
} else {
    let subjects = Subject.allCases.map(\.rawValue).joined(separator: "|")
    let scripts = Script.allCases.map { "\($0.rawValue) 0...\($0.countMax)" }
    print("usage: microbenchmark \(subjects)")
    print("       microbenchmark script \(scripts.joined(separator: "|"))")
    exit(EX_USAGE)
}
