package import Varlink

// One method of org.varlink.certification after the other: what a call takes, and what it replies.

package enum Test01: Varlink.Method {
    package static let name = "org.varlink.certification.Test01"

    package struct Input: CertificationInput {
        package var clientID = ""

        package init() {}

        package init(clientID: String) { self.clientID = clientID }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
        }
    }

    package struct Output: Message, Equatable {
        package var bool = false

        package init() {}

        package init(bool: Bool) {
            self.bool = bool
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("bool", &bool)
        }
    }
}

package enum Test02: Varlink.Method {
    package static let name = "org.varlink.certification.Test02"

    package struct Input: CertificationInput {
        package var clientID = ""
        package var bool = false

        package init() {}

        package init(clientID: String, bool: Bool) {
            self.clientID = clientID
            self.bool = bool
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("bool", &bool)
        }
    }

    package struct Output: Message, Equatable {
        package var int = 0

        package init() {}

        package init(int: Int) {
            self.int = int
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("int", &int)
        }
    }
}

package enum Test03: Varlink.Method {
    package static let name = "org.varlink.certification.Test03"

    package struct Input: CertificationInput {
        package var clientID = ""
        package var int = 0

        package init() {}

        package init(clientID: String, int: Int) {
            self.clientID = clientID
            self.int = int
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("int", &int)
        }
    }

    package struct Output: Message, Equatable {
        package var float = 0.0

        package init() {}

        package init(float: Double) {
            self.float = float
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("float", &float)
        }
    }
}

package enum Test04: Varlink.Method {
    package static let name = "org.varlink.certification.Test04"

    package struct Input: CertificationInput {
        package var clientID = ""
        package var float = 0.0

        package init() {}

        package init(clientID: String, float: Double) {
            self.clientID = clientID
            self.float = float
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("float", &float)
        }
    }

    package struct Output: Message, Equatable {
        package var string = ""

        package init() {}

        package init(string: String) {
            self.string = string
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("string", &string)
        }
    }
}

package enum Test05: Varlink.Method {
    package static let name = "org.varlink.certification.Test05"

    package typealias Output = Scalars

    package struct Input: CertificationInput {
        package var clientID = ""
        package var string = ""

        package init() {}

        package init(clientID: String, string: String) {
            self.clientID = clientID
            self.string = string
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("string", &string)
        }
    }
}

package enum Test06: Varlink.Method {
    package static let name = "org.varlink.certification.Test06"

    package struct Input: CertificationInput {
        package var clientID = ""
        package var bool = false
        package var int = 0
        package var float = 0.0
        package var string = ""

        package init() {}

        package init(clientID: String, bool: Bool, int: Int, float: Double, string: String) {
            self.clientID = clientID
            self.bool = bool
            self.int = int
            self.float = float
            self.string = string
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("bool", &bool)
            try fields.field("int", &int)
            try fields.field("float", &float)
            try fields.field("string", &string)
        }
    }

    package struct Output: Message, Equatable {
        package var `struct` = Scalars()

        package init() {}

        package init(`struct`: Scalars) {
            self.struct = `struct`
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("struct", &`struct`)
        }
    }
}
