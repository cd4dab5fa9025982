import FuzzTargets
import Glibc

/// The target that FUZZ_TARGET names.
private let target: FuzzTarget = {
    let name = getenv("FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        print("FUZZ_TARGET is to be one of \(names)")
        exit(64)
    }
    return target
}()

/// What LeakSanitizer asks for (sanitizer/lsan_interface.h): what the initializers of global constants allocate lives
/// for ever, and a pointer that has the mark of an enumeration's case in it is none that LeakSanitizer knows.
@_cdecl("__lsan_default_suppressions")
public func suppressedLeaks() -> UnsafePointer<CChar> {
    UnsafeRawPointer(suppressions.utf8Start).assumingMemoryBound(to: CChar.self)
}

/// Swift's names of such initializers end so.
private let suppressions: StaticString = "leak:_WZ\n"

/// What libFuzzer calls with each input (llvm.org/docs/LibFuzzer.html).
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}
