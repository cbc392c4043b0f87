import CoreDataModel
import Foundation
import Synchronization

/// A description of an entity: a kind of object, the class that represents it, its properties.
///
///     let book = NSEntityDescription()
///     book.name = "Book"
///     book.managedObjectClassName = NSStringFromClass(Book.self)
///     book.properties = [title, author]
///     model.entities = [book, authorEntity]
///
/// An entity can be changed until a coordinator uses its model; after that, any thread may read it.
open class NSEntityDescription: NSObject, NSCopying, NSSecureCoding, NSFastEnumeration {
    // MARK: - What the frozen model knows

    /// The entity's position in the compiled model; -1 before the model is frozen.
    package final internal(set) var ordinal = -1
    /// The entity as the engine knows it; `nil` before the model is frozen.
    package final internal(set) var compiledEntity: CompiledEntity?
    /// Every property by slot, including inherited ones; empty before the model is frozen.
    package final internal(set) var propertyDescriptions: [NSPropertyDescription] = []
    /// Guards what ``lookups`` has made.
    private let keptLookups = Mutex<PropertyLookups?>(nil)
    /// The properties by name, made at the first use; `nil` before the model is frozen.
    final var lookups: PropertyLookups? {
        guard isFrozen else { return nil }
        return keptLookups.withLock { kept in
            if let kept { return kept }
            let made = PropertyLookups(allProperties)
            kept = made
            return made
        }
    }
    final var isFrozen = false
    /// The class of the entity's objects if no name determines it. It is not part of the model, and not in archives.
    ///
    /// Set it before a coordinator uses the model. ``managedObjectClassName`` stays unchanged.
    package final var runtimeClass: NSObject.Type? {
        willSet { willChange("runtimeClass", affectsHash: false) }
    }
    /// Apple's hash of an entity from a compiled model, if the rule for computing it is not known.
    final var knownVersionHash: Data?
    final weak var model: NSManagedObjectModel?

    // MARK: - Stored state

    private var storedName: String?
    private var storedClassName: String?
    private var storedIsAbstract = false
    private var storedSubentities: [NSEntityDescription] = []
    @WeakEntity private var storedSuperentity: NSEntityDescription?
    private var storedUserInfo: [AnyHashable: Any]?
    private var storedVersionHashModifier: String?
    private var storedIndexes: [NSFetchIndexDescription] = []
    final var storedSpotlightExpression: WrittenExpression?
    final var storedRenamingIdentifier: String?
    final var storedUniquenessConstraints: [[String]] = []
    final var storedCompoundIndexes: [[String]] = []
    /// The entity's own properties, in the order in which they were set.
    final var ownProperties: [NSPropertyDescription] = []
    /// The parent's name in a decoded entity, until a model has both.
    final var pendingSuperentityName: String?

    /// What refers to the entity weakly.
    final let anchor = EntityAnchor()

    public override init() {
        super.init()
        anchor.set(self)
    }

    deinit { anchor.entityWillGo() }

    // MARK: - Naming

    /// The model that the entity is part of.
    open var managedObjectModel: NSManagedObjectModel {
        guard let model else {
            fatalError(
                "Entity '\(storedName ?? "")' is in no model, or its model is gone: add it to a model's entities, and keep that."
            )
        }
        return model
    }

    /// The name, unique in the model.
    open var name: String? {
        get { storedName }
        set {
            willChange("name")
            storedName = newValue
        }
    }

    /// The name of the class of the entity's objects; `nil` sets it back to `NSManagedObject`.
    open var managedObjectClassName: String! {
        get { storedClassName ?? "NSManagedObject" }
        set {
            willChange("managedObjectClassName", affectsHash: false)
            storedClassName = newValue == "NSManagedObject" ? nil : newValue
        }
    }

    /// The name that the entity had in an earlier version of the model; its present name unless set.
    open var renamingIdentifier: String? {
        get { storedRenamingIdentifier ?? storedName }
        set {
            willChange("renamingIdentifier")
            storedRenamingIdentifier = newValue
        }
    }

    /// Whether only subentities have objects.
    open var isAbstract: Bool {
        get { storedIsAbstract }
        set {
            willChange("isAbstract")
            storedIsAbstract = newValue
        }
    }

