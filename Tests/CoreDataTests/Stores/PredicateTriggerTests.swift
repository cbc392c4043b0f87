import CoreDataSQL
import Foundation
import Testing

@testable import CoreData

/// Stores with triggers for attributes that have a predicate, as libraries of Photos have them: `ZT_…` triggers set a column and call
/// `NSCoreDataTriggerUpdateAffectedObjectValue` (store-format §5).
@Suite struct PredicateTriggerTests {
    /// Counts the chapters of a book in its pages.
    private func addTriggers(to stack: LibraryStack) throws {
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: stack.url.path))
        defer { database.close() }
        func report(_ row: String) -> String {
            """
            SELECT NSCoreDataTriggerUpdateAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'ZPAGES', ZPAGES) FROM ZBOOK \
            WHERE Z_PK = \(row).ZBOOK;
            """
        }
        try database.write { connection in
            try connection.execute(
                """
                CREATE TRIGGER ZT_ZBOOK_ZPAGES_ZCHAPTER_INSERT_INCREMENT AFTER INSERT ON ZCHAPTER FOR EACH ROW BEGIN \
                UPDATE ZBOOK SET ZPAGES = IFNULL(ZPAGES,0) + 1 WHERE NEW.ZBOOK = Z_PK; \(report("NEW")) END
                """)
            try connection.execute(
                """
                CREATE TRIGGER ZT_ZBOOK_ZPAGES_ZCHAPTER_DELETE_DECREMENT AFTER DELETE ON ZCHAPTER FOR EACH ROW BEGIN \
                UPDATE ZBOOK SET ZPAGES = MAX(0,IFNULL(ZPAGES,0) - 1) WHERE OLD.ZBOOK = Z_PK; \(report("OLD")) END
                """)
        }
    }

    @Test func whatSuchATriggerSetsShowsAfterTheSave() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Emma"
            try context.save()
            try addTriggers(to: stack)
            let chapter = Chapter(context: context)
            chapter.book = book
            try context.save()
            #expect(book.pages == 1)
            context.refresh(book, mergeChanges: false)
            #expect(book.pages == 1, "the row cache has the new row, too")
            context.delete(chapter)
            try context.save()
            #expect(book.pages == 0)
        }
    }
}
