import Foundation
import Testing

@testable import CoreData

/// What nobody uses any more goes, circles of references notwithstanding.
@Suite struct LeakTests {
    enum End: CaseIterable {
        case saved, deleted, rolledBack, deletedBeforeTheSave
    }

    @Test(arguments: End.allCases)
    func objectsThatReferToEachOtherDieWithTheirContext(_ end: End) throws {
        weak var weakBook: Book?
        weak var weakContext: NSManagedObjectContext?
        do {
            let stack = try LibraryStack()
            weakContext = stack.context
            try stack.story { context in
                let book = Book(context: context)
                book.setValue("B", forKey: "title")
                let reader = Reader(context: context)
                reader.setValue("R", forKey: "name")
                let loan = Loan(context: context)
                loan.book = book
                loan.reader = reader
                weakBook = book
                if end == .rolledBack { return context.rollback() }
                if end != .deletedBeforeTheSave { try context.save() }
                if end == .saved { return }
                for object in [reader, loan, book] { context.delete(object) }
                try context.save()
            }
        }
        #expect(weakContext == nil)
        #expect(weakBook == nil)
    }

    @Test func aModelWithAFetchedPropertyGoes() {
        weak var weakEntity: NSEntityDescription?
        do {
            let model = NSManagedObjectModel()
            let entity = NSEntityDescription()
            entity.name = "Book"
            let fetched = NSFetchedPropertyDescription()
            fetched.name = "cheaper"
            fetched.fetchRequest = NSFetchRequest()
            fetched.fetchRequest?.entity = entity
            entity.properties = [fetched]
            model.entities = [entity]
            #expect(fetched.fetchRequest?.entity === entity)
            weakEntity = entity
        }
        #expect(weakEntity == nil)
    }

    @Test func aRequestOfItsOwnKeepsItsEntity() {
        let request = NSFetchRequest<NSManagedObject>()
        do {
            let entity = NSEntityDescription()
            entity.name = "Book"
            request.entity = entity
        }
        #expect(request.entity?.name == "Book")
    }
}
