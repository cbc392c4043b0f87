import ArgumentParser
import CoreData
import CoreDataModel
import CoreDataStoreTools
import Foundation

/// The command `coredata store copy`.
struct StoreCopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies a store to another place, another type, or a server, and compares both.",
        usage: "coredata store copy [<options>] <source> <destination>",
        discussion: """
            Rows are copied in portions, as the source has them at one moment; the destination is there when it is whole. \
            Counts and checksums of both are compared then. The copy has a UUID of its own; objects keep their keys, but \
            for XML and binary stores. A history is not copied. Exits with 1 when the copy differs. One to a server or an \
            SQLite file that was stopped is gone on with by the same command, unless the source has changed meanwhile.

            A store on a server is postgresql://user@host/database?schema=name, in a coredata that was built with \
            --traits PostgreSQL.

            EXAMPLES
              coredata store copy Library.sqlite Library.xml
              coredata store copy Library.sqlite 'postgresql://shop@db/shop?schema=library'
              coredata store copy 'postgresql:///shop?schema=library' Copy.sqlite
              coredata store copy Library.xml Library.sqlite --model Library.xcdatamodeld
            """)

    @Argument(help: "The store that is copied.", completion: .file())
    var source: String

    @Argument(help: "Where the copy is to be; there must be nothing yet.", completion: .file())
    var destination: String

    @Option(
        help: ArgumentHelp(
            "The type of a copy in a file: sqlite, xml or binary. Without it what the name says: .xml, .binary or another.",
            valueName: "type"))
    var type: CopyType?

    @OptionGroup var modelOptions: ModelOptions

    @Flag(inversion: .prefixedNo, help: "Compare counts and checksums of both at the end.")
    var check = true

    @Flag(help: "Print what was copied as JSON.")
    var json = false

    enum CopyType: String, ExpressibleByArgument, CaseIterable {
        case sqlite, xml, binary
    }

    func run() throws {
        try StoreFile.checkExists(source)
        try StoreFile.checkIsFree(destination)
        let (from, to) = (StoreFile.url(source), StoreFile.url(destination))
        let sourceType = StoreTools.type(ofStoreAt: from)
        let found = try modelOptions.resolved(for: source)
        // Do not use a model adapted for reading: the new store caches the model.
        let coordinator = try NSPersistentStoreCoordinator(
            validating: NSManagedObjectModel(document: found.document))
        let store = try coordinator.addPersistentStore(
            type: NSPersistentStore.StoreType(rawValue: sourceType),
            configuration: found.configuration, at: from, options: StoreFile.readingOptions)
        defer { try? coordinator.remove(store) }
        let bar = Bar()
        let copy: StoreCopy
        do {
            copy = try StoreCopy.run(store, of: coordinator, to: to, type: storeType, checks: check) { done, all in
                bar.update(done, all)
            }
        } catch {
            bar.finish()
            if bar.count > 0, isKept(after: error) {
                Terminal.note("note: what was copied by then is kept; the same command goes on with it")
            }
            throw error
        }
        bar.finish()
        print(json ? try JSONOutput.text(Summary(copy, self)) : text(of: copy))
        guard copy.differences.isEmpty else { throw ExitCode(1) }
    }

    /// Returns whether the completed part of the copy is kept, so that the copy can be resumed.
    private func isKept(after error: any Error) -> Bool {
        guard let error = error as? CocoaError else { return false }
        return storeType == .sqlite && ![.fileWriteOutOfSpace, .fileWriteFileExists].contains(error.code)
    }

    private var storeType: NSPersistentStore.StoreType {
        if StoreFile.isOnServer(destination) { return .sqlite }
        return switch type {
        case .xml: .xml
        case .binary: .binary
        case .sqlite: .sqlite
        case nil: StoreFile.type(named: destination)
        }
    }

    private func text(of copy: StoreCopy) -> String {
        let what =
            Grouped.text(copy.objectCount, "object")
            + (copy.linkCount > 0 ? " and \(Grouped.text(copy.linkCount, "link"))" : "")
        let place = StoreFile.shown(destination)
        guard copy.differences.isEmpty else {
            return (["\(place) is no copy of \(StoreFile.shown(source)):"] + copy.differences).joined(separator: "\n")
        }
        let found = copy.foundCount > 0 ? ", \(Grouped.text(copy.foundCount)) of them by a copy before" : ""
        return "Copied \(what)\(found) to \(place), UUID \(copy.identifier)"
            + (check ? "; counts and checksums agree" : "")
    }

    private struct Summary: Encodable {
        var path: String
        var uuid: String
        var objects: Int
        var links: Int
        var found: Int
        var entities: [String: Int]
        var isCompared: Bool
        var differences: [String]

        init(_ copy: StoreCopy, _ command: StoreCopyCommand) {
            path = StoreFile.shown(command.destination)
            uuid = copy.identifier
            (objects, links, entities) = (copy.objectCount, copy.linkCount, copy.counts)
            found = copy.foundCount
            (isCompared, differences) = (command.check, copy.differences)
        }
    }

    /// A progress bar that closures can update.
    private final class Bar {
        private var bar = ProgressBar("Copying", unit: "objects")
        private(set) var count = 0

        func update(_ done: Int, _ all: Int) {
            count = done
            bar.update(fraction: all == 0 ? 1 : min(1, Double(done) / Double(all)), count: done)
        }

        func finish() { bar.finish() }
    }
}
