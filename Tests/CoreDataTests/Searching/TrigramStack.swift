import CoreData
import Foundation
import TestSupport

/// Notes, some of them letters, in folders: texts that a trigram index finds.
struct TrigramStack {
    let model: NSManagedObjectModel
    let url: URL

    init(searched: Bool = true, adds: String? = nil, at url: URL? = nil) throws {
        self.url = try url ?? Fixtures.temporaryFolder().appendingPathComponent("Notes.sqlite")
        func text(_ name: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = .stringAttributeType
            attribute.isOptional = true
            return attribute
        }
        func entity(_ name: String, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.managedObjectClassName = "NSManagedObject"
            entity.properties = properties
            return entity
        }
        let (title, sender, name) = (text("title"), text("sender"), text("name"))
        for attribute in [title, sender, name] { attribute.hasTrigramIndex = searched }
        let (folder, notes) = (NSRelationshipDescription(), NSRelationshipDescription())
        let letter = entity("Letter", [sender])
        let note = entity("Note", [title, text("plain"), folder] + (adds.map { [text($0)] } ?? []))
        let home = entity("Folder", [name, notes])
        note.subentities = [letter]
        (folder.name, folder.destinationEntity, folder.maxCount, folder.inverseRelationship) = (
            "folder", home, 1, notes
        )
        (notes.name, notes.destinationEntity, notes.inverseRelationship) = ("notes", note, folder)
        folder.isOptional = true
        notes.isOptional = true
        model = NSManagedObjectModel()
        model.entities = [note, letter, home]
    }

    /// Runs `body` with a context of its own on the store's file.
    func open(_ options: [AnyHashable: Any]? = nil, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, configuration: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        try coordinator.remove(store)
    }

    /// Runs statements on a connection that knows nothing of this package: as another framework would.
    @discardableResult
    func foreign(_ statements: String...) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script = """
            import sqlite3, sys
            c = sqlite3.connect(sys.argv[1])
            for s in sys.argv[2:]:
                for r in c.execute(s): print("|".join(map(str, r)))
            c.commit()
            """
        process.arguments = ["python3", "-c", script, url.path] + statements
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw ForeignFailure(output: text) }
        return text
    }

    struct ForeignFailure: Error { var output: String }

}

extension NSManagedObjectContext {
    @discardableResult
    func note(_ title: String?, entity: String = "Note") -> NSManagedObject {
        let note = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        note.setValue(title, forKey: "title")
        return note
    }

    func titles(_ format: String, _ arguments: Any...) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try fetch(request).map { $0.value(forKey: "title") as? String ?? "nil" }.sorted()
    }

    func explained(_ format: String, entity: String = "Note") throws -> FetchExplanation {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: format)
        return try request.explain(in: self)[0]
    }
}
