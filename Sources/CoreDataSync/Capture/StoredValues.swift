import CoreData
import CoreDataPrimitives
import CoreDataSyncEngine
import Foundation

/// Reads the exchanged values of one entity's objects, and writes them: past the accessors of the app's classes.
///
/// Values are numbered as in ``SyncEntity/values``. References are read as object IDs: who knows the sidecar makes
/// global IDs of them.
package final class StoredValues: @unchecked Sendable {
    // Safe because all is set once; property keys and transformers may be used by any thread.

    package let entity: SyncEntity
    private let accesses: [Access]
    private let places: [String: Int]
    private let sides: [Side?]
    private let inverses: [String?]
    /// The numbers of the to-one relationships.
    package let toOnes: [Int]
    /// The numbers of transformable attributes.
    let transformables: [Int]

    private enum Access {
        case integer(PropertyKey<Int64?>)
        case real(PropertyKey<Double?>)
        case date(PropertyKey<Date?>)
        case string(PropertyKey<String?>)
        case decimal(PropertyKey<Decimal?>)
        case data(PropertyKey<Data?>)
        case uuid(PropertyKey<UUID?>)
        case uri(PropertyKey<URL?>)
        case transformable(PropertyKey<Data?>, TransformableCoder)
        case toOne(PropertyKey<NSManagedObject?>)
        case none
    }

    /// - Throws: an error for an entity that is not in the model, or for a transformer that is not registered.
    package init(_ entity: SyncEntity, in model: NSManagedObjectModel) throws {
        guard let description = model.entitiesByName[entity.name] else {
            throw SyncErrors.make(134060, "The model has no entity \"\(entity.name)\", which synchronisation needs.")
        }
        self.entity = entity
        accesses = try entity.values.map { property in
            switch property.kind {
            case .attribute(let kind, _): try Self.access(kind, property, description)
            case .toOne: .toOne(PropertyKey(property.name))
            default: .none
            }
        }
        sides = entity.values.map { property in
            guard case .toOne = property.kind,
                let inverse = description.relationshipsByName[property.name]?.inverseRelationship
            else { return nil }
            return inverse.isOrdered ? .ordered : inverse.isToMany ? .toMany : .toOne
        }
        inverses = entity.values.map { if case .toOne(_, _, let inverse) = $0.kind { inverse } else { nil } }
        places = Dictionary(entity.values.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        toOnes = entity.values.indices.filter { if case .toOne = entity.values[$0].kind { true } else { false } }
        transformables = entity.values.indices.filter {
            if case .attribute(.transformable, _) = entity.values[$0].kind { true } else { false }
        }
    }

    private static func access(
        _ kind: AttributeKind, _ property: SyncProperty, _ entity: NSEntityDescription
    ) throws -> Access {
        switch kind {
        case .integer, .boolean: return .integer(PropertyKey(property.name))
        case .double, .float: return .real(PropertyKey(property.name))
        case .date: return .date(PropertyKey(property.name))
        case .string: return .string(PropertyKey(property.name))
        case .decimal: return .decimal(PropertyKey(property.name))
        case .data: return .data(PropertyKey(property.name))
        case .uuid: return .uuid(PropertyKey(property.name))
        case .uri: return .uri(PropertyKey(property.name))
        case .transformable:
            guard let attribute = attribute(property.name, in: entity) else { return .none }
            return .transformable(PropertyKey(property.name), try TransformableCoder(attribute))
        }
    }

    /// The description of an attribute or of an element of a composite.
    private static func attribute(_ path: String, in entity: NSEntityDescription) -> NSAttributeDescription? {
        if let attribute = entity.attributesByName[path] { return attribute }
        var parts = path.split(separator: ".").map(String.init)[...]
        guard let first = parts.popFirst(), var attribute = entity.attributesByName[first] else { return nil }
        for part in parts {
            guard let composite = attribute as? NSCompositeAttributeDescription,
                let element = composite.elements.first(where: { $0.name == part })
            else { return nil }
            attribute = element
        }
        return attribute
    }

    /// The number of a property in ``SyncEntity/values``.
    package func number(of name: String) -> Int? { places[name] }

    // MARK: Reading

    /// The value of an attribute; `.null` for everything else.
    package func value(_ number: Int, of object: NSManagedObject) throws -> SyncValue {
        switch accesses[number] {
        case .string(let key): return object[key].map { .string($0) } ?? .null
        case .integer(let key): return object[key].map { .integer($0) } ?? .null
        case .real(let key): return object[key].map { .double($0.bitPattern) } ?? .null
        case .date(let key):
            return object[key].map { .date($0.timeIntervalSinceReferenceDate.bitPattern) } ?? .null
        case .decimal(let key): return object[key].map { .decimal(Self.text($0)) } ?? .null
        case .data(let key): return object[key].map { .data($0) } ?? .null
        case .uuid(let key): return object[key].map { .uuid(Identifier128($0)) } ?? .null
        case .uri(let key): return object[key].map { .uri($0.absoluteString) } ?? .null
        case .transformable(let key, let coder):
            // Bytes that could not be decoded are read as bytes.
            if let data = object[key] { return .data(data) }
            let name = entity.values[number].name
            guard let value = object.value(ofElementAt: name) else { return .null }
            do { return .data(try coder.data(of: value)) } catch {
                throw SyncErrors.make(
                    134060,
                    "Property \"\(name)\" of entity \"\(entity.name)\" cannot be captured: \(error). Correct its value transformer, or set sync.ignore."
                )
            }
        case .toOne, .none: return .null
        }
    }

    package func value(of name: String, in object: NSManagedObject) throws -> SyncValue {
        try places[name].map { try value($0, of: object) } ?? .null
    }

    /// The destination of a to-one relationship.
    package func destination(_ number: Int, of object: NSManagedObject) -> NSManagedObjectID? {
        if case .toOne(let key) = accesses[number] { object[key]?.objectID } else { nil }
    }

    /// The value of an attribute as a row has it; `nil` for a value of another kind, which an object's accessor would
    /// convert.
    func value(_ stored: Value, _ number: Int) -> SyncValue? {
        switch (accesses[number], stored) {
        case (_, .null): .null
        case (.string, .string(let text)): .string(text)
        case (.integer, .integer(let value)): .integer(value)
        case (.real, .double(let value)): .double(value.bitPattern)
        case (.date, .date(let seconds)): .date(seconds.bitPattern)
        case (.decimal, .decimal(let value)): .decimal(Self.text(value))
        case (.data, .data(let data)), (.transformable, .data(let data)): .data(data)
        case (.uuid, .uuid(let id)): .uuid(Identifier128(id))
        case (.uri, .uri(let text)): URL(string: text).map { .uri($0.absoluteString) }
        default: nil
        }
    }

    /// The destination of a to-one relationship as an object.
    func destinationObject(_ number: Int, of object: NSManagedObject) -> NSManagedObject? {
        if case .toOne(let key) = accesses[number] { object[key] } else { nil }
    }

    /// The shortest text of a decimal number.
    static func text(_ value: Decimal) -> String {
        var text = value.description
        guard text.contains("."), !text.contains("e"), !text.contains("E") else { return text == "-0" ? "0" : text }
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text == "-0" ? "0" : text
    }

    // MARK: Writing

    /// Sets an attribute to a value of the same kind.
    ///
    /// - Throws: an error for a value of another kind, which a device with another model sent, and for one that the
    ///   attribute cannot hold.
    package func set(_ value: SyncValue, _ name: String, of object: NSManagedObject) throws {
        guard let number = places[name] else { throw unknown(name) }
        try set(value, number, of: object)
    }

    /// Sets the attribute of that number.
    func set(_ value: SyncValue, _ number: Int, of object: NSManagedObject) throws {
        let name = entity.values[number].name
        func wrong() -> CocoaError {
            SyncErrors.make(
                1550,
                "Property \"\(name)\" of entity \"\(entity.name)\" cannot take \(Self.kindName(value)) that another device sent: the models of the devices have different types for it."
            )
        }
        switch (accesses[number], value) {
        case (.string(let key), .string(let value)): object[key] = value
        case (.integer(let key), .integer(let value)):
            guard Self.holds(entity.values[number].kind, value) else { throw wrong() }
            object[key] = value
        case (.real(let key), .double(let bits)):
            let value = Double(bitPattern: bits)
            guard !value.isNaN else { throw wrong() }
            object[key] = value
        case (.date(let key), .date(let bits)):
            let value = Double(bitPattern: bits)
            guard !value.isNaN else { throw wrong() }
            object[key] = Date(timeIntervalSinceReferenceDate: value)
        case (.decimal(let key), .decimal(let text)):
            guard let value = Decimal(string: text), !value.isNaN else { throw wrong() }
            object[key] = value
        case (.data(let key), .data(let value)): object[key] = value
        case (.uuid(let key), .uuid(let value)): object[key] = value.uuid
        case (.uri(let key), .uri(let text)):
            guard let url = URL(string: text) else { throw wrong() }
            object[key] = url
        case (.transformable(_, let coder), .data(let data)):
            guard let value = try? coder.value(in: data) else { throw wrong() }
            object.setValue(value, forKey: name)
        case (.transformable, .null): object.setValue(nil, forKey: name)
        case (.string(let key), .null): object[key] = nil
        case (.integer(let key), .null): object[key] = nil
        case (.real(let key), .null): object[key] = nil
        case (.date(let key), .null): object[key] = nil
        case (.decimal(let key), .null): object[key] = nil
        case (.data(let key), .null): object[key] = nil
        case (.uuid(let key), .null): object[key] = nil
        case (.uri(let key), .null): object[key] = nil
        default: throw wrong()
        }
    }

    /// Sets a to-one relationship.
    package func set(_ destination: NSManagedObject?, _ name: String, of object: NSManagedObject) throws {
        guard let number = places[name] else { throw unknown(name) }
        try set(destination, number, of: object)
    }

    /// Sets the to-one relationship of that number.
    func set(_ destination: NSManagedObject?, _ number: Int, of object: NSManagedObject) throws {
        guard case .toOne(let key) = accesses[number] else { throw unknown(entity.values[number].name) }
        object[key] = destination
    }

    enum Side { case toOne, toMany, ordered }

    func isToOne(_ number: Int) -> Bool { if case .toOne = accesses[number] { true } else { false } }

    /// The name of the inverse of a to-one relationship that is exchanged.
    func inverseName(of number: Int) -> String? { inverses[number] }

    /// What the inverse of a to-one relationship is; `nil` for one without an inverse.
    func inverse(of number: Int) -> Side? { sides[number] }

    private func unknown(_ name: String) -> CocoaError {
        SyncErrors.make(134060, "Entity \"\(entity.name)\" has no exchanged property \"\(name)\".")
    }

    private static func holds(_ kind: SyncProperty.Kind, _ value: Int64) -> Bool {
        guard case .attribute(let kind, _) = kind else { return false }
        switch kind {
        case .boolean: return value == 0 || value == 1
        case .integer(let bits): return bits >= 64 || value >= -(1 << (bits - 1)) && value < 1 << (bits - 1)
        default: return true
        }
    }

    private static func kindName(_ value: SyncValue) -> String {
        switch value {
        case .null: "nil"
        case .integer: "a whole number"
        case .double, .decimal: "a number"
        case .string: "a text"
        case .date: "a date"
        case .data, .blob: "data"
        case .uuid: "a UUID"
        case .uri: "a URL"
        case .reference: "a reference"
        case .stored: "a value that is not known"
        }
    }
}

extension NSManagedObject {
    /// The primitive value of an attribute, or the value of an element of a composite.
    fileprivate func value(ofElementAt path: String) -> Any? {
        var keys = path.split(separator: ".").map(String.init)[...]
        guard keys.count > 1, let first = keys.popFirst() else { return primitiveValue(forKey: path) }
        var value = primitiveValue(forKey: first)
        for key in keys { value = (value as? [String: Any] ?? (value as? NSDictionary) as? [String: Any])?[key] }
        return value
    }
}

// MARK: - Values of closures

extension SyncValue {
    /// The value as a closure of the app gets it.
    var foundation: (any Sendable)? {
        switch self {
        case .null, .stored, .blob, .reference: nil
        case .integer(let number): number
        case .double(let bits): Double(bitPattern: bits)
        case .decimal(let text): Decimal(string: text)
        case .string(let text): text
        case .date(let bits): Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
        case .data(let data): data
        case .uuid(let id): id.uuid
        case .uri(let text): URL(string: text)
        }
    }

    /// A value that a closure of the app returned; `nil` if the attribute cannot hold it.
    init?(_ value: (any Sendable)?, _ kind: AttributeKind) {
        guard let value else {
            self = .null
            return
        }
        switch (kind, value) {
        case (.string, let text as String): self = .string(text)
        case (.boolean, let flag as Bool): self = .integer(flag ? 1 : 0)
        case (.integer, let number as any BinaryInteger), (.boolean, let number as any BinaryInteger):
            guard let number = Int64(exactly: number) else { return nil }
            self = .integer(number)
        case (.double, let number as Double), (.float, let number as Double): self = .double(number.bitPattern)
        case (.double, let number as Float), (.float, let number as Float): self = .double(Double(number).bitPattern)
        case (.decimal, let number as Decimal): self = .decimal(StoredValues.text(number))
        case (.date, let date as Date): self = .date(date.timeIntervalSinceReferenceDate.bitPattern)
        case (.data, let data as Data), (.transformable, let data as Data): self = .data(data)
        case (.uuid, let id as UUID): self = .uuid(Identifier128(id))
        case (.uri, let url as URL): self = .uri(url.absoluteString)
        default: return nil
        }
    }
}
