import CoreDataModel
import Foundation

/// The common part of an entity's properties; use one of its subclasses.
///
/// ``NSAttributeDescription`` describes a value, ``NSRelationshipDescription`` a link to other objects,
/// ``NSFetchedPropertyDescription`` a request, ``NSExpressionDescription`` a computed column of a fetch.
///
/// A description can be changed until a coordinator uses its model; after that, any thread may read it.
open class NSPropertyDescription: NSObject, NSCopying, NSSecureCoding {
    // MARK: - What the frozen model knows

    /// The property's position in its entity and all subentities; -1 before the model is frozen.
    package final internal(set) var slot = -1
    /// The checks of a value, with the codes of violations; made when the model is frozen.
    package final private(set) var validations: [PropertyValidation] = []
    final var isFrozen = false
    @WeakEntity final var owner: NSEntityDescription?
    final weak var enclosingComposite: NSCompositeAttributeDescription?

    // MARK: - Stored state

    private var storedName = ""
    private var storedIsOptional = true
    private var storedIsTransient = false
    private var storedUserInfo: [AnyHashable: Any]?
    private var storedVersionHashModifier: String?
    private var storedIsIndexedBySpotlight = false
    private var storedPredicates: [WrittenPredicate] = []
    private var storedWarnings: [Any] = []
    final var storedRenamingIdentifier: String?
    final var storedIsIndexed = false
    final var storedIsStoredInExternalRecord = false

    public override init() { super.init() }

    // MARK: - Naming

    /// The entity that declares the property, also if the property was found in one of its subentities.
    open var entity: NSEntityDescription {
        guard let owner else {
            fatalError("Property '\(name)' is in no entity: add it to an entity's properties first.")
        }
        return owner
    }

    /// The name, by which key-value coding and predicates find the property.
    ///
    /// Names of members of `NSObject` and `NSManagedObject`, such as `description`, are refused.
    open var name: String {
        get { storedName }
        set {
            willChange("name")
            if isMemberOfObjects { ModelMutation.stop(ModelMutation.refusalMessage(propertyName: newValue)) }
            storedName = newValue
        }
    }

    /// Names an element of a composite attribute: no member of managed objects, so that `description` is a name like
    /// others.
    package final func setElementName(_ name: String) {
        willChange("name")
        storedName = name
    }

    /// The name that the property had in an earlier version of the model; its present name unless set.
    ///
    /// A migration carries the values over from the property that has this renaming identifier, or name, there.
    open var renamingIdentifier: String? {
        get { storedRenamingIdentifier ?? (storedName.isEmpty ? nil : storedName) }
        set {
            willChange("renamingIdentifier")
            storedRenamingIdentifier = newValue
        }
    }

    /// Whether managed objects have a member of the property's name, which must then not be one of their other
    /// members'.
    var isMemberOfObjects: Bool { true }

    // MARK: - Features

    /// Whether objects can be saved without a value.
    open var isOptional: Bool {
        get { storedIsOptional }
        set {
            willChange("isOptional")
            storedIsOptional = newValue
        }
    }

    /// Whether the property's value lives in memory only and is not saved.
    open var isTransient: Bool {
        get { storedIsTransient }
        set {
            willChange("isTransient")
            storedIsTransient = newValue
        }
    }

    /// Facts of your own about the property.
    open var userInfo: [AnyHashable: Any]? {
        get { storedUserInfo }
        set {
            willChange("userInfo")
            storedUserInfo = newValue
        }
    }

    /// Whether the property is in a Spotlight index; kept for the model file, without effect here.
    open var isIndexedBySpotlight: Bool {
        get { storedIsIndexedBySpotlight }
        set {
            willChange("isIndexedBySpotlight")
            storedIsIndexedBySpotlight = newValue
        }
    }

    /// Whether the store has an index on the property.
    @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
    open var isIndexed: Bool {
        get { storedIsIndexed }
        set {
            willChange("isIndexed")
            storedIsIndexed = newValue
        }
    }

    /// Whether the property is in an external record file; kept for the model file, without effect here.
    @available(*, deprecated, message: "External records are gone")
    open var isStoredInExternalRecord: Bool {
        get { storedIsStoredInExternalRecord }
        set {
            willChange("isStoredInExternalRecord")
            storedIsStoredInExternalRecord = newValue
        }
    }

    // MARK: - Validation

    /// The conditions that a value must fulfil, each evaluated with the value as `SELF`.
    open var validationPredicates: [NSPredicate] { storedPredicates.map(\.predicate) }

    /// For each predicate the text or the error code (`NSNumber`) of its violation.
    open var validationWarnings: [Any] { storedWarnings }

