import CoreDataPrimitives
import Synchronization

/// The result of evaluating an expression.
package enum Operand {
    case value(Value)
    case object(any PredicateObject)
    /// A to-many's objects, an array or a set; `isOrdered` affects equality and `[FIRST]`.
    case collection([Operand], isOrdered: Bool)
    case dictionary([(key: Operand, value: Operand)])

    package static var null: Operand { .value(.null) }
}

/// An object whose properties a predicate can read: a managed object, an object ID, a user's value.
package protocol PredicateObject: AnyObject {
    /// Returns the value of a property by name; a nil value is `.value(.null)`.
    ///
    /// - Throws: ``PredicateFailure`` for an unknown key, naming the entity and the key.
    func predicateOperand(forKey key: String) throws -> Operand

    /// Returns the value as ``predicateOperand(forKey:)`` does; the object may cache its look-up of the key in `key`.
    func predicateOperand(for key: PredicateKey) throws -> Operand

    /// Returns whether both are the same object, or an object and its ID.
    func isSamePredicateObject(as other: any PredicateObject) -> Bool

    var predicateHash: Int { get }

    /// Returns a negative number if this object sorts before the other, a positive one if after, else zero.
    func predicateOrder(relativeTo other: any PredicateObject) -> Int

    /// The object's text in a printed predicate.
    var predicateDescription: String { get }

    /// The text that represents the object in comparisons with texts: an entity's name; `nil` for most objects.
    var predicateName: String? { get }

    /// Returns the object's row in the store; `nil` if it has none (a temporary object, or one of another store).
    func predicateRowKey(inStore identifier: String) -> RowKey?
}

extension PredicateObject {
    package func predicateOperand(for key: PredicateKey) throws -> Operand { try predicateOperand(forKey: key.name) }
    package var predicateName: String? { nil }
    package func predicateOrder(relativeTo other: any PredicateObject) -> Int { 0 }
}

/// A property's name at one place of a predicate. It caches the look-up of the last object, because a predicate reads
/// the same property of many objects of one entity.
package final class PredicateKey: Sendable {
    package let name: String
    /// The cached value; 0 for none. Only the objects interpret it.
    package let memory = Atomic<UInt64>(0)

    init(_ name: String) { self.name = name }
}

/// An error in parsing, evaluating or translating a predicate, with the sub-expression that caused it.
package struct PredicateFailure: EngineFailure, Sendable {
    package enum Kind: Sendable {
        /// The format string is invalid; the location has its column.
        case syntax
        /// The predicate is valid, but not for this object: unknown key, wrong operand type.
        case evaluation
        /// A store does not support it.
        case unsupported
    }

    package var kind: Kind
    package var diagnostic: Diagnostic
    /// The text of the sub-expression that caused the error.
    package var subexpression: String?

    package init(_ kind: Kind, _ diagnostic: Diagnostic, subexpression: String? = nil) {
        self.kind = kind
        self.diagnostic = diagnostic
        self.subexpression = subexpression
    }

    /// Shortens a part of a predicate for messages: of a long one, such as a photo's bytes or a thousand IDs, it keeps
    /// the start and the end.
    package static func shown(_ format: String) -> String {
        guard format.utf8.count > 600 else { return format }
        return "\(format.prefix(400)) … \(format.suffix(40))"
    }
}

/// An object that represents a value whose properties the engine reads; it equals that value.
package protocol PredicateValueBox: PredicateObject {
    var predicateValue: OpaqueValue { get }
}
