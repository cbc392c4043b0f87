import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension NSMappingModel {
    /// Reads a mapping model: a `.cdm` or (Apple's initialiser does not) its source, a `.xcmappingmodel`.
    ///
    /// Returns `nil` and logs the problem if there is none; ``load(contentsOf:)`` throws it.
    public convenience init?(contentsOf url: URL?) {
        self.init()
        guard let url else { return nil }
        do {
            try adopt(url)
        } catch {
            modelLogger.error("cannot load the mapping model at \(url.path): \(error.localizedDescription)")
            return nil
        }
    }

    /// Reads a mapping model.
    ///
    /// - Throws: a `CocoaError` that describes the problem of the file.
    public static func load(contentsOf url: URL) throws -> NSMappingModel {
        let model = NSMappingModel()
        try model.adopt(url)
        return model
    }

    /// Finds the mapping model between two models in the bundles, `nil` meaning the main bundle and the resource
    /// bundles
    /// beside it; by the version hashes of all entities.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        self.init()
        guard let sourceModel, let destinationModel else { return nil }
        let hashes = (sourceModel.entityVersionHashesByName, destinationModel.entityVersionHashesByName)
        func abstract(_ model: NSManagedObjectModel) -> Set<String> {
            Set(model.entities.filter(\.isAbstract).compactMap(\.name))
        }
        let abstract = (abstract(sourceModel), abstract(destinationModel))
        for file in ModelFiles.mappingModels(in: bundles) {
            guard let found = try? NSMappingModel.load(contentsOf: file),
                found.fits(hashes.0, hashes.1, abstract: abstract)
            else { continue }
            entityMappings = found.entityMappings
            return
        }
        return nil
    }

    /// Writes the mapping model as the `.cdm` that applications load, also on Apple's platforms.
    ///
    ///     let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
    ///     mapping.entityMappingsByName["IEM_Transform_Book"]?.entityMigrationPolicyClassName = "BookPolicy"
    ///     try mapping.write(to: folder.appendingPathComponent("Shop1to2.cdm"))
    ///
    /// The values of `userInfo` are not written. Apple's framework has no such method: there Xcode writes mapping
    /// models.
    ///
    /// - Throws: an error that names the mapping and property whose expression cannot be written, for example one that
    ///   contains code; an error for a name that ends in `.xcmappingmodel`, the extension of sources.
    public final func write(to url: URL) throws {
        try CoreDataErrors.checkIsFile(url, .fileWriteUnsupportedScheme)
        let document = try makeDocument()
        do { _ = try document.write(to: url) } catch let failure as ModelFailure {
            throw CoreDataErrors.make(
                CocoaError.Code.fileWriteInvalidFileName.rawValue,
                failure.diagnostics.map(\.sentence).joined(separator: "\n"), [NSFilePathErrorKey: url.path])
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }

    package final func makeDocument() throws -> MappingModelDocument {
        var document = MappingModelDocument()
        document.entities = try (entityMappings ?? []).map { mapping in
            var entity = MappingModelDocument.Entity(name: mapping.name)
            func text(_ expression: NSExpression?, _ property: String?) throws -> String? {
                try expression.map { try Self.text(of: $0, mapping, property) }
            }
            func properties(_ mappings: [NSPropertyMapping]?) throws -> [MappingModelDocument.Property] {
                try (mappings ?? []).map {
                    .init(name: $0.name ?? "", valueExpression: try text($0.valueExpression, $0.name))
                }
            }
            entity.type = Int(mapping.mappingType.rawValue)
            entity.sourceName = mapping.sourceEntityName
            entity.sourceHash = mapping.sourceEntityVersionHash
            entity.destinationName = mapping.destinationEntityName
            entity.destinationHash = mapping.destinationEntityVersionHash
            entity.attributes = try properties(mapping.attributeMappings)
            entity.relationships = try properties(mapping.relationshipMappings)
            entity.sourceExpression = try text(mapping.sourceExpression, nil)
            entity.policyClassName = mapping.entityMigrationPolicyClassName
            return entity
        }
        return document
    }

    /// The expression's text, if that reads back as the expression.
    private static func text(
        of expression: NSExpression, _ mapping: NSEntityMapping, _ property: String?
    ) throws -> String {
        let text = expression.node.predicateFormat
        if let read = try? PredicateParser.parseExpression(format: text), read == expression.node { return text }
        let what = property.map { "the property '\($0)'" } ?? "the source"
        throw CoreDataErrors.make(
            NSMigrationError,
            "The mapping '\(mapping.name ?? "")' has an expression for \(what) that no file can have: \(text). Let a policy compute the value."
        )
    }

    private func adopt(_ url: URL) throws {
        try CoreDataErrors.checkIsFile(url)
        let document = try CoreDataErrors.converting { try MappingModelDocument.read(contentsOf: url) }
        entityMappings = try document.entities.map { try Self.mapping($0) }
    }

    private static func mapping(_ entity: MappingModelDocument.Entity) throws -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = entity.name
        mapping.mappingType = NSEntityMappingType(rawValue: UInt(clamping: entity.type)) ?? .undefinedEntityMappingType
        mapping.sourceEntityName = entity.sourceName
        mapping.sourceEntityVersionHash = entity.sourceHash
        mapping.destinationEntityName = entity.destinationName
        mapping.destinationEntityVersionHash = entity.destinationHash
        mapping.attributeMappings = try entity.attributes.map(property)
        mapping.relationshipMappings = try entity.relationships.map(property)
        mapping.sourceExpression = try entity.sourceExpression.map(expression)
        mapping.entityMigrationPolicyClassName = entity.policyClassName
        return mapping
    }

    private static func property(_ property: MappingModelDocument.Property) throws -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = property.name
        mapping.valueExpression = try property.valueExpression.map(expression)
        return mapping
    }

    private static func expression(_ text: String) throws -> NSExpression {
        .make(node: try CoreDataErrors.converting { try PredicateParser.parseExpression(format: text) })
    }
}

extension NSMappingModel {
    /// Does the same as ``init(contentsOf:)-(URL?)`` for a URL as
    /// `Bundle.urls(forResourcesWithExtension:subdirectory:)` returns it here.
    public convenience init?(contentsOf url: NSURL) { self.init(contentsOf: url as URL) }
}
