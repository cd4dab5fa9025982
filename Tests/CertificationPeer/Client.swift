import Varlink

/// Calls every method of the certification, giving each what the one before it replied.
///
/// - Returns: whether the service says that all was right.
func callCertification(address: String) throws(ClientError) -> Bool {
    let client = try VarlinkClient(address: address, timeout: .seconds(10))
    let id = try client.call(Start.self, Empty()).clientID
    let bool = try client.call(Test01.self, .init(clientID: id)).bool
    let int = try client.call(Test02.self, .init(clientID: id, bool: bool)).int
    let float = try client.call(Test03.self, .init(clientID: id, int: int)).float
    let string = try client.call(Test04.self, .init(clientID: id, float: float)).string
    let all = try client.call(Test05.self, .init(clientID: id, string: string))
    let structure = try client.call(
        Test06.self,
        .init(clientID: id, bool: all.bool, int: all.int, float: all.float, string: all.string)
    ).struct
    let map = try client.call(Test07.self, .init(clientID: id, struct: structure)).map
    let set = try client.call(Test08.self, .init(clientID: id, map: map)).set
    let mytype = try client.call(Test09.self, .init(clientID: id, set: set)).mytype
    var replies: [String] = []
    try client.callMore(Test10.self, .init(clientID: id, mytype: mytype)) {
        reply throws(ClientError) in
        replies.append(reply.string)
        return true
    }
    try client.callOneway(Test11.self, .init(clientID: id, lastMoreReplies: replies))
    return try client.call(End.self, .init(clientID: id)).allOK
}
