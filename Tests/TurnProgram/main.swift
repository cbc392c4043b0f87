import CoreData
import Foundation

/// Changes an object of a main context by plain code on the main thread, twice, and prints what was told of it and what undo
/// takes back.
///
///     TurnProgram run-loop            // in two timers of a run loop
///     TurnProgram dispatch-main       // in two blocks of the main queue
///     TurnProgram nothing             // one after the other, in a program that just ends
///     TurnProgram list                // prints what a list shows after another context saved, where no notification is observed
///     TurnProgram wait                // prints what a main context did while the main thread waited for it in a run loop
///     TurnProgram wait-in-main-queue  // the same, where a block of the main queue waits
@MainActor final class Story {
    let context = NSManagedObjectContext(.mainQueue)
    let note: NSManagedObject
    var events = 0

    init() throws {
        let coordinator = try makeCoordinator()
        context.persistentStoreCoordinator = coordinator
        note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
        note.setValue("first", forKey: "text")
        try context.save()
        context.undoManager = UndoManager()
        _ = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { [unowned self] _ in MainActor.assumeIsolated { events += 1 } }
    }

    func change(_ text: String) {
        note.setValue(text + "?", forKey: "text")
        note.setValue(text, forKey: "text")
        context.undoManager?.registerUndo(withTarget: context) { _ in }
    }

    func tell() {
        var lines = ["\(events) events"]
        while context.undoManager?.canUndo == true {
            context.undo()
            lines.append("undo: \(note.value(forKey: "text") ?? "nil")")
        }
        print(lines.joined(separator: "\n"))
    }
}

func makeCoordinator() throws -> NSPersistentStoreCoordinator {
    let text = NSAttributeDescription()
    (text.name, text.attributeType) = ("text", .stringAttributeType)
    let entity = NSEntityDescription()
    (entity.name, entity.properties) = ("Note", [text])
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    return coordinator
}

/// Without a delegate a list does not follow.
final class Reader: NSObject, NSFetchedResultsControllerDelegate {
    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
        print("changed")
    }
}

@MainActor func showList() throws {
    let coordinator = try makeCoordinator()
    let context = NSManagedObjectContext(.mainQueue)
    context.persistentStoreCoordinator = coordinator
    context.automaticallyMergesChangesFromParent = true
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
    let list = NSFetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: nil, cacheName: nil)
    let reader = Reader()
    list.delegate = reader
    try list.performFetch()
    let other = NSManagedObjectContext(.privateQueue)
    other.persistentStoreCoordinator = coordinator
    try other.performAndWait {
        for text in ["b", "a"] {
            NSEntityDescription.insertNewObject(forEntityName: "Note", into: other).setValue(text, forKey: "text")
        }
        try other.save()
    }
    DispatchQueue.main.async {
        print((list.fetchedObjects ?? []).map { $0.value(forKey: "text") as? String ?? "nil" }.joined(separator: "\n"))
        withExtendedLifetime(reader) { exit(EXIT_SUCCESS) }
    }
    dispatchMain()
}

@MainActor func later(_ action: @escaping @MainActor () -> Void) {
    let timer = Timer(timeInterval: 0, repeats: false) { _ in MainActor.assumeIsolated(action) }
    RunLoop.main.add(timer, forMode: .default)
}

if CommandLine.arguments.contains("list") { try showList() }
if CommandLine.arguments.contains("wait") { try showWaiting() }
if CommandLine.arguments.contains("wait-in-main-queue") { showWaitingInMainQueue() }
let story = try Story()
switch CommandLine.arguments.dropFirst().first {
case "run-loop":
    later {
        story.change("second")
        later {
            story.change("third")
            later {
                story.tell()
                exit(EXIT_SUCCESS)
            }
        }
    }
    RunLoop.main.run()
case "dispatch-main":
    DispatchQueue.main.async {
        story.change("second")
        DispatchQueue.main.async {
            DispatchQueue.main.async {
                story.change("third")
                DispatchQueue.main.async {
                    DispatchQueue.main.async {
                        story.tell()
                        exit(EXIT_SUCCESS)
                    }
                }
            }
        }
    }
    dispatchMain()
default:
    story.change("second")
    story.change("third")
    story.tell()
}
