import CoreData
import Foundation

/// The content of a record for an object: values of the right types, and links to other objects.
final class ObjectDraft {
    let entity: NSEntityDescription
    /// The object's ID in the file.
    var reference: ObjectReference?
    /// Whether the record contains only the object's ID: it refers to the object without describing it.
    var isReference = false
    /// Values by attribute name; `.some(nil)` clears an attribute.
    var values: [String: Any?] = [:]
    /// To-one relationships by name; `.some(nil)` clears one.
    var links: [String: ObjectDraft?] = [:]
    /// To-many relationships by name.
    var lists: [String: [ObjectDraft]] = [:]
    /// The identifying values of the object; `nil` if there are none.
    var key: ObjectKey?

    init(entity: NSEntityDescription) { self.entity = entity }

    /// Calls `body` with this draft and all nested ones.
    func forEach(_ body: (ObjectDraft) -> Void) {
        body(self)
        for draft in links.values { draft?.forEach(body) }
        for drafts in lists.values { for draft in drafts { draft.forEach(body) } }
    }

    /// Whether the record contains no data for the object.
    var saysNothing: Bool { reference == nil && values.isEmpty && links.isEmpty && lists.isEmpty }

    /// Whether the record contains only empty values for the object.
    var isBlank: Bool {
        reference == nil && values.values.allSatisfy { $0 == nil } && lists.values.allSatisfy(\.isEmpty)
            && links.values.allSatisfy { $0?.isBlank ?? true }
    }
}

/// The identifying values of an object, with its entity.
struct ObjectKey: Hashable {
    let entity: String
    let parts: [Part]

    /// A value that equals another only if both are stored identically; texts are compared byte by byte.
    enum Part: Hashable {
        case text([UInt8])
        case number(Decimal)
        case date(Double)
        case uuid(UUID)
        case other(String)

        init(_ value: Any) {
            self =
                switch value {
                case let value as String: .text(Array(value.utf8))
                case let value as URL: .text(Array(value.absoluteString.utf8))
                case let value as Date: .date(value.timeIntervalSinceReferenceDate)
                case let value as UUID: .uuid(value)
                case let value as NSNumber: .number(value.decimalValue)
                default: .other("\(value)")
                }
        }
    }
}
