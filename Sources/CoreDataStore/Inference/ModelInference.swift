import CoreDataModel

/// Makes a model of what a store's tables tell, for tools that read stores whose model nobody has.
///
/// | In the store | In the model |
/// | --- | --- |
/// | a row of `Z_PRIMARYKEY` with a table | an entity with its parent |
/// | `ZNAME VARCHAR` | a String `name`, of the entity whose rows have values there |
/// | `ZUNIT INTEGER`, with an index or the name of an entity, whose values are keys of one table | a to-one `unit`, and a to-many that leads back |
/// | `Z3_UNIT` beside it | … to entity 3 |
/// | `Z_FOK_UNIT` | … which is ordered |
/// | `Z1PAGES` | a one-way to-many `pages` of entity 1 |
/// | `Z_8TAGS ( Z_8POSTS, Z_9TAGS )` | a many-to-many |
///
/// A column has its property's name in capitals, so that names are in small letters unless an index, a trigger or an
/// entity spells them. What is not in the tables is guessed: to-manys are named after the entity that they lead to,
/// numbers that are all 0 or 1 are booleans, sixteen bytes a UUID. Everything is optional. Version hashes are not those of
/// the store.
///
/// A pure function of the outline.
package struct ModelInference {
    /// An entity on the way to becoming an element.
    struct Entity {
        var number: Int64
        var name: String
        var parent: Int64?
        var properties: [PropertyElement] = []
    }

    /// A to-one that has been found.
    struct ToOne: Equatable {
        var table: String
        var column: String
        var name: String
        /// The entity that declares it.
        var source: Int64
        var destination: Int64
        var isOrderedBack: Bool
        /// The column of the to-one that leads back.
        var mirror: String?
    }

    let outline: StoreOutline
    private(set) var spelling: InferredSpelling
    var entities: [Int64: Entity] = [:]
    /// The entities' numbers in the order of the store.
    private(set) var numbers: [Int64] = []
    var toOnes: [ToOne] = []
    /// Columns that look like foreign keys, and nothing tells of what: attributes or nothing in the model.
    package private(set) var doubts: [String] = []

    package init(_ outline: StoreOutline) {
        self.outline = outline
        spelling = InferredSpelling(outline)
        addEntities()
        for table in outline.tables { addColumns(of: table) }
        for table in outline.joinTables { addManyToMany(table) }
        addInverses()
    }

    /// The model. Its compiler accepts it.
    package var document: ModelDocument {
        var document = ModelDocument()
        // Like the copy that a store keeps, it says what a store has.
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
            // One whose tree has no table cannot be read; a circle of parents has no root.
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

    /// Whether the tree has rows and none is of this very entity.
    private func isVacant(_ number: Int64) -> Bool {
        guard let table = outline.tables.first(where: { $0.root == root(of: number) }) else { return false }
        return !table.occupants.isEmpty && !table.occupants.contains(number)
    }

    func root(of number: Int64) -> Int64 { ancestors(of: number).last ?? number }

    /// The entity and its ancestors, the root last.
    func ancestors(of number: Int64) -> [Int64] {
        var result = [number]
        while let parent = entities[result[result.count - 1]]?.parent { result.append(parent) }
        return result
    }

    /// The nearest entity that all of these are or inherit from; the root where there are none.
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
                // A name that only looks like one is no property's: those do not begin with digits.
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
    /// Whether an entity or a property can have the name.
    fileprivate static func isName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, first.properties.isAlphabetic || first == "_" else { return false }
        return name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }
}
