import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The rows that move to one table of the newer model.
struct MigrationFlow {
    /// The rows of an entity, which all move to the same new entity.
    struct Member: Hashable {
        /// The ordinal in the older model.
        var old: Int
        /// The ordinal in the newer model.
        var new: Int
    }

    var table: SchemaTable
    var members: [Member]
    /// The name of their current table in the file; `nil` if there is none.
    var oldTable: String?
    /// Whether other rows of that table do not move to this one.
    var isPartial: Bool
    /// The new `Z_ENT`, then each column of the table, for the row `s`.
    var number = SQLExpression.null
    var values: [SQLExpression] = []
}

extension MigrationPlanner {
    /// The alias of the row that is copied or changed.
    static let row = "s"

    static func column(_ name: String) -> SQLExpression { .column(row, name) }

    func flow(to table: SchemaTable) throws -> MigrationFlow {
        let members = target.entities.compactMap { ordinal -> MigrationFlow.Member? in
            guard newModel.entities[ordinal].root == table.root, let old = mapping.source(of: ordinal),
                source.schema.layout.entities[old] != nil
            else { return nil }
            return .init(old: old, new: ordinal)
        }
        let tables = Set(members.compactMap { source.schema.layout.entities[$0.old]?.table })
        guard tables.count <= 1 else {
            let name = newModel.entities[table.root].name
            throw MigrationFailure(
                .notInferrable, "\(name): hierarchies of several entities become one, and they cannot be merged.",
                entity: name)
        }
        var flow = MigrationFlow(table: table, members: members, oldTable: tables.first, isPartial: false)
        guard let oldTable = tables.first else { return flow }
        flow.isPartial = source.entities.count { source.schema.layout.entities[$0]?.table == oldTable } > members.count
        flow.number = number(of: members)
        flow.values = try table.columns.map { column in
            try combined(members) { try value(of: column.key, in: $0, flow) }
        }
        return flow
    }

    // MARK: Values

    /// Returns the row's new `Z_ENT`.
    private func number(of members: [MigrationFlow.Member]) -> SQLExpression {
        let pairs = members.map { (source.schema.numbers[$0.old] ?? 0, target.numbers[$0.new] ?? 0) }
        return Self.renumbered(Self.column("Z_ENT"), pairs)
    }

    /// Returns the new entity number for an old one; the same expression if none changes.
    static func renumbered(_ number: SQLExpression, _ pairs: [(old: Int64, new: Int64)]) -> SQLExpression {
        guard pairs.contains(where: { $0.old != $0.new }) else { return number }
        return .caseWhen(
            pairs.map { .init(.comparison(.equal, number, .integer($0.old)), .integer($0.new)) }, otherwise: .null)
    }

    /// Returns one expression for rows of all entities; a CASE distinguishes entities with different expressions.
    private func combined(
        _ members: [MigrationFlow.Member], _ value: (MigrationFlow.Member) throws -> SQLExpression
    ) throws -> SQLExpression {
        let values = try members.map { ($0, try value($0)) }
        guard let main = values.first(where: { $0.1 != .null })?.1 else { return .null }
        let isMain = { (value: SQLExpression, member: MigrationFlow.Member) in
            value == main || value == .null && isNeverSet(main, in: member.old)
        }
        if values.allSatisfy({ isMain($0.1, $0.0) }) { return main }
        var groups: [(value: SQLExpression, numbers: [Int64])] = []
        for (member, value) in values where value != .null {
            let number = source.schema.numbers[member.old] ?? 0
            if let index = groups.firstIndex(where: { $0.value == value }) {
                groups[index].numbers.append(number)
            } else {
                groups.append((value, [number]))
            }
        }
        return .caseWhen(
            groups.map { .init(.inList(Self.column("Z_ENT"), $0.numbers.map(SQLExpression.integer)), $0.value) },
            otherwise: .null)
    }

