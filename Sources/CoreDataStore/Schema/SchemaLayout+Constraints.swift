import CoreDataModel
import CoreDataSQL

extension SchemaLayout {
    /// Returns the foreign keys and checks that express the model's rules in a server's schema.
    ///
    ///     "Book": FOREIGN KEY ("author") REFERENCES "Author" ("_id"), CHECK ("pages" IS NOT NULL AND "pages" >= 1)
    ///     "Book_tags": FOREIGN KEY ("Book") REFERENCES "Book" ("_id"), FOREIGN KEY ("tags") REFERENCES "Tag" ("_id")
    ///
    /// - Parameter document: the model's document, which contains the bounds of values; without it there are no bounds.
    func constraints(_ kinds: ConstraintKinds, document: ModelDocument?) -> [TableConstraint] {
        let bounds = kinds.contains(.checks) ? document.map(bounds) ?? [:] : [:]
        var result = tables.flatMap { table in
            table.columns.flatMap { column in
                [
                    kinds.contains(.references) ? reference(column, in: table) : nil,
                    kinds.contains(.checks) ? check(column, in: table, bounds) : nil,
                ].compactMap { $0 }
            }
        }
        guard kinds.contains(.references) else { return result }
        for table in joinTables {
            let (owner, member) = (table.master.entity, table.inverse.entity)
            result += [(table.join.ownerColumn, owner), (table.join.destinationColumn, member)].compactMap {
                reference($0, of: table.name, to: $1, property(table.master.entity, table.master.slot))
            }
        }
        return result
    }

    // MARK: Foreign keys

    private func reference(_ column: SchemaColumn, in table: SchemaTable) -> TableConstraint? {
        switch column.key.role {
        case .destinationKey(let slot):
            guard
                let relationship = model.entities[column.key.declaringEntity].properties[slot].relationship
            else { return nil }
            return reference(
                column.name, of: table.name, to: relationship.destination, property(column.key.declaringEntity, slot))
        case .ownerKey(let owner, let slot):
            return reference(column.name, of: table.name, to: owner, property(owner, slot))
        case .attribute, .destinationEntity, .order, .ownerOrder: return nil
        }
    }

    private func reference(
        _ column: String, of table: String, to entity: Int, _ property: String
    ) -> TableConstraint? {
        guard let other = self.table(ofRoot: model.entities[entity].root) else { return nil }
        return TableConstraint(
            TableConstraint.referencePrefix + column, on: table, .reference(column, to: other.name, key: "Z_PK"),
            "\(property): \(column) leads to \(model.entities[entity].name)")
    }

    private func property(_ entity: Int, _ slot: Int) -> String {
        "\(model.entities[entity].name).\(model.entities[entity].properties[slot].name)"
    }

    // MARK: Checks

    private func check(
        _ column: SchemaColumn, in table: SchemaTable, _ bounds: [String: Limits]
    ) -> TableConstraint? {
        let slot: Int
        switch column.key.role {
        case .attribute(let own), .destinationKey(let own): slot = own
        case .destinationEntity, .order, .ownerKey, .ownerOrder: return nil
        }
        let entity = model.entities[column.key.declaringEntity]
        let property = entity.properties[slot]
        // Triggers set derived values after the row is inserted. For a composite's elements, the composite decides.
        guard property.attribute?.isDerived != true, property.composite == nil else { return nil }
        let place = SQLExpression.column(nil, column.name)
        var terms: [SQLExpression] = []
        var words: [String] = []
        if !property.isOptional {
            words.append("required")
            terms.append(isOther(than: entity).map { .or([$0, .isNotNull(place)]) } ?? .isNotNull(place))
        }
        let name = self.property(entity.ordinal, slot)
        if let type = property.attribute?.type, let bounds = bounds[name] {
            let subject = type.kind == .text ? SQLExpression.function(.textLength, [place]) : place
            for (text, comparison, word) in [
                (bounds.minimum, SQLExpression.Comparison.greaterOrEqual, "at least"),
                (bounds.maximum, .lessOrEqual, "at most"),
            ] {
                guard let text, let bound = Self.constant(text, of: type) else { continue }
                terms.append(.comparison(comparison, subject, bound))
                words.append("\(word) \(text)\(type.kind == .text ? " UTF-16 units" : "")")
            }
        }
        guard !terms.isEmpty else { return nil }
        return TableConstraint(
            TableConstraint.checkPrefix + column.name, on: table.name, .check(.and(terms)),
            "\(name): \(words.joined(separator: ", "))")
    }

    /// Returns the condition for the table's rows of other entities; `nil` if there are none.
    private func isOther(than entity: CompiledEntity) -> SQLExpression? {
        guard entity.parent != nil else { return nil }
        let heirs = entity.subtree.compactMap { numbers[$0].map(SQLExpression.integer) }
        return .not(.inList(.column(nil, "Z_ENT"), heirs))
    }

    /// Returns a bound as an SQL constant; `nil` if the server might refuse a value that memory accepts.
    private static func constant(_ text: String, of type: AttributeType) -> SQLExpression? {
        // The 32-bit 0.1 is greater than the 64-bit 0.1.
        guard type != .float, type != .boolean else { return nil }
        if let integer = Int64(text), type.kind != .date { return .bind(.integer(integer)) }
        guard let number = Double(text), number.isFinite else { return nil }
        return type.kind == .date ? .cast(.bind(.real(number)), to: .date) : .bind(.real(number))
    }

    private typealias Limits = (minimum: String?, maximum: String?)

    /// Returns the bounds by entity and property: `Book.pages`.
    private func bounds(of document: ModelDocument) -> [String: Limits] {
        var result: [String: Limits] = [:]
        for entity in document.entities {
            for property in entity.properties {
                guard case .attribute(let attribute) = property.kind, !attribute.validations.isEmpty else { continue }
                result["\(entity.name).\(property.name)"] = ValidationBounds.limits(
                    of: attribute.validations, type: attribute.type)
            }
        }
        return result
    }
}
