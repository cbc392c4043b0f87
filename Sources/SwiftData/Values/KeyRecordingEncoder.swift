import Foundation

/// An encoder that notes the keys of a value, nil ones included, and keeps nothing.
final class KeyRecordingEncoder: Encoder {
    private(set) var keys: [(name: String, type: Any.Type?)] = []
    /// Whether the value is encoded as anything but values by key.
    private(set) var isOpaque = false
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    fileprivate func note(_ key: any CodingKey, _ type: Any.Type?) {
        if !keys.contains(where: { $0.name == key.stringValue }) { keys.append((key.stringValue, type)) }
    }

    fileprivate func opaque() -> FailingEncoder {
        isOpaque = true
        return FailingEncoder()
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyRecordingContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { opaque().unkeyedContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { opaque().singleValueContainer() }
}

private struct KeyRecordingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: KeyRecordingEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { encoder.note(key, nil) }
    func encode<T: Encodable>(_ value: T, forKey key: Key) throws { encoder.note(key, T.self) }

    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { encoder.note(key, T.self) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> { encoder.opaque().container(keyedBy: keyType) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.opaque().unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder.opaque() }
    func superEncoder(forKey key: Key) -> any Encoder { encoder.opaque() }
}
