package import Varlink

package enum Test07: Varlink.Method {
    package static let name = "org.varlink.certification.Test07"

    package struct Input: CertificationInput {
        package var clientID = ""
        package var `struct` = Scalars()

        package init() {}

        package init(clientID: String, `struct`: Scalars) {
            self.clientID = clientID
            self.struct = `struct`
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("struct", &`struct`)
        }
    }

    package struct Output: Message, Equatable {
        package var map: [String: String] = [:]

        package init() {}

        package init(map: [String: String]) {
            self.map = map
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("map", &map)
        }
    }
}

package enum Test08: Varlink.Method {
    package static let name = "org.varlink.certification.Test08"

    package struct Input: CertificationInput {
        package var clientID = ""
        package var map: [String: String] = [:]

        package init() {}

        package init(clientID: String, map: [String: String]) {
            self.clientID = clientID
            self.map = map
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("map", &map)
        }
    }

    package struct Output: Message, Equatable {
        package var set: StringSet = []

        package init() {}

        package init(set: StringSet) {
            self.set = set
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("set", &set)
        }
    }
}

package enum Test09: Varlink.Method {
    package static let name = "org.varlink.certification.Test09"

    package struct Input: CertificationInput {
        package var clientID = ""
        package var set: StringSet = []

        package init() {}

        package init(clientID: String, set: StringSet) {
            self.clientID = clientID
            self.set = set
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("set", &set)
        }
    }

    package struct Output: Message, Equatable {
        package var mytype = MyType()

        package init() {}

        package init(mytype: MyType) {
            self.mytype = mytype
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("mytype", &mytype)
        }
    }
}

package enum Test10: Varlink.Method {
    package static let name = "org.varlink.certification.Test10"

    package struct Input: CertificationInput {
        package var clientID = ""
        package var mytype = MyType()

        package init() {}

        package init(clientID: String, mytype: MyType) {
            self.clientID = clientID
            self.mytype = mytype
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("mytype", &mytype)
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

package enum Test11: Varlink.Method {
    package static let name = "org.varlink.certification.Test11"

    package typealias Output = Empty

    package struct Input: CertificationInput {
        package var clientID = ""
        package var lastMoreReplies: [String] = []

        package init() {}

        package init(clientID: String, lastMoreReplies: [String]) {
            self.clientID = clientID
            self.lastMoreReplies = lastMoreReplies
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
            try fields.field("last_more_replies", &lastMoreReplies)
        }
    }
}

package enum End: Varlink.Method {
    package static let name = "org.varlink.certification.End"

    package struct Input: CertificationInput {
        package var clientID = ""

        package init() {}

        package init(clientID: String) { self.clientID = clientID }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("client_id", &clientID)
        }
    }

    package struct Output: Message, Equatable {
        package var allOK = false

        package init() {}

        package init(allOK: Bool) {
            self.allOK = allOK
        }

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("all_ok", &allOK)
        }
    }
}
