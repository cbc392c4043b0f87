import CoreDataPrimitives
import Foundation
import Synchronization

/// The primary keys of a store whose class identifies objects by reference objects.
///
/// A positive whole number is its own key. Other references get keys that are valid as long as the store or an ID of it
/// exists. Only the URI lives longer: it contains the reference itself: `x-coredata://…/Item/p12`,
/// `x-coredata://…/Item/pmilk%2F1`. Equal URIs mean the same object.
///
/// All coordinators that open the same store share its table. Therefore IDs mean the same in every coordinator, and
/// after the store was removed and added again. Entities are identified by name in it, since coordinators may have
/// several versions of the model.
final class ReferenceTable: Sendable {
    private struct Entry {
        var reference: Transfer<Any>
        /// The entity that the object was first said to be of, or one below it that was named later.
        var entity: String
        /// Whether only a URI has named it; a URI does not tell the reference object of the store's class.
        var isOfText: Bool
    }

    private struct Place: Hashable {
        var root: String
        var key: Int64
    }

    private struct State {
        /// By root entity, then by the reference's text in a URI.
        var keys: [String: [String: Int64]] = [:]
        var entries: [Place: Entry] = [:]
        var next: Int64 = 1 << 40
    }

    private struct Shared {
        weak var table: ReferenceTable?
    }

    private static let shared = Mutex<[String: Shared]>([:])

    /// Guards keys and references.
    private let state = Mutex(State())

    /// The table of the store with that UUID.
    static func of(store identifier: String) -> ReferenceTable {
        guard !identifier.isEmpty else { return ReferenceTable() }
        return shared.withLock { tables in
            if let known = tables[identifier]?.table { return known }
            tables = tables.filter { $0.value.table != nil }
            let table = ReferenceTable()
            tables[identifier] = Shared(table: table)
            return table
        }
    }

    /// The key of the object with that reference, which is given one if it has none.
    func key(of reference: Any, entity: EntityRuntime) -> Int64 {
        key(of: reference, text: Self.text(of: reference), entity, isOfText: false)
    }

    /// Returns the key of a reference in a URI.
    func key(ofText text: String, entity: EntityRuntime) -> Int64 {
        if let number = Self.number(ofText: text) { return key(of: number, text: text, entity, isOfText: true) }
        let plain = text.removingPercentEncoding ?? text
        return key(of: plain, text: Self.text(ofText: plain), entity, isOfText: true)
    }

    /// Points and signs that are not escaped are a number's.
    private static func number(ofText text: String) -> NSNumber? {
        if let integer = Int64(text), String(integer) == text { return NSNumber(value: integer) }
        guard text.contains(where: { "+-.".contains($0) }) else { return nil }
        return Double(text).map { NSNumber(value: $0) }
    }

    private func key(of reference: Any, text: String, _ entity: EntityRuntime, isOfText: Bool) -> Int64 {
        let made = Entry(reference: Transfer(reference), entity: entity.name, isOfText: isOfText)
        return state.withLock { state in
            if let known = state.keys[entity.rootName]?[text] {
                let place = Place(root: entity.rootName, key: known)
                guard var entry = state.entries[place] else { return known }
                let isBetter = entry.isOfText && !isOfText
                let knowsMore = !entity.isAncestorOrSame(ofEntityNamed: entry.entity)
                guard isBetter || knowsMore else { return known }
                // A caller that names an ancestor knows less.
                if knowsMore { entry.entity = entity.name }
                if isBetter { (entry.reference, entry.isOfText) = (made.reference, false) }
                state.entries[place] = entry
                return known
            }
            var key = (made.reference.value as? NSNumber).map { $0.int64Value } ?? 0
            if key <= 0 || state.entries[Place(root: entity.rootName, key: key)] != nil {
                key = state.next
                state.next += 1
            }
            state.keys[entity.rootName, default: [:]][text] = key
            state.entries[Place(root: entity.rootName, key: key)] = made
            return key
        }
    }

    /// The object with that key has that reference from now on.
    func take(_ reference: Any, key: Int64, entity: EntityRuntime) {
        let entry = Entry(reference: Transfer(reference), entity: entity.name, isOfText: false)
        let text = Self.text(of: reference)
        state.withLock { state in
            state.keys[entity.rootName, default: [:]][text] = key
            state.entries[Place(root: entity.rootName, key: key)] = entry
            state.next = max(state.next, key + 1)
        }
    }

    /// The same, by the reference's text in a URI.
    func take(text: String, key: Int64, entity: EntityRuntime) {
        if let number = Self.number(ofText: text) {
            take(number, key: key, entity: entity)
        } else {
            take(text.removingPercentEncoding ?? text, key: key, entity: entity)
        }
    }

    func reference(ofKey key: Int64, rootName: String) -> Any? { entry(key, rootName)?.reference.value }

    /// Returns the entity of the object itself: the given one, or a subentity of it, as far as that is known.
    func runtime(ofKey key: Int64, below entity: EntityRuntime, in model: ModelRuntime) -> EntityRuntime {
        guard let name = entry(key, entity.rootName)?.entity, name != entity.name, let own = model.entity(named: name),
            own.root == entity.root
        else { return entity }
        return own
    }

    private func entry(_ key: Int64, _ rootName: String) -> Entry? {
        state.withLock { $0.entries[Place(root: rootName, key: key)] }
    }

    /// What stands for the object in its URI.
    func text(ofKey key: Int64, rootName: String) -> String {
        reference(ofKey: key, rootName: rootName).map(Self.text) ?? "\(key)"
    }

    /// Numbers are equal whatever their type.
    static func text(of reference: Any) -> String {
        switch reference {
        case let number as NSNumber: number.stringValue
        case let number as any BinaryInteger: "\(number)"
        case let string as NSString: text(ofText: "\(string)")
        case let data as Data: text(ofText: data.base64EncodedString())
        case let date as Date: text(ofText: "\(date.timeIntervalSinceReferenceDate)")
        default: text(ofText: "\(reference)")
        }
    }

    /// A text that reads as a number begins with an escape, which no number does.
    private static func text(ofText plain: String) -> String {
        let isNumber = Int64(plain).map { String($0) == plain } ?? false
        let escaped = plain.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? plain
        guard isNumber, let first = plain.utf8.first, escaped.hasPrefix(plain.prefix(1)) else { return escaped }
        return "%" + String(first, radix: 16, uppercase: true) + escaped.dropFirst()
    }
}

extension EntityRuntime {
    /// Returns whether the entity of that name is this one or a descendant of it.
    fileprivate func isAncestorOrSame(ofEntityNamed other: String) -> Bool {
        other == name || entity.managedObjectModel.entitiesByName[other]?.isKindOf(entity: entity) == true
    }
}
