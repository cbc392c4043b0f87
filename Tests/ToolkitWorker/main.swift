import CoreData
import CoreDataSync
import CoreDataToolkit
import Foundation

/// Does with a grocery store what another process may do, for tests that watch it or kill it.
///
///     ToolkitWorker write <store> <count>     // so many items, a transaction each
///     ToolkitWorker copy <store> <shipped>    // deep copies, and tells of each batch
///     ToolkitWorker restore <store> <folder>  // its backups one after the other for ever, and tells of each part
///     ToolkitWorker sync <store> <place>      // starts synchronisation, tells when it has, and goes on for ever
func run() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 4 else {
        FileHandle.standardError.write(Data("usage: ToolkitWorker write <store> <count>\n".utf8))
        exit(2)
    }
    let url = URL(fileURLWithPath: arguments[2])
    let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
    for entity in model.entities { entity.managedObjectClassName = nil }
    switch arguments[1] {
    case "write":
        let stack = try await CoreDataStack.setUp(model: model, storeURL: url, options: .server)
        for number in 1...(Int(arguments[3]) ?? 1) {
            try await stack.performImport { context in
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue("from outside \(number)", forKey: "name")
            }
            tell(number)
        }
    case "copy":
        let stack = try await CoreDataStack.setUp(model: model, storeURL: url, options: .server)
        var copier = try DeepCopier(
            fromStoreAt: URL(fileURLWithPath: arguments[3]), to: stack,
            unique: ["Item": "name", "Unit": "name", "LocationAtHome": "storedIn", "LocationAtShop": "aisle"])
        copier.batchSize = 20
        try await copier.copy(["Item", "Unit", "LocationAtHome", "LocationAtShop"]) { tell($0.count) }
    case "restore":
        let stack = try await CoreDataStack.setUp(model: model, storeURL: url, options: .server)
        let backup = Backup(stack, to: FolderDestination(URL(fileURLWithPath: arguments[3])))
        while true {
            for info in try await backup.list() {
                try await backup.restore(info.name) { tell($0.count) }
                tell(0)
            }
        }
    case "sync":
        let stack = try await CoreDataStack.setUp(model: model, storeURL: url, options: .server)
        let sync = try Sync(stack.coordinator, to: FolderPlace(URL(fileURLWithPath: arguments[3])), device: "Worker")
        try await sync.start()
        tell(1)
        for await _ in sync.states { _ = sync.deviceName }
    default: throw ToolkitError("There is no '\(arguments[1])'.")
    }
}

/// Not print: nothing may stay in a buffer.
func tell(_ number: Int) { FileHandle.standardOutput.write(Data("\(number)\n".utf8)) }

do {
    try await run()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
