import CoreData
import Foundation

extension AttributeForm {
    /// What is known of a property beyond its type.
    struct Place {
        /// The property's name: an enumeration's element has it, too.
        let name: String
        /// Whether this is a member of a struct. Collections are then JSON.
        var isElement = false
        /// Whether the members of a struct are optional, because a struct around them is.
        var isOptional = false
        /// The default value, to learn of types whose decoders need particular input.
        var defaultValue: Any?
    }

    /// The form of a property's type.
    ///
    /// - Throws: ``UnsupportedType`` for a type that cannot be stored.
    init(of type: Any.Type, at place: Place, options: Schema.Attribute? = nil) throws {
        guard let optional = type as? any OptionalType.Type else {
            self = try Self.bare(type, place, options)
            return
        }
        let wrapped = optional.wrappedType
        if wrapped is any OptionalType.Type { throw UnsupportedType(type, "an optional of an optional has no column.") }
        var inner = place
        inner.isOptional = true
        inner.defaultValue = (place.defaultValue as? any OptionalType).map { $0.wrapped } ?? place.defaultValue
        let form = try Self.bare(wrapped, inner, options)
        let none = optional.nilValue
        self.init(
            kind: form.kind, isOptional: true, valueType: wrapped, enumeration: form.enumeration,
            encode: { value in
                // A value that is kept as `Any?` may be an optional of an optional.
                var content = value
                while let optional = content as? any OptionalType {
                    guard let wrapped = optional.wrapped else { return nil }
                    content = wrapped
                }
                return try form.encode(content)
            },
            decode: { stored in stored == nil ? none : try form.decode(stored) }, samples: form.samples)
    }

    private static func bare(_ type: Any.Type, _ place: Place, _ options: Schema.Attribute?) throws -> AttributeForm {
        if let option = options?.options.first(where: { $0.kind == .transformable }) {
            return transformable(type, by: option.transformerName)
        }
        if options?.isCodable == true { return try json(type) }
        if let scalar = ScalarForm.of(type) { return AttributeForm(scalar, type) }
        if let collection = type as? any ArchivedCollection.Type {
            if !place.isElement, let form = archived(collection) { return form }
            return try json(type)
        }
        switch TypeMetadata.kind(of: type) {
        case .enumeration: return try enumeration(type, place)
        case .structure:
            if let representable = type as? any RawRepresentable.Type,
                let form = rawStructure(representable, place)
            {
                return form
            }
            guard let codable = type as? any Codable.Type else { throw UnsupportedType(type, notCodable) }
            return try structure(codable, place)
        case .classType:
            throw UnsupportedType(
                type, "it is a class. Use a struct, or @Attribute(.codable), or .transformable(by:).")
        default: throw UnsupportedType(type, notCodable)
        }
    }

    static let notCodable = "it is not Codable. Make it so, or use @Attribute(.transformable(by:)), or @Transient."

    private init(_ scalar: ScalarForm, _ type: Any.Type) {
        self.init(
            kind: .scalar(scalar.type), isOptional: false, valueType: type, enumeration: nil,
            encode: { value in
                guard let encoded = scalar.encode(value) else { throw ValueMismatch(stored: value, as: type) }
                return encoded
            },
            decode: { stored in
                guard let stored, let value = scalar.decode(stored) else {
                    throw ValueMismatch(stored: stored, as: type)
                }
                return value
            }, samples: scalar.samples)
    }

    // MARK: JSON

    private static func json(_ type: Any.Type) throws -> AttributeForm {
        guard let codable = type as? any Codable.Type else { throw UnsupportedType(type, notCodable) }
        return json(codable: codable)
    }

    /// The value as JSON text, keys sorted so that equal values are equal bytes.
    static func json<T: Codable>(codable type: T.Type) -> AttributeForm {
        AttributeForm(
            kind: .json, isOptional: false, valueType: type, enumeration: nil,
            encode: { value in
                guard let value = value as? T else { throw ValueMismatch(stored: value, as: type) }
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                return try encoder.encode(value)
            },
            decode: { stored in
                guard let data = stored as? Data else { throw ValueMismatch(stored: stored, as: type) }
                return try JSONDecoder().decode(T.self, from: data)
            }, samples: SampleValues.samples(of: type))
    }

    // MARK: Transformable values

    private static func transformable(_ type: Any.Type, by name: String?) -> AttributeForm {
        func opened<T>(_: T.Type) -> AttributeForm {
            AttributeForm(
                kind: .transformable(name), isOptional: false, valueType: type, enumeration: nil, encode: { $0 },
                decode: { stored in
                    guard let value = stored as? T else { throw ValueMismatch(stored: stored, as: T.self) }
                    return value
                }, samples: SampleValues.samples(ofAny: type))
        }
        return _openExistential(type, do: opened)
    }
}
