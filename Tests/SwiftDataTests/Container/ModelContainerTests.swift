import CoreData
import Foundation
import TestSupport
import Testing

@testable import SwiftData

/// Containers and configurations: reference A, 1.7, 1.8.
@Suite struct ModelContainerTests {
    private static let memory = ModelConfiguration(isStoredInMemoryOnly: true)

    private static func insert(_ names: String..., into container: ModelContainer) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.coordinator
        try context.performAndWait {
            for name in names {
                let cook = NSEntityDescription.insertNewObject(forEntityName: "Cook", into: context)
                cook.setValue(name, forKey: "name")
            }
            try context.save()
        }
    }

    private static func names(in container: ModelContainer) throws -> [String] {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.coordinator
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Cook"))
                .compactMap { $0.value(forKey: "name") as? String }.sorted()
        }
    }

    /// A2, A3, A4, complaint 39: with a folder of the program's own; `.automatic` is none of an app group.
    @Test func configurationsHaveFiles() {
        let first = ModelConfiguration()
        #expect(first.name == "default" && first.url.lastPathComponent == "default.store")
        #expect(first.allowsSave && !first.isStoredInMemoryOnly && first.id == first.url)
        #expect(ModelConfiguration("Trips").url.lastPathComponent == "Trips.store")
        #expect(ModelConfiguration("Trips").url.deletingLastPathComponent() == first.url.deletingLastPathComponent())
        let group = ModelConfiguration(groupContainer: .identifier("group.a"), cloudKitDatabase: .private("iCloud.a"))
        #expect(group.url.path.hasSuffix("/group.a/default.store"))
        #expect(group.groupAppContainerIdentifier == "group.a")
        #expect(first.groupContainer == .automatic && first.groupAppContainerIdentifier == nil)
        #expect(first.url == ModelConfiguration(groupContainer: .none).url)
        #expect(group.cloudKitContainerIdentifier == "iCloud.a")
        // A5.
        #expect(Self.memory.url.path == "/dev/null" && Self.memory.isStoredInMemoryOnly)
    }

    /// A1: without a configuration there is a default one, for the whole schema.
    @Test func aContainerHasADefaultConfiguration() throws {
        let schema = Schema([Cook.self])
        let made = try ContainerOpening.completed([], schema)
        #expect(made.map(\.url) == [ModelConfiguration().url] && made.map(\.schema) == [schema])
        #expect(try ContainerOpening.completed([Self.memory], schema).map(\.isStoredInMemoryOnly) == [true])
    }

    /// A7.
    @Test func mistakenConfigurationsAreErrors() throws {
        let folder = try Fixtures.temporaryFolder()
        let url = folder.appendingPathComponent("a.store")
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(
                for: Lamp.self, configurations: ModelConfiguration(url: url), ModelConfiguration("b", url: url))
        }
        #expect(throws: SwiftDataError.duplicateConfiguration) {
            try ModelContainer(
                for: Lamp.self, configurations: ModelConfiguration("b", isStoredInMemoryOnly: true),
                ModelConfiguration("b", isStoredInMemoryOnly: true))
        }
        #expect(throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema) {
            try ModelContainer(
                for: Lamp.self, configurations: ModelConfiguration(for: Cook.self, isStoredInMemoryOnly: true))
        }
        #expect(throws: SwiftDataError.configurationFileNameTooLong) {
            try ModelConfiguration(String(repeating: "n", count: 300)).validate()
        }
        #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters) {
            try ModelContainer(for: Lamp.self, configurations: ModelConfiguration("a/b"))
        }
        try Self.memory.validate()
    }

    /// A10, complaint 25: with the cause.
    @Test func fileThatIsNoStoreIsAnErrorWithItsCause() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("a.store")
        try Data(repeating: 65, count: 5000).write(to: url)
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: Lamp.self, configurations: ModelConfiguration(url: url))
        }
        #expect(error.map { SwiftDataError.loadIssueModelContainer ~= $0 } == true)
        #expect(error?.underlyingError is CocoaError)
        #expect(error?.description.contains(url.path) == true)
    }

    /// Complaint 28: the error says how to keep the files and go on; what is set aside is there still.
    @Test func anUnreadableStoreIsSetAside() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("a.store")
        let configuration = ModelConfiguration(url: url)
        let bytes = Data(repeating: 65, count: 5000)
        for number in 1...2 {
            try bytes.write(to: url)
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: url.path + "-wal"))
            let error = #expect(throws: SwiftDataError.self) {
                try ModelContainer(for: Cook.self, configurations: configuration)
            }
            #expect(error?.explanation?.contains(url.path) == true)
            #expect(error?.explanation?.contains("call setStoreAside() of the configuration") == true)
            let folder = try configuration.setStoreAside()
            #expect(folder.lastPathComponent == "a.store.aside-\(number)")
            #expect(try Data(contentsOf: folder.appendingPathComponent("a.store")) == bytes)
            #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
            let container = try ModelContainer(for: Cook.self, configurations: configuration)
            try Self.insert("Ann", into: container)
            #expect(try Self.names(in: container) == ["Ann"])
            for store in container.coordinator.persistentStores { try container.coordinator.remove(store) }
        }
    }

    /// Complaint 28: what is wrong with models is no reason to set a store aside.
    @Test func anErrorOfModelsSaysNothingOfSettingAside() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("a.store")
        let old = Schema(Schema.Entity("Cook", properties: Schema.Attribute(name: "size", valueType: Int.self)))
        _ = try ModelContainer(for: old, configurations: ModelConfiguration(url: url))
        let strict = Schema(
            Schema.Entity(
                "Cook", properties: Schema.Attribute(name: "size", valueType: Data.self)))
        let error = #expect(throws: SwiftDataError.self) {
            try ModelContainer(for: strict, configurations: ModelConfiguration(url: url))
        }
        #expect(error == .loadIssueModelContainer && error?.description.contains("setStoreAside") == false)
    }

    /// Complaint 38: a cloud database has no effect here, so there may be unique values with it.
    @Test func uniqueValuesGoWithACloudDatabase() throws {
        let configuration = ModelConfiguration(isStoredInMemoryOnly: true, cloudKitDatabase: .private("iCloud.a"))
        let context = ModelContext(try ModelContainer(for: DishLabel.self, configurations: configuration))
        context.insert(DishLabel(title: "hot"))
        try context.save()
        #expect(context.container.configurations.first?.cloudKitContainerIdentifier == "iCloud.a")
    }

    /// A3: the folder is made.
    @Test func storeIsMadeWithItsFolder() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("x/y/a.store")
        let container = try ModelContainer(for: Cook.self, configurations: ModelConfiguration(url: url))
        try Self.insert("Ann", into: container)
        #expect(try Self.names(in: container) == ["Ann"])
        #expect(container.configurations.map(\.url) == [url])
        #expect(container.configurations.first?.schema == container.schema)
    }

    /// A5, A11, and complaint 2.
    @Test func eraseDeletesEverything() throws {
        let container = try ModelContainer(for: Cook.self, Recipe.self, configurations: Self.memory)
        try Self.insert("Ann", "Ben", into: container)
        #expect(try Self.names(in: container) == ["Ann", "Ben"])
        try container.erase()
        #expect(try Self.names(in: container) == [])
        try Self.insert("Cleo", into: container)
        container.deleteAllData()
        #expect(try Self.names(in: container) == [])
    }

    /// A9.
    @Test func readOnlyStoreRefusesToSave() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("a.store")
        try Self.insert("Ann", into: ModelContainer(for: Cook.self, configurations: ModelConfiguration(url: url)))
        let container = try ModelContainer(
            for: Cook.self, configurations: ModelConfiguration(url: url, allowsSave: false))
        #expect(try Self.names(in: container) == ["Ann"])
        #expect(throws: (any Error).self) { try Self.insert("Ben", into: container) }
    }

    /// A8.
    @Test func configurationsSplitEntitiesOverStores() throws {
        let folder = try Fixtures.temporaryFolder()
        let cooks = folder.appendingPathComponent("cooks.store")
        let container = try ModelContainer(
            for: Cook.self, Shelf.self,
            configurations: ModelConfiguration("Cooks", schema: Schema([Cook.self]), url: cooks),
            ModelConfiguration("Shelves", schema: Schema([Shelf.self]), url: folder.appendingPathComponent("s.store")))
        try Self.insert("Ann", into: container)
        let alone = try ModelContainer(for: Cook.self, configurations: ModelConfiguration(url: cooks))
        #expect(try Self.names(in: alone) == ["Ann"])
    }

    /// J1, J7, 3.5.2: history is kept, in memory, too.
    @Test(arguments: [false, true]) func storesKeepAHistory(isInMemory: Bool) throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("a.store")
        let container = try ModelContainer(
            for: Cook.self, configurations: isInMemory ? Self.memory : ModelConfiguration(url: url))
        try Self.insert("Ann", into: container)
        let first = container.coordinator.currentPersistentHistoryToken(fromStores: nil)
        try Self.insert("Ben", into: container)
        #expect(first != nil && container.coordinator.currentPersistentHistoryToken(fromStores: nil) != first)
    }

    /// I1, F4: rows that were there before get the default value.
    @Test func newPropertiesGetTheirDefaultValues() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("a.store")
        let old = Schema(Schema.Entity("Cook", properties: Schema.Attribute(name: "name", valueType: String.self)))
        try Self.insert("Ann", into: ModelContainer(for: old, configurations: ModelConfiguration(url: url)))
        let container = try ModelContainer(
            for: Schema([Grown.Cook.self]), configurations: ModelConfiguration(url: url))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = container.coordinator
        try context.performAndWait {
            let cook = try #require(try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Cook")).first)
            for property in ModelLayout.of(Grown.Cook.self).properties {
                let form = try #require(property.attributeForm)
                let value = try form.decode(cook.value(forKey: property.name))
                let expected = try #require(property.name == "name" ? "Ann" : property.defaultValue)
                #expect(String(reflecting: value) == String(reflecting: expected), "\(property.name)")
            }
        }
    }
}

/// A later version of a model.
enum Grown {
    final class Cook: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<Cook>
        init(backingData: any BackingData<Cook>) { persistentBackingData = backingData }

        var name: String { unread() }
        var glass: Glass { unread() }
        var ice: Ice { unread() }
        var author: Author { unread() }
        var steps: [Step] { unread() }
        var tags: [String] { unread() }
        var garnish: Garnish { unread() }
        var uuid: UUID { unread() }

        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "name", keypath: \Cook.name),
                .init(name: "glass", keypath: \Cook.glass, defaultValue: Glass.rocks),
                .init(name: "ice", keypath: \Cook.ice, defaultValue: Ice.cubed),
                .init(name: "author", keypath: \Cook.author, defaultValue: Author(person: "Ben", year: "1999")),
                .init(name: "steps", keypath: \Cook.steps, defaultValue: [Step]()),
                .init(name: "tags", keypath: \Cook.tags, defaultValue: ["new"]),
                .init(name: "garnish", keypath: \Cook.garnish, defaultValue: Garnish.fruit("lime")),
                .init(name: "uuid", keypath: \Cook.uuid, defaultValue: UUID()),
            ]
        }
    }
}
