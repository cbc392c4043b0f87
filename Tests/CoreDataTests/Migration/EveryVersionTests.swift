import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Every step of every model of the fixtures: a store of version *n* with generated objects, or one that Apple's Core Data made,
/// comes to each later version directly and step by step, and has what it must have (T2 to T5, T8).
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct EveryVersionTests {
    private let folder: URL

    init() throws { folder = try Fixtures.temporaryFolder() }

    /// Those with several versions.
    static let models = Fixtures.models.filter { path in
        path.hasSuffix(".xcdatamodeld") && ((try? versions(path))?.count ?? 0) > 1
    }

    private static func versions(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: Fixtures.url(path).path)
            .filter { $0.hasSuffix(".xcdatamodel") }.map { String($0.dropLast(".xcdatamodel".count)) }
            .sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }

    private func load(_ path: String) throws -> [(name: String, model: NSManagedObjectModel)] {
        try Self.versions(path).map { name in
            let model = try NSManagedObjectModel.load(contentsOf: Fixtures.url(path), version: name)
            // None of their classes is in this program.
            for entity in model.entities { entity.managedObjectClassName = nil }
            return (name, model)
        }
    }

    private func inStore<R>(
        _ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil,
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private func copy(_ url: URL, _ name: String) throws -> URL {
        let place = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        for found in try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path) {
            let support = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT"
            guard found.hasPrefix(url.lastPathComponent) || found == support else { continue }
            try FileManager.default.copyItem(
                at: url.deletingLastPathComponent().appendingPathComponent(found),
                to: place.appendingPathComponent(found))
        }
        return place.appendingPathComponent(url.lastPathComponent)
    }

    private static var automatic: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    /// Migrates the store and compares it; `nil` where no mapping can be inferred.
    private func step(
        _ url: URL, _ before: StoreSketch, _ old: NSManagedObjectModel, _ new: NSManagedObjectModel, _ name: String
    ) throws -> StoreSketch? {
        guard (try? NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)) != nil else {
            let error = #expect(throws: CocoaError.self) { try inStore(url, new, Self.automatic) { _ in } }
            #expect(error?.code == .migrationMissingMappingModel, "\(name)")
            #expect(try inStore(url, old) { try StoreSketch($0, old) }.objects.count == before.objects.count, "\(name)")
            return nil
        }
        let expected = before.migrated(old, new)
        let roots = StoreSketch.roots(old, new)
        let after = try inStore(url, new, Self.automatic) { try StoreSketch($0, new, roots: roots) }
        #expect(after.differences(from: expected) == [], "\(name)")
        // Generated objects need not be valid.
        let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: url, model: new).findings
        #expect(findings.filter { $0.severity == .error } == [], "\(name)")
        // By the names that the newer model has.
        return try inStore(url, new) { try StoreSketch($0, new) }
    }

    /// Directly to each later version, then over each version that lies between.
    private func goThrough(
        _ original: URL, _ start: Int, _ versions: [(name: String, model: NSManagedObjectModel)]
    ) throws -> Int {
        let old = versions[start].model
        let before = try inStore(try copy(original, "read \(start)"), old) { try StoreSketch($0, old) }
        #expect(!before.objects.isEmpty)
        var reached = 0
        for later in versions[(start + 1)...] {
            let name = "\(versions[start].name) → \(later.name)"
            let url = try copy(original, name)
            if try step(url, before, old, later.model, name) != nil { reached += 1 }
        }
        let url = try copy(original, "steps from \(start)")
        var (model, sketch) = (old, before)
        for later in versions[(start + 1)...] {
            let name = "\(versions[start].name) … → \(later.name)"
            guard let made = try step(url, sketch, model, later.model, name) else { break }
            (model, sketch) = (later.model, made)
            reached += 1
        }
        return reached
    }

    @Test(arguments: models)
    func generatedObjectsReachEveryLaterVersion(path: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let versions = try load(path)
        var reached = 0
        let starts = Trials.some(of: Array(versions.indices.dropLast()))
        for start in starts {
            let url = folder.appendingPathComponent("Original \(start).sqlite")
            try inStore(url, versions[start].model) { context in
                var objects = SketchedObjects(numbers: SeededNumbers(seed: UInt64(start) + 5))
                try objects.insert(into: context, versions[start].model)
                try context.saveUnvalidated()
            }
            reached += try goThrough(url, start, versions)
        }
        // From one version alone, nothing need be inferrable.
        #expect(reached > 0 || starts.count < versions.count - 1)
    }

    private static let storesOfApples = [
        ("bookmarks/Bookmarks_V1.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
        ("bookmarks/Bookmarks_V2.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
        ("bookmarks/Bookmarks_V4.sqlite", "bookmarks/BookmarksModel.xcdatamodeld"),
        ("sample-model/SampleModel_V1.sqlite", "sample-model/SampleModel.xcdatamodeld"),
        ("sample-model/SampleModel_V2.sqlite", "sample-model/SampleModel.xcdatamodeld"),
        ("grocery-dude/DefaultData.sqlite", "grocery-dude/Model.xcdatamodeld"),
        ("grocery-dude/DefaultData-5-entities.sqlite", "grocery-dude/Model.xcdatamodeld"),
        ("recipes/Recipes.sqlite", "recipes/Recipes.xcdatamodeld"),
    ]

    @Test(arguments: Trials.some(of: storesOfApples))
    func storesOfApplesReachEveryLaterVersion(store: String, path: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try Fixtures.temporaryCopy(store)
        let versions = try load(path)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        guard
            let start = versions.firstIndex(where: {
                $0.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
            }), start < versions.count - 1
        else { return }
        let reached = try goThrough(url, start, versions)
        #expect(reached > 0)
    }

    // MARK: With mapping models

    /// What Grocery Dude's mapping models say beyond names: values of the first property become those of the second.
    @Test func groceryDudeGoesByItsMappingModels() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = "grocery-dude/Model.xcdatamodeld"
        let versions = try load(path)
        let mappings = try ["Model2toModel3", "Model3toModel4", "Model7toModel8"].map {
            ($0, try NSMappingModel.load(contentsOf: Fixtures.url("grocery-dude/\($0).xcmappingmodel")))
        }
        // Of each version, where the words of units lie.
        let words: [(entity: String, attribute: String)?] =
            [nil, ("Measurement", "abc"), ("Amount", "xyz")] + Array(repeating: ("Unit", "name"), count: 5)
        func values(_ context: NSManagedObjectContext, _ entity: String, _ attribute: String) throws -> [String] {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map {
                $0.value(forKey: attribute).map { ($0 as? Data).map { "\($0.count) of \($0.first ?? 0)" } ?? "\($0)" }
                    ?? "nil"
            }.sorted()
        }
        for start in Trials.some(of: Array(versions.indices.dropLast())) {
            let original = folder.appendingPathComponent("Original \(start).sqlite")
            let old = versions[start].model
            try inStore(original, old) { context in
                var objects = SketchedObjects(numbers: SeededNumbers(seed: UInt64(start) + 50))
                try objects.insert(into: context, old)
                try context.saveUnvalidated()
            }
            for end in versions.indices where end > start {
                let name = "\(versions[start].name) → \(versions[end].name)"
                let new = versions[end].model
                let url = try copy(original, name)
                let migration = ProgressiveMigration(
                    to: new, configuration: nil, type: NSSQLiteStoreType, files: [Fixtures.url(path)],
                    mappings: mappings)
                #expect(try migration.run(at: url, options: nil), "\(name)")
                let before = try inStore(original, old) { context in
                    (
                        items: try StoreSketch(context, old), names: try values(context, "Item", "name"),
                        words: try words[start].map { try values(context, $0.entity, $0.attribute) },
                        photos: try old.entitiesByName["Item"]?.attributesByName["photoData"] == nil
                            ? nil : values(context, "Item", "photoData")
                    )
                }
                try inStore(url, new) { context in
                    #expect(try values(context, "Item", "name") == before.names, "\(name)")
                    if let from = before.words, let place = words[end] {
                        #expect(try values(context, place.entity, place.attribute) == from, "\(name)")
                    }
                    if let photos = before.photos {
                        // Version 8 has them in objects of their own.
                        let found =
                            try end < 7
                            ? values(context, "Item", "photoData") : values(context, "Item_Photo", "data")
                        #expect(found == photos, "\(name)")
                    }
                    // Each item still has its unit: the words that go with names.
                    if start > 3 {
                        let pairs = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map {
                            "\($0.value(forKey: "name") ?? "nil") \($0.value(forKeyPath: "unit.name") ?? "nil")"
                        }
                        let had = before.items.objects.values.filter { $0.entity == "Item" }.map { item in
                            let unit = item.members["unit"]?.first.flatMap { before.items.objects[$0] }
                            return "\(item.values["name"] ?? "nil") \(unit?.values["name"] ?? "nil")"
                        }
                        #expect(pairs.sorted() == had.sorted(), "\(name)")
                    }
                }
                let verification = try NSPersistentStoreCoordinator.verifyPersistentStore(at: url, model: new)
                #expect(verification.isPassed, "\(name): \(verification.findings)")
            }
        }
    }

    @Test("T3: what a missing renaming identifier costs is told")
    func lostObjectsAreTold() throws {
        let versions = try load("grocery-dude/Model.xcdatamodeld")
        let url = folder.appendingPathComponent("Store.sqlite")
        try inStore(url, versions[2].model) { context in
            for _ in 0..<3 { _ = NSEntityDescription.insertNewObject(forEntityName: "Amount", into: context) }
            try context.save()
        }
        let migration = LightweightMigration(to: versions[3].model, configuration: nil)
        let warnings = try LightweightMigration.warnings(migration.outcome(at: url, options: nil))
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("3 objects of 'Amount'") == true)
        #expect(warnings.first?.contains("'Unit'") == true)
        // Where there were none, nothing is lost.
        try inStore(url, versions[3].model) { _ in }
        let again = LightweightMigration(to: versions[2].model, configuration: nil)
        #expect(try LightweightMigration.warnings(again.outcome(at: url, options: nil)) == [])
    }
}
