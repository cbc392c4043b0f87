import CoreDataModel
import CoreDataSQL

extension StoreVerifier {
    /// Checks that R-trees agree with their columns: a range fetch would not find a row that is missing in one.
    mutating func checkRTrees() throws {
        for tree in try schema.rTrees() {
            guard catalog.table(tree.name) != nil else {
                if !isPresent(tree.substitute) {
                    report(.note, nil, nil, "table \(tree.table) has no R-tree \(tree.name)")
                }
                continue
            }
            for name in tree.triggerNames where !catalog.hasIndexOrTrigger(name) {
                report(
                    .warning, nil, nil, "table \(tree.table) has no trigger \(name)",
                    hint: "the R-tree \(tree.name) is not kept up to date; fetches do without it")
            }
            let entity = schema.tables.first { $0.name == tree.table }?.root
            let hint = "copy the store: the copy has an R-tree of its rows"
            try reportRows(tree.missedRows, .error, entity, nil, hint: hint) { _ in
                "is not where the R-tree \(tree.name) has it"
            }
            try reportRows(tree.strayRows, .warning, entity, nil, hint: hint) { _ in
                "does not exist, and is in the R-tree \(tree.name)"
            }
        }
    }
}

extension CreateRTree {
    /// The keys of rows that are missing, or whose box is wrong.
    fileprivate var missedRows: SelectStatement {
        var rows = SelectStatement([.init(.column("t", "Z_PK"))], from: .init(table, as: "t"))
        rows.joins = [
            .init(.leftOuter, .init(name, as: "f"), on: .comparison(.equal, .column("f", "Z_PK"), .column("t", "Z_PK")))
        ]
        let isElsewhere = columns.map { column -> SQLExpression in
            // An R-tree converts integers to doubles before it computes boxes.
            let value = SQLExpression.cast(.column("t", column), to: .real)
            // The boxes of greater numbers are at infinity.
            return .and([
                .between(value, .bind(.real(-3e38)), .bind(.real(3e38))),
                .or([
                    .comparison(.greater, .column("f", Self.minimum(of: column)), value),
                    .comparison(.less, .column("f", Self.maximum(of: column)), value),
                ]),
            ])
        }
        rows.condition = .any([.isNull(.column("f", "Z_PK"))] + isElsewhere)
        return rows
    }

    /// The keys in the R-tree without a row.
    fileprivate var strayRows: SelectStatement {
        var rows = SelectStatement([.init(.column("f", "Z_PK"))], from: .init(name, as: "f"))
        rows.joins = [
            .init(
                .leftOuter, .init(table, as: "t"), on: .comparison(.equal, .column("t", "Z_PK"), .column("f", "Z_PK")))
        ]
        rows.condition = .isNull(.column("t", "Z_PK"))
        return rows
    }
}
