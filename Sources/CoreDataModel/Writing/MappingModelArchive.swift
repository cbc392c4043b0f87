import CoreDataPrimitives
import Foundation

extension MappingModelDocument {
    /// Returns the mapping model as a `.cdm`: a keyed archive with Apple's classes and keys.
    ///
    /// Expressions that are not key paths, functions, constants or conditions are archived as text, which only this
    /// library reads.
    package func archive() -> Data {
        var encoder = MappingModelEncoder()
        return encoder.encode(self)
    }

    /// Writes the archive and replaces an existing one; an identical file is not changed.
    ///
    /// - Returns: whether anything was written.
    /// - Throws: an error if the file name is that of a source, because readers would treat it as one.
    @discardableResult
    package func write(to url: URL) throws -> Bool {
        guard url.pathExtension != Self.sourceExtension else {
            throw ModelFailure(diagnostics: [
                Diagnostic(
                    .error,
                    "the mapping model cannot be written to '\(url.relativePath)': an .xcmappingmodel is the source of one, which Xcode writes with copies of both models",
                    hint: "give it a name that ends in .cdm, as the compiled mapping models have that applications load"
                )
            ])
        }
        let data = archive()
        if (try? Data(contentsOf: url)) == data { return false }
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url, options: .atomic)
        return true
    }
}

private struct MappingModelEncoder {
    private var writer = KeyedArchiveWriter()

    mutating func encode(_ document: MappingModelDocument) -> Data {
        let root = writer.reserve()
        let entities = document.entities.map { entity($0) }
        let list = writer.array(entities)
        var names: Set<String> = []
        let named = zip(document.entities, entities).filter { names.insert($0.0.name).inserted }
        let byName = writer.dictionary(named.map { (key: $0.0.name, value: $0.1) }, isMutable: true)
        writer.define(root, ["NSMappingModel"], ["NSEntityMappings": list, "NSEntityMappingsByName": byName])
        return writer.data(root: root)
    }

    private mutating func entity(_ entity: MappingModelDocument.Entity) -> PropertyListValue {
        let reference = writer.reserve()
        let values: [String: PropertyListValue] = [
            "NSMappingName": writer.text(entity.name), "NSMappingType": .integer(Int64(entity.type)),
            "NSSourceEntityName": writer.text(entity.sourceName), "NSSourceEntityVersionHash": data(entity.sourceHash),
            "NSDestinationEntityName": writer.text(entity.destinationName),
            "NSDestinationEntityVersionHash": data(entity.destinationHash),
            "NSEntityMigrationPolicyClassName": writer.text(entity.policyClassName),
            "NSAttributeMappings": properties(entity.attributes),
            "NSRelationshipMappings": properties(entity.relationships),
            "NSSourceExpression": PredicateArchiveWriter.expression(entity.sourceExpression, in: &writer),
            "NSUserInfo": KeyedArchiveWriter.null,
        ]
        writer.define(reference, ["NSEntityMapping"], values)
        return reference
    }

    private mutating func properties(_ properties: [MappingModelDocument.Property]) -> PropertyListValue {
        let mappings = properties.map { property in
            let values: [String: PropertyListValue] = [
                "NSDestinationPropertyName": writer.text(property.name),
                "NSValueExpression": PredicateArchiveWriter.expression(property.valueExpression, in: &writer),
                "NSPropertyTransforms": KeyedArchiveWriter.null, "NSUserInfo": KeyedArchiveWriter.null,
            ]
            return writer.object(["NSPropertyMapping"], values)
        }
        return writer.array(mappings)
    }

    private mutating func data(_ data: Data?) -> PropertyListValue {
        data.map { writer.scalar(.data($0)) } ?? KeyedArchiveWriter.null
    }
}
