import CoreData
import Foundation
import Testing

@Suite struct SetTests {
    @Test func setOfATypeIsMadeOfAnOptionalRelationship() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let author = Author(context: context)
            let books: Set = [Book(context: context), Book(context: context)]
            author.books = books
            let members = author.value(forKey: "books") as? NSSet
            #expect(members.flatMap(Set<Book>.init) == books)
            #expect((nil as NSSet?).flatMap(Set<Book>.init) == nil)
        }
    }
}
