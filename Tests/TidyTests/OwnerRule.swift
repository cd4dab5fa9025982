/// State has an owner: what a type stores is assigned in the file of the type.
///
/// A class or an actor that another file extends has no stored `var` whose setter is not private. A struct is a value,
/// and what it stores may be its interface; it may have such properties as long as extensions in other files only
/// read them, or set them in initialisers, as conversions do: no mutating function and no setter there names one. A
/// message of the wire is all interface, which conversions may set in mutating functions too.
enum OwnerRule {
    struct Violation: Equatable, CustomStringConvertible {
        /// The type's name, with those of the types around it.
        let type: String
        let property: String
        let path: String
        let line: Int
        /// The file of the extension that could assign it, or does.
        let intruder: String

        var description: String {
            "\(path):\(line): \(type).\(property) has no owner: \(intruder) extends the type; make it private, "
                + "and put what it needs beside it"
        }
    }

    /// Types that break the rule for now. One that keeps it, or is gone, has to be taken out.
    static let exceptions: Set<String> = []

    /// The violations in all of these files, in their order; exceptions are not left out.
    static func violations(in files: [SourceFile]) -> [Violation] {
        let read = files.filter { $0.isSwift && !$0.isTest }.map { ($0, Declarations($0)) }
        var extensions: [String: [(file: SourceFile, words: Set<String>)]] = [:]
        for (file, declarations) in read {
            for found in declarations.extensions {
                extensions[found.name, default: []].append((file, found.assigningWords))
            }
        }
        let modules = Dictionary(
            read.flatMap { file, declarations in
                declarations.types.map { ($0.name, Set([file.module ?? ""])) }
            }, uniquingKeysWith: { $0.union($1) })
        return read.flatMap { file, declarations in
            declarations.types.flatMap { type in
                // Of two types with the same name each module extends its own.
                let isOnly = modules[type.name]?.count == 1
                let others = (extensions[type.name] ?? []).filter {
                    $0.file.path != file.path && (isOnly || $0.file.module == file.module)
                }
                return violations(of: type, in: file, extendedBy: others)
            }
        }
    }

    private static func violations(
        of type: Declarations.TypeDeclaration, in file: SourceFile,
        extendedBy others: [(file: SourceFile, words: Set<String>)]
    ) -> [Violation] {
        if type.conformances.contains("Message") { return [] }
        return type.openVariables.compactMap { variable in
            let intruder = others.first { type.isReference || $0.words.contains(variable.name) }
            return intruder.map {
                Violation(
                    type: type.name, property: variable.name, path: file.path, line: variable.line,
                    intruder: $0.file.path)
            }
        }
    }
}
