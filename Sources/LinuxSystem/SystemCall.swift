internal import Glibc

/// Makes a call that answers -1 and an errno on failure, again for as long as it is interrupted.
///
/// - Throws: `SystemError` with this operation and subject.
@discardableResult
package func systemCall<Result: SignedInteger>(
    _ operation: String,
    _ subject: @autoclosure () -> String = "",
    _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = body()
        if result != -1 { return result }
        let error = errno
        if error != EINTR {
            throw SystemError(operation: operation, errno: error, subject: subject())
        }
    }
}
