import CoreDataPrimitives
import Synchronization

/// What an expression evaluates to.
package enum Operand {
    case value(Value)
    case object(any PredicateObject)
    /// A to-many's members, an array or a set; `isOrdered` decides equality and `[FIRST]`.
    case collection([Operand], isOrdered: Bool)
    case dictionary([(key: Operand, value: Operand)])

    package static var null: Operand { .value(.null) }
}

/// Something that a predicate can look into: a managed object, an object ID, a value of the user's.
package protocol PredicateObject: AnyObject {
    /// The value of a property by name; nil values are `.value(.null)`.
    ///
    /// - Throws: ``PredicateFailure`` for an unknown key, naming the entity and the key.
    func predicateOperand(forKey key: String) throws -> Operand

    /// As ``predicateOperand(forKey:)``; what is found out about the key may be kept in it.
    func predicateOperand(for key: PredicateKey) throws -> Operand

    /// Whether both are the same object or an object and its ID.
    func isSamePredicateObject(as other: any PredicateObject) -> Bool

    var predicateHash: Int { get }

    /// Negative where the object comes before the other in a sort, positive where it comes after it, else zero.
    func predicateOrder(relativeTo other: any PredicateObject) -> Int

    /// How the object prints in a predicate's text.
    var predicateDescription: String { get }

    /// The text that stands for the object where it is compared with one: an entity's name; `nil` for most objects.
    var predicateName: String? { get }

    /// The row that holds the object in that store, `nil` when it is in none (temporary, or of another store).
    func predicateRowKey(inStore identifier: String) -> RowKey?
}

extension PredicateObject {
    package func predicateOperand(for key: PredicateKey) throws -> Operand { try predicateOperand(forKey: key.name) }
    package var predicateName: String? { nil }
    package func predicateOrder(relativeTo other: any PredicateObject) -> Int { 0 }
}

/// A property's name at one place of a predicate, with what the object that was asked last knows of it: a predicate asks
/// many objects of one entity for the same property.
package final class PredicateKey: Sendable {
    package let name: String
    /// 0 for nothing; objects alone know what else it means.
    package let memory = Atomic<UInt64>(0)

    init(_ name: String) { self.name = name }
}

/// A predicate that cannot be parsed, evaluated or translated, told with the sub-expression at fault.
package struct PredicateFailure: EngineFailure, Sendable {
    package enum Kind: Sendable {
        /// The format string is wrong; the location has its column.
        case syntax
        /// The predicate is fine but not for this object: unknown key, wrong operand type.
        case evaluation
        /// A store cannot express it.
        case unsupported
    }

    package var kind: Kind
    package var diagnostic: Diagnostic
    /// The predicate language's text of the part at fault.
    package var subexpression: String?

    package init(_ kind: Kind, _ diagnostic: Diagnostic, subexpression: String? = nil) {
        self.kind = kind
        self.diagnostic = diagnostic
        self.subexpression = subexpression
    }

    /// A part of a predicate as messages have it: of a long one, such as a photo's bytes or a thousand IDs, its beginning and its end.
    package static func shown(_ format: String) -> String {
        guard format.utf8.count > 600 else { return format }
        return "\(format.prefix(400)) … \(format.suffix(40))"
    }
}

/// An object that stands for a value whose properties the engine reads; it equals that value.
package protocol PredicateValueBox: PredicateObject {
    var predicateValue: OpaqueValue { get }
}
