import CoreDataPorting
import Testing

@Suite struct ClassTests {
    @Test(arguments: [
        (
            "class A: M {\n    override init(entity: E, insertInto c: C?) {}\n}",
            "class A: M {\n    required init(entity: E, insertInto c: C?) {}\n}"
        ),
        (
            "public class A: M {\n    override public init(entity: E, insertInto c: C?) {}\n}",
            "public class A: M {\n    required public init(entity: E, insertInto c: C?) {}\n}"
        ),
        (
            "class A: M {\n    @objc\n    override private init(entity: E, insertInto c: C?) {}\n}",
            "class A: M {\n    required init(entity: E, insertInto c: C?) {}\n}"
        ),
        (
            "public final class A: M {\n    override init(entity: E, insertInto c: C?) {}\n}",
            "public final class A: M {\n    public required init(entity: E, insertInto c: C?) {}\n}"
        ),
        (
            "open class A: M {\n    fileprivate override init(entity: E, insertInto c: C?) {}\n}",
            "open class A: M {\n    public required init(entity: E, insertInto c: C?) {}\n}"
        ),
    ])
    func entityInitialiserIsRequired(before: String, after: String) throws { try check(before, becomes: after) }

    @Test func otherInitialisersStay() throws {
        let text = """
            class A: NSManagedObject {
                required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {}
                convenience init(title: String) {}
                override init(context: NSManagedObjectContext) {}
            }
            """
        try check(text, becomes: text)
    }

    @Test func requiredInitialiserIsAdded() throws {
        try check(
            """
            public class Book: NSManagedObject {
                var cache: [Int]?

                public init(title: String, context: NSManagedObjectContext) {
                    super.init(entity: Self.entity(), insertInto: context)
                }
            }
            """,
            becomes: """
                public class Book: NSManagedObject {
                    var cache: [Int]?

                    public init(title: String, context: NSManagedObjectContext) {
                        super.init(entity: Self.entity(), insertInto: context)
                    }

                    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
                        super.init(entity: entity, insertInto: context)
                    }
                }
                """)
    }

    @Test func propertyWithoutValueIsReported() throws {
        let text = """
            import CoreData
            class Book: NSManagedObject {
                let shelf: Shelf
                init(shelf: Shelf) { self.shelf = shelf }
            }
            """
        let ported = try port(text)
        #expect(ported.written == text)
        #expect(ported.remarks.map(\.location?.line) == [3])
    }

    @Test func superclassMayBeInAnotherSource() throws {
        let ported = Porter.port([
            PortSource(path: "Base.swift", text: "import CoreData\nclass Base: NSManagedObject {}"),
            PortSource(path: "Book.swift", text: "class Book: Base { init(x: Int) {} }"),
            PortSource(path: "Other.swift", text: "class Other: View { init(x: Int) {} }"),
        ])
        #expect(ported.map(\.isChanged) == [false, true, false])
    }

    @Test func overrideMovesFromAnExtensionIntoTheClass() throws {
        try check(
            """
            class Person: NSManagedObject {
                var name = ""
            }

            extension Person {
                var other: Int { 1 }

                /// Takes the time.
                @objc public override func willSave() {
                    super.willSave()
                    let key = #keyPath(Person.name)
                }
            }
            // The end.
            """,
            becomes: """
                class Person: NSManagedObject {
                    var name = ""

                    /// Takes the time.
                    public override func willSave() {
                        super.willSave()
                        let key = "name"
                    }
                }

                extension Person {
                    var other: Int { 1 }
                }
                // The end.
                """)
    }

    @Test func accessOfTheExtensionGoesWithTheOverride() throws {
        try check(
            "public class P: M {}\npublic extension P {\n    override func f() {}\n}\n",
            becomes: "public class P: M {\n    public override func f() {}\n}\npublic extension P {\n}\n")
    }

    @Test func overrideOfAClassElsewhereIsReported() throws {
        let ported = Porter.port([
            PortSource(path: "P.swift", text: "class P: M {}"),
            PortSource(path: "P+Saving.swift", text: "extension P {\n    override func willSave() {}\n}"),
        ])
        #expect(
            ported[1].remarks.map(\.hint) == ["move the override into class P in P.swift; both sides compile it there"])
        #expect(!ported[1].isChanged)
    }

    @Test func compilerIsToldWhereAMovedOverrideWas() throws {
        let ported = try port(
            "class P: M {\n    var a = 1\n}\n\nextension P {\n    override func f() {}\n}\n", path: "/src/P.swift")
        #expect(
            ported.compiled == """
                #sourceLocation(file: "/src/P.swift", line: 1)
                class P: M {
                    var a = 1
                #sourceLocation(file: "/src/P.swift", line: 6)
                    override func f() {}
                #sourceLocation(file: "/src/P.swift", line: 3)
                }

                extension P {
                                        
                }

                """)
    }
}
