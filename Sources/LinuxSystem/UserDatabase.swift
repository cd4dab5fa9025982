internal import Glibc
package struct UserEntry: Equatable, Sendable {
    package let name: String
    package let home: String
    package let shell: String
    package init(name: String, home: String, shell: String) {
        self.name = name
        self.home = home
        self.shell = shell
    }
}
package final class UserDatabase {
    package enum Answer: Equatable, Sendable { case found(UserEntry), unknown, failed(SystemError) }
    var ends: [Int32] = [0, 0]
    var answers: [(user: UInt32, answer: Answer)] = []
    package init() throws(SystemError) { _ = pipe(&ends) }
    package var descriptor: Int32 { ends[0] }
    package func ask(_ user: UInt32) throws(SystemError) {
        if let entry = getpwuid(user)?.pointee {
            answers.append(
                (
                    user,
                    .found(
                        UserEntry(
                            name: String(cString: entry.pw_name),
                            home: String(cString: entry.pw_dir),
                            shell: String(cString: entry.pw_shell)))
                ))
        } else {
            answers.append((user, .unknown))
        }
        _ = write(ends[1], [1], 1)
    }
    package func takeAnswers() -> [(user: UInt32, answer: Answer)] {
        var n = [UInt8](repeating: 0, count: 1)
        _ = read(ends[0], &n, 1)
        defer { answers = [] }
        return answers
    }
}
