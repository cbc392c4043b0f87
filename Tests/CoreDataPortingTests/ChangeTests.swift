import CoreDataPorting
import Testing

@Suite struct ChangeTests {
    @Test func changesAreListedByPlace() throws {
        let ported = try port(
            """
            import UIKit

            @objc(Book) class Book: NSManagedObject {
                let é = #keyPath(Book.title)
            }
            """)
        #expect(
            ported.changes.map { "\($0.location.line):\($0.location.column) \($0.summary)" } == [
                "1:1 import UIKit -> #if canImport(UIKit)",
                "3:1 removed @objc(Book)",
                "4:13 #keyPath(Book.title) -> \"title\"",
            ])
    }

    @Test func sourceWithoutAnythingToPortIsTheSame() throws {
        let text = "// Only a comment\r\nlet a = 1\t\r\n\u{FEFF}"
        let ported = try port(text)
        #expect(ported.written == text)
        #expect(!ported.isChanged && ported.remarks.isEmpty)
    }

    @Test func lineEndsOfWindowsStay() throws {
        try check(
            "class A {\r\n    @objc\r\n    func f() {}\r\n}\r\n", becomes: "class A {\r\n    func f() {}\r\n}\r\n")
    }
}
