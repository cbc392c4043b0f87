import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Any object or struct of a user: its keys are the names of its stored properties, including those of its
/// superclasses.
final class ReflectedObject: PredicateValueBox {
    let value: Any

    init(_ value: Any) { self.value = value }

    func predicateOperand(forKey key: String) throws -> Operand {
        var mirror: Mirror? = Mirror(reflecting: value)
        while let current = mirror {
            for child in current.children where child.label == key { return OperandBridging.operand(from: child.value) }
            mirror = current.superclassMirror
        }
        throw PredicateFailure(
            .evaluation,
            Diagnostic(
                .error, "\(type(of: value)) has no stored property '\(key)'",
                hint: "computed properties cannot be found by name; a managed object's properties can"))
    }

    var predicateValue: OpaqueValue { OperandBridging.opaque(value) }

    func isSamePredicateObject(as other: any PredicateObject) -> Bool {
        guard let other = other as? ReflectedObject else { return false }
        return Value.opaque(predicateValue) == .opaque(other.predicateValue)
    }

    var predicateHash: Int {
        if let value = value as? AnyHashable { return value.hashValue }
        return type(of: value) is AnyClass ? ObjectIdentifier(value as AnyObject).hashValue : 0
    }

    var predicateDescription: String { "<\(type(of: value))>" }

    func predicateRowKey(inStore identifier: String) -> RowKey? { nil }
}
