import Foundation
import Testing

@testable import CoreDataSQL

private let name = SQLExpression.column(nil, "ZNAME")
private let one = SQLExpression.integer(1)

/// An index with that condition, and the text after `WHERE`.
private func text(_ condition: SQLExpression) throws -> String {
    var index = CreateIndex("Z_Item_name", on: "ZITEM", [])
    index.condition = condition
    return String(try SchemaRenderer.text(.index(index)).trimmingPrefix("CREATE INDEX Z_Item_name ON ZITEM () WHERE "))
}

@Suite struct SchemaRendererTests {
    private static let plain = SelectStatement([.init(.countAll)], from: .init("ZITEM", as: ""))

    /// `ZITEM` with something that a schema's SELECT cannot have.
    private static func select(_ change: (inout SelectStatement) -> Void) -> SQLExpression {
        var select = plain
        change(&select)
        return .scalar(select)
    }

    static let unknown: [SQLExpression] = [
        .negation(one), .onesComplement(one), .between(name, one, one), .inSelect(name, plain), .exists(plain),
        .aggregate(.count, name, distinct: true), .cast(name, to: .text), .collate(name, .localized),
        .caseWhen([.init(name, one)], otherwise: .null), .bind(.real(.nan)),
        .arithmetic(.multiply, name, .arithmetic(.add, one, one)), .isNull(.comparison(.equal, name, one)),
        select { $0.limit = 1 }, select { $0.isDistinct = true }, select { $0.groups = [name] },
        select { $0.orders = [.init(name)] }, select { $0.columns[0].alias = "n" },
        select { $0.joins = [.init(.inner, .init("ZUNIT", as: "t1"), on: one)] }, select { $0.source.rows = [[one]] },
    ]

    @Test(arguments: unknown)
    func whatASchemaDoesNotUseIsRefusedInsteadOfWrittenAsNull(_ expression: SQLExpression) {
        #expect(throws: SQLFailure.self) { try text(expression) }
        // Also inside of what it does use.
        #expect(throws: SQLFailure.self) { try text(.and([.isNotNull(name), .function(.ifNull, [expression])])) }
    }

    @Test(
        arguments: [
            (.isNotNull(name), "ZNAME IS NOT NULL"),
            (
                .and([.comparison(.greater, name, .bind(.text("o'a"))), .not(.isNull(name))]),
                "(ZNAME > 'o''a' AND NOT (ZNAME IS NULL))"
            ),
            (.inList(name, [.bind(.blob(Data([10]))), .bind(.real(-.infinity))]), "ZNAME IN (X'0A', -9e999)"),
            (.scalar(plain), "(SELECT COUNT(*) FROM ZITEM)"), (.or([]), "1 = 0"),
        ] as [(SQLExpression, String)])
    func conditionsAreWrittenWithTheirConstants(_ expression: SQLExpression, _ expected: String) throws {
        #expect(try text(expression) == expected)
    }

    @Test func anRTreeIsAnOrdinaryIndexWhereThereIsNone() throws {
        let index = CreateIndex("Z_Shop_byPlace", on: "ZSHOP", [.init("ZX", isAscending: true)])
        var tree = CreateRTree("Z_RT_Shop_byPlace", on: "ZSHOP", ["ZX"], otherwise: index)
        let texts = try SchemaRenderer.texts(of: .rTree(tree), in: .sqlite)
        #expect(texts.count == tree.partNames.count)
        #expect(zip(texts, tree.partNames).allSatisfy { $0.contains(" \($1) ") })
        #expect(
            try SchemaRenderer.texts(of: .rTree(tree), in: .postgreSQL)
                == SchemaRenderer.texts(of: .index(index), in: .postgreSQL))
        tree.takesRows = true
        #expect(
            try SchemaRenderer.texts(of: .rTree(tree), in: .sqlite)[1]
                == "INSERT INTO Z_RT_Shop_byPlace (Z_PK, ZX_MIN, ZX_MAX) SELECT Z_PK, ZX, ZX FROM ZSHOP")
    }
}
