import CoreData
import Foundation
import Testing

/// Methods of managed objects that Apple's framework lets be overridden.
@Suite struct OpenObjectMethodTests {
    @Test func everyMethodOfAnObjectIsCalledByItsOverride() throws {
        let (context, note) = try Self.note()
        try context.performAndWait { () throws in
            let object: NSManagedObject = note
            object.setValue("a", forKey: "text")
            #expect(object.value(forKey: "text") as? String == "a")
            object.setValue(nil, forKey: "count")
            #expect(object.value(forKey: "unknown") as? String == "unknown")
            object.setValue(1, forKey: "unknown")
            object.willAccessValue(forKey: "text")
            object.didAccessValue(forKey: "text")
            object.willChangeValue(forKey: "text")
            object.didChangeValue(forKey: "text")
            object.willChangeValue(forKey: "notes", withSetMutation: .union, using: [])
            object.didChangeValue(forKey: "notes", withSetMutation: .union, using: [])
            object.willChange(.insertion, valuesAt: IndexSet(), forKey: "notes")
            object.didChange(.insertion, valuesAt: IndexSet(), forKey: "notes")
            try context.save()
            object.setValue("b", forKey: "text")
            try context.save()
            context.refresh(object, mergeChanges: false)
            _ = object.value(forKey: "text")
            object.setValue("c", forKey: "text")
            context.rollback()
            context.delete(object)
            try context.save()
            _ = (object.description, object.faultingState)
        }
        let expected: Set<String> = [
            "awakeFromInsert", "awakeFromFetch", "awake", "prepareForDeletion", "willSave", "didSave",
            "willTurnIntoFault",
            "didTurnIntoFault", "validateForInsert", "validateForUpdate", "validateForDelete", "validateValue", "value",
            "setValue", "setNilValue", "undefinedValue", "setUndefinedValue", "willAccess", "didAccess", "willChange",
            "didChange", "willChangeSet", "didChangeSet", "willChangeList", "didChangeList", "description",
            "faultingState",
        ]
        #expect(expected.subtracting(note.calls) == [])
        #expect(OwnNote.entity().name == "Note" && !OwnNote.contextShouldIgnoreUnmodeledPropertyChanges)
    }

    private static func note() throws -> (NSManagedObjectContext, OwnNote) {
        let text = NSAttributeDescription()
        (text.name, text.attributeType) = ("text", .stringAttributeType)
        let count = NSAttributeDescription()
        (count.name, count.attributeType) = ("count", .integer64AttributeType)
        let notes = NSRelationshipDescription()
        (notes.name, notes.isOptional, notes.maxCount) = ("notes", true, 0)
        notes.isOrdered = true
        OwnNote.noteEntity.name = "Note"
        OwnNote.noteEntity.managedObjectClassName = "OwnNote"
        notes.destinationEntity = OwnNote.noteEntity
        notes.deleteRule = .nullifyDeleteRule
        OwnNote.noteEntity.properties = [text, count, notes]
        let model = NSManagedObjectModel()
        model.entities = [OwnNote.noteEntity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return (context, context.performAndWait { OwnNote(context: context) })
    }
}

final class OwnNote: NSManagedObject {
    // Safe because one test uses it.
    nonisolated(unsafe) static let noteEntity = NSEntityDescription()
    var calls: Set<String> = []

    override class func entity() -> NSEntityDescription { noteEntity }
    override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }

    override func awakeFromInsert() { calls.insert("awakeFromInsert") }
    override func awakeFromFetch() { calls.insert("awakeFromFetch") }
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) { calls.insert("awake") }
    override func prepareForDeletion() { calls.insert("prepareForDeletion") }
    override func willSave() { calls.insert("willSave") }
    override func didSave() { calls.insert("didSave") }
    override func willTurnIntoFault() { calls.insert("willTurnIntoFault") }
    override func didTurnIntoFault() { calls.insert("didTurnIntoFault") }
    override func validateForInsert() throws {
        calls.insert("validateForInsert")
        try super.validateForInsert()
    }
    override func validateForUpdate() throws {
        calls.insert("validateForUpdate")
        try super.validateForUpdate()
    }
    override func validateForDelete() throws {
        calls.insert("validateForDelete")
        try super.validateForDelete()
    }
    override func validateValue(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        calls.insert("validateValue")
        try super.validateValue(value, forKey: key)
    }
    override func value(forKey key: String) -> Any? {
        calls.insert("value")
        return super.value(forKey: key)
    }
    override func setValue(_ value: Any?, forKey key: String) {
        calls.insert("setValue")
        super.setValue(value, forKey: key)
    }
    override func setNilValueForKey(_ key: String) {
        calls.insert("setNilValue")
        super.setNilValueForKey(key)
    }
    override func value(forUndefinedKey key: String) -> Any? {
        calls.insert("undefinedValue")
        return key
    }
    override func setValue(_ value: Any?, forUndefinedKey key: String) { calls.insert("setUndefinedValue") }
    override func willAccessValue(forKey key: String?) {
        calls.insert("willAccess")
        super.willAccessValue(forKey: key)
    }
    override func didAccessValue(forKey key: String?) { calls.insert("didAccess") }
    override func willChangeValue(forKey key: String) {
        calls.insert("willChange")
        super.willChangeValue(forKey: key)
    }
    override func didChangeValue(forKey key: String) {
        calls.insert("didChange")
        super.didChangeValue(forKey: key)
    }
    override func willChangeValue(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) {
        calls.insert("willChangeSet")
        super.willChangeValue(forKey: key, withSetMutation: mutation, using: objects)
    }
    override func didChangeValue(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) {
        calls.insert("didChangeSet")
        super.didChangeValue(forKey: key, withSetMutation: mutation, using: objects)
    }
    override func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        calls.insert("willChangeList")
        super.willChange(changeKind, valuesAt: indexes, forKey: key)
    }
    override func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        calls.insert("didChangeList")
        super.didChange(changeKind, valuesAt: indexes, forKey: key)
    }
    override var description: String {
        calls.insert("description")
        return super.description
    }
    override var faultingState: Int {
        calls.insert("faultingState")
        return super.faultingState
    }
}
