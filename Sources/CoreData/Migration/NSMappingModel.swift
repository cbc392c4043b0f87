import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// How a store of one model becomes a store of another.
///
///     let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
///     let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
///     try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: other, type: .sqlite)
open class NSMappingModel: NSObject {
    /// The mappings, in the order of execution.
    open var entityMappings: [NSEntityMapping]! = []
    /// Whether it was inferred.
    final var isInferred: Bool { inferred != nil }
    /// The inferred mapping, as text.
    private var inferred: String?
    /// Whether it is unchanged since it was inferred, so that the store can be migrated without making objects.
    final var isAsInferred: Bool { inferred.map { $0 == contents } ?? false }

    private var contents: String {
        (entityMappings ?? []).map { mapping in
            let properties = ((mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? [])).map {
                "\($0.name ?? "") = \($0.valueExpression.map { "\($0)" } ?? "")"
            }
            return [
                mapping.name ?? "", "\(mapping.mappingType)", mapping.sourceEntityName ?? "",
                mapping.destinationEntityName ?? "", mapping.entityMigrationPolicyClassName ?? "",
                mapping.sourceExpression.map { "\($0)" } ?? "", properties.joined(separator: "; "),
            ].joined(separator: " | ")
        }.joined(separator: "\n")
    }

    /// Makes a mapping model without mappings.
    public override init() { super.init() }

    /// The mappings by name.
    open var entityMappingsByName: [String: NSEntityMapping] {
        Dictionary((entityMappings ?? []).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Infers the mapping from the older model to the newer one, as a lightweight migration does.
    ///
    /// - Throws: a `CocoaError` with code 134190 whose `reason` has a line for every obstacle.
    open class func inferredMappingModel(
        forSourceModel sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let (old, new) = (try sourceModel.compile(), try destinationModel.compile())
        let mapping: ModelMapping
        do {
            mapping = try ModelMapping.inferred(
                from: .init(old, document: sourceModel.makeDocument()),
                to: .init(new, document: destinationModel.makeDocument()))
        } catch { throw CoreDataErrors.inference(error) }
        let result = NSMappingModel()
        result.entityMappings = mapping.entities.map { InferredMappings(mapping).entityMapping($0) }
        result.inferred = result.contents
        return result
    }

    open override var description: String { "<NSMappingModel: \((entityMappings ?? []).map(\.name))>" }

    /// Mapping models are equal when their entity mappings are, in the same order.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSMappingModel else { return false }
        return self === other || (entityMappings ?? []) == (other.entityMappings ?? [])
    }

    open override var hash: Int { (entityMappings ?? []).hashValue }

    /// Whether its mappings are those between the two models, by version hash.
    ///
    /// - Parameter abstract: the abstract entities of either side, of which there are no objects: Xcode makes no
    ///   mappings for them.
    final func fits(
        _ source: [String: Data], _ destination: [String: Data],
        abstract: (source: Set<String>, destination: Set<String>) = ([], [])
    ) -> Bool {
        func isOne(_ name: String?, _ hash: Data?, _ hashes: [String: Data]) -> Bool {
            guard let name else { return true }
            return hashes[name].map { hash == nil || $0 == hash } ?? false
        }
        let mappings = entityMappings ?? []
        // Both sides are covered: a mapping model of another step may know some of the entities too.
        return !mappings.isEmpty
            && mappings.allSatisfy {
                isOne($0.sourceEntityName, $0.sourceEntityVersionHash, source)
                    && isOne($0.destinationEntityName, $0.destinationEntityVersionHash, destination)
            }
            && Set(mappings.compactMap(\.destinationEntityName)).union(abstract.destination)
                .isSuperset(of: destination.keys)
            && Set(mappings.compactMap(\.sourceEntityName)).union(abstract.source).isSuperset(of: source.keys)
    }
}

/// Apple's classes for an inferred mapping, with expressions for values.
private struct InferredMappings {
    let mapping: ModelMapping

    init(_ mapping: ModelMapping) { self.mapping = mapping }

    func entityMapping(_ inferred: ModelMapping.EntityMapping) -> NSEntityMapping {
        let result = NSEntityMapping()
        result.name = mapping.name(of: inferred)
        result.mappingType =
            switch inferred.kind {
            case .add: .addEntityMappingType
            case .remove: .removeEntityMappingType
            case .copy: .copyEntityMappingType
            case .transform: .transformEntityMappingType
            }
        if let source = inferred.source.map({ mapping.source.entities[$0] }) {
            result.sourceEntityName = source.name
            result.sourceEntityVersionHash = source.versionHash
        }
        guard let new = inferred.destination.map({ mapping.destination.entities[$0] }) else { return result }
        result.destinationEntityName = new.name
        result.destinationEntityVersionHash = new.versionHash
        guard let old = inferred.source.map({ mapping.source.entities[$0] }) else { return result }
        var attributes: [NSPropertyMapping] = []
        var relationships: [NSPropertyMapping] = []
        for property in new.properties.sorted(by: { $0.name < $1.name }) {
            guard let slot = inferred.sourceSlots[property.slot] else { continue }
            let name = old.properties[slot].name
            let made = NSPropertyMapping()
            made.name = property.name
            let source = ExpressionNode.keyPath(
                operand: .variable(NSMigrationSourceObjectKey), name.split(separator: ".").map(String.init))
            // A composite attribute is mapped element by element: its dictionary has no values for new elements.
            if property.attribute?.isDerived == true || property.isComposite { continue }
            if property.attribute != nil {
                made.valueExpression = .make(node: source)
                attributes.append(made)
            } else if let destination = property.relationship?.destination {
                let mappingName = mapping.name(of: mapping.entities[destination])
                made.valueExpression = .make(
                    node: .message(
                        target: .variable(NSMigrationManagerKey),
                        selector: "destinationInstancesForEntityMappingNamed:sourceInstances:",
                        [.constant(.value(.string(mappingName))), source]))
                relationships.append(made)
            }
        }
        result.attributeMappings = attributes
        result.relationshipMappings = relationships
        return result
    }
}
