import CoreDataPorting
import SwiftParser
import Testing

/// What the plug-in compiles.
@Suite struct CompiledCopyTests {
    private func compiled(_ text: String) throws -> String {
        let compiled = try port(text, path: "/a.swift").compiled
        #expect(!Parser.parse(source: compiled).hasError)
        return String(compiled.dropFirst("#sourceLocation(file: \"/a.swift\", line: 1)\n".count))
    }

    @Test(arguments: [
        (
            "class A: M { @NSManaged public var title: String? }",
            "public var title: String? { get { self[Self._titleKey] } set { self[Self._titleKey] = newValue } }; "
                + "private static let _titleKey = PropertyKey<String?>(\"title\") }"
        ),
        ("class A: M { @NSManaged var n: String! }", "private static let _nKey = PropertyKey<String?>(\"n\") }"),
        ("class A: M { @NSManaged var `in`: Int }", "private static let _inKey = PropertyKey<Int>(\"in\") }"),
        (
            "class A: M { @NSManaged private var primitiveUpdatedAt: Date }",
            "private var primitiveUpdatedAt: Date { get { self[primitive: Self._primitiveUpdatedAtKey] } "
                + "set { self[primitive: Self._primitiveUpdatedAtKey] = newValue } }; "
                + "private static let _primitiveUpdatedAtKey = PropertyKey<Date>(\"updatedAt\") }"
        ),
        (
            "class A: M { @NSManaged func addToPages(_ value: Page) }",
            "{ add(value, to: Self._pagesKey1) }; private static let _pagesKey1 = PropertyKey<NSObject>(\"pages\") }"
        ),
        (
            "class A: M { @NSManaged func removeFromPages(_ values: NSSet) }",
            "{ remove(values, from: Self._pagesKey1) }; "
                + "private static let _pagesKey1 = PropertyKey<NSObject>(\"pages\") }"
        ),
        (
            "class A: M { @NSManaged func replacePages(at indexes: NSIndexSet, with values: [Page]) }",
            "{ replace(at: indexes, with: values, in: Self._pagesKey1) }; "
                + "private static let _pagesKey1 = PropertyKey<NSObject>(\"pages\") }"
        ),
        (
            "class A: M { @NSManaged var URLs: Set<Page> }\nextension A { @NSManaged func addToURLs(_ values: Set<Page>) }",
            "{ for member in values { add(member, to: Self._URLsKey2) } }; "
                + "private static let _URLsKey2 = PropertyKey<NSObject>(\"URLs\") }"
        ),
    ])
    func managedPropertyHasAccessors(before: String, ending: String) throws {
        let result = try compiled(before)
        #expect(result.hasSuffix(ending), "\(result)")
    }

    @Test(arguments: [
        ("addPagesObject(_ value: Page)", "add(value, to: KEY)"),
        ("addPages(_ values: NSSet)", "add(values, to: KEY)"),
        ("removePagesObject(_ value: Page)", "remove(value, from: KEY)"),
        ("removePages(_ values: Set<Page>)", "for member in values { remove(member, from: KEY) }"),
        ("insertObject(_ value: Page, inPagesAtIndex idx: Int)", "insert(value, into: KEY, at: idx)"),
        ("insertPages(_ values: [Page], atIndexes indexes: NSIndexSet)", "insert(values, into: KEY, at: indexes)"),
        ("removeObjectFromPagesAtIndex(_ idx: Int)", "remove(at: idx, from: KEY)"),
        ("removePagesAtIndexes(_ indexes: IndexSet)", "remove(at: NSIndexSet(indexSet: indexes), from: KEY)"),
        (
            "replaceObjectInPagesAtIndex(_ idx: Int, withObject value: Page)", "replace(at: idx, with: value, in: KEY)"
        ),
        (
            "replacePagesAtIndexes(_ indexes: NSIndexSet, withPages values: [Page])",
            "replace(at: indexes, with: values, in: KEY)"
        ),
        ("insertIntoPages(_ values: [Page], at indexes: NSIndexSet)", "insert(values, into: KEY, at: indexes)"),
    ])
    func methodThatCoreDataMakesHasABody(declaration: String, body: String) throws {
        let ported = try port("class A: M { @NSManaged func \(declaration) }")
        #expect(ported.remarks.isEmpty)
        let compiled = ported.compiled.replacing("Self._pagesKey1", with: "KEY")
        #expect(compiled.contains(" { \(body) }; private static let _pagesKey1 = "), "\(compiled)")
    }

