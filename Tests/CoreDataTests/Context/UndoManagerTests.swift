import CoreData
import Testing

@Suite struct UndoManagerTests {
    @Test func theUndoManagerCanBeSetToNil() throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.undoManager = nil
        #expect(context.undoManager == nil)
    }
}
