import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport

/// A model in the making and the objects of a store of it, for the reference of migrations. Everything has a number for
/// life, so that an edit of the model is an edit of a value, and what becomes of the objects is plain.
package struct ModelDesign {
    struct Entity {
        var id: Int
        var name: String
        /// The first name, by which renaming identifiers go.
        var canonical: String
        var parent: Int?
        var isAbstract = false
    }

    struct Attribute {
        var id: Int
        var entity: Int
        var name: String
        var canonical: String
        var type: AttributeType
        var isOptional = true
        var defaultText: String?
    }

    struct Relationship {
        struct End {
            var entity: Int
            /// Of the property there; `nil` where there is none.
            var name: String?
            var canonical: String?
            var isToMany: Bool
            var isOrdered = false
        }

        var id: Int
        var near: End
        var far: End
    }

    struct Object: Equatable {
        var entity: Int
        var values: [Int: SQLValue] = [:]
    }

    struct Link: Hashable {
        var near: Int64
        var far: Int64
    }

    var entities: [Entity] = []
    var attributes: [Attribute] = []
    var relationships: [Relationship] = []
    /// By key; no two objects have one, of whatever entity.
    var objects: [Int64: Object] = [:]
    /// By relationship: in the order of each near object's far ones, and of each far object's near ones.
    var links: [Int: [Link]] = [:]
    var backLinks: [Int: [Link]] = [:]
    var nextID = 1

    mutating func newID() -> Int {
        nextID += 1
        return nextID
    }

    // MARK: Hierarchy

    func entity(_ id: Int) -> Entity { entities.first { $0.id == id } ?? entities[0] }

    func chain(_ id: Int) -> [Int] {
        var result = [id]
        while let parent = entity(result[result.count - 1]).parent { result.append(parent) }
        return result
    }

    func subtree(_ id: Int) -> [Int] { entities.map(\.id).filter { chain($0).contains(id) } }

    func attributes(of entity: Int) -> [Attribute] {
        let chain = chain(entity)
        return attributes.filter { chain.contains($0.entity) }
    }

    /// Lets go of what no longer has a place: values of attributes that an object has not, links of objects that cannot have
    /// them.
    mutating func prune() {
        let ids = Set(entities.map(\.id))
        objects = objects.filter { ids.contains($0.value.entity) }
        for (key, object) in objects {
            let own = Set(attributes(of: object.entity).map(\.id))
            objects[key]?.values = object.values.filter { own.contains($0.key) }
        }
        let known = Set(relationships.map(\.id))
        links = links.filter { known.contains($0.key) }
        backLinks = backLinks.filter { known.contains($0.key) }
        for relationship in relationships {
            let (near, far) = (Set(subtree(relationship.near.entity)), Set(subtree(relationship.far.entity)))
            let isKept = { (link: Link) -> Bool in
                guard let a = objects[link.near], let b = objects[link.far] else { return false }
                return near.contains(a.entity) && far.contains(b.entity)
            }
            links[relationship.id] = (links[relationship.id] ?? []).filter(isKept)
            backLinks[relationship.id] = (backLinks[relationship.id] ?? []).filter(isKept)
        }
    }

    // MARK: As a document

    package var document: ModelDocument {
        var document = ModelDocument()
        document.entities = entities.map { entity in
            var element = EntityElement(name: entity.name)
            element.parentName = entity.parent.map { self.entity($0).name }
            element.isAbstract = entity.isAbstract
            if entity.name != entity.canonical { element.renamingIdentifier = entity.canonical }
            element.properties = attributes.filter { $0.entity == entity.id }.map { attribute in
                var property = TestSupport.attribute(
                    attribute.name, attribute.type, default: attribute.defaultText, optional: attribute.isOptional)
                if attribute.name != attribute.canonical { property.renamingIdentifier = attribute.canonical }
                return property
            }
            for relationship in relationships {
                if relationship.near.entity == entity.id, let property = property(relationship.near, relationship.far) {
                    element.properties.append(property)
                }
                if relationship.far.entity == entity.id, let property = property(relationship.far, relationship.near) {
                    element.properties.append(property)
                }
            }
            return element
        }
        return document
    }

    private func property(_ end: Relationship.End, _ other: Relationship.End) -> PropertyElement? {
        guard let name = end.name else { return nil }
        let destination = entity(other.entity).name
        var property =
            end.isToMany
            ? toMany(name, destination, inverse: other.name, ordered: end.isOrdered)
            : toOne(name, destination, inverse: other.name)
        if name != end.canonical { property.renamingIdentifier = end.canonical }
        return property
    }
}

