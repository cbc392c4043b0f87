import CoreDataPorting
import Testing

@Suite struct AttributeTests {
    @Test(arguments: [
        ("@objc(Book) class Book: NSManagedObject {}\n", "class Book: NSManagedObject {}\n"),
        ("@objc(Book)\npublic class Book: NSManagedObject {}\n", "public class Book: NSManagedObject {}\n"),
        ("@objcMembers class A: NSObject {}", "class A: NSObject {}"),
        ("class A {\n    @objc dynamic var x = 1  // one\n}\n", "class A {\n    dynamic var x = 1  // one\n}\n"),
        (
            "extension A {\n    /// Adds.\n    @objc(addPagesObject:)\n    @NSManaged public func addToPages(_ value: Page)\n}\n",
            "extension A {\n    /// Adds.\n    @NSManaged public func addToPages(_ value: Page)\n}\n"
        ),
        ("@objc // why\nclass A: NSObject {}\n", "// why\nclass A: NSObject {}\n"),
        ("@MainActor @objc class A {\n}", "@MainActor class A {\n}"),
        ("@objc enum Kind: Int16 { case a }", "enum Kind: Int16 { case a }"),
        ("@objc extension A {}", "extension A {}"),
        ("@objc protocol P { func f() }", "protocol P: AnyObject { func f() }"),
        ("@objc protocol P: Q { func f() }", "protocol P: AnyObject, Q { func f() }"),
        ("@objc protocol P: NSObjectProtocol {}", "protocol P: NSObjectProtocol {}"),
        (
            "@objc public protocol P: AnyObject {\n\tvar x: Int { get }\n}",
            "public protocol P: AnyObject {\n\tvar x: Int { get }\n}"
        ),
    ])
    func attributeGoes(before: String, after: String) throws { try check(before, becomes: after) }

    @Test(arguments: [
        "class A { @nonobjc class func fetchRequest() -> Int { 1 } }",
        "class A { dynamic var x = 1 }",
        "#if canImport(ObjectiveC)\n@objc class A: NSObject {}\n#endif",
        "#if os(macOS) || os(iOS)\n@objc class A: NSObject {}\n#else\nclass A {}\n#endif",
        "#if !canImport(UIKit)\nclass A {}\n#else\n@objc class A: NSObject {}\n#endif",
        "// @objc in a comment, #keyPath(A.b) and \"@objc\"\nlet a = \"@objc #keyPath(A.b)\"",
        "class A: NSManagedObject { @NSManaged var title: String? }",
    ])
    func whatCompilesStays(text: String) throws { try check(text, becomes: text) }

    @Test func otherSideOfAConditionIsPorted() throws {
        try check(
            "#if os(iOS)\n@objc class A {}\n#else\n@objc class A {}\n#endif",
            becomes: "#if os(iOS)\n@objc class A {}\n#else\nclass A {}\n#endif")
        try check(
            "#if DEBUG && os(Linux)\n@objc class A {}\n#endif", becomes: "#if DEBUG && os(Linux)\nclass A {}\n#endif")
    }

    @Test func optionalRequirementsAreReportedAndLeft() throws {
        let text = "@objc protocol P {\n    @objc optional func f()\n    func g()\n}\n"
        let ported = try port(text)
        #expect(ported.written == text)
        #expect(ported.remarks.map(\.location?.line) == [2])
        #expect(ported.remarks.map(\.location?.column) == [11])
    }

    @Test func outletsAreReported() throws {
        let ported = try port("class A {\n    @IBOutlet var label: String?\n    @IBAction func tap() {}\n}")
        #expect(ported.remarks.map(\.location?.line) == [2, 3])
        #expect(!ported.isChanged)
    }

    @Test func classOfAnotherNameInObjectiveCIsReported() throws {
        let ported = try port(
            "@objc(BKBook) class Book: NSManagedObject {}\n@objc(Page) class Page: NSManagedObject {}")
        #expect(ported.remarks.map(\.message) == ["class Book is not known as 'BKBook' here"])
    }

    @Test func unreadableSourceStays() throws {
        let ported = try port("class { @objc func }")
        #expect(ported.written == "class { @objc func }")
        #expect(ported.remarks.map(\.severity) == [.error])
    }
}