    @Test func methodIsKnownByItsNameInObjectiveC() throws {
        let ported = try port("class A: M { @objc(addPagesObject:) @NSManaged func append(_ page: Page) }")
        #expect(ported.remarks.isEmpty)
        #expect(ported.compiled.contains("{ add(page, to: Self._pagesKey1) }"))
    }

    @Test func methodIsAboutThePropertyThatThereIs() throws {
        let method = "@NSManaged func addToDos(_ values: NSSet)"
        #expect(try compiled("class A: M { @NSManaged var toDos: NSSet; \(method) }").contains("<NSObject>(\"toDos\")"))
        #expect(try compiled("class A: M { @NSManaged var dos: NSSet; \(method) }").contains("<NSObject>(\"dos\")"))
    }

    @Test(arguments: ["publish(_ value: Page)", "addPages(_ value: Page)", "addToPages(_ value: Page) -> Bool"])
    func methodThatCoreDataDoesNotMakeIsReported(declaration: String) throws {
        let ported = try port("class A: M { @NSManaged func \(declaration) }")
        #expect(ported.remarks.map(\.severity) == [.error])
    }

    @Test func typeGoesForTheNamesBeforeItToo() throws {
        let ported = try port("class A: M {\n    @NSManaged public var width, height: Double\n}")
        #expect(ported.remarks.isEmpty)
        #expect(!Parser.parse(source: ported.compiled).hasError)
        #expect(
            ported.compiled.contains(
                "public var width: Double { get { self[Self._widthKey] } set { self[Self._widthKey] = newValue } }; "
                    + "public var height: Double { get { self[Self._heightKey] } "))
    }

    @Test func columnsStayWhereTheyWere() throws {
        #expect(try compiled("@objc class A { @objc func f() {} }") == "      class A {       func f() {} }")
        #expect(try compiled("f(#keyPath(A.b), x)") == "f(\"b\"          , x)")
    }

    @Test func linesStayWhereTheyWere() throws {
        #expect(try compiled("f(\n  #keyPath(\n    A.b\n  ).count\n)\ng()") == "f(\n  \"b\"\n\n.count\n)\ng()")
    }

    @Test func pathIsWrittenAsALiteral() throws {
        #expect(
            try port("let a = 1", path: "/a \"b\".swift").compiled.hasPrefix(
                "#sourceLocation(file: \"/a \\\"b\\\".swift\", line: 1)\n"))
    }
}

extension CompiledCopyTests {
    @Test func keyPathsAreListedForEachClass() throws {
        let ported = Porter.port([
            PortSource(path: "/Item.swift", text: "class Item: NSManagedObject { @NSManaged var name: String }"),
            PortSource(
                path: "/Drink.swift",
                text: """
                    class Drink: Item {
                        @NSManaged var `in`: Int
                        @NSManaged fileprivate var near: Int
                        @NSManaged private var hidden: Int
                    }
                    struct Outer { class Inner: NSManagedObject { @NSManaged var x: Int } }
                    """),
        ])
        #expect(
            ported[1].compiled.hasSuffix(
                """
                #sourceLocation()
                final class _DrinkKeyPaths: ManagedKeyPaths {
                    override class var names: [AnyKeyPath: String] { [\\Drink.`in`: "in", \\Drink.near: "near", \\Drink.name: "name"] }
                }

                """))
        #expect(!ported[1].written.contains("KeyPaths"))
    }
}

extension CompiledCopyTests {
    @Test func accessorsBeforeAMovedOverrideStayBeforeIt() throws {
        let ported = try port(
            """
            class P: NSManagedObject {
                @NSManaged var name: String?
            }
            extension P {
                @NSManaged private var primitiveName: String?
                override func awakeFromInsert() {}
            }
            """, path: "/P.swift")
        #expect(!Parser.parse(source: ported.compiled).hasError)
        let lines = ported.compiled.split(separator: "\n")
        #expect(lines.first { $0.contains("var name") }?.hasSuffix("PropertyKey<String?>(\"name\")") == true)
        #expect(lines.first { $0.contains("var primitiveName") }?.hasSuffix("PropertyKey<String?>(\"name\")") == true)
    }
}
