import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// A row as predicates look into it.
final class MemoryObject: PredicateObject {
    let row: RowSnapshot
    private let graph: MemoryGraph
    private var entity: CompiledEntity { graph.model.entities[row.entity] }

    init(_ row: RowSnapshot, in graph: MemoryGraph) {
        self.row = row
        self.graph = graph
    }

    func predicateOperand(forKey key: String) throws -> Operand {
        guard let property = entity.property(named: key) else { return try operand(ofUnknown: key) }
        let column = entity.rowLayout.columnOfSlot[property.slot]
        switch property.kind {
        case .attribute(let attribute): return .value(row.value(column, attribute.type))
        case .relationship(let relationship) where relationship.isToMany:
            let members = graph.members(of: row.primaryKey, entity: row.entity, slot: property.slot)
            return .collection(
                members.map { .object(MemoryObject($0, in: graph)) }, isOrdered: relationship.isOrdered)
        case .relationship(let relationship):
            guard column >= 0, !row.isNull(column) else { return .null }
            let found = graph.row(row.integer(column), root: graph.model.entities[relationship.destination].root)
            return found.map { .object(MemoryObject($0, in: graph)) } ?? .null
        case .fetched: return .null
        }
    }

    private func operand(ofUnknown key: String) throws -> Operand {
        switch key {
        case "self", "SELF", "objectID": return .object(self)
        case "entity": return .object(MemoryEntity(entity.name))
        default:
            // A key that only other rows of the hierarchy have: a request for them all may name it.
            let hierarchy = graph.model.entities.filter { $0.root == entity.root }
            if hierarchy.contains(where: { $0.slotByName[key] != nil }) { return .null }
            throw PredicateFailure(
                .evaluation, Diagnostic(.error, "keypath \(key) not found in entity \(entity.name)"))
        }
    }

    func isSamePredicateObject(as other: any PredicateObject) -> Bool {
        guard let other = other as? MemoryObject else { return false }
        return other.row.primaryKey == row.primaryKey && other.entity.root == entity.root
    }

    var predicateHash: Int { row.primaryKey.hashValue }
    var predicateDescription: String { "<\(entity.name) \(row.primaryKey)>" }
    func predicateRowKey(inStore identifier: String) -> RowKey? { row.key }
}

/// What `entity` is in a predicate on rows.
private final class MemoryEntity: PredicateObject {
    private let name: String

    init(_ name: String) { self.name = name }

    func predicateOperand(forKey key: String) throws -> Operand { key == "name" ? .value(.string(name)) : .null }
    func isSamePredicateObject(as other: any PredicateObject) -> Bool { (other as? MemoryEntity)?.name == name }
    var predicateHash: Int { name.hashValue }
    var predicateDescription: String { name }
    func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}

extension RowSnapshot {
    /// A column's value as the attribute's type makes it.
    func value(_ column: Int, _ type: AttributeType) -> Value {
        guard column >= 0, !isNull(column) else { return .null }
        switch type {
        case .integer16, .integer32, .integer64, .boolean, .objectID: return .integer(integer(column))
        case .double, .float: return .double(real(column))
        case .date: return .date(real(column))
        case .string: return .string(text(column))
        case .uri: return .uri(text(column))
        case .decimal: return Decimal(string: text(column)).map { .decimal($0) } ?? .null
        case .uuid:
            var uuid = UUID().uuid
            withBytes(column) { bytes in withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: bytes.prefix(16)) } }
            return .uuid(UUID(uuid: uuid))
        case .undefined, .binaryData, .transformable, .composite: return .data(withBytes(column) { Data($0) })
        }
    }
}
