import CoreDataPredicate
import Foundation

/// A compound that prints, compares and copies itself by its content, which Foundation's does not.
final class StoredCompoundPredicate: NSCompoundPredicate, StoredPredicate {
    private lazy var payload = PredicatePayload(storedNode)

    override var subpredicates: [NSPredicate] {
        didSet { payload = PredicatePayload(storedNode) }
    }

    override var compoundPredicateType: LogicalType {
        didSet { payload = PredicatePayload(storedNode) }
    }

    var storedNode: PredicateNode { PredicateNode(compoundPredicateType, subpredicates.map(\.node)) }

    override func copy(with zone: NSZone? = nil) -> Any {
        StoredCompoundPredicate(type: compoundPredicateType, subpredicates: subpredicates)
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPredicate else { return false }
        return self === other || storedNode == other.node
    }

    override var hash: Int { storedNode.hashValue }

    override var predicateFormat: String { storedNode.predicateFormat }

    override var description: String { storedNode.predicateFormat }

    override var classForCoder: AnyClass { NSCompoundPredicate.self }

    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        payload.evaluate(with: object, bindings)
    }
}
