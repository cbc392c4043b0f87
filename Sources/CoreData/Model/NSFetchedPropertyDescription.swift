import CoreDataModel
import Foundation

/// A description of a property whose value is the result of a request, evaluated when it is first read.
///
/// In the request's predicate `$FETCH_SOURCE` is the object, `$FETCHED_PROPERTY` this description.
///
///     cheaper.fetchRequest?.predicate = NSPredicate(format: "price < $FETCH_SOURCE.price")
open class NSFetchedPropertyDescription: NSPropertyDescription {
    private var storedRequest: NSFetchRequest<any NSFetchRequestResult>? {
        // The entity may be the one with this property: a strong reference would be a cycle.
        didSet { storedRequest?.holdsEntityWeakly = true }
    }

    public override init() {
        super.init()
        isTransient = true
    }

    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// The request; its entity, sort descriptors and limit are used unchanged.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        get { storedRequest }
        set {
            willChange("fetchRequest")
            storedRequest = newValue
        }
    }

    override func makeEmpty() -> NSPropertyDescription { NSFetchedPropertyDescription() }

    override func adopt(_ other: NSPropertyDescription) {
        super.adopt(other)
        guard let other = other as? NSFetchedPropertyDescription else { return }
        storedRequest = other.storedRequest.map(NSFetchRequest.init)
    }

    override func hasEqualContent(to other: NSPropertyDescription) -> Bool {
        guard super.hasEqualContent(to: other), let other = other as? NSFetchedPropertyDescription else {
            return false
        }
        return ContentEquality.areEqual(storedRequest, other.storedRequest)
    }
}