    /// Sets the conditions that a value must fulfil and, in the same order, what to say of a value that does not.
    ///
    ///     title.setValidationPredicates(
    ///         [NSPredicate(format: "length >= 2")], withValidationWarnings: ["Title is too short"])
    ///     // saving a book with the title "A" fails with code 1670, described as "Title is too short"
    open func setValidationPredicates(
        _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
    ) {
        setValidations((validationPredicates ?? []).map { WrittenPredicate($0) }, warnings: validationWarnings ?? [])
    }

    /// The predicates with their texts.
    final var writtenPredicates: [WrittenPredicate] { storedPredicates }

    final func setValidations(_ predicates: [WrittenPredicate], warnings: [Any]) {
        willChange("validationPredicates")
        guard warnings.isEmpty || warnings.count == predicates.count else {
            fatalError(
                "\(qualifiedName) got \(predicates.count) validation predicates and \(warnings.count) warnings: "
                    + "give one warning for each predicate, or none.")
        }
        storedPredicates = predicates
        storedWarnings = warnings
    }

    // MARK: - Versions

    /// A text that changes the property's version hash although its description stays the same.
    ///
    /// Set it if the meaning of the stored values changes, so that old stores are migrated.
    open var versionHashModifier: String? {
        get { storedVersionHashModifier }
        set {
            willChange("versionHashModifier")
            storedVersionHashModifier = newValue
        }
    }

    /// 32 bytes that change with everything about the property that matters to the stored rows.
    open var versionHash: Data { computedVersionHash() }

    // MARK: - Mutation

    /// `Item.name`, for messages.
    final var qualifiedName: String {
        if let enclosingComposite { return "\(enclosingComposite.qualifiedName).\(storedName)" }
        return "\(owner?.name ?? "?").\(storedName.isEmpty ? "?" : storedName)"
    }

    /// The name by which the entity knows the property: of an element of a composite attribute its path,
    /// `address.city`.
    final var path: String { enclosingComposite.map { "\($0.path).\(storedName)" } ?? storedName }

    /// The entity whose row has the property; for an element of a composite, the composite's.
    final var declaringEntity: NSEntityDescription? { owner ?? enclosingComposite?.declaringEntity }

    /// Called before anything about the property changes: refuses in a model in use, else forgets cached hashes.
    final func willChange(_ what: String) {
        ModelMutation.stop(
            ModelMutation.refusalMessage(isFrozen: isFrozen, changing: what, of: qualifiedName))
        declaringEntity?.didChange()
    }

    /// Marks the property as part of a model in use.
    func freeze() {
        isFrozen = true
        validations = PropertyValidation.validations(of: self)
    }

    // MARK: - Copying

    /// An empty description of the same class; each subclass makes its own.
    func makeEmpty() -> NSPropertyDescription { NSPropertyDescription() }

    /// Takes over everything but the entity. The receiver is new and in no model.
    func adopt(_ other: NSPropertyDescription) {
        storedName = other.storedName
        storedIsOptional = other.storedIsOptional
        storedIsTransient = other.storedIsTransient
        storedUserInfo = other.storedUserInfo
        storedVersionHashModifier = other.storedVersionHashModifier
        storedIsIndexedBySpotlight = other.storedIsIndexedBySpotlight
        storedPredicates = other.storedPredicates
        storedWarnings = other.storedWarnings
        storedRenamingIdentifier = other.storedRenamingIdentifier
        storedIsIndexed = other.storedIsIndexed
        storedIsStoredInExternalRecord = other.storedIsStoredInExternalRecord
    }

    /// A description with the same content, in no entity, free to be changed.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = makeEmpty()
        copy.adopt(self)
        return copy
    }

    // MARK: - Equality

    /// Whether both describe the same: class, name and every feature, whatever their entities are.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyDescription else { return false }
        return self === other || (type(of: self) == type(of: other) && hasEqualContent(to: other))
    }

    open override var hash: Int { storedName.hashValue }

    func hasEqualContent(to other: NSPropertyDescription) -> Bool {
        storedName == other.storedName && storedIsOptional == other.storedIsOptional
            && storedIsTransient == other.storedIsTransient
            && storedVersionHashModifier == other.storedVersionHashModifier
            && renamingIdentifier == other.renamingIdentifier
            && ContentEquality.areEqual(storedUserInfo, other.storedUserInfo)
            && storedPredicates.elementsEqual(other.storedPredicates) { $0.isEqual(to: $1) }
            && storedWarnings.elementsEqual(other.storedWarnings) { "\($0)" == "\($1)" }
    }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        super.init()
        guard let element = ModelCoding.decode(PropertyElement.self, from: coder), adopt(element) else { return nil }
    }

    open func encode(with coder: NSCoder) { ModelCoding.encode(makeElement(), with: coder) }

    open override var description: String {
        "(<\(type(of: self)): \(Unmanaged.passUnretained(self).toOpaque())>), name \(storedName), "
            + "isOptional \(storedIsOptional), isTransient \(storedIsTransient), entity \(owner?.name ?? "none")"
    }
}
