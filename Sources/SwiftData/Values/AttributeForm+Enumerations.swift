import CoreData
import Foundation

extension AttributeForm {
    /// The form of an enumeration: its raw value, the name of its case, or JSON where cases have associated values.
    static func enumeration(_ type: Any.Type, _ place: Place) throws -> AttributeForm {
        if let representable = type as? any RawRepresentable.Type,
            let form = rawEnumeration(representable, place)
        {
            return form
        }
        guard let cases = TypeMetadata.cases(of: type) else {
            throw UnsupportedType(
                type, "its cases are not known. Give it raw values, or build without -disable-reflection-metadata.")
        }
        if cases.isPlain {
            func opened<T>(_ type: T.Type) -> AttributeForm { named(type, cases.names) }
            return _openExistential(type, do: opened)
        }
        guard let codable = type as? any Codable.Type else { throw UnsupportedType(type, notCodable) }
        return json(codable: codable)
    }

    /// One element of the property's own name, with the raw value.
    ///
    ///     enum Glass: String { case highball }     // glass.glass = "highball"
    private static func rawEnumeration<T: RawRepresentable>(_ type: T.Type, _ place: Place) -> AttributeForm? {
        guard let raw = ScalarForm.of(T.RawValue.self) else { return nil }
        let known = TypeMetadata.cases(of: type)
        // With associated values, and a raw value that the program computes, cases cannot be made here.
        let cases = known?.isPlain == true ? known?.names ?? [] : []
        return representable(
            type, raw, element: place.name, isOptional: true,
            enumeration: Enumeration(
                cases: cases, rawType: raw.type, rawValues: rawValues(type, raw, count: cases.count)),
            samples: (0..<min(cases.count, 2)).map { TypeMetadata.value(at: $0, of: type) })
    }

    /// The raw values, so that tools which have the model alone know what can be read again.
    private static func rawValues<T: RawRepresentable>(_ type: T.Type, _ raw: ScalarForm, count: Int) -> String? {
        let values = (0..<count).compactMap { raw.encode(TypeMetadata.value(at: $0, of: type).rawValue) }
        let isNumber =
            raw.type == .integer16AttributeType || raw.type == .integer32AttributeType
            || raw.type == .integer64AttributeType
        guard isNumber || raw.type == .stringAttributeType, !values.isEmpty,
            let data = try? JSONSerialization.data(withJSONObject: values, options: [.withoutEscapingSlashes])
        else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// A struct around a raw value, such as an option set: its stored property is the element.
    static func rawStructure<T: RawRepresentable>(_ type: T.Type, _ place: Place) -> AttributeForm? {
        guard let raw = ScalarForm.of(T.RawValue.self) else { return nil }
        let samples = raw.samples.compactMap { ($0 as? T.RawValue).flatMap { T(rawValue: $0) } }
        guard let sample = samples.first, let member = Mirror(reflecting: sample).children.first,
            Mirror(reflecting: sample).children.count == 1, let label = member.label,
            Swift.type(of: member.value) == T.RawValue.self
        else { return nil }
        return representable(
            type, raw, element: label, isOptional: place.isOptional, enumeration: nil, samples: samples)
    }

    private static func representable<T: RawRepresentable>(
        _ type: T.Type, _ raw: ScalarForm, element: String, isOptional: Bool, enumeration: Enumeration?, samples: [T]
    ) -> AttributeForm {
        let form = AttributeForm(
            kind: .scalar(raw.type), isOptional: isOptional, valueType: T.RawValue.self, enumeration: nil,
            encode: { raw.encode($0) }, decode: { $0 as Any }, samples: raw.samples)
        return AttributeForm(
            kind: .composite([Element(name: element, form: form)]), isOptional: false, valueType: type,
            enumeration: enumeration,
            encode: { value in
                guard let value = value as? T, let encoded = raw.encode(value.rawValue) else {
                    throw ValueMismatch(stored: value, as: type)
                }
                return [element: encoded]
            },
            decode: { stored in
                guard let stored = elements(stored)?[element], let value = raw.decode(stored) as? T.RawValue else {
                    throw ValueMismatch(stored: stored, as: type)
                }
                guard let decoded = T(rawValue: value) else {
                    throw ValueMismatch("No case of \(type) has the stored raw value.")
                }
                return decoded
            }, samples: samples)
    }

    /// An element for each case, of which the value's has its name.
    ///
    ///     enum Ice { case cubed, crushed }     // ice.cubed = "cubed", ice.crushed = nil
    private static func named<T>(_ type: T.Type, _ names: [String]) -> AttributeForm {
        let text = AttributeForm(
            kind: .scalar(.stringAttributeType), isOptional: true, valueType: String.self, enumeration: nil,
            encode: { $0 }, decode: { $0 as Any }, samples: [])
        return AttributeForm(
            kind: .composite(names.map { Element(name: $0, form: text) }), isOptional: false, valueType: type,
            enumeration: Enumeration(cases: names, rawType: nil),
            encode: { value in
                guard let value = value as? T else { throw ValueMismatch(stored: value, as: type) }
                let name = names[TypeMetadata.index(of: value)]
                return [name: name]
            },
            decode: { stored in
                guard let stored = elements(stored), let index = names.firstIndex(where: { stored[$0] != nil }) else {
                    throw ValueMismatch(stored: stored, as: type)
                }
                return TypeMetadata.value(at: index, of: type)
            }, samples: (0..<min(names.count, 2)).map { TypeMetadata.value(at: $0, of: type) })
    }

    /// The elements of a composite's value.
    static func elements(_ stored: Any?) -> [String: Any]? {
        stored as? [String: Any] ?? (stored as? NSDictionary) as? [String: Any]
    }
}
