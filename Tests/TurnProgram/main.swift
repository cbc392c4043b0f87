import CoreData
import Foundation

/// Changes an object of a main context by plain code on the main thread, twice, and prints what was told of it and what undo
/// takes back.
///
///     TurnProgram run-loop            // in two timers of a run loop
///     TurnProgram dispatch-main       // in two blocks of the main queue
///     TurnProgram nothing             // one after the other, in a program that just ends
@MainActor final class Story {
    let context = NSManagedObjectContext(.mainQueue)
    let note: NSManagedObject
    var events = 0

    init() throws {
        let text = NSAttributeDescription()
        (text.name, text.attributeType) = ("text", .stringAttributeType)
        let entity = NSEntityDescription()
        (entity.name, entity.properties) = ("Note", [text])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        context.persistentStoreCoordinator = coordinator
        note = NSManagedObject(entity: entity, insertInto: context)
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

@MainActor func later(_ action: @escaping @MainActor () -> Void) {
    let timer = Timer(timeInterval: 0, repeats: false) { _ in MainActor.assumeIsolated(action) }
    RunLoop.main.add(timer, forMode: .default)
}

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
