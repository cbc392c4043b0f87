import CoreDataModel
import CoreDataPrimitives
import Foundation
import Synchronization

/// A schema: the entities that a store can hold, with their properties, configurations and request templates.
///
///     let model = NSManagedObjectModel()
///     model.entities = [book, author]
///     let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
///
/// A model has two lives:
///
///     mutable ──freeze()──▶ in use
///
/// It can be changed, by one thread at a time, until a coordinator uses it. From then on it never changes, any
/// thread may read it, and changing it or anything in it stops the program; change a copy instead.
open class NSManagedObjectModel: NSObject, NSCopying, NSSecureCoding, NSFastEnumeration {
    // MARK: - What freezing makes

    /// Guards `compiled`, `frozen` and the caches below; the descriptions themselves have no lock.
    final let lock = Mutex<Caches>(Caches())
    /// Every entity by ordinal; empty before the model is frozen.
    package final internal(set) var entityDescriptions: [NSEntityDescription] = []
    /// The entities by name, made when the model is frozen.
    final var frozenEntitiesByName: [String: NSEntityDescription]?
    final var isFrozen = false

    struct Caches: Sendable {
        /// The result of compiling the present content; forgotten when anything changes.
        var compiled: CompiledModel?
    }

    // MARK: - Stored state

    private var storedEntities: [NSEntityDescription] = []
    private var storedLocalizationDictionary: [String: String]?
    private var storedVersionIdentifiers: Set<AnyHashable> = []
    final var configurationMembers: [String: [NSEntityDescription]] = [:]
    final var templates: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]
    /// See `ModelDocument.appliesIndexDecodingQuirk`.
    final var appliesIndexDecodingQuirk = false
    /// See `ModelDocument.origin`.
    final var origin = ModelDocument.Origin.written

    /// The file that the model was read from: other versions may be beside it.
    final var fileURL: URL?
    /// The files of the models from which this one was merged; `nil` if one of them was not read from a file.
    final var partURLs: [URL]?

    /// Makes an empty model.
    public override init() { super.init() }

    // MARK: - Entities

    /// The entities. An entity belongs to one model only; add a copy of it to another one.
    open var entities: [NSEntityDescription] {
        get { storedEntities }
        set {
            willChange("entities")
            for entity in newValue {
                ModelMutation.stop(refusalMessage(entity: entity))
            }
            for entity in storedEntities { entity.model = nil }
            storedEntities = newValue
            for entity in newValue { entity.model = self }
            bindEntities()
            for (name, members) in configurationMembers {
                configurationMembers[name] = members.filter { $0.model === self }
            }
        }
    }

    /// The entities by name.
    open var entitiesByName: [String: NSEntityDescription] {
        if let frozenEntitiesByName { return frozenEntitiesByName }
        return Dictionary(
            storedEntities.compactMap { entity in entity.name.map { ($0, entity) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns why that entity cannot be in this model, or `nil` if it can.
    final func refusalMessage(entity: NSEntityDescription) -> String? {
        guard let other = entity.model, other !== self else { return nil }
        return """
            Can't use an entity in two models: '\(entity.name ?? "")' is in another one. \
            Add a copy of it (entity.copy()), or copy the whole model.
            """
    }

    /// Links subentities and the ends of relationships that are known by name only.
    private func bindEntities() {
        let byName = entitiesByName
        for entity in storedEntities { entity.bindSubentities(in: self, byName: byName) }
        for entity in storedEntities { entity.bindSuperentity(byName: byName) }
        for entity in storedEntities {
            entity.bindIndexes()
            for property in entity.ownProperties {
                (property as? NSRelationshipDescription)?.bind(in: self)
            }
        }
    }

    // MARK: - Texts

    /// Translations of names and messages, by keys such as `Entity/Book`, `Property/title/Entity/Book`,
    /// `Property/title` and `ErrorString/Title is too short`.
    open var localizationDictionary: [String: String]? {
        get { storedLocalizationDictionary }
        set {
            willChange("localizationDictionary")
            storedLocalizationDictionary = newValue
        }
    }

    /// Your own marks of the model's version, for finding a model again; they do not decide compatibility.
    open var versionIdentifiers: Set<AnyHashable> {
        get { storedVersionIdentifiers }
        set {
            willChange("versionIdentifiers")
            storedVersionIdentifiers = newValue
        }
    }

    // MARK: - Mutation

    /// Called before anything about the model changes: refuses in a model in use, else forgets cached hashes.
    final func willChange(_ what: String) {
        ModelMutation.stop(
            ModelMutation.refusalMessage(
                isFrozen: isFrozen, changing: what,
                of: "the model of \(storedEntities.compactMap(\.name).joined(separator: ", "))"))
        didChange()
    }

    /// Discards the compiled form.
    final func didChange() { lock.withLock { $0.compiled = nil } }

    // MARK: - Copying

    /// A model with copies of all entities, templates and configurations, free to be changed.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSManagedObjectModel()
        copy.adopt(entities: storedEntities)
        copy.storedLocalizationDictionary = storedLocalizationDictionary
        copy.storedVersionIdentifiers = storedVersionIdentifiers
        copy.appliesIndexDecodingQuirk = appliesIndexDecodingQuirk
        copy.origin = origin
        (copy.fileURL, copy.partURLs) = (fileURL, partURLs)
        copy.templates = templates.mapValues(NSFetchRequest.init)
        copy.bindTemplates()
        let byName = copy.entitiesByName
        copy.configurationMembers = configurationMembers.mapValues { members in
            members.compactMap { $0.name.flatMap { byName[$0] } }
        }
        return copy
    }

    /// Fills a new model with copies of entities, linked among each other as the originals are.
    final func adopt(entities originals: [NSEntityDescription]) {
        entities = originals.compactMap { original in
            let copy = original.copy() as? NSEntityDescription
            copy?.pendingSuperentityName = original.superentity?.name
            return copy
        }
    }

    // MARK: - Equality

    /// Whether both have the same entities, configurations, templates and version identifiers.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSManagedObjectModel else { return false }
        if self === other { return true }
        return entitiesByName == other.entitiesByName
            && storedVersionIdentifiers == other.storedVersionIdentifiers
            && (storedLocalizationDictionary ?? [:]) == (other.storedLocalizationDictionary ?? [:])
            && configurationMembers.mapValues { Set($0.map(\.name)) }
                == other.configurationMembers.mapValues { Set($0.map(\.name)) }
            && templates.count == other.templates.count
            && templates.allSatisfy { name, request in ContentEquality.areEqual(request, other.templates[name]) }
    }

    open override var hash: Int { Set(storedEntities.compactMap(\.name)).hashValue }

    /// The entities, as enumeration gives them.
    public var enumeratedObjects: [Any] { storedEntities }

    // MARK: - Coding

    public static var supportsSecureCoding: Bool { true }

    public required convenience init?(coder: NSCoder) {
        self.init()
        guard let archive = ModelCoding.decode(Archive.self, from: coder), (try? adopt(archive.document)) != nil else {
            return nil
        }
        localizationDictionary = archive.localization
    }

    open func encode(with coder: NSCoder) {
        ModelCoding.encode(Archive(document: makeDocument(), localization: localizationDictionary), with: coder)
    }

    private struct Archive: Codable {
        var document: ModelDocument
        var localization: [String: String]?
    }
}

extension NSManagedObjectModel: Sequence {
    /// The model's entities, as `for entity in model` gives them.
    public func makeIterator() -> IndexingIterator<[NSEntityDescription]> { entities.makeIterator() }
}
