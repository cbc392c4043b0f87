import CoreDataModel

/// Infers a model from a store's tables, for tools that read stores without their model.
///
/// | In the store | In the model |
/// | --- | --- |
/// | a row of `Z_PRIMARYKEY` with a table | an entity with its parent |
/// | `ZNAME VARCHAR` | a String `name`, of the entity whose rows have values there |
/// | `ZUNIT INTEGER`, with an index or the name of an entity, whose values are keys of one table | a to-one `unit`, and
/// its inverse to-many |
/// | `Z3_UNIT` in the same table | … to entity 3 |
/// | `Z_FOK_UNIT` | … which is ordered |
/// | `Z1PAGES` | a one-way to-many `pages` of entity 1 |
/// | `Z_8TAGS ( Z_8POSTS, Z_9TAGS )` | a many-to-many |
///
/// A column has its property's name in capitals. So names are in lower case unless an index, a trigger or an entity has
/// their spelling. Other data is guessed: to-manys are named after their destination, numbers that are all 0 or 1 are
/// booleans, sixteen bytes are a UUID. Everything is optional. The version hashes differ from those of the store.
///
/// The inference is a pure function of the outline.
package struct ModelInference {
    /// An entity that is being inferred.
    struct Entity {
        var number: Int64
        var name: String
        var parent: Int64?
        var properties: [PropertyElement] = []
    }

    /// An inferred to-one.
    struct ToOne: Equatable {
        var table: String
        var column: String
        var name: String
        /// The entity that declares it.
        var source: Int64
        var destination: Int64
        var isOrderedBack: Bool
        /// The column of the inverse to-one.
        var mirror: String?
    }

    let outline: StoreOutline
    private(set) var spelling: InferredSpelling
    var entities: [Int64: Entity] = [:]
    /// The entities' numbers in the order of the store.
    private(set) var numbers: [Int64] = []
    var toOnes: [ToOne] = []
    /// Columns that look like foreign keys of unknown destinations: they became attributes or were omitted.
    package private(set) var doubts: [String] = []

    package init(_ outline: StoreOutline) {
        self.outline = outline
        spelling = InferredSpelling(outline)
        addEntities()
        for table in outline.tables { addColumns(of: table) }
        for table in outline.joinTables { addManyToMany(table) }
        addInverses()
    }

    /// The inferred model, which compiles.
    package var document: ModelDocument {
        var document = ModelDocument()
        // Like a cached model, it lists all that the store has.
        document.origin = .cached
        document.entities = numbers.compactMap { number in
            guard let entity = entities[number] else { return nil }
            var element = EntityElement(name: entity.name)
            element.parentName = entity.parent.flatMap { entities[$0]?.name }
            let hasChildren = entities.values.contains { $0.parent == number }
            element.isAbstract = hasChildren && isVacant(number)
            element.properties = entity.properties
            return element
        }
        return document
    }

    // MARK: Entities

    private mutating func addEntities() {
        let rows = Dictionary(
            outline.entities.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let roots = Set(outline.tables.map(\.root))
        for row in outline.entities where ModelDocument.isName(row.name) {
            // An entity whose tree has no table cannot be read; a cycle of parents has no root.
            var current = row
            var steps = 0
            while let parent = rows[current.parent], steps <= rows.count {
                current = parent
                steps += 1
            }
            guard roots.contains(current.number), steps <= rows.count else { continue }
            entities[row.number] = Entity(
                number: row.number, name: row.name, parent: rows[row.parent].map(\.number))
            numbers.append(row.number)
        }
    }

    /// Returns whether the tree has rows, but none of exactly this entity.
    private func isVacant(_ number: Int64) -> Bool {
        guard let table = outline.tables.first(where: { $0.root == root(of: number) }) else { return false }
        return !table.occupants.isEmpty && !table.occupants.contains(number)
    }

    func root(of number: Int64) -> Int64 { ancestors(of: number).last ?? number }

    /// Returns the entity and its ancestors, the root last.
    func ancestors(of number: Int64) -> [Int64] {
        var result = [number]
        while let parent = entities[result[result.count - 1]]?.parent { result.append(parent) }
        return result
    }

    /// Returns the lowest common ancestor of the entities; the root if the set is empty.
    func common(_ members: Set<Int64>, in table: StoreOutline.Table) -> Int64 {
        var chain: [Int64]?
        for member in members where entities[member] != nil {
            let ancestors = ancestors(of: member)
            chain = chain.map { $0.filter(ancestors.contains) } ?? ancestors
        }
        return chain?.first ?? table.root
    }

    // MARK: Columns

    private mutating func addColumns(of table: StoreOutline.Table) {
        guard entities[table.root] != nil else { return }
        for column in table.columns {
            switch StoreOutline.ColumnName(column.name) {
            case .fixed, .order, .foreign: continue
            case .companion(_, let key):
                // It is not a property's name: those do not begin with digits.
                if table.column(key) == nil { doubts.append("\(table.name).\(column.name)") }
            case .owner(let number, let relationship):
                addOneWay(relationship, of: number, column, table)
            case .property(let stem):
                if let toOne = toOne(column, stem, table) {
                    toOnes.append(toOne)
                } else {
                    if isDoubtful(column, of: table) { doubts.append("\(table.name).\(column.name)") }
                    add(attribute(column, stem), to: common(column.holders, in: table))
                }
            }
        }
    }

    mutating func add(_ property: PropertyElement, to entity: Int64) {
        guard ModelDocument.isName(property.name) else { return }
        var property = property
        property.isOptional = true
        entities[entity]?.properties.append(property)
    }

    private func attribute(_ column: StoreOutline.Column, _ stem: String) -> PropertyElement {
        var attribute = AttributeElement(type: type(of: column))
        attribute.allowsExternalBinaryDataStorage = column.content == .markedBytes
        return PropertyElement(name: spelling.property(stem), kind: .attribute(attribute))
    }

    private func type(of column: StoreOutline.Column) -> AttributeType {
        switch column.type {
        case "INTEGER": column.content == .truth ? .boolean : .integer64
        case "FLOAT": .double
        case "TIMESTAMP": .date
        case "DECIMAL": .decimal
        case "BLOB": column.content == .sixteenBytes ? .uuid : .binaryData
        default: .string
        }
    }

    private mutating func addOneWay(
        _ name: String, of number: Int64, _ column: StoreOutline.Column, _ table: StoreOutline.Table
    ) {
        guard entities[number] != nil else {
            doubts.append("\(table.name).\(column.name)")
            return
        }
        var relationship = RelationshipElement()
        let destination = common(column.holders, in: table)
        relationship.destinationName = entities[destination]?.name
        relationship.isOrdered = table.column("Z_FOK_" + column.name.dropFirst()) != nil
        add(PropertyElement(name: spelling.property(name), kind: .relationship(relationship)), to: number)
    }
}

extension ModelDocument {
    /// Returns whether the name is valid for an entity or a property.
    fileprivate static func isName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first.properties.isAlphabetic || first == "_" else { return false }
        return name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}
