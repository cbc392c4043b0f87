import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Chains over versions that lie between; beyond T8, which leaves them to the app.
@Suite struct ProgressiveMigrationTests {
    private let folder: URL

    init() throws { folder = try Fixtures.temporaryFolder() }

    /// A version whose one attribute has that name and type, and canonical name.
    private func version(
        _ name: String, _ type: AttributeType = .string, was identifier: String? = nil
    ) -> ModelDocument {
        model(entity("Book", attribute(name, type).with { $0.renamingIdentifier = identifier }))
    }

    private func models(_ documents: [ModelDocument]) throws -> [NSManagedObjectModel] {
        let versions = documents.enumerated().map { index, document in
            ModelVersions.Version(name: index == 0 ? "Library" : "Library \(index + 1)", document: document)
        }
        let url = folder.appendingPathComponent("Library.momd")
        try ModelCompilation(
            of: ModelVersions(name: "Library", versions: versions, currentName: versions.last?.name ?? ""),
            isFolder: true
        ).write(to: url)
        return try versions.map { try NSManagedObjectModel.load(contentsOf: url, version: $0.name) }
    }

    private func url(_ type: String) -> URL { folder.appendingPathComponent("Store.\(type)") }

    private func inContext<R>(
        _ type: String, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil,
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url(type), options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private func makeStore(_ type: String, _ model: NSManagedObjectModel, _ key: String, _ value: Any) throws {
        try inContext(type, model) { context in
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            book.setValue(value, forKey: key)
            try context.save()
        }
    }

    private func values(
        _ type: String, _ model: NSManagedObjectModel, _ key: String, _ options: [AnyHashable: Any]? = nil
    ) throws -> [String] {
        try inContext(type, model, options) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).map {
                $0.value(forKey: key).map { "\($0)" } ?? "nil"
            }
        }
    }

    /// From text to a number, which no mapping can be inferred for.
    private func mapping(
        _ old: NSManagedObjectModel, _ new: NSManagedObjectModel, _ name: String, _ value: String
    ) -> NSMappingModel {
        let book = NSEntityMapping()
        book.name = "BookToBook"
        book.mappingType = .transformEntityMappingType
        book.sourceEntityName = "Book"
        book.destinationEntityName = "Book"
        book.sourceEntityVersionHash = old.entityVersionHashesByName["Book"]
        book.destinationEntityVersionHash = new.entityVersionHashesByName["Book"]
        let property = NSPropertyMapping()
        property.name = name
        property.valueExpression = CoreData.NSExpression(format: value)
        book.attributeMappings = [property]
        let mapping = NSMappingModel()
        mapping.entityMappings = [book]
        return mapping
    }

    @Test(
        "where no mapping can be inferred at once, step by step leads there",
        arguments: [NSSQLiteStoreType, NSXMLStoreType, NSBinaryStoreType])
    func inferredStepsLeadThere(type: String) throws {
        // The code was given up as text, and is a number now.
        let versions = try models([
            model(entity("Book", attribute("heading"), attribute("code"))), model(entity("Book", attribute("heading"))),
            model(entity("Book", attribute("heading"), attribute("code", .integer16))),
        ])
        try makeStore(type, versions[0], "heading", "One")
        var options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        let error = try #require(throws: CocoaError.self) { try values(type, versions[2], "heading", options) }
        #expect(error.code == .migrationMissingMappingModel)
        let description = NSPersistentStoreDescription(url: url(type))
        description.type = type
        #expect(!description.shouldMigrateStoreProgressively)
        description.shouldMigrateStoreProgressively = true
        options = description.options
        #expect(try values(type, versions[2], "heading", options) == ["One"])
        #expect(try values(type, versions[2], "heading", options) == ["One"])
    }

    @Test("the shortest chain is taken, and mapping models before inferred mappings")
    func theBestChainIsTaken() throws {
        let versions = try models([
            version("a"), version("b", was: "a"), version("c", was: "a"), version("d", .integer64, was: "a"),
            version("e", .integer64, was: "a"),
        ])
        try makeStore(NSSQLiteStoreType, versions[0], "a", "7")
        func plan(_ mappings: [(name: String, model: NSMappingModel)], infers: Bool = true) throws -> [String] {
            let migration = ProgressiveMigration(
                to: versions[4], configuration: nil, type: NSSQLiteStoreType, infers: infers, mappings: mappings)
            return try (migration.plan(of: url(NSSQLiteStoreType)) ?? []).map {
                "\($0.from) → \($0.to)" + ($0.mapping.map { " by \($0)" } ?? "")
            }
        }
        func number(_ from: Int, _ to: Int, _ old: String, _ new: String) -> (String, NSMappingModel) {
            ("\(from)to\(to)", mapping(versions[from - 1], versions[to - 1], new, "CAST($source.\(old), 'NSNumber')"))
        }
        let error = try #require(throws: CocoaError.self) { try plan([]) }
        #expect(error.code == .migrationMissingMappingModel)
        #expect(error.localizedDescription.contains("'Library 3'"))
        let last = number(3, 4, "c", "d")
        #expect(
            try plan([last]) == [
                "Library → Library 3", "Library 3 → Library 4 by 3to4", "Library 4 → Library 5",
            ])
        #expect(
            try plan([last, number(1, 4, "a", "d")]) == ["Library → Library 4 by 1to4", "Library 4 → Library 5"])
        #expect(try plan([last, number(2, 5, "b", "e")]) == ["Library → Library 2", "Library 2 → Library 5 by 2to5"])
        // As long, with more mapping models.
        #expect(
            try plan([last, number(2, 5, "b", "e"), ("1to2", mapping(versions[0], versions[1], "b", "$source.a"))])
                == ["Library → Library 2 by 1to2", "Library 2 → Library 5 by 2to5"])
        #expect(throws: CocoaError.self) { try plan([last], infers: false) }
        let migration = ProgressiveMigration(
            to: versions[4], configuration: nil, type: NSSQLiteStoreType, mappings: [last])
        #expect(try migration.run(at: url(NSSQLiteStoreType), options: nil))
        #expect(try values(NSSQLiteStoreType, versions[4], "e") == ["7"])
        #expect(try !migration.run(at: url(NSSQLiteStoreType), options: nil))
    }

    @Test("a step that somebody wrote a mapping model for is not passed over, if there is another way")
    func mappingModelsAreNotPassedOver() throws {
        let versions = try models([
            version("a"), model(entity("Book", attribute("a"), attribute("b"))),
            model(entity("Book", attribute("a"), attribute("b"), attribute("c"))),
        ])
        try makeStore(NSSQLiteStoreType, versions[0], "a", "One")
        let written = mapping(versions[0], versions[1], "b", "uppercase($source.a)")
        let migration = ProgressiveMigration(
            to: versions[2], configuration: nil, type: NSSQLiteStoreType, mappings: [("written", written)])
        try migration.run(at: url(NSSQLiteStoreType), options: nil)
        #expect(try values(NSSQLiteStoreType, versions[2], "b") == ["ONE"])
    }

    /// Versions of an entity by its attributes, `b(a)` with the renaming identifier `a`, the chain that is taken over them, and what
    /// the first attribute has then.
    struct Renaming: Sendable, CustomTestStringConvertible {
        var versions: [String]
        var chain: [String]
        var value: String

        init(_ versions: [String], _ chain: [String], _ value: String = "One") {
            (self.versions, self.chain, self.value) = (versions, chain, value)
        }

        var testDescription: String { versions.joined(separator: " | ") }
    }

    private static let renamings: [Renaming] = [
        .init(["a", "b(a)", "c(b)"], ["Library 2", "Library 3"]),
        // Where nothing is lost the shortest is taken.
        .init(["a", "b(a)", "c(a)"], ["Library 3"]),
        .init(["a", "a(x) d", "a(x) d e"], ["Library 3"]),
        // As little is lost at once as over the version between.
        .init(["a", "b(x)", "b(x)"], ["Library 3"], "nil"),
        .init(["a", "b(x)", "c(y)"], ["Library 3"], "nil"),
        // What is lost anyway does not keep the rest from being kept.
        .init(["a d", "b(a) e(x)", "c(b) e(x)"], ["Library 2", "Library 3"]),
        .init(["a", "b(a)", "c(b)", "c(b) d", "e(c) d"], ["Library 2", "Library 3", "Library 5"]),
    ]

    @Test("a chain that keeps what a shorter one would leave empty is taken", arguments: Self.renamings)
    func valuesAreKept(given: Renaming) throws {
        let versions = try models(
            given.versions.map { text in
                let attributes = text.split(separator: " ").map { part -> PropertyElement in
                    let parts = part.split(whereSeparator: { "()".contains($0) }).map(String.init)
                    return attribute(parts[0]).with { $0.renamingIdentifier = parts.count > 1 ? parts[1] : nil }
                }
                return model(EntityElement(name: "Book").with { $0.properties = attributes })
            })
        let last = try #require(versions.last)
        try makeStore(NSSQLiteStoreType, versions[0], "a", "One")
        let migration = ProgressiveMigration(to: last, configuration: nil, type: NSSQLiteStoreType, mappings: [])
        #expect(try migration.plan(of: url(NSSQLiteStoreType))?.map(\.to) == given.chain)
        try migration.run(at: url(NSSQLiteStoreType), options: nil)
        let first = try #require(given.versions.last?.first)
        #expect(try values(NSSQLiteStoreType, last, String(first)) == [given.value])
    }

    @Test("a mapping model goes before, whatever it leaves empty")
    func mappingModelsGoBeforeValues() throws {
        let versions = try models([version("a"), version("b", was: "a"), version("c", was: "b")])
        try makeStore(NSSQLiteStoreType, versions[0], "a", "One")
        let written = mapping(versions[0], versions[2], "c", "uppercase($source.a)")
        let migration = ProgressiveMigration(
            to: versions[2], configuration: nil, type: NSSQLiteStoreType, mappings: [("written", written)])
        #expect(try migration.plan(of: url(NSSQLiteStoreType))?.map(\.mapping) == ["written"])
    }

    @Test("a chain may be as long as there are versions")
    func longChains() throws {
        let names = ["a", "b", "c", "d", "e", "f", "g"]
        let versions = try models(names.map { version($0) })
        try makeStore(NSSQLiteStoreType, versions[0], "a", "One")
        let mappings = names.indices.dropLast().map { index in
            (names[index], mapping(versions[index], versions[index + 1], names[index + 1], "$source.\(names[index])"))
        }
        let migration = ProgressiveMigration(
            to: versions[6], configuration: nil, type: NSSQLiteStoreType, mappings: mappings)
        #expect(try migration.plan(of: url(NSSQLiteStoreType))?.count == 6)
        #expect(try migration.run(at: url(NSSQLiteStoreType), options: nil))
        #expect(try values(NSSQLiteStoreType, versions[6], "g") == ["One"])
    }

    @Test("what fails on the way leaves the store at the version before it, whole; nothing leads back")
    func failuresLeaveTheLastVersion() throws {
        struct Enough: Error {}
        let versions = try models([version("a"), version("b", was: "a"), version("c", .integer64, was: "a")])
        try makeStore(NSSQLiteStoreType, versions[0], "a", "One")
        let last = mapping(versions[1], versions[2], "c", "FUNCTION($entityPolicy, \"numberOf:\", $source.b)")
        let migration = ProgressiveMigration(
            to: versions[2], configuration: nil, type: NSSQLiteStoreType, mappings: [("last", last)])
        let error = try #require(throws: CocoaError.self) {
            try migration.run(at: url(NSSQLiteStoreType), options: nil)
        }
        #expect(error.code == .entityMigrationPolicy)
        #expect(try values(NSSQLiteStoreType, versions[1], "b") == ["One"])
        let verified = try NSPersistentStoreCoordinator.verifyPersistentStore(
            at: url(NSSQLiteStoreType), model: versions[1])
        #expect(verified.findings.isEmpty)
        let back = ProgressiveMigration(
            to: versions[0], configuration: nil, type: NSSQLiteStoreType, mappings: [])
        #expect(try back.plan(of: url(NSSQLiteStoreType))?.map(\.to) == ["Library"])
    }
}
