import CoreDataPorting
import CoreDataPrimitives
import Foundation
import Testing

/// What is told of names and calls that do not exist here.
@Suite struct AbsenceTests {
    private func messages(_ text: String) throws -> [String] {
        try port("import CoreData\n" + text).remarks.map { "\($0.location?.line ?? 0): \($0.message)" }
    }

    @Test(arguments: [
        ("func f(_ c: [NSKeyValueChangeKey: Any]) {}", "'NSKeyValueChangeKey' does not exist here"),
        ("let t = NSHashTable<NSObject>.weakObjects()", "'NSHashTable' does not exist here"),
        ("let a = x.publisher(for: \\.name)", "'publisher(for:)' does not exist here"),
        ("for await n in center.notifications(named: .x) {}", "'notifications(named:)' does not exist here"),
        (
            "let u = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: \"group.a\")",
            "'containerURL(forSecurityApplicationGroupIdentifier:)' does not exist here"
        ),
        ("o.perform(NSSelectorFromString(\"x\"))", "'perform(_:)' does not exist here"),
        ("o.perform(Selector((\"x\")), with: 1)", "'perform(_:with:)' does not exist here"),
        ("if o.responds(to: Selector((\"x\"))) {}", "'responds(to:)' does not exist here"),
        (
            "class A: NSObject { override class func description() -> String { \"\" } }",
            "'description' cannot be overridden: NSObject has no such method here"
        ),
        (
            "class A: NSObject { override class func keyPathsForValuesAffectingValue(forKey k: String) -> Set<String> { [] } }",
            "'keyPathsForValuesAffectingValue' cannot be overridden: NSObject has no such method here"
        ),
    ])
    func whatNeedsObjectiveCIsTold(text: String, message: String) throws {
        #expect(try messages(text) == ["2: " + message])
    }

    @Test(arguments: [
        "context.undoManager = nil", "context.undoManager = UndoManager()", "context.parent = main",
        "context.perform { }", "try await context.perform(run)", "node.parent = other",
        "context.performAndWait(f)", "let e = NSPersistentHistoryTokenExpiredError",
        "struct NSHashTable {}; let t = NSHashTable()",
        "class A { override class func make() {} ; func description() -> String { \"\" } }", "queue.observe(x)",
        "let c = NSPersistentCloudKitContainer(name: \"A\")", "var o: NSPersistentCloudKitContainerOptions?",
        "let e = NSPersistentCloudKitContainer.eventChangedNotification",
        "let u = files.url(forUbiquityContainerIdentifier: nil)",
        "var s: NSPersistentCloudKitContainerSchemaInitializationOptions = [.dryRun]",
        "let o: [AnyHashable: Any] = [NSPersistentStoreUbiquitousContentNameKey: \"A\"]",
        "let t = FileManager.default.ubiquityIdentityToken",
        "center.post(name: .NSUbiquityIdentityDidChange, object: nil)",
        "var o: NSKeyValueObservation?", "let t = book.observe(\\.title, options: [.new]) { _, _ in }",
        "let r = NSPersistentHistoryChangeRequest.fetchHistory(after: t)",
        "class P: NSQueryGenerationToken {}", "try context.setQueryGenerationFrom(.current)",
        "d.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)",
        "c.addObserver(forName: .NSPersistentStoreRemoteChange, object: nil, queue: nil) { _ in }",
        "#if canImport(ObjectiveC)\nlet t = NSHashTable<NSObject>.weakObjects()\n#endif",
    ])
    func nothingElseIsTold(text: String) throws { #expect(try messages(text) == []) }

    @Test(arguments: [
        ("import os\nlet l = Logger()", "swift-log")
    ])
    func substituteIsNamed(text: String, hint: String) throws {
        let remarks = try port(text).remarks
        #expect(remarks.contains { $0.hint?.contains(hint) == true }, "\(remarks)")
    }

    @Test func everyReasonForLeavingOutIsTold() throws {
        let ported = try port("import SwiftUI\nstruct A: View { @State var x = 1\n var c: UIColor? }")
        #expect(ported.isLeftOut && !ported.isSettled)
        #expect(ported.neededFrameworks == ["SwiftUI", "UIKit"])
        #expect(
            ported.remarks.map(\.message) == [
                "left out: 'View' needs SwiftUI, which does not exist here",
                "left out: 'State' needs SwiftUI, which does not exist here",
                "left out: 'UIColor' needs UIKit, which does not exist here",
            ])
    }

    @Test func whatIsRewrittenIsSettledAndWhatIsToldIsNot() throws {
        #expect(try port("import CoreData\n@objc class A {}").isSettled)
        #expect(try !port("import CoreData\nvar m: NSHashTable<NSObject>?").isSettled)
    }
}
