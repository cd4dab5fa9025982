import JSON
import Varlink

/// One field of every kind.
struct Everything: Message, Equatable {
    var bool = false
    var int = 0
    var float = 0.0
    var string = ""
    var color = Color.red
    var maybe: Int?
    var list: [String] = []
    var map: [String: Int] = [:]
    var set: StringSet = []
    var inner = Inner()
    var inners: [Inner] = []
    var object = JSONValue.object([])
    var holes: [Inner?]?

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("bool", &bool)
        try fields.field("int", &int)
        try fields.field("float", &float)
        try fields.field("string", &string)
        try fields.field("color", &color)
        try fields.field("maybe", &maybe)
        try fields.field("list", &list)
        try fields.field("map", &map)
        try fields.field("set", &set)
        try fields.field("inner", &inner)
        try fields.field("inners", &inners)
        try fields.field("object", &object)
        try fields.field("holes", &holes)
    }

    /// Its text without the fields of these names, and with these texts for others.
    static func text(_ changes: [String: String?] = [:]) -> String {
        var fields: [(String, String)] = [
            ("bool", "true"), ("int", "1"), ("float", "1.5"), ("string", #""s""#),
            ("color", #""green""#), ("list", #"["a","b"]"#), ("map", #"{"k":1}"#),
            ("set", #"{"m":{}}"#), ("inner", #"{"deep":1,"deeper":{"bottom":true}}"#),
            ("inners", #"[{"deep":2,"deeper":{"bottom":false}}]"#), ("object", #"{"x":null}"#),
        ]
        for (name, text) in changes.sorted(by: { $0.key < $1.key }) {
            fields.removeAll { $0.0 == name }
            if let text { fields.append((name, text)) }
        }
        return "{" + fields.map { #""\#($0)":\#($1)"# }.joined(separator: ",") + "}"
    }
}

enum Color: String, WireEnum { case red, green, blue, Kelvin }

struct Inner: Message, Equatable {
    var deep = 0
    var deeper = Bottom()

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("deep", &deep)
        try fields.field("deeper", &deeper)
    }
}

struct Bottom: Message, Equatable {
    var bottom = false

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("bottom", &bottom)
    }
}

/// One field, of whatever type is tried.
struct One<T: FieldValue & Equatable>: Message, Equatable where T: Initialised {
    var value = T()

    init() {}

    init(_ value: T) { self.value = value }

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("value", &value)
    }
}

/// A type with a neutral value.
protocol Initialised { init() }
extension Bool: Initialised {}
extension Int: Initialised {}
extension Double: Initialised {}
extension String: Initialised {}
extension Dictionary: Initialised {}
extension StringSet: Initialised {
    init() { self = [] }
}
extension JSONValue: Initialised {
    init() { self = .object([]) }
}
