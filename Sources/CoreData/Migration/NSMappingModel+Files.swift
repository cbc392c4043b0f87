import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension NSMappingModel {
    /// Reads a mapping model: a `.cdm` or, which Apple's initialiser does not, its source, a `.xcmappingmodel`.
    ///
    /// Returns `nil` and logs what is wrong where there is none; ``load(contentsOf:)`` throws it.
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
    /// - Throws: a `CocoaError` that says what is wrong with the file.
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
        for file in ModelFiles.mappingModels(in: bundles) {
            guard let found = try? NSMappingModel.load(contentsOf: file), found.fits(hashes.0, hashes.1) else {
                continue
            }
            entityMappings = found.entityMappings
            return
        }
        return nil
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
