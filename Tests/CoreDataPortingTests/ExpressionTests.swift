import CoreDataPorting
import Testing

@Suite struct ExpressionTests {
    @Test(arguments: [
        ("let a = #keyPath(Book.title)", "let a = \"title\""),
        ("let a = #keyPath(Book.author.name)", "let a = \"author.name\""),
        ("let a = #keyPath(Library.Book.author.name)", "let a = \"author.name\""),
        ("let a = #keyPath(Book.`default`)", "let a = \"default\""),
        ("let a = #keyPath(Book.URL)", "let a = \"URL\""),
        ("class Book { var k: String { #keyPath(title) } }", "class Book { var k: String { \"title\" } }"),
        ("f(#keyPath(A.b), #keyPath(A.c)) // both", "f(\"b\", \"c\") // both"),
        ("let a = #keyPath(A.b) + \".\" + #keyPath(B.c)", "let a = \"b\" + \".\" + \"c\""),
        ("let a = \"\\(#keyPath(A.b)) == 1\"", "let a = \"\\(\"b\") == 1\""),
        ("let a = #keyPath(\n    A.b\n)\nlet c = 1", "let a = \"b\"\nlet c = 1"),
        ("let a = x ?? #keyPath(A<Int>.b)", "let a = x ?? \"b\""),
    ])
    func keyPathBecomesItsString(before: String, after: String) throws { try check(before, becomes: after) }

    @Test func keyPathHasTheNameOfObjectiveC() throws {
        try check(
            "class Book { @objc(isRead) var read = false }\nlet a = #keyPath(Book.read)",
            becomes: "class Book { var read = false }\nlet a = \"isRead\"")
    }

    @Test(arguments: ["#keyPath(Book.title?.count)", "#keyPath(f().x)"])
    func keyPathThatCannotBeReadIsReported(text: String) throws {
        let ported = try port("let a = \(text)")
        #expect(ported.remarks.map(\.location?.column) == [9])
        #expect(!ported.isChanged)
    }

    @Test(arguments: [
        ("#selector(didSave(_:))", "Library.didSave(_:)"),
        ("#selector(didSave)", "Library.didSave"),
        ("#selector(self.didSave(_:))", "Library.didSave(_:)"),
        ("#selector(Library.didSave(notification:))", "Library.didSave(notification:)"),
        ("#selector(Self.didSave(_:))", "Library.didSave(_:)"),
    ])
    func observedSelectorBecomesTheMethod(before: String, after: String) throws {
        func source(_ selector: String) -> String {
            """
            class Library {
                init() {
                    NotificationCenter.default.addObserver(
                        self, selector: \(selector),
                        name: .x, object: nil)
                }
            }
            """
        }
        try check(source(before), becomes: source(after))
    }

    @Test func selectorInAnExtensionOrOfAnotherObject() throws {
        try check(
            "extension A.B { func f() { c.addObserver(self, selector: #selector(g), name: nil, object: nil) } }",
            becomes: "extension A.B { func f() { c.addObserver(self, selector: A.B.g, name: nil, object: nil) } }")
        try check(
            "c.addObserver(other, selector: #selector(other.g(_:)), name: nil, object: nil)",
            becomes: "c.addObserver(other, selector: { $0.g(_:) }, name: nil, object: nil)")
    }

    @Test func comparisonOfASortDescriptorIsNamed() throws {
        try check(
            "NSSortDescriptor(key: k, ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))",
            becomes:
                "NSSortDescriptor(key: k, ascending: true, selector: NSSelectorFromString(\"localizedStandardCompare:\"))"
        )
    }

    @Test(arguments: [
        "Timer.scheduledTimer(timeInterval: 1, target: self, selector: #selector(f), userInfo: nil, repeats: true)",
        "c.addObserver(self, selector: #selector(f as (A) -> () -> Void), name: nil, object: nil)",
        "let s = NSStringFromSelector(#selector(A.b(_:)))",
    ])
    func otherSelectorsAreReported(text: String) throws {
        let text = "import CoreData\n" + text
        let ported = try port(text)
        #expect(ported.remarks.count == 1)
        #expect(ported.written == text)
    }

    @Test(arguments: [
        ("let k = NSStringFromSelector(#selector(getter: Book.title))", "let k = \"title\""),
        ("let k = NSStringFromSelector(#selector(getter: Library.Book.title)) // k", "let k = \"title\" // k"),
        ("let k = NSStringFromSelector(#selector(getter: Book.`default`))", "let k = \"default\""),
        ("let k = NSStringFromSelector(#selector(getter: Book.author.name))", "let k = \"name\""),
        ("let k = NSStringFromSelector(#selector(setter: Book.title))", "let k = \"setTitle:\""),
        (
            "class Book { var t = 1; var k: String { NSStringFromSelector(#selector(getter: t)) } }",
            "class Book { var t = 1; var k: String { \"t\" } }"
        ),
        (
            "class Book { var t = 1; var k: String { NSStringFromSelector(#selector(getter: self.t)) } }",
            "class Book { var t = 1; var k: String { \"t\" } }"
        ),
        (
            "f(NSStringFromSelector(\n    #selector(getter: Book.title)\n), x)",
            "f(\"title\", x)"
        ),
    ])
    func nameOfAPropertysSelectorBecomesItsKey(before: String, after: String) throws {
        try check(before, becomes: after)
    }

    @Test func nameOfAPropertysSelectorIsThatOfObjectiveC() throws {
        try check(
            """
            class Text { @objc(isRead) var read = false; var open: Bool { @objc(isOpen) get { true } } }
            class Book: Text {}
            let a = NSStringFromSelector(#selector(getter: Book.read)) + #keyPath(Book.read)
            let b = NSStringFromSelector(#selector(getter: Text.open)) + #keyPath(Text.open)
            """,
            becomes: """
                class Text { var read = false; var open: Bool { get { true } } }
                class Book: Text {}
                let a = "isRead" + "isRead"
                let b = "isOpen" + "open"
                """)
    }

    @Test(arguments: [
        ("let s = #selector(getter: A.b)", "let s = NSSelectorFromString(\"b\")"),
        ("let s = #selector(getter: A.b).description", "let s = NSSelectorFromString(\"b\").description"),
        ("let s = #selector(setter: A.b)", "let s = NSSelectorFromString(\"setB:\")"),
    ])
    func selectorOfAPropertyIsNamed(before: String, after: String) throws {
        try check(before, becomes: after)
    }
}
