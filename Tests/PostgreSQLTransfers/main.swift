import CoreData
import CoreDataPostgreSQL
import Foundation
import MigrationScenarios
import PostgreSQLAccounts

// What another program does to a store on a server:
//
//     PostgreSQLTransfers <url> <times> <contexts> <seed>     moves money between accounts that others move, too
//     PostgreSQLTransfers migrate <how> <url>                  migrates a library: mapped, chain or staged
//     PostgreSQLTransfers open <version> <url>                 adds a library as a program with so many versions does by default, and
//                                                              reads it; prints the code of the error
//     PostgreSQLTransfers copy <source> <url> <number>         copies a library, and kills itself once so many objects are copied
let arguments = CommandLine.arguments

func migrate(_ how: String, _ url: URL) throws {
    PostgreSQLStore.register()
    let library = try Library()
    switch how {
    case "staged":
        var options = Library.automatic
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = library.stages()
        try library.open(url, .postgreSQL, 3, options) { _ in }
    default:
        try ProgressiveMigration(
            to: library.models[how == "chain" ? 2 : 1], configuration: nil, type: NSPostgreSQLStoreType,
            mappings: [("1to2", try library.mapping())]
        ).run(at: url, options: nil)
    }
}

func open(_ version: Int, _ url: URL) throws {
    PostgreSQLStore.register()
    do {
        try Library(count: version).open(url, .postgreSQL, version, Library.automatic) { context in
            _ = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        }
    } catch let error as CocoaError {
        print(error.errorCode)
        throw error
    }
}

func copy(_ source: URL, to url: URL, number: Int) throws {
    PostgreSQLStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try Library().models[0])
    let store = try coordinator.addPersistentStore(type: .sqlite, at: source)
    _ = try StoreCopy.run(store, of: coordinator, to: url, type: .sqlite) { done, _ in
        if done >= number { kill(getpid(), SIGKILL) }
    }
}

do {
    if arguments.count == 4, arguments[1] == "migrate", let url = URL(string: arguments[3]) {
        try migrate(arguments[2], url)
    } else if arguments.count == 4, arguments[1] == "open", let version = Int(arguments[2]),
        let url = URL(string: arguments[3])
    {
        try open(version, url)
    } else if arguments.count == 5, arguments[1] == "copy", let url = URL(string: arguments[3]),
        let number = Int(arguments[4])
    {
        try copy(URL(fileURLWithPath: arguments[2]), to: url, number: number)
    } else if arguments.count == 5, let url = URL(string: arguments[1]), let times = Int(arguments[2]),
        let contexts = Int(arguments[3]), let seed = UInt64(arguments[4])
    {
        try Accounts(url).move(times: times, contexts: contexts, seed: seed)
    } else {
        FileHandle.standardError.write(Data("usage: see main.swift\n".utf8))
        exit(2)
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
