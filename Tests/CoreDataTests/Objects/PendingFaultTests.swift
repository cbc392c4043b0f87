import CoreData
import Foundation
import Testing

/// Objects that are made by the stored properties of an object that is being fetched.
@Suite struct PendingFaultTests {
    nonisolated(unsafe) private static let model: NSManagedObjectModel = {  // Safe because it is frozen.
        let pad = Library.entity("Pad", nil)
        pad.managedObjectClassName = String(reflecting: Pad.self)
        let memo = Library.entity("Memo", nil)
        let leaf = Library.entity("Leaf", nil)
        leaf.managedObjectClassName = String(reflecting: Leaf.self)
        for entity in [pad, memo, leaf] { entity.properties = [Library.attribute("text", .stringAttributeType)] }
        let model = NSManagedObjectModel()
        model.entities = [pad, memo, leaf]
        return model
    }()

    private static func entity(_ name: String) -> NSEntityDescription {
        model.entitiesByName[name] ?? NSEntityDescription()
    }

    /// Makes a plain object, one of its own entity by another class, and one of a class with such properties itself.
    private final class Pad: NSManagedObject {
        let scratch = NSManagedObject(entity: PendingFaultTests.entity("Memo"), insertInto: nil)
        let leaf = Leaf(entity: PendingFaultTests.entity("Leaf"), insertInto: nil)
        var note = "as made"
    }

    private final class Leaf: NSManagedObject {
        let scratch = NSManagedObject(entity: PendingFaultTests.entity("Memo"), insertInto: nil)
        /// A fault that is made while another one is being made.
        let other: NSManagedObject? = PendingFaultTests.context.value.map { context in
            context.object(with: NSManagedObjectID())
        }
    }

    private struct Box: @unchecked Sendable {
        // Safe because one test uses it.
        var value: NSManagedObjectContext?
    }

    nonisolated(unsafe) private static var context = Box()  // Safe because one test uses it.

    @Test("B1: a stored property that makes objects does not take the place of the object that is fetched")
    func scratchObjects() throws {
        let stack = try LibraryStack(model: Self.model)
        var id: NSManagedObjectID?
        try stack.story { context in
            let pad = Pad(context: context)
            pad.setValue("kept", forKey: "text")
            try context.save()
            id = pad.objectID
        }
        let context = stack.newContext()
        try context.performAndWait {
            Self.context.value = context
            defer { Self.context.value = nil }
            let pads = try context.fetch(NSFetchRequest<Pad>(entityName: "Pad"))
            let pad = try #require(pads.first)
            #expect(pads.count == 1 && pad.managedObjectContext === context && pad.isFault)
            #expect(pad.objectID == id && pad.value(forKey: "text") as? String == "kept")
            #expect(context.registeredObject(for: pad.objectID) === pad)
            for scratch in [pad.scratch, pad.leaf, pad.leaf.scratch] {
                #expect(scratch.managedObjectContext == nil && !scratch.isFault && scratch !== pad)
                scratch.setValue("scratch", forKey: "text")
                #expect(scratch.value(forKey: "text") as? String == "scratch")
            }
            #expect(pad.scratch.entity.name == "Memo" && pad.leaf.entity.name == "Leaf" && pad.note == "as made")
            #expect(pad.leaf.other?.managedObjectContext === context)
            pad.setValue("changed", forKey: "text")
            try context.save()
        }
    }

    /// Names its entity itself.
    private final class Stubborn: NSManagedObject {
        required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
            super.init(entity: PendingFaultTests.entity("Memo"), insertInto: context)
        }
    }

    @Test("B1: a class whose initialiser names another entity is a fault of the row all the same")
    func otherEntity() throws {
        let entity = Library.entity("Stubborn", nil)
        entity.managedObjectClassName = String(reflecting: Stubborn.self)
        entity.properties = [Library.attribute("text", .stringAttributeType)]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let request = NSBatchInsertRequest(entityName: "Stubborn", objects: [["text": "kept"]])
            try context.execute(request)
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Stubborn"))
            #expect(found.first is Stubborn && found.first?.entity.name == "Stubborn")
            #expect(found.first?.value(forKey: "text") as? String == "kept")
            #expect(found.first?.managedObjectContext === context)
        }
    }
}
