internal import Foundation

extension UIApplicationDelegate where Self: UIResponder {
    /// Runs the program with this as its delegate: what `@main` at the delegate's class starts.
    public static func main() { ApplicationRun.run(Self()) }
}

/// Runs the program: its delegate is told what happens, until the end.
///
/// - Parameters:
///   - argc: not looked at.
///   - argv: not looked at.
///   - principalClassName: not looked at; ``UIApplication`` is not replaced.
///   - delegateClassName: as `NSStringFromClass` has it, of a ``UIResponder``.
/// - Returns: never, but with 1 where there is no such class.
@discardableResult
@preconcurrency @MainActor public func UIApplicationMain(
    _ argc: Int32, _ argv: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
    _ principalClassName: String?, _ delegateClassName: String?
) -> Int32 {
    guard let type = delegateClassName.flatMap(NSClassFromString) as? UIResponder.Type,
        let delegate = type.init() as? any UIApplicationDelegate
    else { return 1 }
    ApplicationRun.run(delegate)
}
