import CoreDataModel
import Foundation

/// A description of an index that the store keeps for an entity's rows.
///
///     let byTitle = NSFetchIndexDescription(
///         name: "byTitle", elements: [NSFetchIndexElementDescription(property: title, collationType: .binary)])
///     book.indexes = [byTitle]
///     // CREATE INDEX Z_Book_byTitle ON ZBOOK (ZTITLE COLLATE BINARY ASC)
open class NSFetchIndexDescription: NSObject, NSCopying, NSSecureCoding {
    final var isFrozen = false
    @WeakEntity final var owner: NSEntityDescription?
    private var storedName: String
    private var storedElements: [NSFetchIndexElementDescription] = []
    private var storedPredicate: WrittenPredicate?

    /// Makes an index without a name and elements, to be given some.
    public override init() {
        storedName = ""
        super.init()
    }

    /// Makes an index. Its elements are all sorted or all boxes.
    public init(name: String, elements: [NSFetchIndexElementDescription]?) {
        storedName = name
        super.init()
        setElements(elements ?? [])
    }

    /// The name, unique among the entity's indexes.
    open var name: String {
        get { storedName }
        set {
            willChange("name")
            storedName = newValue
        }
    }

    /// The columns of the index, the most significant one first.
    open var elements: [NSFetchIndexElementDescription] {
        get { storedElements }
        set {
            willChange("elements")
            setElements(newValue)
        }
    }

    /// The entity whose rows are indexed.
    open var entity: NSEntityDescription? { owner }

    /// Which rows are in the index; all without it.
    open var partialIndexPredicate: NSPredicate? {
        get { storedPredicate?.predicate }
        set {
            willChange("partialIndexPredicate")
            storedPredicate = newValue.map { WrittenPredicate($0) }
        }
    }

    final var qualifiedName: String { "\(owner?.name ?? "?").\(storedName)" }

    private func setElements(_ elements: [NSFetchIndexElementDescription]) {
        adopt(elements)
        checkElements()
    }

    /// Takes over elements that a model has, whether or not they go together.
    private func adopt(_ elements: [NSFetchIndexElementDescription]) {
        for element in storedElements { element.index = nil }
        storedElements = elements
        for element in elements { element.index = self }
    }

    /// Returns why the elements cannot be combined, or `nil` if they can.
    static func refusalMessage(elements: [NSFetchIndexElementDescription], in index: String) -> String? {
        guard let first = elements.first, elements.contains(where: { $0.collationType != first.collationType }) else {
            return nil
        }
        return """
            Index \(index) mixes binary and rTree elements: make two indexes, one with each collationType.
            """
    }

    final func checkElements() {
        ModelMutation.stop(Self.refusalMessage(elements: storedElements, in: qualifiedName))
    }

    private func willChange(_ what: String) {
        ModelMutation.stop(
            ModelMutation.refusalMessage(isFrozen: isFrozen, changing: what, of: "index \(qualifiedName)"))
        owner?.model?.didChange()
    }

    final func freeze() {
        isFrozen = true
        for element in storedElements { element.isFrozen = true }
    }

    // MARK: - Copying, equality, coding

    /// An index with copies of the elements, in no entity.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchIndexDescription(name: storedName, elements: nil)
        copy.adopt(storedElements.compactMap { $0.copy() as? NSFetchIndexElementDescription })
        copy.storedPredicate = storedPredicate
        return copy
    }

    /// Whether both have the same name, elements and predicate.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSFetchIndexDescription else { return false }
        return self === other
            || (storedName == other.storedName && storedElements == other.storedElements
                && storedPredicate.isEqual(to: other.storedPredicate))
    }

    open override var hash: Int { storedName.hashValue }

    public static var supportsSecureCoding: Bool { true }

    public required convenience init?(coder: NSCoder) {
        guard let element = ModelCoding.decode(FetchIndexElement.self, from: coder),
            let index = try? NSFetchIndexDescription.make(element)
        else { return nil }
        self.init(name: index.storedName, elements: nil)
        adopt(index.storedElements)
        storedPredicate = index.storedPredicate
    }

    open func encode(with coder: NSCoder) { ModelCoding.encode(makeElement(), with: coder) }

    // MARK: - As a document's element

    static func make(_ element: FetchIndexElement) throws -> NSFetchIndexDescription {
        let index = NSFetchIndexDescription(name: element.name, elements: nil)
        index.adopt(element.elements.compactMap(NSFetchIndexElementDescription.init))
        index.storedPredicate = try element.predicate.map(WrittenPredicate.init(text:))
        return index
    }

    final func makeElement() -> FetchIndexElement {
        var element = FetchIndexElement(name: storedName)
        element.elements = storedElements.map { $0.makeElement() }
        element.predicate = storedPredicate?.text
        return element
    }
}
