import CoreDataModel
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreData

/// Answers every fetch with one object, of the entity that the test names.
private final class StrayStore: NSIncrementalStore, @unchecked Sendable {
    // Safe because the answers have a lock.

    static let type = "Stray"

    struct Answer {
        var entity: String
        var isObject = false
    }

    /// By the path of the store.
    static let answers = Mutex<[String: Answer]>([:])

    override func loadMetadata() throws { metadata = [NSStoreTypeKey: Self.type, NSStoreUUIDKey: url?.path ?? ""] }

    override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        let answer = Self.answers.withLock { $0[url?.path ?? ""] }
        guard let answer, let context,
            let entity = persistentStoreCoordinator?.managedObjectModel.entitiesByName[answer.entity]
        else { return [Any]() }
        let id = newObjectID(for: entity, referenceObject: 1)
        return answer.isObject ? [context.object(with: id)] : [id]
    }

    override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode { NSIncrementalStoreNode(objectID: objectID, withValues: [:], version: 1) }
}

/// What becomes of answers of an incremental store with objects of other entities than the request's.
@Suite struct StrayStoreTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var requested: String
        var withSubentities = true
        var answered: String
        /// A part of the error's message; `nil` where the answer is right.
        var problem: String?

        var testDescription: String { "\(requested) \(withSubentities): \(answered)" }
    }

    static let cases = [
        Case(requested: "Book", answered: "Book"), Case(requested: "Book", answered: "Comic"),
        Case(requested: "Book", withSubentities: false, answered: "Book"),
        Case(
            requested: "Book", withSubentities: false, answered: "Comic",
            problem: "was asked for objects of 'Book', and returned one of 'Comic'"),
        Case(
            requested: "Book", answered: "Author",
            problem: "was asked for objects of 'Book', and returned one of 'Author'"),
        Case(
            requested: "Comic", answered: "Book",
            problem: "was asked for objects of 'Comic', and returned one of 'Book'"),
    ]

    @Test(arguments: cases, [false, true]) func answersAreOfTheEntity(_ example: Case, isObject: Bool) throws {
        let url = URL(fileURLWithPath: "/stray/\(UUID().uuidString)")
        StrayStore.answers.withLock { $0[url.path] = .init(entity: example.answered, isObject: isObject) }
        NSPersistentStoreCoordinator.registerStoreClass(StrayStore.self, forStoreType: StrayStore.type)
        let coordinator = try NSPersistentStoreCoordinator(
            validating: NSManagedObjectModel(
                document: model(
                    entity("Author", attribute("name")), entity("Book", attribute("title")),
                    entity("Comic", parent: "Book", attribute("artist")))))
        try coordinator.addPersistentStore(ofType: StrayStore.type, configurationName: nil, at: url)
        try FileStack.story(coordinator) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: example.requested)
            request.includesSubentities = example.withSubentities
            let result = Result { try context.fetch(request).map(\.entity.name) }
            guard let problem = example.problem else {
                let names = try result.get()
                #expect(names == [example.answered])
                return
            }
            let error = #expect(throws: CocoaError.self) { try result.get() }
            #expect(error?.errorCode == NSPersistentStoreOperationError)
            #expect(error?.localizedDescription.contains("StrayStore.execute(_:with:) \(problem)") == true)
        }
    }
}
