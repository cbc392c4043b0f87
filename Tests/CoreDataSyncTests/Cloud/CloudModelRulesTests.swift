import CoreData
import Foundation
import Testing

/// What CloudKit would refuse of a model, and what options and descriptions are.
@Suite struct CloudModelRulesTests {
    typealias M = ModelMaking

    private func problems(_ entities: NSEntityDescription...) -> [String] {
        let model = NSManagedObjectModel()
        model.entities = entities
        return NSPersistentCloudKitContainer(name: "A", managedObjectModel: model).cloudKitSchemaProblems
    }

    private func connected(_ change: (NSRelationshipDescription) -> Void) -> [NSEntityDescription] {
        let list = M.entity("List", M.toMany("items"))
        let item = M.entity("Item", M.toOne("list"))
        M.connect(list, "items", item, "list")
        change(list.relationshipsByName["items"] ?? NSRelationshipDescription())
        return [list, item]
    }

    @Test func aModelForCloudKitHasNoProblems() {
        let parts = connected { _ in }
        #expect(problems(parts[0], parts[1], M.entity("Tag", M.attribute("name"))) == [])
        let size = M.attribute("size", .doubleAttributeType) { ($0.isOptional, $0.defaultValue) = (false, 1.0) }
        #expect(problems(M.entity("Tag", size)) == [])
    }

    @Test func attributesAndConstraints() {
        let name = M.attribute("name") { $0.isOptional = false }
        #expect(
            problems(M.entity("Tag", unique: [["name"]], name)) == [
                "Entity Tag: CloudKit does not support uniqueness constraints.",
                "Tag.name: make the attribute optional, or give it a default value.",
            ])
        let transient = M.attribute("name") { ($0.isOptional, $0.isTransient) = (false, true) }
        #expect(problems(M.entity("Tag", transient)) == [])
    }

    @Test func relationships() {
        func of(_ change: (NSRelationshipDescription) -> Void) -> [String] {
            let parts = connected(change)
            return problems(parts[0], parts[1])
        }
        #expect(of { $0.isOrdered = true } == ["List.items: CloudKit does not support ordered relationships."])
        #expect(of { $0.isOptional = false } == ["List.items: make the relationship optional."])
        #expect(
            of { $0.deleteRule = .denyDeleteRule } == ["List.items: CloudKit does not support the delete rule Deny."])
        let (list, item) = (M.entity("List", M.toMany("items")), M.entity("Item", M.attribute("name")))
        M.connect(list, "items", item)
        #expect(problems(list, item) == ["List.items: give the relationship an inverse."])
    }

    @Test func relationshipsOutOfAConfiguration() {
        let parts = connected { _ in }
        let model = NSManagedObjectModel()
        model.entities = parts
        model.setEntities([parts[0]], forConfigurationName: "Cloud")
        let container = NSPersistentCloudKitContainer(name: "A", managedObjectModel: model)
        #expect(
            container.cloudKitSchemaProblems == ["List.items: the destination Item is not in configuration Cloud."])
    }

    @Test func descriptionsKeepTheirOptions() {
        let container = NSPersistentCloudKitContainer(name: "A", managedObjectModel: NSManagedObjectModel())
        let description = container.persistentStoreDescriptions[0]
        #expect(description.cloudKitContainerOptions?.containerIdentifier.hasPrefix("iCloud.") == true)
        #expect(description.cloudKitContainerOptions?.databaseScope == .private)
        let copy = description.copy() as? NSPersistentStoreDescription
        #expect(copy == description)
        copy?.cloudKitContainerOptions = nil
        #expect(copy != description)
        let plain = NSPersistentContainer(name: "A", managedObjectModel: NSManagedObjectModel())
        #expect(plain.persistentStoreDescriptions[0].cloudKitContainerOptions == nil)
    }
}
