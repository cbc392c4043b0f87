import CoreData
import Foundation

extension AttributeForm {
    /// The form of a struct: an element for each stored property; JSON where its own coding is not by key.
    static func structure<T: Codable>(_ type: T.Type, _ place: Place) throws -> AttributeForm {
        guard StructNesting.enter(type) else {
            throw UnsupportedType(type, "it contains itself.")
        }
        defer { StructNesting.leave(type) }
        guard let layout = StructLayout.of(type, defaultValue: place.defaultValue) else { return json(codable: type) }
        let defaults = place.defaultValue.map { value in
            Dictionary(
                Mirror(reflecting: value).children.compactMap { child in child.label.map { ($0, child.value) } },
                uniquingKeysWith: { first, _ in first })
        }
        var elements: [Element] = []
        for member in layout.members {
            do {
                let place = Place(
                    name: member.name, isElement: true, isOptional: place.isOptional,
                    defaultValue: defaults?[member.name])
                let form = try AttributeForm(of: member.type, at: place)
                elements.append(
                    Element(name: member.name, form: place.isOptional ? form.asOptional : form))
            } catch let error as UnsupportedType {
                throw error.inside(member.name)
            }
        }
        let coding = CompositeCoding(members: layout.members, elements: elements)
        // The coding of the type itself decides: what it does by key, it must also do with these values.
        guard let sample = layout.sample as? T, let encoded = try? coding.encode(sample),
            (try? coding.decode(type, from: encoded)) != nil
        else { return json(codable: type) }
        return AttributeForm(
            kind: .composite(elements), isOptional: false, valueType: type, enumeration: nil,
            encode: { value in
                guard let value = value as? T else { throw ValueMismatch(stored: value, as: type) }
                return try coding.encode(value)
            },
            decode: { stored in
                // A struct whose members are all nil has no dictionary.
                try coding.decode(type, from: stored == nil ? [:] : Self.elements(stored) ?? [:])
            }, samples: samples(of: type, layout))
    }

    private static func samples<T: Codable>(of type: T.Type, _ layout: StructLayout) -> [Any] {
        let other = try? SampleValues.value(of: type, variant: 1, depth: 0)
        return [layout.sample] + (other.map { [$0] } ?? [])
    }

    /// The same form, in a column that can be empty: the members of an optional struct are all optional.
    private var asOptional: AttributeForm {
        AttributeForm(
            kind: kind, isOptional: true, valueType: valueType, enumeration: enumeration, encode: encode,
            decode: decode, samples: samples)
    }
}

/// The structs whose layout this thread is learning, so that one that contains itself is noticed.
private enum StructNesting {
    private static let key = "SwiftData.StructNesting"

    static func enter(_ type: Any.Type) -> Bool {
        var types = Thread.current.threadDictionary[key] as? Set<ObjectIdentifier> ?? []
        guard types.insert(ObjectIdentifier(type)).inserted else { return false }
        Thread.current.threadDictionary[key] = types
        return true
    }

    static func leave(_ type: Any.Type) {
        var types = Thread.current.threadDictionary[key] as? Set<ObjectIdentifier> ?? []
        types.remove(ObjectIdentifier(type))
        Thread.current.threadDictionary[key] = types
    }
}
