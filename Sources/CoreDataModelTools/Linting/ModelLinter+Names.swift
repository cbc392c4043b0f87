import CoreDataModel
import CoreDataPrimitives

/// Checks names that have another meaning in Swift, in SQL or in a migration.
extension ModelLinter {
    mutating func checkNames() {
        for property in declared where Self.keywords.contains(property.element.name) {
            report(
                .swiftKeyword,
                "'\(property.element.name)' is a word of Swift, so code must write '`\(property.element.name)`'",
                property.element, in: property.entity, hint: "rename it, with the old name as renaming identifier")
        }
        checkTableNames()
        checkColumnNames()
        checkRenaming()
    }

    /// Swift keywords that are reserved as property names.
    private static let keywords: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
        "try", "typealias", "var", "where", "while", "Any", "Self",
    ]

    // MARK: SQL

    private static let storeTables: Set<String> = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
    private static let rowColumns: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT"]

    private mutating func checkTableNames() {
        var first: [String: Int] = [:]
        for (index, entity) in entities.enumerated() where compilation.parents[index] == nil {
            let table = "Z" + entity.name.uppercased()
            if Self.storeTables.contains(table) {
                report(
                    .columnCollision,
                    "the table of entity '\(entity.name)' is called '\(table)' like one of the store's own",
                    entity: index, hint: "rename the entity")
            }
            guard let other = first[table] else {
                first[table] = index
                continue
            }
            // Two entities with the same name are a compiler error.
            guard entities[other].name != entity.name else { continue }
            report(
                .columnCollision,
                "entities '\(entities[other].name)' and '\(entity.name)' differ only in case and would share the table "
                    + "'\(table)'", entity: index, hint: "rename one of them")
        }
    }

    /// Reports names that differ only in case. Equal names in siblings are common, and the store numbers them.
    private mutating func checkColumnNames() {
        var first: [Int: [String: Declared]] = [:]
        for property in declared where !property.element.isTransient && !property.element.isFetched {
            let column = "Z" + property.element.name.uppercased()
            let own = compilation.path(property.element, in: property.entity)
            if Self.rowColumns.contains(column) {
                report(
                    .columnCollision, "the column of '\(own)' is called '\(column)' like one that every row has",
                    property.element, in: property.entity, hint: "rename the property")
            }
            let root = compilation.ancestors(of: property.entity).last ?? property.entity
            guard let other = first[root, default: [:]][column] else {
                first[root, default: [:]][column] = property
                continue
            }
            guard other.element.name != property.element.name else { continue }
            report(
                .columnCollision,
                "'\(compilation.path(other.element, in: other.entity))' and '\(own)' differ only in case and would share "
                    + "the column '\(column)'", property.element, in: property.entity, hint: "rename one of them")
        }
    }

    // MARK: Renaming identifiers

    private mutating func checkRenaming() {
        var entitiesByIdentifier: [String: Int] = [:]
        for (index, entity) in entities.enumerated() {
            let identifier = entity.renamingIdentifier ?? entity.name
            guard let other = entitiesByIdentifier.updateValue(index, forKey: identifier) else { continue }
            guard entity.name != entities[other].name else { continue }
            report(
                .duplicateRenaming,
                "entities '\(entities[other].name)' and '\(entity.name)' both come from '\(identifier)', so a migration "
                    + "cannot tell which one takes its objects", entity: index,
                hint: "remove one of the renaming identifiers")
        }
        for (index, entity) in entities.enumerated() {
            var seen: [String: String] = [:]
            for property in entity.properties {
                let identifier = property.renamingIdentifier ?? property.name
                guard let other = seen.updateValue(property.name, forKey: identifier), other != property.name else {
                    continue
                }
                report(
                    .duplicateRenaming,
                    "'\(entity.name).\(other)' and '\(entity.name).\(property.name)' both come from '\(identifier)', so a "
                        + "migration cannot tell which one takes its value", property, in: index,
                    hint: "remove one of the renaming identifiers")
            }
        }
    }
}
