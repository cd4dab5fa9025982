internal import CLinux
internal import Glibc

/// Finds a program that is installed with the daemon: beside its own executable, or in ../libexec/bgtaskd.
///
/// - Throws: ENOENT, with the places that were looked at; EACCES where it cannot be executed.
package func installedProgram(_ name: String) throws(SystemError) -> String {
    let executable = try ownExecutable()
    let folder = executable.prefix(upTo: executable.lastIndex(of: "/") ?? executable.startIndex)
    let places = ["\(folder)", "\(folder)/../libexec/bgtaskd"]
    for place in places where access("\(place)/\(name)", X_OK) == 0 { return "\(place)/\(name)" }
    for place in places where access("\(place)/\(name)", F_OK) == 0 {
        throw SystemError(operation: "execute", errno: EACCES, subject: "\(place)/\(name)")
    }
    throw SystemError(
        operation: "find", errno: ENOENT, subject: name,
        detail: "in neither of " + places.joined(separator: ", "))
}

private func ownExecutable() throws(SystemError) -> String {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = try systemCall("readlink", "/proc/self/exe") {
        clx_own_executable(&buffer, buffer.count)
    }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
}
