/// A statement that creates a part of a schema. It cannot have bound values: values are written as constants.
package enum SchemaStatement: Hashable, Sendable {
    case table(CreateTable)
    case index(CreateIndex)
    case trigger(CreateTrigger)
    case searchTable(CreateSearchTable)
    case rTree(CreateRTree)

    /// The name of the object that it creates.
    package var name: String {
        switch self {
        case .table(let table): table.name
        case .index(let index): index.name
        case .trigger(let trigger): trigger.name
        case .searchTable(let table): table.name
        case .rTree(let tree): tree.name
        }
    }

    /// The name of the table that it creates or belongs to.
    package var tableName: String {
        switch self {
        case .table(let table): table.name
        case .index(let index): index.table
        case .trigger(let trigger): trigger.table
        case .searchTable(let table): table.name
        case .rTree(let tree): tree.table
        }
    }
}

/// A CREATE TABLE as a value.
///
///     CreateTable("ZITEM", columns: [.init("Z_PK", .rowKey), .init("ZNAME", .text)])
///     // CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, ZNAME VARCHAR )
package struct CreateTable: Hashable, Sendable {
    package struct Column: Hashable, Sendable {
        package var name: String
        package var type: SQLType

        package init(_ name: String, _ type: SQLType) {
            self.name = name
            self.type = type
        }
    }

    package var name: String
    package var columns: [Column]
    /// The columns of a `PRIMARY KEY (…)` clause after the columns; empty for none.
    package var primaryKey: [String]
    /// Whether to write a space inside the parentheses. Apple's tables of rows have one; Apple's other tables have
    /// none.
    package var hasInnerSpaces: Bool

    package init(
        _ name: String, columns: [Column], primaryKey: [String] = [], hasInnerSpaces: Bool = true
    ) {
        self.name = name
        self.columns = columns
        self.primaryKey = primaryKey
        self.hasInnerSpaces = hasInnerSpaces
    }
}
