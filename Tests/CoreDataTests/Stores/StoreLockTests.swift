import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// POSIX drops all locks of a process on a file when the process closes any descriptor of it. Without its locks a store's log is deleted
/// by whoever else closes the store, and what is saved after that is lost with the process.
@Suite struct StoreLockTests {
    /// The locks that this process has on a store's file and on the index of its log, as the kernel counts them.
    private static func locks(on url: URL) throws -> Int {
        let files = try ["", "-shm"].map { suffix -> String in
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path + suffix)
            return "\(try #require(attributes[.systemFileNumber] as? NSNumber))"
        }
        // 1: POSIX  ADVISORY  READ 21570 00:1b:44455 128 128
        return try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").count { line in
            let words = line.split(separator: " ")
            guard words.count > 5, words[1] == "POSIX", words[4] == "\(getpid())" else { return false }
            return files.contains(String(words[5].split(separator: ":").last ?? ""))
        }
    }

    /// What looks into a store's file, or tries to.
    enum Look: String, CaseIterable {
        case verification, report, cachedModel, metadata, metadataForReading, metadataAsXML, metadataAsBinary
        case settingMetadataAsXML, added, addedForReading, addedAsXML, addedAsBinary, copied, copiedByTools
        case replacedByXML, replaced, destroyed, destroyedAsXML, recovered, type, inferredModel

        func run(_ url: URL, in folder: URL) throws {
            let coordinator = try NSPersistentStoreCoordinator(validating: Library.model())
            let new = folder.appendingPathComponent("New-\(UUID().uuidString).store")
            let reading: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: NSNumber(value: true)]
            typealias Coordinator = NSPersistentStoreCoordinator
            func add(_ type: NSPersistentStore.StoreType, _ options: [AnyHashable: Any]? = nil) throws {
                let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
                try coordinator.remove(store)
            }
            switch self {
            case .verification: _ = try Coordinator.verifyPersistentStore(at: url)
            case .report: _ = try Coordinator.report(onPersistentStoreAt: url)
            case .cachedModel: _ = try Coordinator.cachedModelForPersistentStore(at: url)
            case .metadata: _ = try Coordinator.metadataForPersistentStore(type: .sqlite, at: url)
            case .metadataForReading:
                _ = try Coordinator.metadataForPersistentStore(type: .sqlite, at: url, options: reading)
            case .metadataAsXML: _ = try? Coordinator.metadataForPersistentStore(type: .xml, at: url)
            case .metadataAsBinary: _ = try? Coordinator.metadataForPersistentStore(type: .binary, at: url)
            case .settingMetadataAsXML: try? Coordinator.setMetadata([:], type: .xml, at: url)
            case .added: try add(.sqlite)
            case .addedForReading: try add(.sqlite, reading)
            case .addedAsXML: try? add(.xml)
            case .addedAsBinary: try? add(.binary)
            case .copied: try coordinator.replacePersistentStore(at: new, withPersistentStoreFrom: url, type: .sqlite)
            case .copiedByTools: try StoreTools.makeCopy(of: url, at: new)
            case .replacedByXML:
                let xml = try coordinator.addPersistentStore(type: .xml, at: new)
                try coordinator.remove(xml)
                try? coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: new, type: .xml)
            case .replaced:
                let other = try coordinator.addPersistentStore(type: .sqlite, at: new)
                try coordinator.remove(other)
                try? coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: new, type: .sqlite)
            case .destroyed: try? coordinator.destroyPersistentStore(at: url, type: .sqlite)
            case .destroyedAsXML: try? coordinator.destroyPersistentStore(at: url, type: .xml)
            case .recovered: _ = try Coordinator.recoverPersistentStore(at: url, to: new)
            case .type: #expect(StoreTools.type(ofStoreAt: url) == NSSQLiteStoreType && StoreTools.isDatabase(url.path))
            case .inferredModel: _ = try ModelInspection.cachedModel(ofStoreAt: url)
            }
        }
    }

    private static func addBook(_ stack: FileStack) throws {
        try stack.story { context in
            Author(context: context).name = "Ann"
            try context.save()
        }
    }

    @Test(arguments: Trials.some(of: Look.allCases))
    func aLookAtAnOpenStoreKeepsItsLocks(_ look: Look) throws {
        let stack = try FileStack(.sqlite)
        try Self.addBook(stack)
        let link = stack.folder.appendingPathComponent("Link.sqlite")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: stack.url)
        let before = try Self.locks(on: stack.url)
        #expect(before >= 2, "one on the file, one on the index of its log")
        for url in [stack.url, link] {
            for _ in 0..<3 { try look.run(url, in: stack.folder) }
            #expect(try Self.locks(on: stack.url) == before, "\(url.lastPathComponent)")
        }
        try Self.addBook(stack)
        #expect(try stack.story { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author")) } == 2)
    }

    /// By such a link SQLite finds another log; a look opens none.
    @Test(arguments: [Look.report, .type, .metadataForReading, .metadataAsXML, .addedAsXML, .destroyedAsXML])
    func aLookByAHardLinkKeepsTheLocks(_ look: Look) throws {
        let stack = try FileStack(.sqlite)
        try Self.addBook(stack)
        let link = stack.folder.appendingPathComponent("Hard.sqlite")
        try FileManager.default.linkItem(at: stack.url, to: link)
        let before = try Self.locks(on: stack.url)
        // What is only in the log is not found by the other name: the look may fail, and keeps the locks all the same.
        for _ in 0..<3 { _ = try? look.run(link, in: stack.folder) }
        #expect(try Self.locks(on: stack.url) == before)
    }

    /// So that the tests above can fail.
    @Test func aDescriptorThatIsClosedDropsTheLocks() throws {
        let stack = try FileStack(.sqlite)
        try Self.addBook(stack)
        #expect(try Self.locks(on: stack.url) >= 2)
        let before = try Self.locks(on: stack.url)
        close(open(stack.url.path, O_RDONLY))
        #expect(try Self.locks(on: stack.url) < before)
    }

    /// `Tests/HistoryWriter` tells what it does.
    @Test(arguments: ["verification", "report", "model", "metadata", "xml", "binary"])
    func whatIsSavedAfterALookOutlivesTheProcess(_ look: String) throws {
        let history: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: NSNumber(value: true)]
        let stack = try FileStack(.sqlite)
        try stack.reopen(history)
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        let (process, output, input) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("HistoryWriter")
        process.arguments = [stack.url.path, "looks", look]
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        func said() -> String { String(decoding: output.fileHandleForReading.availableData, as: UTF8.self) }
        #expect(said() == "looked\n")
        // Another process opens and closes the store, and takes itself for the last one if the first has lost its locks.
        let other = try stack.newCoordinator(history)
        for store in other.persistentStores { try other.remove(store) }
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        #expect(said() == "saved\n")
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try stack.reopen(history)
        let tags = try stack.story { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Tag"))
                .compactMap { $0.value(forKey: "name") as? String }
        }
        #expect(tags.sorted() == ["after the look", "before the look"])
    }
}
