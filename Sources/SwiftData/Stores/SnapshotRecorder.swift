import Foundation

/// Notes what a snapshot encodes: the values themselves, by the names of their properties.
///
/// ```
///  snapshot.encode(to:) ──▶ keyed container ──▶ ["name": "Oslo", "owner": PersistentIdentifier]
/// ```
final class SnapshotRecorder: Encoder {
    private(set) var values: [String: Any] = [:]
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// The values of a snapshot.
    ///
    /// - Throws: where the snapshot is no keyed container of values.
    static func values(of snapshot: some DataStoreSnapshot) throws -> [String: Any] {
        if let snapshot = snapshot as? DefaultSnapshot {
            return snapshot.contents.mapValues { content in
                switch content {
                case .attribute(let value): value
                case .toOne(let identifier): identifier
                case .toMany(let identifiers): identifiers
                }
            }
        }
        let recorder = SnapshotRecorder()
        try snapshot.encode(to: recorder)
        if let misuse = recorder.misuse { throw misuse }
        recorder.values[DataStoreSnapshotCodingKey.persistentIdentifier.stringValue] = nil
        return recorder.values
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Keyed<Key>(recorder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        note("an unkeyed container")
        return IgnoringContainer(recorder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        note("a single value")
        return IgnoringContainer(recorder: self)
    }

    private var misuse: EncodingError?

    fileprivate func note(_ what: String) {
        misuse = EncodingError.invalidValue(
            what,
            .init(
                codingPath: [],
                debugDescription:
                    "A snapshot encodes \(what); it has to encode values by the names of its model's properties."
            ))
    }

    private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
        let recorder: SnapshotRecorder
        let codingPath: [any CodingKey] = []

        mutating func encodeNil(forKey key: Key) {}
        mutating func encode<T: Encodable>(_ value: T, forKey key: Key) { recorder.values[key.stringValue] = value }

        mutating func nestedContainer<Nested: CodingKey>(
            keyedBy keyType: Nested.Type, forKey key: Key
        ) -> KeyedEncodingContainer<Nested> {
            recorder.note("'\(key.stringValue)' as a nested container")
            return KeyedEncodingContainer(Keyed<Nested>(recorder: SnapshotRecorder()))
        }

        mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            recorder.note("'\(key.stringValue)' as a nested container")
            return IgnoringContainer(recorder: SnapshotRecorder())
        }

        mutating func superEncoder() -> any Encoder { recorder }
        mutating func superEncoder(forKey key: Key) -> any Encoder { recorder }
    }

    /// Takes what is encoded in a shape that no snapshot has.
    private struct IgnoringContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
        let recorder: SnapshotRecorder
        let codingPath: [any CodingKey] = []
        let count = 0

        mutating func encodeNil() {}
        mutating func encode<T: Encodable>(_ value: T) {}
        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
            KeyedEncodingContainer(Keyed<Nested>(recorder: recorder))
        }
        mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
        mutating func superEncoder() -> any Encoder { recorder }
    }
}
