import CoreDataStore
import Foundation
import Testing

@testable import CoreData

/// Where a store is to be made, others may make one at the same time: none of them is overwritten.
@Suite struct StorePlaceTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("places-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    /// A store with authors of that name, closed.
    private func make(_ type: NSPersistentStore.StoreType, _ name: String, count: Int = 1) throws -> URL {
        let url = folder.appendingPathComponent("\(name).store")
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        let store = try coordinator.addPersistentStore(type: type, at: url)
        try FileStack.story(coordinator) { context in
            for _ in 0..<count { Author(context: context).name = name }
            try context.save()
        }
        try coordinator.remove(store)
        return url
    }

    private func names(_ type: NSPersistentStore.StoreType, _ url: URL) throws -> Set<String> {
        let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
        let store = try coordinator.addPersistentStore(type: type, at: url)
        defer { try? coordinator.remove(store) }
        return try FileStack.story(coordinator) { context in
            Set(try context.fetch(NSFetchRequest<Author>(entityName: "Author")).compactMap(\.name))
        }
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do { try body() } catch { return (error as? CocoaError)?.code.rawValue ?? -1 }
        return nil
    }

    @Test(arguments: LinkedStoreTests.types)
    func oneOfSeveralCopiesIsPut(_ type: NSPersistentStore.StoreType) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let sources = try (0..<3).map { try make(type, "Source \($0)", count: 20) }
        for round in 0..<12 {
            let place = folder.appendingPathComponent("Place-\(round).store")
            let outcomes = Outcomes()
            DispatchQueue.concurrentPerform(iterations: sources.count) { index in
                do {
                    try StoreTools.makeCopy(of: sources[index], at: place)
                    outcomes.add(index, nil)
                } catch { outcomes.add(index, (error as? CocoaError)?.code.rawValue ?? -1) }
            }
            let put = outcomes.all.filter { $0.code == nil }.map(\.index)
            #expect(put.count == 1, "round \(round)")
            #expect(try names(type, place) == Set(put.map { "Source \($0)" }), "round \(round)")
            #expect(outcomes.all.compactMap(\.code).allSatisfy { $0 == 516 }, "\(outcomes.all)")
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(".mig") }
        #expect(left == [])
    }

    /// As where a store is made between the check and the rename.
    @Test func aDatabaseIsPutOverNone() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (new, there) = (try make(.sqlite, "New"), try make(.sqlite, "There"))
        #expect(throws: PlaceTaken.self) { try SQLStore.put(new, at: there) }
        #expect(try names(.sqlite, there) == ["There"])
        #expect(try names(.sqlite, new) == ["New"])
    }

    @Test(arguments: [NSPersistentStore.StoreType.xml, .binary])
    func aFileIsPutOverNone(_ type: NSPersistentStore.StoreType) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (new, there) = (try make(type, "New"), try make(type, "There"))
        #expect(throws: PlaceTaken.self) { try AtomicStore.put(new.path, at: there.path) }
        #expect(try names(type, there) == ["There"])
    }

    /// An empty file is none, and becomes a store that is one file. A database is not put over it: another process may be making one of it.
    @Test(arguments: LinkedStoreTests.types)
    func anEmptyFileIsNoStore(_ type: NSPersistentStore.StoreType) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let (new, place) = (try make(type, "New"), folder.appendingPathComponent("Place.store"))
        try Data().write(to: place)
        if type == .sqlite {
            #expect(code { try StoreTools.makeCopy(of: new, at: place) } == 516)
            #expect(try names(type, new) == ["New"])
            return
        }
        try StoreTools.makeCopy(of: new, at: place)
        #expect(try names(type, place) == ["New"])
        #expect(code { try StoreTools.makeCopy(of: new, at: place) } == 516)
    }

    /// SQLite takes what lies there for the log of the new file.
    @Test func aLogThatIsLeftIsNotTakenForTheNewStores() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let stack = try FileStack(.sqlite)
        try stack.story { context in
            Author(context: context).name = "Left"
            try context.save()
        }
        let (new, place) = (try make(.sqlite, "New"), folder.appendingPathComponent("Place.store"))
        try FileManager.default.copyItem(atPath: stack.url.path + "-wal", toPath: place.path + "-wal")
        #expect(code { try StoreTools.makeCopy(of: new, at: place) } == 516)
        #expect(try names(.sqlite, new) == ["New"])
    }

    /// Whoever waits for the turn to migrate makes no file where a link leads.
    @Test func aLinkInThePlaceOfALockIsNotFollowed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try make(.sqlite, "Shop")
        let lock = folder.appendingPathComponent(".migrating-Shop")
        try FileManager.default.createSymbolicLink(atPath: lock.path, withDestinationPath: "Elsewhere")
        var wasRun = false
        try MigrationTurn.with(store) { wasRun = true }
        #expect(wasRun)
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("Elsewhere").path))
    }

    /// A process that dies in its turn leaves the file of the turn: without one, opening a store does not list its folder.
    @Test func openingLooksForLeavingsWhereATurnDidNotEnd() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try make(.sqlite, "Shop")
        let left = folder.appendingPathComponent(".migrating-\(UUID().uuidString)-\(store.lastPathComponent)")
        try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
        func open() throws {
            let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
            let opened = try coordinator.addPersistentStore(
                type: .sqlite, at: store,
                options: [NSMigratePersistentStoresAutomaticallyOption: true])
            try coordinator.remove(opened)
        }
        try open()
        #expect(FileManager.default.fileExists(atPath: left.path))
        let turn = folder.appendingPathComponent(".migrating-Shop")
        try Data().write(to: turn)
        try open()
        #expect(!FileManager.default.fileExists(atPath: left.path))
        #expect(!FileManager.default.fileExists(atPath: turn.path))
    }
}

private final class Outcomes: @unchecked Sendable {
    // Safe because the lock guards the list.
    private let lock = NSLock()
    private var list: [(index: Int, code: Int?)] = []

    func add(_ index: Int, _ code: Int?) { lock.withLock { list.append((index, code)) } }
    var all: [(index: Int, code: Int?)] { lock.withLock { list } }
}
