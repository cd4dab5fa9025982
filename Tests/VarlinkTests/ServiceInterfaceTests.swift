import Testing
import Varlink

@Suite("What every service answers")
struct ServiceInterfaceTests {
    private let service = ServiceInterface(
        .init(vendor: "V", product: "P", version: "1", url: "u"),
        interfaces: ["org.example": "# é\ninterface org.example\n"]
    )

    private func answer(_ call: String) throws -> String? {
        var connection = ServerConnection()
        try connection.receive(frame(call))
        let call = try #require(try connection.nextCall())
        guard service.answer(call, on: &connection) != nil else { return nil }
        return connection.takeOutput()
    }

    @Test("its own text says what it does")
    func ownText() throws {
        let description = try InterfaceDescription(parsing: ServiceInterface.text)
        #expect(description.name == ServiceInterface.name)
        #expect(description.differences(of: ServiceInterface.GetInfo.self) == [])
        #expect(description.differences(of: ServiceInterface.GetInterfaceDescription.self) == [])
        #expect(description.errors.count == 6)
    }

    @Test("GetInfo names the service and its interfaces")
    func info() throws {
        let text = try answer(#"{"method":"org.varlink.service.GetInfo"}"#)
        #expect(
            text == #"{"parameters":{"vendor":"V","product":"P","version":"1","url":"u","#
                + #""interfaces":["org.varlink.service","org.example"]}}"# + "\0"
        )
    }

    @Test("GetInterfaceDescription answers the text byte for byte")
    func description() throws {
        let method = #""method":"org.varlink.service.GetInterfaceDescription""#
        #expect(
            try answer(#"{\#(method),"parameters":{"interface":"org.example"}}"#)
                == #"{"parameters":{"description":"# + "\"# é\\ninterface org.example\\n\"}}\0"
        )
        let own = try answer(#"{\#(method),"parameters":{"interface":"org.varlink.service"}}"#)
        #expect(own?.contains("method GetInfo") == true)
    }

    @Test("the errors of org.varlink.service name what is wrong")
    func errors() throws {
        let error = { (name: String, key: String, value: String) in
            #"{"error":"org.varlink.service.\#(name)","parameters":{"\#(key)":"\#(value)"}}"# + "\0"
        }
        let method = #""method":"org.varlink.service.GetInterfaceDescription""#
        #expect(
            try answer(#"{\#(method),"parameters":{"interface":"x"}}"#)
                == error("InterfaceNotFound", "interface", "x")
        )
        #expect(try answer("{\(method)}") == error("InvalidParameter", "parameter", "interface"))
        #expect(
            try answer(#"{"method":"org.varlink.service.GetInfo","parameters":{"a":1}}"#)
                == error("InvalidParameter", "parameter", "a")
        )
        #expect(
            try answer(#"{"method":"org.varlink.service.Nope"}"#)
                == error("MethodNotFound", "method", "org.varlink.service.Nope")
        )
        #expect(try answer(#"{"method":"org.example.Nope"}"#) == nil)
    }

    @Test("a call that nobody takes is refused for its interface or for its method")
    func refusal() throws {
        for (method, error) in [
            ("org.example.Nope", ServiceError.methodNotFound(method: "org.example.Nope")),
            ("org.other.Nope", .interfaceNotFound(interface: "org.other")),
        ] {
            var connection = ServerConnection()
            try connection.receive(frame(#"{"method":"\#(method)"}"#))
            let call = try #require(try connection.nextCall())
            #expect(service.refusal(of: call) == error)
        }
    }
}
