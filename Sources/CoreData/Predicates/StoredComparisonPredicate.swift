import CObjectRuntime
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Makes the compiler infer the superclass's name before it needs the superclass: it cannot do both at once, and which
/// of a module's files it comes to first is chance.
private func infer(_: NSComparisonPredicate) {}

/// The class of every comparison: Foundation's class has no initialiser that can be called.
///
/// Instances are allocated without an initialiser, like those of ``StoredExpression``. Foundation's predicate has one
/// stored property, whose zero bytes are the constant predicate that is false; it is never read.
final class StoredComparisonPredicate: NSComparisonPredicate, StoredPredicate {
    /// The predicate's content; set once, directly after the allocation.
    private var payload: Unmanaged<PredicatePayload>? = nil

    deinit { payload?.release() }

    static func make(_ payload: PredicatePayload) -> StoredComparisonPredicate {
        let metadata = unsafeBitCast(self as AnyClass, to: UnsafeRawPointer.self)
        let memory = ocd_allocate_object(metadata)
        // The metadata is this class's own.
        let predicate = unsafeDowncast(
            Unmanaged<AnyObject>.fromOpaque(memory).takeRetainedValue(), to: StoredComparisonPredicate.self)
        predicate.payload = .passRetained(payload)
        return predicate
    }

    private var content: PredicatePayload {
        guard let payload else { preconditionFailure("a comparison without content: it was not made by this module") }
        return payload.takeUnretainedValue()
    }

    var storedNode: PredicateNode { content.node }

    override func copy(with zone: NSZone? = nil) -> Any { self }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return self === other || content.node == other.node
    }

    override var hash: Int { content.node.hashValue }

    override var predicateFormat: String { content.node.predicateFormat }

    override var description: String { content.node.predicateFormat }

    override var classForCoder: AnyClass { NSComparisonPredicate.self }

    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        content.evaluate(with: object, bindings)
    }
}
