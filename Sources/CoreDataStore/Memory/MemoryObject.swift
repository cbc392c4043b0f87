import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// A row as a predicate's object. For a to-one with a missing destination, it is an object without values.
final class MemoryObject: PredicateObject {
    let key: RowKey
    let row: RowSnapshot?
    private let graph: any RowGraph
    private var entity: CompiledEntity { graph.model.entities[key.entity] }

    init(_ row: RowSnapshot, in graph: any RowGraph) {
        key = row.key
        self.row = row
        self.graph = graph
    }

    private init(missing key: RowKey, in graph: any RowGraph) {
        self.key = key
        row = nil
        self.graph = graph
    }

    func predicateOperand(forKey key: String) throws -> Operand {
        let found = entity.property(named: key)
        if let attribute = found?.attribute, attribute.hasStoredElements { return composite(attribute) }
        guard let property = found, !property.isTransient else { return try operand(ofUnknown: key) }
        let column = entity.rowLayout.columnOfSlot[property.slot]
        switch property.kind {
        case .attribute(let attribute): return .value(row?.value(column, attribute.type.kind) ?? .null)
        case .relationship(let relationship) where relationship.isToMany:
            let members = try graph.members(of: self.key.primaryKey, entity: self.key.entity, slot: property.slot)
            return .collection(
                members.map { .object(MemoryObject($0, in: graph)) }, isOrdered: relationship.isOrdered)
        case .relationship(let relationship):
            guard let row, column >= 0, !row.isNull(column) else { return .null }
            let key = row.integer(column)
            let found = try graph.row(key, root: graph.model.entities[relationship.destination].root)
            let missing = RowKey(entity: relationship.destination, primaryKey: key)
            return .object(found.map { MemoryObject($0, in: graph) } ?? MemoryObject(missing: missing, in: graph))
        case .fetched: return try operand(ofUnknown: key)
        }
    }

    /// Returns the elements by name; nil if none has a value.
    private func composite(_ attribute: CompiledAttribute) -> Operand {
        var entries: [(key: Operand, value: Operand)] = []
        for slot in attribute.elements {
            let element = entity.properties[slot]
            guard let nested = element.attribute else { continue }
            let value =
                element.isComposite
                ? composite(nested) : .value(row?.value(entity.rowLayout.columnOfSlot[slot], nested.type.kind) ?? .null)
            if case .value(.null) = value { continue }
            entries.append((.value(.string(element.elementName)), value))
        }
        return entries.isEmpty ? .null : .dictionary(entries)
    }

    private func operand(ofUnknown key: String) throws -> Operand {
        switch key {
        case "self", "SELF", "objectID": return .object(self)
        case "entity": return .object(MemoryEntity(entity.name))
        default:
            throw PredicateFailure(
                .unsupported, Diagnostic(.error, "keypath \(key) not found in entity \(entity.name)"))
        }
    }

    func isSamePredicateObject(as other: any PredicateObject) -> Bool {
        guard let other = other as? MemoryObject else { return false }
        return other.key.primaryKey == key.primaryKey && other.entity.root == entity.root
    }

    var predicateHash: Int { key.primaryKey.hashValue }
    var predicateDescription: String { "<\(entity.name) \(key.primaryKey)>" }
    func predicateRowKey(inStore identifier: String) -> RowKey? { key }
}

/// The value of `entity` in a predicate on rows.
private final class MemoryEntity: PredicateObject {
    private let name: String

    init(_ name: String) { self.name = name }

    func predicateOperand(forKey key: String) throws -> Operand { key == "name" ? .value(.string(name)) : .null }
    func isSamePredicateObject(as other: any PredicateObject) -> Bool { (other as? MemoryEntity)?.name == name }
    var predicateHash: Int { name.hashValue }
    var predicateDescription: String { name }
    // A request contains entities by name.
    var predicateName: String? { name }
    func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}
