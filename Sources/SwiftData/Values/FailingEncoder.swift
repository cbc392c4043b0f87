import Foundation

/// An encoder for what a composite attribute cannot have: it refuses every value.
struct FailingEncoder: Encoder {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FailingKeyedEncodingContainer<Key>())
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { FailingEncodingContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { FailingEncodingContainer() }
}

struct FailingKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { throw CompositeCoding.keyedOnly }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { throw CompositeCoding.keyedOnly }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(FailingKeyedEncodingContainer<NestedKey>())
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { FailingEncodingContainer() }
    func superEncoder() -> any Encoder { FailingEncoder() }
    func superEncoder(forKey key: Key) -> any Encoder { FailingEncoder() }
}

struct FailingEncodingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encodeNil() throws { throw CompositeCoding.keyedOnly }
    func encode<T: Encodable>(_ value: T) throws { throw CompositeCoding.keyedOnly }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(FailingKeyedEncodingContainer<NestedKey>())
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { FailingEncoder() }
}
