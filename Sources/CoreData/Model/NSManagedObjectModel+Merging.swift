import CoreDataModel
import CoreDataPrimitives
import Foundation

extension NSManagedObjectModel {
    /// Makes one model of several; `nil`, with a line in the log, where two have different entities of one name.
    ///
    /// Relationships and subentities find their other end by name, across the models. Configurations of one name
    /// become one; of two templates or translations of one name the first model's counts.
    public convenience init?(byMerging models: [NSManagedObjectModel]?) {
        self.init()
        do {
            try merge(models ?? [])
        } catch {
            modelLogger.error("cannot merge models: \(error.localizedDescription)")
            return nil
        }
    }

    /// Makes one model of several, as ``init(byMerging:)`` does, and throws why they do not go together.
    ///
    ///     let model = try NSManagedObjectModel.merging([library, shop])
    ///
    /// - Throws: a `CocoaError` with code 134060 that names every entity that two models have differently, and the
    ///   properties in which they differ.
    public static func merging(_ models: [NSManagedObjectModel]) throws -> NSManagedObjectModel {
        let result = NSManagedObjectModel()
        try result.merge(models)
        return result
    }

    /// Creates the model with which a store was made, from the entities whose version hashes are in the store's
    /// metadata; `nil` if an entity is missing.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        self.init()
        guard let hashes = Self.versionHashes(inStoreMetadata: metadata),
            let chosen = Self.models(models, matching: hashes)
        else { return nil }
        do {
            try merge(chosen.models, only: chosen.entities)
        } catch {
            modelLogger.error("cannot merge models: \(error.localizedDescription)")
            return nil
        }
    }

    /// Returns one model of all models in the bundles, each in its current version. `nil` means the main bundle,
    /// together with the resource bundles of Swift packages beside it.
    ///
    /// Without any model file the result is an empty model. `nil` if a model cannot be read or the models cannot be
    /// merged; the log says why.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let files = ModelFiles.models(in: bundles)
        if files.isEmpty { modelLogger.warning("there is no model file in the bundles: the model is empty") }
        var models: [NSManagedObjectModel] = []
        for file in files {
            guard let model = NSManagedObjectModel(contentsOf: file) else { return nil }
            models.append(model)
        }
        return NSManagedObjectModel(byMerging: models)
    }

    /// The model that a store was made with, looked for among all versions of all models in the bundles; `nil` where
    /// they do not have it.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        var models: [NSManagedObjectModel] = []
        for file in ModelFiles.models(in: bundles) {
            do {
                for version in try versions(at: file).versions {
                    models.append(try NSManagedObjectModel(document: version.document))
                }
            } catch {
                modelLogger.warning("skipping the model at \(file.path): \(error.localizedDescription)")
            }
        }
        return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
    }

    /// Returns the models to merge for a store with these hashes, and the entities to take: a single model if one has
    /// all of them, else each entity from the first model that has it.
    private static func models(
        _ models: [NSManagedObjectModel], matching hashes: [String: Data]
    ) -> (models: [NSManagedObjectModel], entities: Set<ObjectIdentifier>)? {
        let known = models.map { ($0, $0.entityVersionHashesByName) }
        if let (model, _) = known.first(where: { $0.1 == hashes })
            ?? known.first(where: { _, own in
                hashes.allSatisfy { own[$0.key] == $0.value }
            })
        {
            return ([model], Set(model.entities.filter { hashes[$0.name ?? ""] != nil }.map(ObjectIdentifier.init)))
        }
        var entities: Set<ObjectIdentifier> = []
        for (name, hash) in hashes {
            guard let (model, _) = known.first(where: { $0.1[name] == hash }),
                let entity = model.entitiesByName[name]
            else { return nil }
            entities.insert(ObjectIdentifier(entity))
        }
        return (models, entities)
    }

    /// Fills a new model with the content of the models, or with some of their entities.
    private func merge(_ models: [NSManagedObjectModel], only chosen: Set<ObjectIdentifier>? = nil) throws {
        var originals: [NSEntityDescription] = []
        var byName: [String: NSEntityDescription] = [:]
        var conflicts: [Diagnostic] = []
        for entity in models.flatMap(\.entities) where chosen?.contains(ObjectIdentifier(entity)) ?? true {
            let name = entity.name ?? ""
            guard let other = byName[name] else {
                byName[name] = entity
                originals.append(entity)
                continue
            }
            if other.versionHash != entity.versionHash {
                conflicts.append(Self.conflict(between: other, and: entity))
            }
        }
        if !conflicts.isEmpty { throw CoreDataErrors.modelInvalid(conflicts) }
        adopt(entities: originals)
        let merged = entitiesByName
        var localization: [String: String] = [:]
        for model in models {
            for (name, template) in model.templates where templates[name] == nil {
                templates[name] = NSFetchRequest(template)
            }
            localization.merge(model.localizationDictionary ?? [:]) { first, _ in first }
            versionIdentifiers.formUnion(model.versionIdentifiers)
            for (name, members) in model.configurationMembers {
                for member in members.compactMap({ $0.name.flatMap { merged[$0] } })
                where !configurationMembers[name, default: []].contains(where: { $0 === member }) {
                    configurationMembers[name, default: []].append(member)
                }
            }
        }
        if !localization.isEmpty { localizationDictionary = localization }
        appliesIndexDecodingQuirk = models.contains(where: \.appliesIndexDecodingQuirk)
        let parts = models.map { $0.fileURL.map { [$0] } ?? $0.partURLs }
        partURLs = parts.contains { $0 == nil } ? nil : parts.flatMap { $0 ?? [] }
        // The merged model may have everything that one of its models may have.
        let origins = Set(models.map(\.origin))
        origin = origins.count == 1 ? origins.first ?? .written : .compiled
        bindTemplates()
    }

    /// What to say of two entities of one name.
    private static func conflict(
        between first: NSEntityDescription, and second: NSEntityDescription
    ) -> Diagnostic {
        let (a, b) = (first.propertiesByName, second.propertiesByName)
        let names = Set(a.keys).union(b.keys).filter { a[$0]?.versionHash != b[$0]?.versionHash }.sorted()
        let differences =
            names.isEmpty
            ? "they differ in parent, constraints, version hash modifier or in being abstract"
            : "they differ in: " + names.joined(separator: ", ")
        return Diagnostic(
            .error, "Can't merge models with two different entities named '\(first.name ?? "")'",
            hint: differences + "; rename one of them, or make them the same in both models")
    }
}