    /// Returns whether a column is NULL in all rows of an entity that has no property for it.
    private func isNeverSet(_ expression: SQLExpression, in entity: Int) -> Bool {
        guard case .column(Self.row, let name) = expression, let bound = source.schema.layout.entities[entity] else {
            return false
        }
        return !bound.columnNames.contains(name)
    }

    private func value(
        of key: SchemaColumn.Key, in member: MigrationFlow.Member, _ flow: MigrationFlow
    ) throws -> SQLExpression {
        guard let role = roles[member.new][key] else { return .null }
        switch role {
        case .attribute(let slot): return try attribute(slot, member)
        case .destinationKey(let slot): return toOne(slot, member, flow)?.key ?? .null
        case .destinationEntity(let slot): return toOne(slot, member, flow)?.entity ?? .null
        case .order(let slot): return toOne(slot, member, flow)?.order ?? .null
        case .ownerKey(let entity, let slot): return owner(entity, slot, member, flow)?.key ?? .null
        case .ownerOrder(let entity, let slot): return owner(entity, slot, member, flow)?.order ?? .null
        }
    }

    private func attribute(_ slot: Int, _ member: MigrationFlow.Member) throws -> SQLExpression {
        let property = newModel.entities[member.new].properties[slot]
        guard let attribute = property.attribute else { return .null }
        guard let column = oldColumn(of: slot, member), let before = oldAttribute(of: slot, member) else {
            return attribute.isDerived ? .null : whereCompositeIs(try defaultValue(attribute), slot, member)
        }
        if attribute.isDerived, before.derivationExpression != attribute.derivationExpression { return .null }
        var value = Self.column(column)
        switch (before.allowsExternalBinaryDataStorage, attribute.allowsExternalBinaryDataStorage) {
        case (false, true): value = Self.wrapped(value)
        case (true, false): value = Self.unwrapped(value)
        default: break
        }
        guard !property.isOptional, !attribute.isDerived, !attribute.defaultValue.isNull,
            oldProperty(of: slot, member)?.isOptional ?? true
        else { return value }
        let fallback = whereCompositeIs(try defaultValue(attribute), slot, member)
        return fallback == .null ? value : .function(.ifNull, [value, fallback])
    }

    /// Returns the value; for an element, only for rows that have the composite attribute. A row without the composite
    /// remains without it.
    ///
    /// A row has the composite if an element that the older model has too is not NULL. If all elements of the composite
    /// are new, the enclosing composite decides. A completely new composite gets the values in every row.
    private func whereCompositeIs(
        _ value: SQLExpression, _ slot: Int, _ member: MigrationFlow.Member
    ) -> SQLExpression {
        let properties = newModel.entities[member.new].properties
        func isElement(_ other: Int, of composite: Int) -> Bool {
            guard let parent = properties[other].composite else { return false }
            return parent == composite || isElement(parent, of: composite)
        }
        var enclosing = properties[slot].composite
        while let composite = enclosing {
            let others = properties.indices.filter { $0 != slot && isElement($0, of: composite) }
                .compactMap { oldColumn(of: $0, member) }.map { SQLExpression.isNotNull(Self.column($0)) }
            if !others.isEmpty { return .caseWhen([.init(.any(others), value)], otherwise: .null) }
            // The value would replace a NULL in the composite's only element: the row has no such composite.
            if properties[composite].isOptional, oldColumn(of: slot, member) != nil { return .null }
            enclosing = properties[composite].composite
        }
        return value
    }

    private func oldProperty(of slot: Int, _ member: MigrationFlow.Member) -> CompiledProperty? {
        mapping.sourceSlot(of: slot, in: member.new).map { oldModel.entities[member.old].properties[$0] }
    }

    private func oldAttribute(of slot: Int, _ member: MigrationFlow.Member) -> CompiledAttribute? {
        oldProperty(of: slot, member)?.attribute
    }

    /// Returns the column that contains an attribute's values.
    func oldColumn(of slot: Int, _ member: MigrationFlow.Member) -> String? {
        guard let old = mapping.sourceSlot(of: slot, in: member.new) else { return nil }
        let column = oldModel.entities[member.old].rowLayout.columnOfSlot[old]
        return column < 0 ? nil : source.schema.layout.entities[member.old]?.columnNames[column]
    }