// MARK: - What a store shows

/// An object as a reader of a store sees it.
package struct ObjectView: Hashable {
    var entity: String
    var values: [String: SQLValue]
    var members: [String: [Int64]]
}

extension ModelDesign {
    /// By key; members of unordered relationships in the order of keys.
    package var views: [Int64: ObjectView] {
        var views: [Int64: ObjectView] = [:]
        for (key, object) in objects {
            var view = ObjectView(entity: entity(object.entity).name, values: [:], members: [:])
            for attribute in attributes(of: object.entity) {
                view.values[attribute.name] = object.values[attribute.id] ?? .null
            }
            let chain = chain(object.entity)
            for relationship in relationships {
                if let name = relationship.near.name, chain.contains(relationship.near.entity) {
                    let found = (links[relationship.id] ?? []).filter { $0.near == key }.map(\.far)
                    view.members[name] = relationship.near.isOrdered ? found : found.sorted()
                }
                if let name = relationship.far.name, chain.contains(relationship.far.entity) {
                    let found = (backLinks[relationship.id] ?? []).filter { $0.far == key }.map(\.near)
                    view.members[name] = relationship.far.isOrdered ? found : found.sorted()
                }
            }
            views[key] = view
        }
        return views
    }

    /// What is in a file, read by nothing but its layout.
    package static func views(_ connection: any SQLConnection, _ schema: SchemaLayout) throws -> [Int64: ObjectView] {
        let model = schema.model
        var views: [Int64: ObjectView] = [:]
        var found: [Int64: [String: [(order: Int64, key: Int64)]]] = [:]
        func note(_ owner: SQLValue, _ name: String, _ member: Int64, _ order: SQLValue?) {
            guard case .integer(let owner) = owner else { return }
            var place: Int64 = 0
            if case .integer(let value)? = order { place = value }
            found[owner, default: [:]][name, default: []].append((place, member))
        }
        for ordinal in schema.entities {
            let entity = model.entities[ordinal]
            guard let bound = schema.layout.entities[ordinal] else { continue }
            let columns = ["Z_PK"] + bound.columnNames.compactMap { $0 }
            var select = SelectStatement(columns.map { .init(.column(nil, $0)) }, from: .init(bound.table))
            select.condition = .comparison(.equal, .column(nil, "Z_ENT"), .integer(bound.number))
            for row in try connection.rows(select) {
                guard case .integer(let key) = row[0] else { continue }
                let values = Dictionary(zip(columns, row), uniquingKeysWith: { first, _ in first })
                func value(_ column: Int?) -> SQLValue? {
                    column.flatMap { $0 < 0 ? nil : bound.columnNames[$0].flatMap { values[$0] } }
                }
                var view = ObjectView(entity: entity.name, values: [:], members: [:])
                for property in entity.properties {
                    if property.attribute != nil {
                        view.values[property.name] = value(entity.rowLayout.columnOfSlot[property.slot]) ?? .null
                    } else if let relationship = property.relationship {
                        view.members[property.name] = []
                        guard !relationship.isToMany else { continue }
                        let target = value(entity.rowLayout.columnOfSlot[property.slot]) ?? .null
                        if case .integer(let target) = target { view.members[property.name] = [target] }
                        let order = value(entity.rowLayout.orderColumnOfSlot[property.slot])
                        if let inverse = model.inverse(of: relationship), inverse.relationship?.isToMany == true {
                            note(target, inverse.name, key, inverse.relationship?.isOrdered == true ? order : nil)
                        }
                    }
                }
                for (index, column) in entity.rowLayout.columns.enumerated() {
                    guard case .ownerKey(let source, let slot) = column.role else { continue }
                    let order = entity.rowLayout.column(of: .ownerOrder(entity: source, slot: slot))
                    note(value(index) ?? .null, model.entities[source].properties[slot].name, key, value(order))
                }
                views[key] = view
            }
        }
        for (relationship, join) in schema.layout.joinTables {
            let columns = [join.ownerColumn, join.destinationColumn] + [join.orderColumn].compactMap { $0 }
            let select = SelectStatement(columns.map { .init(.column(nil, $0)) }, from: .init(join.name))
            let name = model.entities[relationship.entity].properties[relationship.slot].name
            for row in try connection.rows(select) {
                guard case .integer(let member) = row[1] else { continue }
                note(row[0], name, member, row.count > 2 ? row[2] : nil)
            }
        }
        for (key, members) in found {
            for (name, list) in members {
                views[key]?.members[name] = list.sorted { ($0.order, $0.key) < ($1.order, $1.key) }.map(\.key)
            }
        }
        return views
    }

