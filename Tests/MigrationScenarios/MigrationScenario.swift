import CoreData
import CoreDataModel
import Foundation

/// Something done to stores that a process may be killed in the middle of, with what there was before and what is to be
/// there afterwards.
package enum MigrationScenario: String, CaseIterable, Sendable {
    /// In the database; values move out of files that go.
    case lightweight
    /// The same with what can wait put off.
    case deferred
    /// What was put off is done.
    case finishing
    /// A mapping model, then an inferred mapping.
    case chain
    /// A mapping model in the store's place.
    case mapped
    case mappedXML
    /// A mapping model to another place, in portions.
    case manager
    /// An inferred mapping to another place, in the database.
    case managerInDatabase
    /// Stages with code between.
    case staged
    case xml
    case binary
    case replace
    case replaceXML
    /// `migratePersistentStore`.
    case move
    case moveToXML
    case destroy
    /// A copy of a store to where there is none, and the removal of one.
    case copy
    case remove
    /// A save whose values lie in files.
    case save

    /// The folder's store, which is there before.
    func store(_ folder: URL) -> URL { folder.appendingPathComponent("Store.\(type.rawValue)") }
    /// What is made, or put in the store's place.
    func other(_ folder: URL) -> URL {
        folder.appendingPathComponent("Other.\(self == .moveToXML ? "xml" : type.rawValue)")
    }

    var type: NSPersistentStore.StoreType {
        switch self {
        case .xml, .mappedXML, .replaceXML: .xml
        case .binary: .binary
        default: .sqlite
        }
    }

    /// The number of books: more than a migration manager has in memory at a time, where that saves portions.
    private var count: Int { self == .manager ? 600 : 24 }

    // MARK: Before

    /// Makes the stores.
    package func prepare(_ folder: URL) throws {
        let library = try Library(writingTo: folder)
        try library.fill(store(folder), type, "Book", count: count)
        switch self {
        case .replace, .replaceXML, .remove: try library.fill(other(folder), type, "Other", count: count)
        case .finishing: try library.open(store(folder), type, 3, Library.deferring) { _ in }
        default: break
        }
    }

    // MARK: Doing it

    /// Does what a process may be killed in; what was done before is not done again.
    package func run(_ folder: URL) throws {
        let library = try Library(folder)
        let store = store(folder)
        switch self {
        case .lightweight, .xml, .binary: try library.open(store, type, 3, Library.automatic) { _ in }
        case .deferred: try library.open(store, type, 3, Library.deferring) { _ in }
        case .finishing:
            try library.open(store, type, 3) { try $0.persistentStoreCoordinator?.finishDeferredLightweightMigration() }
        case .chain, .mapped, .mappedXML:
            let migration = ProgressiveMigration(
                to: library.models[self == .chain ? 2 : 1], configuration: nil, type: type.rawValue,
                mappings: [("1to2", try library.mapping())])
            try migration.run(at: store, options: nil)
        case .manager, .managerInDatabase:
            // Who finds a store at the destination adds to it: programs have to agree on who makes one.
            try inTurn(folder) {
                guard !FileManager.default.fileExists(atPath: other(folder).path) else { return }
                let manager = NSMigrationManager(sourceModel: library.models[0], destinationModel: library.models[1])
                try manager.migrateStore(
                    from: store, type: type, mapping: self == .manager ? library.mapping() : library.inferredMapping(),
                    to: other(folder), type: type)
            }
        case .staged:
            var options = Library.automatic
            options[NSPersistentStoreStagedMigrationManagerOptionKey] = library.stages()
            try library.open(store, type, 3, options) { _ in }
        case .replace, .replaceXML:
            try NSPersistentStoreCoordinator(managedObjectModel: library.models[0]).replacePersistentStore(
                at: store, withPersistentStoreFrom: other(folder), type: type)
        case .move, .moveToXML: try move(library, folder)
        case .destroy:
            try NSPersistentStoreCoordinator(managedObjectModel: library.models[0]).destroyPersistentStore(
                at: store, type: type)
        case .copy, .remove:
            try inTurn(folder) {
                StoreTools.removeLeavings(of: other(folder))
                let isThere = FileManager.default.fileExists(atPath: other(folder).path)
                if self == .copy, !isThere { try StoreTools.makeCopy(of: store, at: other(folder)) }
                if self == .remove, isThere { try StoreTools.remove(other(folder)) }
            }
        case .save: try library.open(store, type, 1) { try Library.recover($0) }
        }
    }

    /// Runs the body while no other process does that in the folder.
    private func inTurn(_ folder: URL, _ body: () throws -> Void) throws {
        let turn = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(turn) }
        guard flock(turn, LOCK_EX) == 0 else { throw Broken("\(folder.path) cannot be locked") }
        try body()
    }

    private func move(_ library: Library, _ folder: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.models[0])
        let old = try coordinator.addPersistentStore(type: type, at: store(folder))
        let target: NSPersistentStore.StoreType = self == .moveToXML ? .xml : type
        guard !FileManager.default.fileExists(atPath: other(folder).path) else { return }
        let new = try coordinator.migratePersistentStore(old, to: other(folder), type: target)
        try coordinator.remove(new)
    }

    /// Whether to do it again removes what was left, though there is nothing more to do.
    package var looksForLeavings: Bool {
        [.lightweight, .deferred, .chain, .mapped, .mappedXML, .staged, .xml, .binary, .copy, .remove].contains(self)
    }

    // MARK: Afterwards

    /// What a folder has, in a word, where that is whole: `v1`, `v2 upper`.
    ///
    /// - Throws: ``Broken`` for anything between.
    package func state(_ folder: URL) throws -> String {
        let library = try Library(folder)
        var words = [try library.state(of: store(folder), type, count: count) ?? "none"]
        switch self {
        case .manager, .managerInDatabase, .move, .moveToXML, .copy, .remove:
            let isThere = FileManager.default.fileExists(atPath: other(folder).path)
            let target: NSPersistentStore.StoreType = self == .moveToXML ? .xml : type
            words.append(isThere ? try library.state(of: other(folder), target, count: count) ?? "empty" : "none")
        default: break
        }
        return words.joined(separator: ", ")
    }

    /// The state before, the state afterwards, and those that may lie between since each step is a commit of its own.
    package var states: (old: String, new: String, between: [String]) {
        switch self {
        case .lightweight, .xml, .binary: ("v1", "v3", [])
        case .deferred: ("v1", "v3", [])
        case .finishing: ("v3", "v3", [])
        case .chain: ("v1", "v3 upper", ["v2 upper"])
        case .mapped, .mappedXML: ("v1", "v2 upper", [])
        case .manager: ("v1, none", "v1, v2 upper", [])
        case .managerInDatabase: ("v1, none", "v1, v2", [])
        case .staged: ("v1", "v3 willed", ["v1 willed", "v2 willed"])
        case .replace, .replaceXML: ("v1", "v1 other", [])
        case .move, .moveToXML: ("v1, none", "v1, v1", [])
        case .destroy: ("v1", "none", [])
        case .copy: ("v1, none", "v1, v1", [])
        case .remove: ("v1, v1 other", "v1, none", [])
        case .save: ("v1", "v1 recovered", [])
        }
    }

    /// What no row of a store refers to, of the files of external data: where no process died there are none.
    package func strayFiles(_ folder: URL) throws -> [String] {
        let library = try Library(folder)
        var found: [String] = []
        for url in [store(folder), other(folder)] where url.pathExtension == "sqlite" {
            guard let file = try? Data(contentsOf: url, options: .alwaysMapped), file.count > 0 else { continue }
            found += try library.strayFiles(of: url)
        }
        return found
    }

    /// The names that a folder may have in the end.
    package func leftovers(_ folder: URL) throws -> [String] {
        var expected: Set<String> = ["Library.momd", ".Store_SUPPORT", ".Other_SUPPORT"]
        for name in [store(folder).lastPathComponent, other(folder).lastPathComponent] {
            for suffix in ["", "-wal", "-shm"] { expected.insert(name + suffix) }
        }
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !expected.contains($0) }
    }
}

/// A store that is neither what it was nor what it was to become.
package struct Broken: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