    private func defaultValue(_ attribute: CompiledAttribute) throws -> SQLExpression {
        func bytes(_ data: Data) -> SQLExpression {
            .bind(.blob(attribute.allowsExternalBinaryDataStorage ? Data([ExternalData.Mark.inline]) + data : data))
        }
        if dialect.typesValues, let scalar = typed(attribute.defaultValue) {
            return scalar.stored(as: attribute.type.kind, dialect)
        }
        switch attribute.defaultValue {
        case .null: return .null
        case .integer(let value): return .bind(.integer(value))
        case .double(let value), .date(let value): return .bind(.real(value))
        case .decimal(let value): return .bind(.text(value.description))
        case .string(let value), .uri(let value): return .bind(.text(value))
        case .data(let value): return bytes(value)
        case .uuid(let value): return .bind(.blob(value.data))
        case .opaque(let value): return bytes(try encode(value, attribute))
        }
    }

    /// Returns a default with an explicit type, except for bytes.
    private func typed(_ value: Value) -> QueryScalar? {
        switch value {
        case .data, .opaque: nil
        default: QueryScalar(value, dialect)
        }
    }

    // MARK: External data

    /// Wraps plain bytes in the envelope of values that may be external.
    private static func wrapped(_ value: SQLExpression) -> SQLExpression {
        .cast(.arithmetic(.concatenate, .bind(.blob(Data([ExternalData.Mark.inline]))), value), to: .bytes)
    }

    /// Removes the envelope; values in files were read to their rows before.
    private static func unwrapped(_ value: SQLExpression) -> SQLExpression {
        let mark = SQLExpression.bind(.blob(Data([ExternalData.Mark.inline])))
        let isWrapped = SQLExpression.comparison(
            .equal, .function(.substring, [value, .integer(1), .integer(1)]), mark)
        return .caseWhen(
            [.init(isWrapped, .function(.substring, [value, .integer(2), .function(.byteLength, [value])]))],
            otherwise: value)
    }

