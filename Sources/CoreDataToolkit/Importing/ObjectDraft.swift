import CoreData
import Foundation

/// An object as a record describes it: values that fit the attributes, and the objects it is linked to.
final class ObjectDraft {
    let entity: NSEntityDescription
    /// The ID that the file has for the object.
    var reference: ObjectReference?
    /// Whether nothing is said of the object but its ID: it is meant, not described.
    var isReference = false
    /// By attribute name; `.some(nil)` sets nothing.
    var values: [String: Any?] = [:]
    /// To-one relationships by name; `.some(nil)` unlinks.
    var links: [String: ObjectDraft?] = [:]
    /// To-many relationships by name.
    var lists: [String: [ObjectDraft]] = [:]
    /// What tells the object from others of its entity; `nil` where nothing does.
    var key: ObjectKey?

    init(entity: NSEntityDescription) { self.entity = entity }

    /// This draft and those inside it.
    func forEach(_ body: (ObjectDraft) -> Void) {
        body(self)
        for draft in links.values { draft?.forEach(body) }
        for drafts in lists.values { for draft in drafts { draft.forEach(body) } }
    }

    /// Whether a record said nothing about it at all.
    var saysNothing: Bool { reference == nil && values.isEmpty && links.isEmpty && lists.isEmpty }

    /// Whether a record said nothing about it but that it has no values.
    var isBlank: Bool {
        reference == nil && values.values.allSatisfy { $0 == nil } && lists.values.allSatisfy(\.isEmpty)
            && links.values.allSatisfy { $0?.isBlank ?? true }
    }
}

/// The unique values of an object of an entity.
struct ObjectKey: Hashable {
    let entity: String
    let parts: [Part]

    /// A value that equals another only where both are stored alike; texts byte by byte.
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
