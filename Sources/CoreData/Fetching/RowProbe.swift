import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Finds out which columns a type decodes: decodes a value from nothing, and records the requested keys.
final class RowProbe {
    private(set) var columns: [String] = []
    /// Whether the type takes whatever there is, as dictionaries do.
    fileprivate var takesAll = false
    private let typeName: String

    private init(_ typeName: String) { self.typeName = typeName }

    /// The columns, as names and key paths.
    ///
    /// - Throws: an error for a property of the type that the entity does not have.
    static func columns<Row: Decodable>(
        of type: Row.Type, _ request: AnyFetchRequest, in model: ModelRuntime
    ) throws -> [String] {
        let probe = RowProbe(String(describing: type))
        let entity = request.entityName.flatMap { model.entity(named: $0) }
        do {
            _ = try Row(from: ProbeNode(probe, prefix: ""))
        } catch {
            guard !probe.columns.isEmpty else { throw probe.unnamed }
            // What refuses the values of nothing has the rest of its properties unseen: all that the entity has.
            probe.noteAll(entity)
        }
        if probe.columns.isEmpty, probe.takesAll { probe.noteAll(entity) }
        guard !probe.columns.isEmpty else { throw probe.unnamed }
        return try columns(probe.columns, of: probe.typeName, request, in: model)
    }

    /// The columns that a type names.
    ///
    /// - Throws: an error for a property that the entity does not have.
    static func columns(
        _ named: [String], of typeName: String, _ request: AnyFetchRequest, in model: ModelRuntime
    ) throws -> [String] {
        guard let entity = request.entityName.flatMap({ model.entity(named: $0) }) else { return named }
        for column in named { try check(column, entity, model, typeName) }
        // A composite attribute is in no column: its elements are.
        return named.filter { name in
            !named.contains { $0.hasPrefix(name + ".") } || !isComposite(name, entity, model)
        }
    }

    private var unnamed: CocoaError {
        CoreDataErrors.invalidRequest("\(typeName) decodes no properties by name: it cannot be a row.")
    }

    private static func check(
        _ path: String, _ entity: EntityRuntime, _ model: ModelRuntime, _ typeName: String
    ) throws {
        var current = entity
        var rest = path.split(separator: ".").map(String.init)[...]
        while let key = rest.first, key != "objectID" {
            guard let (slot, remainder) = current.slot(at: rest) else {
                throw CoreDataErrors.invalidRequest(
                    "\(typeName): '\(path)' is no property of \(current.name), which has: "
                        + current.slots.map(\.name).joined(separator: ", ") + ".")
            }
            let info = current.slots[slot]
            rest = remainder
            if let next = rest.first, info.relationship == nil || info.isToMany {
                let what =
                    info.kind == .composite
                    ? "the composite attribute '\(info.name)' of \(current.name) has no element '\(next)': it has "
                        + info.elements.map { current.slots[$0].property.elementName }.joined(separator: ", ")
                    : "'\(key)' of \(current.name) is no to-one relationship, so that it has no '\(next)'"
                throw CoreDataErrors.invalidRequest("\(typeName): \(what).")
            }
            if let relationship = info.relationship { current = model.entities[relationship.destination] }
        }
    }

    private static func isComposite(_ path: String, _ entity: EntityRuntime, _ model: ModelRuntime) -> Bool {
        var current = entity
        var rest = path.split(separator: ".").map(String.init)[...]
        while let (slot, remainder) = current.slot(at: rest) {
            if remainder.isEmpty { return current.slots[slot].kind == .composite }
            guard let relationship = current.slots[slot].relationship else { return false }
            current = model.entities[relationship.destination]
            rest = remainder
        }
        return false
    }

    /// Every attribute that the entity keeps.
    private func noteAll(_ entity: EntityRuntime?) {
        for slot in entity?.slots ?? []
        where slot.attribute != nil && !slot.property.isTransient && slot.property.composite == nil {
            note(slot.name)
        }
    }

    fileprivate func note(_ column: String) {
        if !columns.contains(column) { columns.append(column) }
    }
}

