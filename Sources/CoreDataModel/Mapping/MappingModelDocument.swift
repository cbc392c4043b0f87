import CoreDataPrimitives
import Foundation

/// The content of a mapping model file; expressions are texts in the predicate language.
package struct MappingModelDocument: Hashable, Sendable {
    package struct Property: Hashable, Sendable {
        package var name: String
        package var valueExpression: String?

        package init(name: String, valueExpression: String? = nil) {
            self.name = name
            self.valueExpression = valueExpression
        }
    }

    package struct Entity: Hashable, Sendable {
        package var name: String
        /// 0: undefined; 1: custom; 2: add; 3: remove; 4: copy; 5: transform.
        package var type = 0
        package var sourceName: String?
        package var sourceHash: Data?
        package var destinationName: String?
        package var destinationHash: Data?
        package var attributes: [Property] = []
        package var relationships: [Property] = []
        package var sourceExpression: String?
        package var policyClassName: String?

        package init(name: String) { self.name = name }
    }

    package var entities: [Entity] = []

    package init() {}

    static let sourceExtension = "xcmappingmodel"

    /// Reads a `.cdm`, or the `xcmapping.xml` in a `.xcmappingmodel`.
    package static func read(contentsOf url: URL) throws(ModelFailure) -> MappingModelDocument {
        let isSource = url.pathExtension == sourceExtension
        let file = isSource ? url.appendingPathComponent("xcmapping.xml") : url
        let data: Data
        do { data = try Data(contentsOf: file) } catch {
            throw ModelFailure(diagnostics: [
                Diagnostic(
                    .error, "the mapping model '\(url.relativePath)' cannot be read: \(error.localizedDescription)")
            ])
        }
        return isSource
            ? try MappingSourceReader.document(from: data, besides: url) : try document(fromArchive: data)
    }

    // MARK: Archives

    /// Reads the archive of a compiled mapping model.
    package static func document(fromArchive data: Data) throws(ModelFailure) -> MappingModelDocument {
        guard let root = try KeyedArchiveReader(data).root.object, root.className == "NSMappingModel" else {
            throw ModelFailure(diagnostics: [Diagnostic(.error, "the archive holds no mapping model")])
        }
        var document = MappingModelDocument()
        document.entities = (root["NSEntityMappings"].object?.elements ?? []).compactMap(\.object).map(entity)
        return document
    }

    private static func entity(_ object: ArchivedObject) -> Entity {
        var entity = Entity(name: object["NSMappingName"].text ?? "")
        entity.type = object["NSMappingType"].integer ?? 0
        entity.sourceName = object["NSSourceEntityName"].text
        entity.sourceHash = object["NSSourceEntityVersionHash"].data
        entity.destinationName = object["NSDestinationEntityName"].text
        entity.destinationHash = object["NSDestinationEntityVersionHash"].data
        entity.attributes = properties(object["NSAttributeMappings"])
        entity.relationships = properties(object["NSRelationshipMappings"])
        entity.sourceExpression = PredicateArchive.expression(object["NSSourceExpression"])
        entity.policyClassName = object["NSEntityMigrationPolicyClassName"].text
        return entity
    }

    private static func properties(_ value: ArchivedValue) -> [Property] {
        (value.object?.elements ?? []).compactMap(\.object).map { object in
            Property(
                name: object["NSDestinationPropertyName"].text ?? "",
                valueExpression: PredicateArchive.expression(object["NSValueExpression"]))
        }
    }
}