    // MARK: Writing

    /// Writes the objects into a fresh store.
    package func write(_ connection: any SQLConnection, _ schema: SchemaLayout) throws {
        let model = schema.model
        let views = views
        func number(_ key: Int64) -> SQLValue {
            guard let name = views[key]?.entity, let ordinal = model.ordinalByName[name] else { return .null }
            return schema.numbers[ordinal].map { .integer($0) } ?? .null
        }
        func place(_ key: Int64, in owner: Int64, _ name: String) -> SQLValue {
            let index = views[owner]?.members[name]?.firstIndex(of: key) ?? 0
            return .integer(2048 + 1024 * Int64(index))
        }
        for (key, view) in views {
            guard let entity = model.entity(named: view.entity), let bound = schema.layout.entities[entity.ordinal]
            else { continue }
            var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
            var values: [SQLValue] = [.integer(key), .integer(bound.number), .integer(1)]
            var truths: Set<Int> = []
            for (index, column) in entity.rowLayout.columns.enumerated() {
                guard let name = bound.columnNames[index] else { continue }
                columns.append(name)
                switch column.role {
                case .attribute(let slot):
                    if entity.properties[slot].attribute?.type == .boolean { truths.insert(values.count) }
                    values.append(view.values[entity.properties[slot].name] ?? .null)
                case .destinationKey(let slot):
                    values.append(view.members[entity.properties[slot].name]?.first.map { .integer($0) } ?? .null)
                case .destinationEntity(let slot):
                    values.append(view.members[entity.properties[slot].name]?.first.map(number) ?? .null)
                case .order(let slot):
                    let owner = view.members[entity.properties[slot].name]?.first
                    let inverse = entity.properties[slot].relationship.flatMap { model.inverse(of: $0) }?.name ?? ""
                    values.append(owner.map { place(key, in: $0, inverse) } ?? .null)
                case .ownerKey(let source, let slot), .ownerOrder(let source, let slot):
                    let name = model.entities[source].properties[slot].name
                    let owner = views.first { $0.value.members[name]?.contains(key) == true }?.key
                    if case .ownerKey = column.role {
                        values.append(owner.map { .integer($0) } ?? .null)
                    } else {
                        values.append(owner.map { place(key, in: $0, name) } ?? .null)
                    }
                }
            }
            try connection.run(
                InsertStatement(
                    into: bound.table, columns: columns,
                    rows: [
                        values.enumerated().map { index, value in
                            connection.dialect.typesValues && truths.contains(index)
                                ? .cast(.bind(value), to: .boolean) : .bind(value)
                        }
                    ]))
        }
        for table in schema.joinTables {
            let name = model.entities[table.master.entity].properties[table.master.slot].name
            let back = model.entities[table.inverse.entity].properties[table.inverse.slot].name
            for (key, view) in views {
                for member in view.members[name] ?? [] {
                    var columns = [table.join.ownerColumn, table.join.destinationColumn]
                    var values: [SQLValue] = [.integer(key), .integer(member)]
                    if let column = table.join.orderColumn {
                        columns.append(column)
                        values.append(place(member, in: key, name))
                    }
                    if let column = table.join.inverseOrderColumn {
                        columns.append(column)
                        values.append(place(key, in: member, back))
                    }
                    try connection.run(
                        InsertStatement(into: table.join.name, columns: columns, rows: [values.map(SQLExpression.bind)])
                    )
                }
            }
        }
        try connection.run(
            UpdateStatement(
                BookkeepingSchema.primaryKeyTable, set: [.init("Z_MAX", .integer(1000))],
                where: .comparison(.equal, .column(nil, "Z_SUPER"), .integer(0))))
    }
}
