import CoreDataModel
import Foundation

/// How an index orders the values of an element.
public enum NSFetchIndexElementType: UInt, Sendable {
    /// By value, for comparing and sorting.
    case binary = 0
    /// As one dimension of a box, for ranges in up to five dimensions; numbers and dates only.
    ///
    /// SQLite stores keep an R-tree, `Z_RT_Shop_byPlace`; every other index with such elements is an ordinary one.
    case rTree = 1
}

/// One column of a fetch index: a property or an expression, and its order.
open class NSFetchIndexElementDescription: NSObject, NSCopying, NSSecureCoding {
    final var isFrozen = false
    final weak var index: NSFetchIndexDescription?
    private var storedProperty: NSPropertyDescription?
    private var givenPropertyName: String?
    private var storedCollationType: NSFetchIndexElementType
    private var storedIsAscending = true

    /// Makes a sorted element of no property, which no index of a model in use can have.
    public override init() {
        storedCollationType = .binary
        super.init()
    }

    /// Makes an element for an attribute, a to-one relationship or an `NSExpressionDescription`.
    ///
    /// For an element of a composite attribute pass the element's own description:
    ///
    ///     NSFetchIndexElementDescription(property: address.elements[0], collationType: .binary)     // address.city
    public init(property: NSPropertyDescription, collationType: NSFetchIndexElementType) {
        storedProperty = property
        storedCollationType = collationType
        super.init()
    }

    init(propertyName: String?, collationType: NSFetchIndexElementType) {
        givenPropertyName = propertyName
        storedCollationType = collationType
        super.init()
    }

    /// The property that is indexed.
    open var property: NSPropertyDescription? { storedProperty }

    /// The property's name; of an element of a composite attribute its path, `address.city`.
    open var propertyName: String? { storedProperty?.path ?? givenPropertyName }

    /// Whether the index is a sorted one or a tree of boxes; all elements of an index have the same.
    open var collationType: NSFetchIndexElementType {
        get { storedCollationType }
        set {
            willChange("collationType")
            storedCollationType = newValue
            index?.checkElements()
        }
    }

    /// Whether the smallest value comes first.
    open var isAscending: Bool {
        get { storedIsAscending }
        set {
            willChange("isAscending")
            storedIsAscending = newValue
        }
    }

    /// The index that the element is part of.
    open var indexDescription: NSFetchIndexDescription? { index }

    /// Takes the entity's property in place of a name or of the property of another entity, which it was copied from.
    final func bind(to properties: [String: NSPropertyDescription]) {
        guard !(storedProperty is NSExpressionDescription), let name = propertyName,
            let found = properties[name] ?? Self.element(at: name, in: properties)
        else { return }
        storedProperty = found
    }

    /// The element of a composite attribute at the path, `address.city`.
    private static func element(
        at path: String, in properties: [String: NSPropertyDescription]
    ) -> NSPropertyDescription? {
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var found = names.first.flatMap { properties[$0] }
        for name in names.dropFirst() {
            found = (found as? NSCompositeAttributeDescription)?.elements.first { $0.name == name }
        }
        return found
    }

    private func willChange(_ what: String) {
        ModelMutation.stop(
            ModelMutation.refusalMessage(
                isFrozen: isFrozen, changing: what, of: "an element of index \(index?.qualifiedName ?? "?")"))
        index?.owner?.model?.didChange()
    }

    // MARK: - Copying, equality, coding

    /// An element with the same content, in no index.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexElementDescription(propertyName: propertyName, collationType: storedCollationType)
        copy.storedProperty = storedProperty
        copy.storedIsAscending = storedIsAscending
        return copy
    }

    /// Whether both index the same property in the same way.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSFetchIndexElementDescription else { return false }
        return self === other
            || (propertyName == other.propertyName && storedCollationType == other.storedCollationType
                && storedIsAscending == other.storedIsAscending
                && (storedProperty as? NSExpressionDescription)?.writtenExpression.isEqual(
                    to: (other.storedProperty as? NSExpressionDescription)?.writtenExpression) ?? true)
    }

    open override var hash: Int { propertyName.hashValue }

    public static var supportsSecureCoding: Bool { true }

    public required convenience init?(coder: NSCoder) {
        guard let element = ModelCoding.decode(FetchIndexElement.Element.self, from: coder) else { return nil }
        self.init(element)
    }

    open func encode(with coder: NSCoder) { ModelCoding.encode(makeElement(), with: coder) }

    // MARK: - As a document's element

    convenience init?(_ element: FetchIndexElement.Element) {
        let type: NSFetchIndexElementType = element.isRTree ? .rTree : .binary
        if let text = element.expression {
            guard let expression = try? WrittenExpression(text: text) else { return nil }
            let description = NSExpressionDescription()
            description.name = element.propertyName ?? "expression"
            description.writtenExpression = expression
            if let raw = element.resultType?.rawValue, let type = NSAttributeType(rawValue: UInt(raw)) {
                description.expressionResultType = type
            }
            self.init(property: description, collationType: type)
        } else {
            self.init(propertyName: element.propertyName, collationType: type)
        }
        storedIsAscending = element.isAscending
    }

    final func makeElement() -> FetchIndexElement.Element {
        var element = FetchIndexElement.Element()
        if let computed = storedProperty as? NSExpressionDescription {
            element.expression = computed.writtenExpression?.text
            element.expressionType = String(computed.expressionResultType.rawValue)
        } else {
            element.propertyName = propertyName
        }
        element.isRTree = storedCollationType == .rTree
        element.isAscending = storedIsAscending
        return element
    }
}
