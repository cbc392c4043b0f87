import CoreData
import Foundation

/// Saves to a store that records its history, from another process.
///
///     HistoryWriter <store> <count>       // so many transactions by "another process", each of one object
///     HistoryWriter <store> forever       // until it is killed; prints the number of each that was committed
func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else {
        FileHandle.standardError.write(Data("usage: HistoryWriter <store> <count>|forever\n".utf8))
        exit(2)
    }
    let url = URL(fileURLWithPath: arguments[1])
    let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
    for entity in model.entities { entity.managedObjectClassName = nil }
    let coordinator = try NSPersistentStoreCoordinator(validating: model)
    try coordinator.addPersistentStore(
        type: .sqlite, at: url, options: [NSPersistentHistoryTrackingKey: NSNumber(value: true)])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = "another process"
    try context.performAndWait {
        var number = 0
        var last: NSManagedObject?
        while number < Int(arguments[2]) ?? .max {
            number += 1
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue("tag \(UUID().uuidString)", forKey: "name")
            if Int(arguments[2]) == nil, let last, number % 3 == 0 { context.delete(last) }
            try context.save()
            last = tag
            // Not print: nothing may stay in a buffer.
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
    }
}

do {
    try run()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
