import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Finds problems of a single-file store: in the file, with its model, and in references between its rows.
///
/// Such a store has no tables, counters, join tables or additional files.
package enum AtomicVerifier {
    /// - Throws: ``StoreFailure`` if the file is not such a store; problems inside a store are findings.
    package static func verify(
        _ format: any AtomicFormat.Type, model: CompiledModel, configuration: String?, path: String
    ) throws -> [StoreVerifier.Finding] {
        guard let entities = model.entities(inConfiguration: configuration)?.map(\.ordinal) else {
            throw StoreFailure(.unknownConfiguration, "The model has no configuration '\(configuration ?? "")'.")
        }
        try format.check(model, entities: entities)
        let data = try AtomicFile(path: path).read().data
        var findings: [StoreVerifier.Finding] = []
        do {
            let row = try format.metadata(in: data, path: path)
            findings += StoreVerifier.metadataFindings(row, model: model, entities: entities)
            // Only the store's own model can read its objects.
            if row.metadata.mismatch(with: model, entities: entities) != nil,
                !row.metadata.identification.isFormer(of: model, entities: entities)
            {
                return findings
            }
        } catch let failure as StoreFailure where failure.kind == .notADatabase {
            findings.append(StoreVerifier.Finding(severity: .error, message: failure.message))
        }
        let (contents, notes) = try format.salvage(data, model: model, entities: entities, path: path)
        findings += notes.map {
            StoreVerifier.Finding(
                severity: .error, message: $0,
                hint: "restore a backup, or make a new store of what can be read with coredata store recover")
        }
        return findings + dangling(contents.graph, model)
    }

    /// Returns the to-ones that refer to missing rows.
    private static func dangling(_ graph: MemoryGraph, _ model: CompiledModel) -> [StoreVerifier.Finding] {
        var findings: [StoreVerifier.Finding] = []
        for root in graph.roots {
            for row in graph.rows(root: root).sorted(by: { $0.primaryKey < $1.primaryKey }) {
                let entity = model.entities[row.entity]
                for (index, column) in entity.rowLayout.columns.enumerated() {
                    guard case .destinationKey(let slot) = column.role, !row.isNull(index),
                        let destination = entity.properties[slot].relationship?.destination,
                        graph.row(row.integer(index), root: model.entities[destination].root) == nil
                    else { continue }
                    findings.append(
                        StoreVerifier.Finding(
                            severity: .error, entity: entity.name, property: entity.properties[slot].name,
                            row: row.primaryKey,
                            message:
                                "points to row \(row.integer(index)) of \(model.entities[destination].name), which does not exist",
                            hint: "set it to nil, or to a row that exists"))
                }
            }
        }
        return findings
    }
}
