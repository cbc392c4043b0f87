import CoreDataPorting
import SwiftParser
import Testing

/// Names of classes in archives, which `@objc(Name)` gives on Apple's platforms.
@Suite struct ArchiveNameTests {
    private static let source = "import Foundation\n@objc(MyColor)\nfinal class Color: NSObject, NSSecureCoding {}\n"
    private static let list = "override class var classes: [String: AnyClass] { [\"MyColor\": Color.self] }"

    @Test func peopleAndTheCompilerGetTheName() throws {
        let ported = try port(Self.source)
        for text in [ported.written, ported.compiled] {
            #expect(text.contains("enum _ArchiveNamesOfColor {"), "\(text)")
            #expect(text.contains(Self.list))
            #expect(!Parser.parse(source: text).hasError)
        }
        #expect(ported.written.contains("#if !canImport(ObjectiveC)"))
        #expect(ported.written.contains("import CoreData"))
        // What a model says of the class does not matter: it is none of managed objects.
        #expect(ported.isSettled)
        #expect(try port(ported.written).written == ported.written)
        #expect(try !port(ported.written).isChanged)
    }

    @Test(arguments: [
        "@objc(A) class A: NSObject {}", "class A: NSObject, NSCoding {}", "@objc class A: NSObject, NSCoding {}",
        "@objc(A) class A: NSManagedObject {}",
    ])
    func otherClassesHaveNone(text: String) throws {
        #expect(try !port("import CoreData\n" + text).written.contains("ArchiveNames"))
    }

    @Test func codingOfASuperclassOrAnExtensionCounts() throws {
        let text = try port(
            "import CoreData\nclass Base: NSObject {}\nextension Base: NSCoding {}\nenum E { @objc(Kid) class Kid: Base {} }"
        ).written
        #expect(text.contains("[\"Kid\": E.Kid.self]"))
    }
}
