import Foundation

/// Encodes a struct as a dictionary of its stored properties, and decodes it, through the struct's own coding.
struct CompositeCoding: @unchecked Sendable {
    // Safe because nothing is changed after initialisation.

    /// A stored property by the text of its coding key.
    struct Field {
        let name: String
        let form: AttributeForm
    }

    let fields: [String: Field]

    init(members: [StructLayout.Member], elements: [AttributeForm.Element]) {
        fields = Dictionary(
            zip(members, elements).map { ($0.key, Field(name: $1.name, form: $1.form)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// The properties that are not nil, by name.
    func encode<T: Encodable>(_ value: T) throws -> [String: Any] {
        let encoder = CompositeEncoder(self)
        try value.encode(to: encoder)
        return encoder.values
    }

    func decode<T: Decodable>(_ type: T.Type, from values: [String: Any]) throws -> T {
        try T(from: CompositeDecoder(coding: self, values: values))
    }

    fileprivate func field(_ key: any CodingKey) throws -> Field {
        guard let field = fields[key.stringValue] else {
            throw ValueMismatch("A struct's coding has the key '\(key.stringValue)', which is no stored property.")
        }
        return field
    }

    static let keyedOnly = ValueMismatch("A struct that is kept as a composite attribute is coded by keys only.")
}

// MARK: Encoding

private final class CompositeEncoder: Encoder {
    let coding: CompositeCoding
    var values: [String: Any] = [:]
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ coding: CompositeCoding) { self.coding = coding }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(CompositeEncodingContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { FailingEncodingContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { FailingEncodingContainer() }
}

private struct CompositeEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: CompositeEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws { encoder.values[try encoder.coding.field(key).name] = nil }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let field = try encoder.coding.field(key)
        encoder.values[field.name] = try field.form.encode(value)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        KeyedEncodingContainer(FailingKeyedEncodingContainer<NestedKey>())
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { FailingEncodingContainer() }
    func superEncoder() -> any Encoder { FailingEncoder() }
    func superEncoder(forKey key: Key) -> any Encoder { FailingEncoder() }
}

// MARK: Decoding

private struct CompositeDecoder: Decoder {
    let coding: CompositeCoding
    let values: [String: Any]
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(CompositeDecodingContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw CompositeCoding.keyedOnly }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw CompositeCoding.keyedOnly }
}

private struct CompositeDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: CompositeDecoder
    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        decoder.coding.fields.filter { decoder.values[$0.value.name] != nil }
            .compactMap { Key(stringValue: $0.key) }
    }

    func contains(_ key: Key) -> Bool {
        guard let field = decoder.coding.fields[key.stringValue] else { return false }
        return decoder.values[field.name] != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let field = try decoder.coding.field(key)
        let stored = decoder.values[field.name]
        // Nil in an optional member, which a decoder asks for as an optional.
        if stored == nil, let optional = T.self as? any OptionalType.Type, let none = optional.nilValue as? T {
            return none
        }
        guard let value = try field.form.decode(stored) as? T else {
            throw ValueMismatch("Member '\(field.name)' has no value of type \(type).")
        }
        return value
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        contains(key) ? try decode(type, forKey: key) : nil
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw CompositeCoding.keyedOnly }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw CompositeCoding.keyedOnly
    }

    func superDecoder() throws -> any Decoder { throw CompositeCoding.keyedOnly }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw CompositeCoding.keyedOnly }
}
