import Foundation

/// What a type's decoder asked for.
final class LayoutRecording {
    /// The keys, in the order in which they were asked for first, with the type asked for; optional types without
    /// optionality.
    private(set) var keys: [(name: String, type: Any.Type?)] = []
    /// Whether the decoder asked for anything but values by key: the value is then no composite.
    var isOpaque = false

    func note(_ name: String, _ type: Any.Type? = nil) {
        guard let index = keys.firstIndex(where: { $0.name == name }) else {
            keys.append((name, type))
            return
        }
        if keys[index].type == nil { keys[index].type = type }
        // Asked for as two types.
        if let type, let known = keys[index].type, known != type { isOpaque = true }
    }
}

/// A decoder that gives made-up values for everything, and notes what it is asked for.
struct RecordingDecoder: Decoder {
    let recording: LayoutRecording
    /// Which sample values are given; see ``SampleValues``.
    let variant: Int
    /// The one key for which the other sample is given.
    let exception: String?
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ recording: LayoutRecording, variant: Int = 0, exception: String? = nil, depth: Int = 0) {
        self.recording = recording
        self.variant = variant
        self.exception = exception
        self.depth = depth
    }

    func variant(for key: String) -> Int { key == exception ? 1 - variant : variant }

    /// What is inside of a value that is no composite's element: it can be anything.
    fileprivate func inner() -> RecordingDecoder {
        recording.isOpaque = true
        return RecordingDecoder(LayoutRecording(), variant: variant, depth: depth + 1)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RecordingKeyedContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        recording.isOpaque = true
        return RecordingUnkeyedContainer(decoder: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        recording.isOpaque = true
        return RecordingSingleValue(decoder: self)
    }
}

private struct RecordingKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: RecordingDecoder
    var codingPath: [any CodingKey] { [] }

    /// The first case of an enumeration of keys, as which an enumeration with associated values is decoded. No key of a
    /// dictionary.
    var allKeys: [Key] {
        decoder.recording.isOpaque = true
        guard let cases = TypeMetadata.cases(of: Key.self), cases.isPlain else { return [] }
        return [TypeMetadata.value(at: min(decoder.variant, cases.names.count - 1), of: Key.self)]
    }

    func contains(_ key: Key) -> Bool {
        decoder.recording.note(key.stringValue)
        return true
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        decoder.recording.note(key.stringValue)
        return decoder.variant(for: key.stringValue) == 0
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        decoder.recording.note(key.stringValue, type)
        return try SampleValues.value(
            of: type, variant: decoder.variant(for: key.stringValue), depth: decoder.depth + 1)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        decoder.recording.note(key.stringValue, type)
        if decoder.variant(for: key.stringValue) == 0 { return nil }
        return try SampleValues.value(of: type, variant: 0, depth: decoder.depth + 1)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder.inner().container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.inner().unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { decoder.inner() }
    func superDecoder(forKey key: Key) throws -> any Decoder { decoder.inner() }
}

private struct RecordingUnkeyedContainer: UnkeyedDecodingContainer {
    let decoder: RecordingDecoder
    var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { decoder.variant }
    var isAtEnd: Bool { currentIndex >= decoder.variant }

    init(decoder: RecordingDecoder) { self.decoder = decoder }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        currentIndex += 1
        return try SampleValues.value(of: type, variant: 0, depth: decoder.depth + 1)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        currentIndex += 1
        return try decoder.inner().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        currentIndex += 1
        return try decoder.inner().unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder {
        currentIndex += 1
        return decoder.inner()
    }
}

private struct RecordingSingleValue: SingleValueDecodingContainer {
    let decoder: RecordingDecoder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { decoder.variant == 0 }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try SampleValues.value(of: type, variant: decoder.variant, depth: decoder.depth + 1)
    }
}
