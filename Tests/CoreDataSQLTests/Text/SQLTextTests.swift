import Testing

@testable import CoreDataSQL

@Suite struct SQLTextTests {
    @Test(arguments: [
        ("ZITEM", "ZITEM"),
        ("_x1", "_x1"),
        ("t0", "t0"),
        ("order", "\"order\""),
        ("Select", "\"Select\""),
        ("1abc", "\"1abc\""),
        ("", "\"\""),
        ("two words", "\"two words\""),
        ("it\"s", "\"it\"\"s\""),
        ("x; DROP TABLE ZITEM --", "\"x; DROP TABLE ZITEM --\""),
        ("naïve", "\"naïve\""),
        ("a\0b", "\"ab\""),
    ])
    func identifiersAreQuotedOnlyWhereTheyAreNotPlain(name: String, expected: String) {
        #expect(SQLIdentifier.text(name) == expected)
    }

    @Test func interpolatedValuesAreBoundAndNamesAreQuoted() {
        let text: SQLText =
            "DELETE FROM \(identifier: "my table") WHERE a = \(bind: .text("x' OR 1")) AND b = \(bind: .integer(2))"
        #expect(text.sql == "DELETE FROM \"my table\" WHERE a = ? AND b = ?")
        #expect(text.bindings == [.text("x' OR 1"), .integer(2)])
    }

    @Test func placeholdersAndQuotingFollowTheDialect() {
        var text = SQLText(in: .postgreSQL)
        text.append(identifier: "ZA")
        text.append(" = ")
        text.append(.integer(1))
        text.append(contentsOf: " + \(bind: .null)" as SQLText)
        #expect(text.sql == "\"ZA\" = $1::BIGINT + $2")
        #expect(("\(identifier: "ZA") = \(bind: .integer(1))" as SQLText).sql == "ZA = ?")
    }

    @Test func appendedTextKeepsTheOrderOfValues() {
        var text: SQLText = "a = \(bind: .integer(1))"
        text.append(contentsOf: " AND b = \(bind: .integer(2)) AND " as SQLText)
        text.append("c = ")
        text.append(.integer(3))
        #expect(text.sql == "a = ? AND b = ? AND c = ?")
        #expect(text.bindings == [.integer(1), .integer(2), .integer(3)])
    }

    @Test func quotedConstantsDoubleTheirQuotes() {
        let text: SQLText = "SELECT \(quoted: "it's '") , \(integer: -4)"
        #expect(text.sql == "SELECT 'it''s ''' , -4")
    }

    @Test func emptinessSeesValuesToo() {
        #expect(SQLText().isEmpty)
        #expect(!("\(bind: .null)" as SQLText).isEmpty)
    }
}
