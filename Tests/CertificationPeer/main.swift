import Glibc
import Varlink

func say(_ text: String, to descriptor: Int32 = STDOUT_FILENO) {
    let line = Array((text + "\n").utf8)
    _ = write(descriptor, line, line.count)
}

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "serve" where arguments.count == 3:
    guard var server = Server(path: arguments[2]) else {
        perror("cannot serve on \(arguments[2])")
        exit(1)
    }
    say("listening")
    server.run()
case "call" where arguments.count == 3:
    do throws(ClientError) {
        let passed = try callCertification(address: arguments[2])
        say(passed ? "certification passed" : "certification failed")
        exit(passed ? 0 : 1)
    } catch {
        say(error.description, to: STDERR_FILENO)
        exit(1)
    }
default:
    say("usage: certification-peer serve PATH | call ADDRESS", to: STDERR_FILENO)
    exit(2)
}
