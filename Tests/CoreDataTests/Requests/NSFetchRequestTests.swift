import CoreData
import Foundation
import Testing

private class RequestedBook: NSObject, NSFetchRequestResult {}

extension NSFetchRequestResult where Self: RequestedBook {
    fileprivate static func everything() -> NSFetchRequest<Self> { NSFetchRequest<Self>(entityName: "Book") }
}

@Suite struct NSFetchRequestTests {
    @Test func aNewRequestHasApplesDefaults() {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        #expect(request.entityName == "Book")
        #expect(request.entity == nil)
        #expect(request.predicate == nil && request.sortDescriptors == nil && request.havingPredicate == nil)
        #expect(request.fetchLimit == 0 && request.fetchOffset == 0 && request.fetchBatchSize == 0)
        #expect(request.resultType == .managedObjectResultType)
        #expect(request.includesSubentities && request.includesPropertyValues && request.includesPendingChanges)
        #expect(request.returnsObjectsAsFaults)
        #expect(!request.returnsDistinctResults && !request.shouldRefreshRefetchedObjects)
        #expect(request.propertiesToFetch == nil && request.propertiesToGroupBy == nil)
        #expect(request.relationshipKeyPathsForPrefetching == nil)
        #expect(request.requestType == .fetchRequestType)
    }

    @Test func resultTypesHaveApplesRawValues() {
        #expect(NSFetchRequestResultType.managedObjectResultType.rawValue == 0)
        #expect(NSFetchRequestResultType.managedObjectIDResultType.rawValue == 1)
        #expect(NSFetchRequestResultType.dictionaryResultType.rawValue == 2)
        #expect(NSFetchRequestResultType.countResultType.rawValue == 4)
    }

    @Test func settingTheEntityNamesIt() {
        let entity = NSEntityDescription()
        entity.name = "Author"
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.entity = entity
        #expect(request.entityName == "Author")
        request.entity = nil
        #expect(request.entityName == nil)
    }

    @Test func aCopyIsIndependent() throws {
        let request = RequestedBook.everything()
        request.fetchLimit = 7
        request.propertiesToFetch = ["title"]
        let copy = try #require(request.copy() as? NSFetchRequest<RequestedBook>)
        #expect(copy.fetchLimit == 7 && copy.entityName == "Book")
        #expect(copy.propertiesToFetch as? [String] == ["title"])
        copy.fetchLimit = 8
        #expect(request.fetchLimit == 7)
    }

    @Test func aRequestTakesAnotherResultType() {
        let request = RequestedBook.everything()
        request.fetchOffset = 3
        let erased = NSFetchRequest<any NSFetchRequestResult>(request)
        #expect(erased.fetchOffset == 3 && erased.entityName == "Book")
        let plain: NSPersistentStoreRequest = request
        #expect((plain as? AnyFetchRequest)?.fetchOffset == 3)
    }

    @Test func aDescriptionTellsWhatIsAskedFor() {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        #expect(request.description.hasSuffix("(entity: Book; type: NSManagedObjectResultType)"))
        request.predicate = NSPredicate(format: "pages > 300")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        (request.fetchLimit, request.fetchOffset, request.fetchBatchSize) = (20, 40, 5)
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        request.propertiesToGroupBy = ["title"]
        request.returnsDistinctResults = true
        #expect(
            request.description.hasSuffix(
                """
                (entity: Book; predicate: pages > 300; sortDescriptors: (title, descending, compare:); limit: 20; \
                offset: 40; batch size: 5; type: NSDictionaryResultType; propertiesToFetch: title; \
                propertiesToGroupBy: title; distinct)
                """))
    }

    @Test func castingGivesTheRequestAnotherResultType() throws {
        let books = NSFetchRequest<Book>(entityName: "Book")
        books.fetchLimit = 3
        #expect(NSFetchRequest<Book>.cast(books) === books)
        let any = try #require(NSFetchRequest<any NSFetchRequestResult>.cast(books))
        #expect(any.fetchLimit == 3 && any.entityName == "Book")
        #expect(NSFetchRequest<Book>.cast(any)?.fetchLimit == 3)
        #expect(NSFetchRequest<Book>.cast("no request") == nil && NSFetchRequest<Book>.cast(nil) == nil)
    }
}
