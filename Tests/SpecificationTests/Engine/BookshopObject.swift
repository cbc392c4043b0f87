import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport

/// All rows of a bookshop as objects that predicates look into.
final class BookshopGraph {
    private(set) var objects: [BookshopObject] = []
    private var byKey: [RowKey: BookshopObject] = [:]
    /// The members of each to-many, by owner and slot.
    fileprivate var members: [RowKey: [Int: [BookshopObject]]] = [:]

    init(_ source: any RowSource) throws {
        let entities = Bookshop.model.entities
        for root in entities where root.parent == nil {
            var rows: [RowSnapshot] = []
            try source.fetchRows(FetchPlan(entity: root.ordinal)) { rows += $0 }
            for row in rows.sorted(by: { $0.primaryKey < $1.primaryKey }) {
                let object = BookshopObject(row, self)
                objects.append(object)
                byKey[row.key] = object
            }
        }
        for entity in entities {
            let owners = objects.filter { $0.row.entity == entity.ordinal }
            for property in entity.properties where property.relationship?.isToMany ?? false {
                let found = try source.destinationRows(
                    entity: entity.ordinal, slot: property.slot, owners: owners.map(\.row.primaryKey))
                for (owner, rows) in found {
                    let key = RowKey(entity: entity.ordinal, primaryKey: owner)
                    members[key, default: [:]][property.slot] = rows.compactMap { byKey[$0.key] }
                }
            }
        }
    }

    func objects(of entity: Int) -> [BookshopObject] {
        let subtree = Bookshop.model.entities[entity].subtree
        return objects.filter { subtree.contains($0.row.entity) }
    }

    fileprivate func object(_ primaryKey: Int64, destination: Int) -> BookshopObject? {
        let root = Bookshop.model.entities[destination].root
        return objects.first {
            $0.row.primaryKey == primaryKey && Bookshop.model.entities[$0.row.entity].root == root
        }
    }
}

/// One row.
final class BookshopObject: PredicateObject {
    let row: RowSnapshot
    private unowned let graph: BookshopGraph
    private var entity: CompiledEntity { Bookshop.model.entities[row.entity] }

    init(_ row: RowSnapshot, _ graph: BookshopGraph) {
        self.row = row
        self.graph = graph
    }

    func predicateOperand(forKey key: String) throws -> Operand {
        guard let property = entity.property(named: key) else {
            switch key {
            case "objectID": return .object(self)
            case "entity": return .object(BookshopEntity(entity.name))
            default:
                // A key of a subentity, asked of its parent's rows.
                return .null
            }
        }
        switch property.kind {
        case .attribute(let attribute):
            return .value(row.value(entity.rowLayout.columnOfSlot[property.slot], attribute.type.kind))
        case .relationship(let relationship) where relationship.isToMany:
            let members = graph.members[row.key]?[property.slot] ?? []
            return .collection(members.map { .object($0) }, isOrdered: relationship.isOrdered)
        case .relationship(let relationship):
            let column = entity.rowLayout.columnOfSlot[property.slot]
            guard !row.isNull(column) else { return .null }
            let found = graph.object(row.integer(column), destination: relationship.destination)
            return found.map { .object($0) } ?? .null
        case .fetched:
            return .null
        }
    }

    func isSamePredicateObject(as other: any PredicateObject) -> Bool {
        (other as? BookshopObject)?.row.key == row.key
    }

    var predicateHash: Int { row.key.hashValue }
    var predicateDescription: String { "<\(entity.name) \(row.primaryKey)>" }
    func predicateRowKey(inStore identifier: String) -> RowKey? { row.key }
}

private final class BookshopEntity: PredicateObject {
    let name: String

    init(_ name: String) { self.name = name }

    func predicateOperand(forKey key: String) throws -> Operand {
        key == "name" ? .value(.string(name)) : .null
    }

    func isSamePredicateObject(as other: any PredicateObject) -> Bool { (other as? BookshopEntity)?.name == name }
    var predicateHash: Int { name.hashValue }
    var predicateDescription: String { name }
    func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}