    /// Facts of your own about the entity.
    open var userInfo: [AnyHashable: Any]? {
        get { storedUserInfo }
        set {
            willChange("userInfo")
            storedUserInfo = newValue
        }
    }

    /// The text of an object in a Spotlight index; kept for the model file, without effect here.
    open var coreSpotlightDisplayNameExpression: NSExpression! {
        get { storedSpotlightExpression?.expression }
        set {
            willChange("coreSpotlightDisplayNameExpression")
            storedSpotlightExpression = newValue.map { WrittenExpression($0) }
        }
    }

    // MARK: - Inheritance

    /// The entities that inherit this one's properties. Setting them makes this their superentity.
    open var subentities: [NSEntityDescription] {
        get { storedSubentities }
        set {
            willChange("subentities")
            for subentity in newValue {
                ModelMutation.stop(refusalMessage(subentity: subentity))
            }
            for subentity in storedSubentities where !newValue.contains(where: { $0 === subentity }) {
                subentity.storedSuperentity = nil
            }
            storedSubentities = newValue
            for subentity in newValue { subentity.storedSuperentity = self }
        }
    }

    /// The subentities by name.
    open var subentitiesByName: [String: NSEntityDescription] {
        Dictionary(
            storedSubentities.compactMap { entity in entity.name.map { ($0, entity) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// The entity from which this one inherits properties.
    open var superentity: NSEntityDescription? { storedSuperentity }

    /// Returns whether this is that entity or a descendant of it.
    ///
    /// Entities are compared by name, so those of a copied model are equal to the originals.
    open func isKindOf(entity: NSEntityDescription) -> Bool {
        sequence(first: self, next: \.storedSuperentity).contains { ancestor in
            ancestor === entity || (ancestor.storedName != nil && ancestor.storedName == entity.storedName)
        }
    }

    /// Whether this very entity is `entity` or below it.
    private func descends(from entity: NSEntityDescription) -> Bool {
        sequence(first: self, next: \.storedSuperentity).contains { $0 === entity }
    }

    /// Returns why that entity cannot be a subentity of this one, or `nil` if it can.
    final func refusalMessage(subentity: NSEntityDescription) -> String? {
        if descends(from: subentity) {
            return "'\(subentity.name ?? "")' cannot be a subentity of '\(name ?? "")', which is below it or itself."
        }
        if let other = subentity.storedSuperentity, other !== self {
            return """
                '\(subentity.name ?? "")' cannot be a subentity of '\(name ?? "")': it is one of \
                '\(other.name ?? "")' already. Take it out of that entity's subentities first.
                """
        }
        return nil
    }

    // MARK: - Indexes

    /// The indexes that the store keeps; set them after the properties. They do not change the version hash.
    open var indexes: [NSFetchIndexDescription] {
        get { storedIndexes }
        set {
            willChange("indexes")
            for index in newValue where index.owner != nil && index.owner !== self {
                fatalError(
                    "Index \(index.qualifiedName) cannot be added to '\(name ?? "")': it belongs to another entity. "
                        + "Use a copy of it.")
            }
            for index in storedIndexes { index.owner = nil }
            storedIndexes = newValue
            for index in newValue { index.owner = self }
            bindIndexes()
        }
    }

    /// Lets the elements of indexes find their properties by name.
    final func bindIndexes() {
        guard !storedIndexes.isEmpty else { return }
        let properties = PropertyLookups(allProperties).propertiesByName
        for index in storedIndexes {
            for element in index.elements { element.bind(to: properties) }
        }
    }

    // MARK: - Versions

    /// A text that changes the entity's version hash although its description stays the same.
    open var versionHashModifier: String? {
        get { storedVersionHashModifier }
        set {
            willChange("versionHashModifier")
            storedVersionHashModifier = newValue
        }
    }

    // MARK: - Mutation

    /// Called before anything about the entity changes: refuses in a model in use, else forgets cached hashes.
    final func willChange(_ what: String, affectsHash: Bool = true) {
        ModelMutation.stop(
            ModelMutation.refusalMessage(isFrozen: isFrozen, changing: what, of: "entity \(storedName ?? "?")"))
        if affectsHash { forgetKnownHash() }
        model?.didChange()
    }

    /// Discards the values derived from the entity's content, here, in subentities and in the model.
    final func didChange() {
        forgetKnownHash()
        model?.didChange()
    }

    private func forgetKnownHash() {
        knownVersionHash = nil
        for subentity in storedSubentities { subentity.forgetKnownHash() }
    }

    // MARK: - Copying and coding

    /// Returns a copy with copies of the properties, indexes and subentities, in no model and without a superentity.
    ///
    /// In a model the copy's relationships refer to the entities of the same names there, and subentities are replaced
    /// by the model's entities of their names.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSEntityDescription()
        copy.storedName = storedName
        copy.storedClassName = storedClassName
        copy.runtimeClass = runtimeClass
        copy.storedIsAbstract = storedIsAbstract
        copy.storedUserInfo = storedUserInfo
        copy.storedVersionHashModifier = storedVersionHashModifier
        copy.storedRenamingIdentifier = storedRenamingIdentifier
        copy.storedSpotlightExpression = storedSpotlightExpression
        copy.storedUniquenessConstraints = storedUniquenessConstraints
        copy.storedCompoundIndexes = storedCompoundIndexes
        let known = knownVersionHash
        copy.setOwnProperties(ownProperties.compactMap { $0.copy() as? NSPropertyDescription })
        copy.indexes = storedIndexes.compactMap { $0.copy() as? NSFetchIndexDescription }
        copy.subentities = storedSubentities.compactMap { $0.copy() as? NSEntityDescription }
        copy.knownVersionHash = known
        return copy
    }

    /// Puts the model's entities of the same names in place of subentities that are not in it.
    final func bindSubentities(in model: NSManagedObjectModel, byName entities: [String: NSEntityDescription]) {
        var bound: [NSEntityDescription] = []
        for subentity in storedSubentities {
            var member = subentity
            if subentity.model !== model, let found = subentity.name.flatMap({ entities[$0] }),
                found.storedSuperentity == nil || found.storedSuperentity === self, !descends(from: found)
            {
                subentity.storedSuperentity = nil
                found.storedSuperentity = self
                member = found
            }
            if !bound.contains(where: { $0 === member }) { bound.append(member) }
        }
        storedSubentities = bound
    }

    /// Makes the entity a subentity of the one that it belonged to before it was copied or archived.
    final func bindSuperentity(byName entities: [String: NSEntityDescription]) {
        defer { pendingSuperentityName = nil }
        guard storedSuperentity == nil, let parent = pendingSuperentityName.flatMap({ entities[$0] }),
            !parent.descends(from: self)
        else { return }
        parent.storedSubentities.append(self)
        storedSuperentity = parent
    }

    // MARK: - Equality

    /// Whether both describe the same: name, class, parent, properties, indexes and constraints.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityDescription else { return false }
        return self === other || hasEqualContent(to: other)
    }

    open override var hash: Int { storedName.hashValue }

    private func hasEqualContent(to other: NSEntityDescription) -> Bool {
        storedName == other.storedName && storedClassName == other.storedClassName
            && storedIsAbstract == other.storedIsAbstract
            && storedSuperentity?.name == other.storedSuperentity?.name
            && Set(storedSubentities.map(\.name)) == Set(other.storedSubentities.map(\.name))
            && storedVersionHashModifier == other.storedVersionHashModifier
            && renamingIdentifier == other.renamingIdentifier
            && storedUniquenessConstraints == other.storedUniquenessConstraints
            && storedCompoundIndexes == other.storedCompoundIndexes
            && ContentEquality.areEqual(storedUserInfo, other.storedUserInfo)
            && storedSpotlightExpression.isEqual(to: other.storedSpotlightExpression)
            && storedIndexes == other.storedIndexes
            && ownProperties.count == other.ownProperties.count
            && Set(ownProperties) == Set(other.ownProperties)
    }

    /// The properties, as enumeration gives them.
    public var enumeratedObjects: [Any] { properties }

    public static var supportsSecureCoding: Bool { true }

    public required init?(coder: NSCoder) {
        super.init()
        anchor.set(self)
        guard let element = ModelCoding.decode(EntityElement.self, from: coder) else { return nil }
        var composites: [String: CompositeElement] = [:]
        guard (try? adopt(element, composites: &composites)) != nil else { return nil }
        pendingSuperentityName = element.parentName
    }

    open func encode(with coder: NSCoder) { ModelCoding.encode(makeElement(), with: coder) }
}
