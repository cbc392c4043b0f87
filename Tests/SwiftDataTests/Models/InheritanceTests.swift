import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import SwiftData

enum Fleet {
    @Model class Craft {
        var name: String
        var dock: Dock?
        init(name: String) { self.name = name }
    }

    @Model class Sailer: Craft {
        var masts: Int
        init(name: String, masts: Int) {
            self.masts = masts
            super.init(name: name)
        }
    }

    @Model final class Yacht: Sailer {
        var owner: String?
        init(name: String, owner: String?) {
            self.owner = owner
            super.init(name: name, masts: 1)
        }
    }

    @Model final class Tug: Craft {
        var power = 100
        init(power: Int) {
            self.power = power
            super.init(name: "Tug")
        }
    }

    @Model final class Dock {
        @Relationship(inverse: \Craft.dock) var crafts: [Craft] = []
        var flagship: Craft?
        init() {}
    }

    static func container(_ configuration: SwiftData.ModelConfiguration) throws -> ModelContainer {
        try ModelContainer(
            for: Craft.self, Sailer.self, Yacht.self, Tug.self, Dock.self, configurations: configuration)
    }

    /// A craft of each class, in a dock, in a context that has read nothing.
    static func context(
        _ configuration: SwiftData.ModelConfiguration = SwiftData.ModelConfiguration(isStoredInMemoryOnly: true)
    ) throws -> ModelContext {
        let container = try container(configuration)
        let context = ModelContext(container)
        let dock = Dock()
        context.insert(dock)
        dock.crafts = [
            Craft(name: "Raft"), Sailer(name: "Brig", masts: 2), Yacht(name: "Aye", owner: "Ann"), Tug(power: 300),
        ]
        dock.flagship = dock.crafts[2]
        try context.save()
        return ModelContext(container)
    }
}

/// Models that inherit from models (K).
@Suite struct InheritanceTests {
    private func names(_ predicate: Predicate<Fleet.Craft>?) throws -> [String] {
        try Fleet.context().fetch(FetchDescriptor(predicate: predicate, sortBy: [SortDescriptor(\.name)])).map(\.name)
    }

    /// K1, K2: one table; a fetch of the parent gives instances of their own classes, one of a subclass those below it.
    @Test func fetchesGiveInstancesOfTheirClasses() throws {
        let context = try Fleet.context()
        let crafts = try context.fetch(FetchDescriptor<Fleet.Craft>(sortBy: [SortDescriptor(\.name)]))
        #expect(crafts.map { "\(type(of: $0))" } == ["Yacht", "Sailer", "Craft", "Tug"])
        #expect((crafts[0] as? Fleet.Yacht)?.owner == "Ann" && (crafts[3] as? Fleet.Tug)?.power == 300)
        let sailers = try context.fetch(FetchDescriptor<Fleet.Sailer>(sortBy: [SortDescriptor(\.name)]))
        #expect(sailers.map(\.masts) == [1, 2] && sailers[0] === crafts[0])
        #expect(try context.fetchCount(FetchDescriptor<Fleet.Tug>()) == 1)
        let model = context.container.coordinator.managedObjectModel
        #expect(model.entitiesByName["Yacht"]?.superentity?.name == "Sailer")
    }

    /// K2: by class, and by what a class has.
    @Test func predicatesAskForClasses() throws {
        #expect(try names(#Predicate { $0 is Fleet.Sailer }) == ["Aye", "Brig"])
        #expect(try names(#Predicate { !($0 is Fleet.Sailer) }) == ["Raft", "Tug"])
        #expect(
            try names(
                #Predicate { craft in
                    if let sailer = craft as? Fleet.Sailer { sailer.masts > 1 } else { false }
                }) == ["Brig"])
        #expect(
            try Fleet.context().fetch(
                FetchDescriptor<Fleet.Yacht>(predicate: #Predicate { $0.name == "Aye" && $0.masts == 1 })
            ).count
                == 1)
    }

    /// K2: what is inherited and what is own is written, undone and deleted as one.
    @Test func eachLevelIsSaved() throws {
        let context = try Fleet.context()
        let yacht = try #require(try context.fetch(FetchDescriptor<Fleet.Yacht>()).first)
        yacht.name = "Bee"
        yacht.masts = 3
        yacht.owner = nil
        #expect(context.changedModelsArray.count == 1)
        try context.save()
        let again = try #require(
            ModelContext(context.container).model(for: yacht.persistentModelID) as? Fleet.Yacht)
        #expect(again.name == "Bee" && again.masts == 3 && again.owner == nil)
        try context.delete(model: Fleet.Sailer.self, includeSubclasses: false)
        try context.save()
        #expect(
            try context.fetch(FetchDescriptor<Fleet.Craft>(sortBy: [SortDescriptor(\.name)])).map(\.name) == [
                "Bee", "Raft", "Tug",
            ])
    }

    /// K3: a relationship to the parent holds any of its classes.
    @Test func relationshipsHoldSubclasses() throws {
        let context = try Fleet.context()
        let dock = try #require(try context.fetch(FetchDescriptor<Fleet.Dock>()).first)
        #expect(Set(dock.crafts.map { "\(type(of: $0))" }) == ["Craft", "Sailer", "Yacht", "Tug"])
        #expect((dock.flagship as? Fleet.Yacht)?.owner == "Ann")
        #expect(dock.flagship?.dock === dock)
        dock.flagship = dock.crafts.first { $0 is Fleet.Tug }
        try context.save()
        let again = try #require(try ModelContext(context.container).fetch(FetchDescriptor<Fleet.Dock>()).first)
        #expect((again.flagship as? Fleet.Tug)?.power == 300)
    }

    /// K1, K4: one table for all classes, and a column beside a reference that says of which class its row is.
    @Test func classesShareATable() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("fleet.store")
        let context = try Fleet.context(SwiftData.ModelConfiguration(url: url))
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: url.path))
        defer { database.close() }
        let statements = try database.read { connection in
            try connection.rows("SELECT sql FROM sqlite_master WHERE type = 'table'")
                .compactMap { if case .text(let sql)? = $0.first { sql } else { nil } }
        }
        let craft = try #require(statements.first { $0.hasPrefix("CREATE TABLE ZCRAFT ") })
        for column in ["ZNAME", "ZMASTS", "ZOWNER", "ZPOWER"] { #expect(craft.contains(column)) }
        #expect(!statements.contains { $0.hasPrefix("CREATE TABLE ZYACHT ") })
        let dock = try #require(statements.first { $0.hasPrefix("CREATE TABLE ZDOCK ") })
        #expect(dock.contains(#/Z\d+_FLAGSHIP INTEGER/#))
        withExtendedLifetime(context) {}
    }
}