/// A part of the type that decodes by keys, or a single value, as it turns out.
private final class ProbeNode: Decoder {
    let probe: RowProbe
    let prefix: String
    private(set) var isKeyed = false

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ probe: RowProbe, prefix: String) {
        self.probe = probe
        self.prefix = prefix
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        isKeyed = true
        return KeyedDecodingContainer(ProbeContainer<Key>(node: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Unseen() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { ProbeCell() }
}

/// A value of nothing was refused.
private struct Unseen: EngineFailure {}

/// Values of nothing.
private enum Nothing {
    /// A value of one of the attribute types, or one that has a value which costs nothing to make; `nil` for others.
    static func value<T: Decodable>(_ type: T.Type) -> T? {
        let known: Any? =
            switch type {
            case is Date.Type: Date(timeIntervalSinceReferenceDate: 0)
            case is Data.Type: Data()
            case is UUID.Type: UUID()
            case is Decimal.Type: Decimal()
            case is URL.Type: URL(string: "about:blank")
            default: nil
            }
        return known as? T
    }

    /// A case of an enumeration.
    static func placeholder<T: Decodable>(_ type: T.Type) -> T? {
        if let cases = type as? any CaseIterable.Type { return first(cases) as? T }
        // Zero is a value of every enumeration without associated values that has a case at all.
        guard type is any RawRepresentable.Type, _isPOD(T.self), MemoryLayout<T>.size > 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: T.self, capacity: 1) { buffer in
            UnsafeMutableRawBufferPointer(buffer).initializeMemory(as: UInt8.self, repeating: 0)
            return buffer[0]
        }
    }

    private static func first<T: CaseIterable>(_ type: T.Type) -> Any? { type.allCases.first }
}

private struct ProbeContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let node: ProbeNode

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        if node.prefix.isEmpty { node.probe.takesAll = true }
        return []
    }

    private func path(_ key: Key) -> String { node.prefix + key.stringValue }

    private func scalar<T>(_ key: Key, _ nothing: T) -> T {
        node.probe.note(path(key))
        return nothing
    }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { scalar(key, false) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { scalar(key, "") }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { scalar(key, 0) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { scalar(key, 0) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { scalar(key, 0) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { scalar(key, 0) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { scalar(key, 0) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { scalar(key, 0) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { scalar(key, 0) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { scalar(key, 0) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { scalar(key, 0) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { scalar(key, 0) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { scalar(key, 0) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { scalar(key, 0) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        guard let value = try found(type, key) else { throw Unseen() }
        return value
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? { try found(type, key) }

    /// Records the column, or those of its destination; returns an empty value if there is one.
    private func found<T: Decodable>(_ type: T.Type, _ key: Key) throws -> T? {
        let path = path(key)
        node.probe.note(path)
        // An ID is the relationship itself, or the row.
        if type is any TypedObjectID.Type { return nil }
        if let value = Nothing.value(type) { return value }
        let child = ProbeNode(node.probe, prefix: path + ".")
        do {
            return try T(from: child)
        } catch {
            if child.isKeyed { throw error }
            return Nothing.placeholder(type)
        }
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        node.probe.note(path(key))
        return try ProbeNode(node.probe, prefix: path(key) + ".").container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Unseen() }
    func superDecoder() throws -> any Decoder { node }
    func superDecoder(forKey key: Key) throws -> any Decoder { ProbeNode(node.probe, prefix: path(key) + ".") }
}

private struct ProbeCell: SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { false }
    func decode(_ type: String.Type) throws -> String { "" }
    func decode(_ type: Double.Type) throws -> Double { 0 }
    func decode(_ type: Float.Type) throws -> Float { 0 }
    func decode(_ type: Int.Type) throws -> Int { 0 }
    func decode(_ type: Int8.Type) throws -> Int8 { 0 }
    func decode(_ type: Int16.Type) throws -> Int16 { 0 }
    func decode(_ type: Int32.Type) throws -> Int32 { 0 }
    func decode(_ type: Int64.Type) throws -> Int64 { 0 }
    func decode(_ type: UInt.Type) throws -> UInt { 0 }
    func decode(_ type: UInt8.Type) throws -> UInt8 { 0 }
    func decode(_ type: UInt16.Type) throws -> UInt16 { 0 }
    func decode(_ type: UInt32.Type) throws -> UInt32 { 0 }
    func decode(_ type: UInt64.Type) throws -> UInt64 { 0 }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard let value = Nothing.value(type) ?? Nothing.placeholder(type) else { throw Unseen() }
        return value
    }
}
