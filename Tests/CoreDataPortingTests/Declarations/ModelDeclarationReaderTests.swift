import CoreDataDeclarations
import CoreDataPorting
import Foundation
import Testing

/// What is read of a model in Swift, before anybody asks what it means.
@Suite struct ModelDeclarationReaderTests {
    private func read(_ text: String) -> ModelDeclarations {
        ModelDeclarationReader.read(PortSource(path: "M.swift", text: text))
    }

    /// The expression, as the argument of a model.
    private func expression(_ text: String) -> ModelDeclarations {
        read("let m = try NSManagedObjectModel(\(text))")
    }

    /// An expression in words.
    private func words(_ expression: SwiftExpression) -> String {
        switch expression.content {
        case .text(let text): "'\(text)'"
        case .number(let digits): digits
        case .range(let lower, let upper): "\(lower) to \(upper)"
        case .boolean(let flag): "\(flag)"
        case .list(let elements): "[\(elements.map(words).joined(separator: " "))]"
        case .dictionary(let entries):
            "{\(entries.map { words($0.key) + ": " + words($0.value) }.joined(separator: " "))}"
        case .call(let call):
            (call.hasLeadingPoint ? "." : "") + call.name
                + "(\(call.arguments.map { ($0.label.map { $0 + ": " } ?? "") + words($0.value) }.joined(separator: " ")))"
                + (call.body.isEmpty ? "" : "{\(call.body.map(words).joined(separator: " "))}")
                + call.modifiers.map(words).joined()
        }
    }

    @Test(arguments: [
        (#""a\n\u{e9}\"""#, "'a\né\"'"), (##"#"\w"#"##, #"'\w'"#), ("1_000", "1000"), ("-1.5e-3", "-1.5e-3"),
        ("-1...5", "-1 to 5"), ("0.5 ... 1", "0.5 to 1"), ("true", "true"), ("[false, 1]", "[false 1]"), ("[]", "[]"),
        ("[:]", "{}"), (#"["a": "b", "c": .d]"#, "{'a': 'b' 'c': .d()}"),
        (".toMany(ordered: true)", ".toMany(ordered: true)"),
        ("a: B(c: 1) { D() ; E().f(2).g() }", "a: B(c: 1){D() E().f(2).g()}"), ("`in`: `default`", "in: default()"),
    ])
    func literalsAndCallsAreRead(text: String, expected: String) throws {
        let declarations = expression(text)
        #expect(declarations.problems.isEmpty)
        let model = try #require(declarations.models.first)
        #expect(words(model.call) == "NSManagedObjectModel(\(expected))")
    }

    @Test(arguments: [
        ("1 + 2", "a literal or a call of the declaration should be here"),
        ("1..<2", "a literal or a call of the declaration should be here"),
        ("0x10", "a literal or a call of the declaration should be here"),
        ("a.b", "a literal or a call of the declaration should be here"),
        ("a ? b : c", "a literal or a call of the declaration should be here"),
        ("{ 1 }", "a literal or a call of the declaration should be here"),
        (#""\(a)""#, "a value in a text is no literal"),
        ("A { let b = 1 }", "'let' is not read here; only literals and calls of the declaration are"),
        ("A { for b in c {} }", "'for' is not read here; only literals and calls of the declaration are"),
        ("A { switch b { default: 1 } }", "'switch' is not read here; only literals and calls of the declaration are"),
        ("A { b in 1 }", "a closure has no parameters here"),
    ])
    func whatHasToBeRunIsAProblem(text: String, message: String) {
        #expect(expression(text).problems.map(\.message) == [message])
    }

    @Test(arguments: [
        ("class A {}", "1:1 'class': only what 'coredata model convert --to swift' writes is read, not any Swift"),
        ("let a = b", "1:9 'try NSManagedObjectModel' should be here"),
        ("let a = try b()", "1:13 'NSManagedObjectModel { … }' should be here"),
        ("var a: Int { 1 }", "1:5 a constant with a value should be here"),
        ("func a() { b(); c() }", "1:1 a function here has one statement, 'try NSManagedObjectModel …'"),
        ("let versions = 1", "1:16 a dictionary of functions by the names of versions should be here"),
        ("let currentVersion = 1", "1:22 a text in quotes should be here"),
        ("print(1)", "1:1 'print': only what 'coredata model convert --to swift' writes is read, not any Swift"),
        ("let a = \"b", "1:9 a text that starts here has no end"),
        ("enum A {", "1:9 '}' should be here"),
        ("// é\nlet é = try b(]", "2:15 something is missing here"),
        ("/* a", "1:1 the file is no Swift"),
    ])
    func otherFilesAreNotRead(text: String, problem: String) {
        let problems = read(text).problems.map { "\($0.place.line):\($0.place.column) \($0.message)" }
        #expect(problems == [problem])
    }

    @Test func whatNestsTooDeepIsToldAndTheRestIsRead() throws {
        let deep = String(repeating: "A(", count: 18) + String(repeating: ")", count: 18)
        let declarations = expression("a: \(deep), b: 1 + 1, c: 2")
        #expect(
            declarations.problems.map(\.message) == [
                "this nests too deep for a declaration of a model",
                "a literal or a call of the declaration should be here",
            ])
        // However deep, it returns.
        #expect(!expression(String(repeating: "a(", count: 1000)).problems.isEmpty)
    }

    @Test func whatIsToldSurvivesItsWayToTheOtherProgram() throws {
        let deepest = String(repeating: "A(", count: 14) + String(repeating: ")", count: 14)
        let declarations = read(
            "let versions = [\"é\": f]\nfunc f() throws -> M { try NSManagedObjectModel(\(deepest)) }")
        #expect(declarations.problems.isEmpty)
        let data = try JSONEncoder().encode(declarations)
        #expect(try JSONDecoder().decode(ModelDeclarations.self, from: data) == declarations)
    }
}
