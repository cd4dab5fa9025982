/// Fills a node with what a value says of itself.
///
/// The path to a value is not kept: it is there for the errors of encoders that refuse a value.
struct NodeEncoder: Encoder {
    let node: Node

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(Members(node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return Elements(node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        Scalar(node: node)
    }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: Node

    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {
        _ = node.member(key.stringValue)
    }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try node.member(key.stringValue).take(value)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Inner> {
        superEncoder(forKey: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        superEncoder(forKey: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        NodeEncoder(node: node.member("super"))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        NodeEncoder(node: node.member(key.stringValue))
    }
}

private struct Elements: UnkeyedEncodingContainer {
    let node: Node

    var codingPath: [any CodingKey] { [] }
    var count: Int { node.count }

    func encodeNil() {
        _ = node.element()
    }

    func encode<T: Encodable>(_ value: T) throws {
        try node.element().take(value)
    }

    func nestedContainer<Inner: CodingKey>(
        keyedBy type: Inner.Type
    ) -> KeyedEncodingContainer<Inner> {
        superEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        superEncoder().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        NodeEncoder(node: node.element())
    }
}

private struct Scalar: SingleValueEncodingContainer {
    let node: Node

    var codingPath: [any CodingKey] { [] }

    /// A node is null until it takes something.
    func encodeNil() {}

    func encode<T: Encodable>(_ value: T) throws {
        try node.take(value)
    }
}
