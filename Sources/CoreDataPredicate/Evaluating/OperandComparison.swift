import CoreDataPrimitives
import Foundation

/// Equality and order of operands with two-valued logic: nil equals only nil.
///
/// - Numbers compare by value (``Numbers``), text by ``TextComparison``; a URI is text.
/// - Other values equal only values of their own type; ordering two types is an error.
/// - An ordered and an unordered collection are equal if they have the same members.
package enum OperandComparison {
    package static func equal(_ a: Operand, _ b: Operand, _ options: TextOptions = []) -> Bool {
        switch (a, b) {
        case (.value(let a), .value(let b)): equal(a, b, options)
        case (.object(let a), .object(let b)): a === b || a.isSamePredicateObject(as: b)
        case (.object(let object), .value(.opaque(let value))), (.value(.opaque(let value)), .object(let object)):
            (object as? any PredicateValueBox).map { Value.opaque($0.predicateValue) == .opaque(value) } ?? false
        case (.object(let object), .value(.string(let text))), (.value(.string(let text)), .object(let object)):
            object.predicateName.map { TextComparison.equal($0, text, options: options.rawValue) } ?? false
        case (.collection(let a, let aOrdered), .collection(let b, let bOrdered)):
            aOrdered && bOrdered
                ? a.count == b.count && zip(a, b).allSatisfy { equal($0, $1, options) }
                : a.count == b.count && a.allSatisfy { member in b.contains { equal(member, $0, options) } }
        case (.dictionary(let a), .dictionary(let b)):
            a.count == b.count
                && a.allSatisfy { entry in
                    b.contains { equal(entry.key, $0.key) && equal(entry.value, $0.value, options) }
                }
        default: false
        }
    }

    package static func equal(_ a: Value, _ b: Value, _ options: TextOptions = []) -> Bool {
        switch (a, b) {
        case (.integer(let a), .integer(let b)): return a == b
        case (.string(let a), .string(let b)), (.uri(let a), .uri(let b)), (.string(let a), .uri(let b)),
            (.uri(let a), .string(let b)):
            return TextComparison.equal(a, b, options: options.rawValue)
        case (.integer, _), (.double, _), (.decimal, _): return Numbers.order(a, b) == 0
        default: return a == b
        }
    }

    /// Returns the order: negative, zero or positive; `nil` if an operand is nil.
    ///
    /// - Throws: ``PredicateFailure`` if the types have no common order.
    package static func order(_ a: Operand, _ b: Operand, _ options: TextOptions = []) throws -> Int? {
        if a.isNull || b.isNull { return nil }
        if case .value(let first) = a, case .value(let second) = b,
            let order = order(first, second, options)
        {
            return order
        }
        if case .value(let first) = a.named, case .value(let second) = b.named,
            let order = order(first, second, options)
        {
            return order
        }
        throw PredicateFailure(
            .evaluation, Diagnostic(.error, "\(a.kindName) cannot be ordered relative to \(b.kindName)"))
    }

    private static func order(_ a: Value, _ b: Value, _ options: TextOptions) -> Int? {
        switch (a, b) {
        case (.integer, _), (.double, _), (.decimal, _): Numbers.order(a, b)
        case (.string(let a), .string(let b)), (.uri(let a), .uri(let b)), (.string(let a), .uri(let b)),
            (.uri(let a), .string(let b)):
            TextComparison.compare(a, b, options: options.rawValue)
        case (.date(let a), .date(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.data(let a), .data(let b)): lexicographicOrder(a, b)
        case (.uuid(let a), .uuid(let b)):
            withUnsafeBytes(of: a.uuid) { a in withUnsafeBytes(of: b.uuid) { b in lexicographicOrder(a, b) } }
        default: nil
        }
    }

    private static func lexicographicOrder(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
        a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
    }
}

extension Operand {
    package var isNull: Bool {
        if case .value(.null) = self { return true }
        return false
    }

    /// The name of the operand's kind in errors; never its content.
    package var kindName: String {
        switch self {
        case .value(let value):
            switch value {
            case .null: "nil"
            case .integer, .double, .decimal: "a number"
            case .string: "a string"
            case .date: "a date"
            case .data: "data"
            case .uuid: "a UUID"
            case .uri: "a URL"
            case .opaque(let box): "a value of type \(type(of: box.object))"
            }
        case .object: "an object"
        case .collection: "a collection"
        case .dictionary: "a dictionary"
        }
    }

    /// The text of a string or a URI; `nil` for other operands.
    var text: String? {
        switch self {
        case .value(.string(let text)), .value(.uri(let text)): text
        case .object(let object): object.predicateName
        default: nil
        }
    }

    /// The operand, or the text that represents it.
    var named: Operand {
        if case .object(let object) = self, let name = object.predicateName { return .value(.string(name)) }
        return self
    }

    package init(_ constant: Constant) {
        switch constant {
        case .value(let value): self = .value(value)
        case .object(let object): self = .object(object)
        case .key(let key): self = .object(RowReference(key))
        case .collection(let members, let isOrdered):
            self = .collection(members.map(Operand.init), isOrdered: isOrdered)
        case .dictionary(let entries):
            self = .dictionary(entries.map { (key: Operand($0.key), value: Operand($0.value)) })
        case .symbol(let name): self = .value(.string(name))
        }
    }
}

extension Constant {
    package init(_ operand: Operand) {
        switch operand {
        case .value(let value): self = .value(value)
        case .object(let object): self = .object(object)
        case .collection(let members, let isOrdered):
            self = .collection(members.map(Constant.init), isOrdered: isOrdered)
        case .dictionary(let entries):
            self = .dictionary(entries.map { (key: Constant($0.key), value: Constant($0.value)) })
        }
    }
}

/// A reference to a store's row in a predicate that is evaluated in memory: equal only to itself.
private final class RowReference: PredicateObject {
    private let key: RowKey?

    init(_ key: RowKey?) { self.key = key }

    func predicateOperand(forKey name: String) throws -> Operand {
        throw PredicateFailure(.evaluation, Diagnostic(.error, "a row's key has no property '\(name)'"))
    }

    func isSamePredicateObject(as other: any PredicateObject) -> Bool {
        guard let key, let other = other as? RowReference else { return false }
        return key == other.key
    }

    var predicateHash: Int { key.hashValue }
    var predicateDescription: String { key.map { "<row \($0.entity):\($0.primaryKey)>" } ?? "<no row>" }
    func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}
