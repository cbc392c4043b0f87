import Foundation
import Testing

/// What the macros report, and where; the fix-its that the compiler offers.
@Suite(.enabled(if: MacroCompiler.isAvailable, Comment(rawValue: MacroCompiler.missing)))
struct MacroDiagnosisTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// The declarations; the first line is line 1 of the expectations.
        let source: String
        /// `line: message`
        let expected: [String]
        var fixIts: [String] = []

        var testDescription: String { String(source.prefix { $0 != "\n" }) }
    }

    static let cases: [Case] = [
        Case(
            source: "@Model struct NoClass { var a = 1 }",
            expected: ["1: error: '@Model' cannot be applied to struct 'NoClass': a model is a class"],
            fixIts: ["final class"]),
        Case(
            source: "@Model enum NoClassEither {}",
            expected: ["1: error: '@Model' cannot be applied to enum 'NoClassEither': a model is a class"]),
        Case(
            source: "@Model final class Generic<T> { var a = 1; init() {} }",
            expected: [
                """
                1: error: '@Model' cannot be applied to class 'Generic' in a generic context: an entity has one class; \
                remove the generic parameters
                """
            ]),
        Case(
            source: """
                struct Outer<T> {
                    @Model final class Inner { var a = 1; init() {} }
                }
                """,
            expected: [
                """
                2: error: '@Model' cannot be applied to class 'Inner' in a generic context: an entity has one class; \
                remove the generic parameters
                """
            ]),
        Case(
            source: "@Model final class ID { var a = 1; init() {} }",
            expected: [
                """
                1: error: A model cannot be named 'ID', which is the type of its identifier inside the class: \
                rename the class
                """
            ]),
        Case(
            source: """
                @Model public final class NoInitializer {
                    var a: Int
                    var b: String?
                    var c: [String] = []
                    @Transient var d = 1
                }
                """,
            expected: ["1: error: @Model requires an initializer be provided for 'NoInitializer'"],
            fixIts: [
                """
                    public init(a: Int, b: String? = nil, c: [String] = []) {
                        self.a = a
                        self.b = b
                        self.c = c
                    }
                """
            ]),
        Case(
            source: """
                @Model final class TransientValue {
                    @Transient var a: Int
                    @Transient var b: Int?
                    @Transient var c: Int { 1 }
                    init() { a = 1 }
                }
                """,
            expected: [
                """
                2: error: @Transient property 'a' needs a default value or an optional type: a store has no value for it
                """
            ]),
        Case(
            source: """
                @Model final class Described {
                    var description: String
                    init() { description = "" }
                }
                """,
            expected: [
                """
                2: error: A persisted property cannot be named 'description', which managed objects have already: \
                rename it; '@Attribute(originalName: "description")' keeps stored values
                """
            ]),
        Case(
            source: """
                @Model final class Several {
                    private var a, b: Int
                    var c = 1, d = 2
                    init() { a = 1; b = 2 }
                }
                """,
            expected: [
                "2: error: Persisted properties 'a', 'b' need a declaration each: accessors are added to each",
                "3: error: Persisted properties 'c', 'd' need a declaration each: accessors are added to each",
            ],
            fixIts: ["private var a: Int\n    private var b: Int\n", "var c = 1\n    var d = 2\n"]),
        Case(
            source: """
                @Model final class Tuple {
                    var (a, b) = (1, 2)
                    init() {}
                }
                """,
            expected: [
                "2: error: A persisted property cannot be declared with a tuple pattern: declare each on its own"
            ]),
        Case(
            source: """
                @Model final class Conditional {
                    #if DEBUG
                        var a = 1
                    #endif
                    init() {}
                }
                """,
            expected: [
                """
                3: error: A persisted property cannot be declared inside '#if': a store needs one schema; \
                declare it outside, or mark it '@Transient'
                """
            ]),
        Case(
            source: """
                @Model final class Marked {
                    @Attribute @Relationship var a: Marked?
                    init() {}
                }
                """,
            expected: ["2: error: A property is an attribute or a relationship: remove one of the markers"]),
        Case(
            source: "@ModelActor final class NoActor {}",
            expected: [
                "1: error: '@ModelActor' cannot be applied to class 'NoActor': only an actor has an executor"
            ]),
        Case(
            source: """
                @Model final class Constant {
                    let id = UUID()
                    init() {}
                }
                """,
            expected: [
                """
                2: warning: Persisted property 'id' gets accessors, which a 'let' cannot have in the Swift 6 language mode; \
                use 'private(set) var'
                """,
                "2: error: cannot expand accessor macro on variable declared with 'let'",
            ],
            fixIts: ["var"]),
        Case(
            source: """
                @Model final class Fine {
                    var a = 1
                    init() {}
                }
                """,
            expected: []),
    ]

    /// The source of all cases, and the number of the line before each.
    private static let source: (text: String, offsets: [Int]) = {
        var text = "import Foundation\nimport SwiftData\n"
        var offsets: [Int] = []
        for one in cases {
            offsets.append(text.split(separator: "\n", omittingEmptySubsequences: false).count - 1)
            text += one.source + "\n"
        }
        return (text, offsets)
    }()

    /// One run of the compiler for all cases.
    private static let output = Result { try MacroCompiler.check(source.text) }

    @Test(arguments: cases.indices)
    func mistakeIsReportedWhereItIs(index: Int) throws {
        let output = try Self.output.get()
        let one = Self.cases[index]
        let first = Self.source.offsets[index]
        let lines = first + 1...first + one.source.split(separator: "\n", omittingEmptySubsequences: false).count
        var found: [String] = []
        for diagnostic in output.diagnostics where lines.contains(diagnostic.line) {
            let message = "\(diagnostic.line - first): \(diagnostic.message)"
            // The compiler repeats its own error for each accessor.
            if !found.contains(message) { found.append(message) }
        }
        #expect(Set(found) == Set(one.expected))
        for fixIt in one.fixIts { #expect(output.serializes(fixIt), "no fix-it to \(fixIt)") }
    }

    /// An error of an expansion says nothing to a user who cannot see it.
    @Test func mistakesLeaveNoErrorsInExpansions() throws {
        #expect(try Self.output.get().diagnostics.filter { $0.line == 0 } == [])
    }
}
