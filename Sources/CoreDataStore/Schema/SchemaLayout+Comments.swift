import CoreDataModel
import CoreDataSQL

extension SchemaLayout {
    /// Comments that describe tables and columns by the model's names, for other programs.
    ///
    ///     "Book": OpenCoreData: Book, with its subentity Novel
    ///     "Book"."author": Book.author: the _id of an object of Author
    var comments: [SchemaComment] {
        tables.flatMap { [comment(on: $0)] + columnComments($0) } + joinTables.flatMap(comments)
            + Self.bookkeepingComments
    }

    static let commitsComment = SchemaComment(
        on: BookkeepingSchema.commitsTable,
        "\(mark)a row for each program that writes, by which a save is known to be committed")

    private static let mark = TableConstraint.mark

    private static let bookkeepingComments = [
        SchemaComment(
            on: BookkeepingSchema.primaryKeyTable,
            "\(mark)the entities by the number that _entity of their rows has, and the last _id that was given out"),
        SchemaComment(on: BookkeepingSchema.metadataTable, "\(mark)the store's UUID and metadata"),
        SchemaComment(on: BookkeepingSchema.modelCacheTable, "\(mark)the model of the store"),
    ]

    private func comment(on table: SchemaTable) -> SchemaComment {
        let others = entities.filter { $0 != table.root && model.entities[$0].root == table.root }
            .map { model.entities[$0].name }
        let words =
            switch others.count {
            case 0: ""
            case 1: ", with its subentity \(others[0])"
            default: ", with its subentities \(others.joined(separator: ", "))"
            }
        return SchemaComment(on: table.name, "\(Self.mark)\(model.entities[table.root].name)\(words)")
    }

    private func columnComments(_ table: SchemaTable) -> [SchemaComment] {
        [
            SchemaComment(on: table.name, "Z_PK", "the object's key"),
            SchemaComment(on: table.name, "Z_ENT", "the object's entity, by its number in _entities"),
            SchemaComment(
                on: table.name, "Z_OPT", "how often the object was saved; a program that changes the row adds 1"),
        ] + table.columns.map { SchemaComment(on: table.name, $0.name, words(of: $0)) }
    }

    private func words(of column: SchemaColumn) -> String {
        let entity = column.key.declaringEntity
        switch column.key.role {
        case .attribute(let slot): return property(entity, slot)
        case .destinationKey(let slot):
            return "\(property(entity, slot)): the _id of an object of \(destination(entity, slot))"
        case .destinationEntity(let slot):
            return "\(property(entity, slot)): that object's entity, by its number in _entities"
        case .order(let slot): return "\(property(entity, slot)): the object's place in the ordered relationship"
        case .ownerKey(let owner, let slot):
            return "\(property(owner, slot)): the _id of its \(model.entities[owner].name)"
        case .ownerOrder(let owner, let slot): return "\(property(owner, slot)): the object's place in it"
        }
    }

    private func comments(on table: SchemaJoinTable) -> [SchemaComment] {
        let (owner, member) = (table.master, table.inverse)
        let name = property(owner.entity, owner.slot)
        let words =
            table.isSelfInverse ? name : "\(name), and the other way round \(property(member.entity, member.slot))"
        var comments = [SchemaComment(on: table.name, "\(Self.mark)\(words)")]
        for (column, entity) in [(table.join.ownerColumn, owner.entity), (table.join.destinationColumn, member.entity)]
        {
            comments.append(
                SchemaComment(on: table.name, column, "the _id of an object of \(model.entities[entity].name)"))
        }
        for (column, side) in [(table.join.orderColumn, owner), (table.join.inverseOrderColumn, member)] {
            guard let column else { continue }
            comments.append(SchemaComment(on: table.name, column, "the place in \(property(side.entity, side.slot))"))
        }
        return comments
    }

    private func destination(_ entity: Int, _ slot: Int) -> String {
        model.entities[entity].properties[slot].relationship.map { model.entities[$0.destination].name }
            ?? "another entity"
    }

    private func property(_ entity: Int, _ slot: Int) -> String {
        "\(model.entities[entity].name).\(model.entities[entity].properties[slot].name)"
    }
}
