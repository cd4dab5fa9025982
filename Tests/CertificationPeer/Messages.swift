package import JSON
package import Varlink

/// The parameters of a call of the certification: all but the first carry what `Start` replied.
package protocol CertificationInput: Message, Equatable {
    var clientID: String { get set }
}

package enum Start: Varlink.Method {
    package static let name = "org.varlink.certification.Start"
    package typealias Input = Empty

    package struct Output: Message, Equatable {
        package var clientID = ""

        package init() {}

        package init(clientID: String) { self.clientID = clientID }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
        }
    }
}

package struct Scalars: Message, Equatable {
    package var bool = false
    package var int = 0
    package var float = 0.0
    package var string = ""

    package init() {}

    package init(bool: Bool, int: Int, float: Double, string: String) {
        self.bool = bool
        self.int = int
        self.float = float
        self.string = string
    }

    package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("bool", &bool)
        try fields.field("int", &int)
        try fields.field("float", &float)
        try fields.field("string", &string)
    }
}

package struct MyType: Message, Equatable {
    package var object = JSONValue.object([])
    package var `enum` = Choice.one
    package var `struct` = Pair()
    package var array: [String] = []
    package var dictionary: [String: String] = [:]
    package var stringset: StringSet = []
    package var nullable: String?
    package var nullableArrayStruct: [Pair]?
    package var interface = Interface()

    package init() {}

    package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("object", &object)
        try fields.field("enum", &`enum`)
        try fields.field("struct", &`struct`)
        try fields.field("array", &array)
        try fields.field("dictionary", &dictionary)
        try fields.field("stringset", &stringset)
        try fields.field("nullable", &nullable)
        try fields.field("nullable_array_struct", &nullableArrayStruct)
        try fields.field("interface", &interface)
    }

    package enum Choice: String, WireEnum { case one, two, three }

    package struct Pair: Message, Equatable {
        package var first = 0
        package var second = ""

        package init() {}

        package init(first: Int, second: String) {
            self.first = first
            self.second = second
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("first", &first)
            try fields.field("second", &second)
        }
    }
}

package struct Interface: Message, Equatable {
    package var foo: [[String: Word]?]?
    package var anon = Flags()

    package init() {}

    package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("foo", &foo)
        try fields.field("anon", &anon)
    }

    package enum Word: String, WireEnum { case foo, bar, baz }

    package struct Flags: Message, Equatable {
        package var foo = false
        package var bar = false

        package init() {}

        package init(foo: Bool, bar: Bool) {
            self.foo = foo
            self.bar = bar
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("foo", &foo)
            try fields.field("bar", &bar)
        }
    }
}

package struct CertificationError: Message {
    package static let name = "org.varlink.certification.CertificationError"
    package var wants = JSONValue.object([])
    package var got = JSONValue.object([])

    package init() {}

    package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("wants", &wants)
        try fields.field("got", &got)
    }
}