    /// Returns the steps that read external values to the rows of attributes that are no longer stored externally.
    func unwrappings(_ flows: [MigrationFlow]) -> [MigrationStep] {
        var found: [String: MigrationStep] = [:]
        for flow in flows {
            for member in flow.members {
                for property in newModel.entities[member.new].properties where property.attribute != nil {
                    guard oldAttribute(of: property.slot, member)?.allowsExternalBinaryDataStorage == true,
                        property.attribute?.allowsExternalBinaryDataStorage == false, let table = flow.oldTable,
                        let column = oldColumn(of: property.slot, member)
                    else { continue }
                    found[table + " " + column] = MigrationStep(
                        .unwrap(table: table, column: column),
                        "read values of \(newModel.entities[member.new].name).\(property.name) from their files",
                        subject: "\(newModel.entities[member.new].name).\(property.name)")
                }
            }
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns queries for values that may name files which are unused afterwards.
    func lostFiles() -> [SelectStatement] {
        source.entities.flatMap { ordinal -> [SelectStatement] in
            let old = oldModel.entities[ordinal]
            guard let bound = source.schema.layout.entities[ordinal], let number = source.schema.numbers[ordinal] else {
                return []
            }
            let new = mapping.destination(of: ordinal)
            return old.externalDataColumns.compactMap { index in
                guard let column = bound.columnNames[index],
                    case .attribute(let slot) = old.rowLayout.columns[index].role
                else { return nil }
                let stays = new.map { new in
                    newModel.entities[new].properties.contains {
                        mapping.sourceSlot(of: $0.slot, in: new) == slot
                            && $0.attribute?.allowsExternalBinaryDataStorage == true
                    }
                }
                if stays == true { return nil }
                let value = SQLExpression.column(nil, column)
                var query = SelectStatement([.init(value)], from: .init(bound.table))
                query.condition = .and([
                    .comparison(.equal, .column(nil, "Z_ENT"), .integer(number)),
                    .comparison(.equal, .function(.byteLength, [value]), .integer(38)),
                ])
                return query
            }
        }
    }

    // MARK: Steps

    /// Returns whether the rows can remain: the table has the form of a new store, and changes of a row depend only on
    /// that row.
    func isKept(_ flow: MigrationFlow) throws -> Bool {
        guard flow.oldTable == flow.table.name, try isSame(target.createTable(flow.table)) else { return false }
        return ([flow.number] + flow.values).allSatisfy { !$0.readsTables }
    }

    func copy(_ flow: MigrationFlow) throws -> [MigrationStep] {
        guard let oldTable = flow.oldTable else { return [] }
        let copied = zip(flow.table.columns, flow.values).filter { $0.1 != .null }
        var select = SelectStatement(
            ([Self.column("Z_PK"), flow.number, Self.column("Z_OPT")] + copied.map(\.1)).map { .init($0) },
            from: .init(current(oldTable), as: Self.row))
        select.condition = flow.isPartial ? isMember(flow) : nil
        var insert = InsertStatement(
            into: flow.table.name, columns: SchemaTable.fixedColumns + copied.map(\.0.name), from: select)
        insert.conflict = .stop
        let names = flow.members.map { newModel.entities[$0.new].name }.joined(separator: ", ")
        return [
            MigrationStep(
                .insert(insert), "copy the rows of \(names)", subject: newModel.entities[flow.table.root].name)
        ]
    }

    func changeInPlace(_ flow: MigrationFlow) throws -> [MigrationStep] {
        let name = newModel.entities[flow.table.root].name
        var steps: [MigrationStep] = []
        if flow.isPartial {
            let delete = DeleteStatement(from: flow.table.name, as: Self.row, where: .not(isMember(flow)))
            steps.append(MigrationStep(.delete(delete), "delete the objects of removed entities below \(name)"))
        }
        let columns = ["Z_ENT"] + flow.table.columns.map(\.name)
        let assignments = zip(columns, [flow.number] + flow.values)
            .filter { $0.1 != Self.column($0.0) && !isNeverSet(Self.column($0.0), $0.1, flow) }
            .map { UpdateStatement.Assignment($0.0, $0.1) }
        guard !assignments.isEmpty else { return steps }
        let update = UpdateStatement(flow.table.name, as: Self.row, set: assignments)
        steps.append(MigrationStep(.update(update), "change values of \(name) in place", subject: name))
        return steps
    }

    /// Returns whether a column that must become NULL already is NULL in all rows.
    private func isNeverSet(_ column: SQLExpression, _ value: SQLExpression, _ flow: MigrationFlow) -> Bool {
        value == .null && flow.members.allSatisfy { isNeverSet(column, in: $0.old) }
    }

    private func isMember(_ flow: MigrationFlow) -> SQLExpression {
        .inList(
            Self.column("Z_ENT"), flow.members.compactMap { source.schema.numbers[$0.old] }.map(SQLExpression.integer))
    }
}

extension SQLExpression {
    /// Whether the value of a row depends on other rows.
    var readsTables: Bool {
        switch self {
        case .inSelect, .exists, .scalar, .matches, .aggregate, .countAll: true
        case .bind, .integer, .null, .column: false
        case .comparison(_, let a, let b), .arithmetic(_, let a, let b): a.readsTables || b.readsTables
        case .negation(let a), .onesComplement(let a), .not(let a), .isNull(let a), .isNotNull(let a), .cast(let a, _),
            .collate(let a, _), .fits(let a, _):
            a.readsTables
        case .and(let all), .or(let all), .function(_, let all): all.contains(where: \.readsTables)
        case .between(let a, let b, let c): a.readsTables || b.readsTables || c.readsTables
        case .inList(let a, let all): a.readsTables || all.contains(where: \.readsTables)
        case .caseWhen(let whens, let otherwise):
            otherwise.readsTables || whens.contains { $0.condition.readsTables || $0.value.readsTables }
        }
    }
}
