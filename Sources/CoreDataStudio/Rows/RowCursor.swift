import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

/// A place in a sorted list of objects: the key of an object, and its value of the sorted attribute.
///
/// A page behind a place is found with the index of the attribute, however far the page is from the beginning. The
/// place remains valid when the object is changed or deleted.
struct RowCursor: Sendable, Hashable {
    /// The primary key.
    var key: Int64
    /// The value as text; `nil` for an object without one, and for a list that is sorted by key.
    var value: String?

    init(key: Int64, value: String? = nil) {
        self.key = key
        self.value = value
    }

    /// Reads `12`, `12:value`.
    init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let key = Int64(parts[0]), key > 0 else { return nil }
        self.init(key: key, value: parts.count > 1 ? String(parts[1]) : nil)
    }

    var text: String { value.map { "\(key):\($0)" } ?? String(key) }

    /// Returns the place of an object.
    init?(of object: NSManagedObject, sortedBy attribute: NSAttributeDescription?) {
        guard let reference = ObjectReference(object.objectID.uriRepresentation().absoluteString) else { return nil }
        self.init(
            key: reference.key,
            value: attribute.flatMap { attribute in
                object.value(forKey: attribute.name).flatMap { SortedValue.text($0, of: attribute) }
            })
    }
}

/// The values by which lists are sorted, as texts that keep them exactly.
enum SortedValue {
    /// Whether a store can order the values of the attribute.
    static func isSortable(_ attribute: NSAttributeDescription) -> Bool {
        guard !attribute.isTransient else { return false }
        switch attribute.kind {
        case .integer, .boolean, .real, .single, .decimal, .text, .date: return true
        case .bytes, .identifier, .link, .object, .reference, .composite: return false
        }
    }

    static func text(_ value: Any, of attribute: NSAttributeDescription) -> String? {
        switch attribute.kind {
        case .integer, .boolean: (value as? NSNumber).map { String($0.int64Value) }
        case .real, .single: (value as? NSNumber).map { String($0.doubleValue) }
        case .decimal: (value as? NSNumber).map { $0.decimalValue.description }
        case .text: value as? String
        case .date: (value as? Date).map { String($0.timeIntervalSinceReferenceDate) }
        case .bytes, .identifier, .link, .object, .reference, .composite: nil
        }
    }

    static func value(_ text: String, of attribute: NSAttributeDescription) -> Any? {
        switch attribute.kind {
        case .integer, .boolean: Int64(text).map { NSNumber(value: $0) }
        case .real, .single: Double(text).map { NSNumber(value: $0) }
        case .decimal:
            Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map { NSDecimalNumber(decimal: $0) }
        case .text: text
        case .date: Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .bytes, .identifier, .link, .object, .reference, .composite: nil
        }
    }
}
