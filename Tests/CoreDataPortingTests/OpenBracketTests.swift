import CoreDataPorting
import Testing

/// swift-syntax takes a time that doubles with each open bracket: such files are refused before it reads them.
@Suite(.timeLimit(.minutes(1))) struct OpenBracketTests {
    @Test(arguments: [
        "[", "[(", "a<[", "[ \n", "[/* [ */", "[/*/ [ */", "[.x", "[`a` ", "[// [\n", "[() -> ", "[(a: ", "a<b, [",
        "(a, [", "[a & ",
    ])
    func manyOpenBracketsAreNotReadAsSwift(text: String) throws {
        let source = "let a = " + String(repeating: text, count: 60)
        let ported = try port(source)
        #expect(ported.remarks.map(\.message) == ["cannot be read as Swift"])
        #expect(!ported.isChanged && ported.written == source)
        let problems = ModelDeclarationReader.read(PortSource(path: "Model.swift", text: source)).problems
        #expect(!problems.isEmpty)
    }

    @Test func closedOnesAreNotEither() throws {
        let type = String(repeating: "[", count: 40) + "Int" + String(repeating: "]", count: 40)
        #expect(try port("var a: \(type)\n").remarks.map(\.message) == ["cannot be read as Swift"])
    }

    @Test(arguments: [
        "let a: [[[[[[Int]]]]]] = [[[[[[1]]]]]]\n",
        "let all = [[1], [2], [3], [4], [5], [6], [7], [8], [9], [1], [2], [3], [4]]\n",
        "let a = [1, [2, [3, [4, [5, [6, [7, [8, [9]]]]]]]]]\n",
        "// [0, 1) [1, 2) [2, 3) [3, 4) [4, 5) [5, 6) [6, 7)\n// [7, 8) [8, 9) [9, 10) [10, 11) [11, 12) [12, 13)\nlet a = 1\n",
        "let a = [\"[\", \"[\", \"[\", \"[\", \"[\", \"[\", \"[\", \"[\", \"[\", \"[\", \"[\", \"[\", \"[\", \"[\"]\n",
    ])
    func usualBracketsAreRead(text: String) throws { try check(text, becomes: text) }
}
