import CoreDataModel
import Foundation

/// A description of an attribute that consists of attributes: a dictionary in memory, a column for each element in the
/// store.
///
///     let address = NSCompositeAttributeDescription()
///     address.name = "address"
///     address.elements = [street, city]
///     …
///     person.setValue(["city": "Oslo"], forKey: "address")              // street is nil
///     person.setValue("High Street", forKeyPath: "address.street")      // city stays
///     NSPredicate(format: "address.city == %@", "Oslo")                 // t0.ZCITY = ?
///     NSSortDescriptor(key: "address.street", ascending: true)          // ORDER BY t0.ZSTREET
///
/// The dictionary has the elements that are not nil; it is nil if all are nil. Each element has its default and its own
/// validation: errors name it, `address.city`. Uniqueness constraints, indexes, `propertiesToFetch` and batch requests
/// use the same paths.
///
/// - Precondition: the dictionary's keys are the elements' names, and its values are of their types.
///
/// Differs from Apple: stores of every type have composite attributes. A required element needs a value only if the
/// composite is not nil.
open class NSCompositeAttributeDescription: NSAttributeDescription {
    private var storedElements: [NSAttributeDescription] = []

    public override init() {
        super.init()
        attributeType = .compositeAttributeType
    }

    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// The attributes that the value consists of; they can be composite themselves.
    open var elements: [NSAttributeDescription] {
        get { storedElements }
        set {
            willChange("elements")
            for element in newValue where element.owner != nil || ![nil, self].contains(element.enclosingComposite) {
                fatalError(
                    "'\(element.name)' cannot be an element of \(qualifiedName): it belongs to "
                        + "\(element.qualifiedName) already. Use a copy of it.")
            }
            for element in storedElements { element.enclosingComposite = nil }
            storedElements = newValue
            for element in newValue { element.enclosingComposite = self }
        }
    }

    override func freeze() {
        super.freeze()
        for (position, element) in storedElements.enumerated() {
            element.slot = position
            element.freeze()
        }
    }

    override func makeEmpty() -> NSPropertyDescription { NSCompositeAttributeDescription() }

    override func adopt(_ other: NSPropertyDescription) {
        super.adopt(other)
        guard let other = other as? NSCompositeAttributeDescription else { return }
        elements = other.storedElements.compactMap { $0.copy() as? NSAttributeDescription }
    }

    override func hasEqualContent(to other: NSPropertyDescription) -> Bool {
        guard super.hasEqualContent(to: other), let other = other as? NSCompositeAttributeDescription else {
            return false
        }
        return storedElements == other.storedElements
    }
}
