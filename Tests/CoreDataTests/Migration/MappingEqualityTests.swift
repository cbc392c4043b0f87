import CoreData
import Foundation
import Testing

/// Mappings compare by what they say.
@Suite struct MappingEqualityTests {
    private func property(_ name: String = "title", _ format: String = "$source.name") -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = name
        mapping.valueExpression = NSExpression(format: format)
        return mapping
    }

    private func entity(_ change: (NSEntityMapping) -> Void = { _ in }) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        (mapping.name, mapping.mappingType) = ("Book->Work", .transformEntityMappingType)
        (mapping.sourceEntityName, mapping.destinationEntityName) = ("Book", "Work")
        mapping.sourceEntityVersionHash = Data([1])
        mapping.destinationEntityVersionHash = Data([2])
        mapping.attributeMappings = [property()]
        mapping.relationshipMappings = [property("author", "$source.writer")]
        mapping.sourceExpression = NSExpression(format: "$manager")
        mapping.userInfo = ["note": "a"]
        mapping.entityMigrationPolicyClassName = "Policy"
        change(mapping)
        return mapping
    }

    @Test func propertyMappings() {
        #expect(property() == property() && property().hash == property().hash)
        #expect(property() != property("pages"))
        #expect(property() != property("title", "$source.title"))
        #expect(Set([property(), property()]).count == 1)
    }

    @Test(arguments: 0..<10)
    func entityMappingsDifferInEachProperty(index: Int) {
        let changes: [(NSEntityMapping) -> Void] = [
            { $0.name = "other" }, { $0.mappingType = .copyEntityMappingType }, { $0.sourceEntityName = "Film" },
            { $0.destinationEntityName = nil }, { $0.sourceEntityVersionHash = nil },
            { $0.destinationEntityVersionHash = Data([3]) }, { $0.attributeMappings = [] },
            { $0.relationshipMappings = nil }, { $0.sourceExpression = nil },
            { $0.entityMigrationPolicyClassName = nil },
        ]
        #expect(entity() == entity() && entity().hash == entity().hash)
        #expect(entity() != entity(changes[index]))
    }

    @Test func mappingModels() throws {
        func model(_ mappings: [NSEntityMapping]) -> NSMappingModel {
            let model = NSMappingModel()
            model.entityMappings = mappings
            return model
        }
        #expect(model([entity()]) == model([entity()]) && model([entity()]).hash == model([entity()]).hash)
        #expect(model([entity()]) != model([]))
        #expect(model([entity(), entity { $0.name = "b" }]) != model([entity { $0.name = "b" }, entity()]))
        let inferred = try (0..<2).map { _ in
            try NSMappingModel.inferredMappingModel(
                forSourceModel: Library.model(), destinationModel: Library.model())
        }
        #expect(inferred[0] == inferred[1] && inferred[0] !== inferred[1])
    }
}
