import CoreData
import Foundation

/// Saves to a store that records its history, from another process.
///
///     HistoryWriter <store> <count>       // so many transactions by "another process", each of one object
///     HistoryWriter <store> forever       // until it is killed; prints the number of each that was committed
///     HistoryWriter <store> looks <how>   // saves, looks at the store's file, and saves again when it is told so by a line of input
///     HistoryWriter <store> edits <seed>  // one transaction with some edits of books and authors; the same for the same seed and store
func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 || arguments.count == 4 && ["edits", "looks"].contains(arguments[2]) else {
        FileHandle.standardError.write(
            Data("usage: HistoryWriter <store> <count>|forever|edits <seed>|looks <how>\n".utf8))
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
    if arguments.count == 4, arguments[2] == "looks" { return try saveAroundALook(context, at: url, arguments[3]) }
    if arguments.count == 4 {
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        try context.performAndWait { try edit(context, seed: UInt64(arguments[3]) ?? 0) }
        return
    }
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

func saveAroundALook(_ context: NSManagedObjectContext, at url: URL, _ look: String) throws {
    func save(_ name: String) throws {
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context).setValue(name, forKey: "name")
            try context.save()
        }
    }
    func tell(_ word: String) { FileHandle.standardOutput.write(Data("\(word)\n".utf8)) }
    try save("before the look")
    switch look {
    case "verification": _ = try NSPersistentStoreCoordinator.verifyPersistentStore(at: url)
    case "report": _ = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: url)
    case "model": _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
    case "metadata": _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
    default:
        let type: NSPersistentStore.StoreType = look == "xml" ? .xml : .binary
        _ = try? NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
    }
    tell("looked")
    _ = readLine()
    try save("after the look")
    tell("saved")
    // Until it is killed.
    _ = readLine()
}

func edit(_ context: NSManagedObjectContext, seed: UInt64) throws {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
    func below(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % count
    }
    func any(_ entity: String, by key: String) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        let found = try context.fetch(request).filter { !$0.isDeleted }
        return found.isEmpty ? nil : found[below(found.count)]
    }
    for number in 0...below(5) {
        let (short, kind) = (below(5), below(9))
        switch kind {
        case 0, 1:
            let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
            book.setValue("title \(short)", forKey: "title")
            book.setValue("process \(seed) \(number)", forKey: "code")
            book.setValue(below(8), forKey: "pages")
            book.setValue(try any("Author", by: "name"), forKey: "author")
        case 2: if let book = try any("Book", by: "code") { context.delete(book) }
        case 3: try any("Book", by: "code")?.setValue("title \(short)", forKey: "title")
        case 4: try any("Book", by: "code")?.setValue(below(8), forKey: "pages")
        case 5: try any("Book", by: "code")?.setValue(try any("Author", by: "name"), forKey: "author")
        case 6: try any("Book", by: "code")?.setValue("shelf \(short)", forKey: "shelf")
        case 7: try any("Author", by: "name")?.setValue(Double(short), forKey: "rating")
        default: if below(3) == 0, let author = try any("Author", by: "name") { context.delete(author) }
        }
    }
    try context.save()
}

do {
    try run()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
