import CoreData
import Foundation
import Testing

/// How many members a to-many must have: what the model's minCount says, whether or not the relationship is optional.
@Suite struct RequiredToManyTests {
    @Test(
        "G4, G7: only the literal minCount counts",
        arguments: [
            (false, 0, 0, 0), (false, 0, 1, 0), (false, 1, 0, 1580), (false, 1, 1, 0), (false, 2, 1, 1580),
            (true, 0, 0, 0), (true, 2, 0, 0), (true, 2, 1, 1580),
        ])
    func counts(isOptional: Bool, minimum: Int, members: Int, code: Int) throws {
        let model = Library.model()
        let tags = model.entitiesByName["Book"]?.relationshipsByName["tags"]
        tags?.isOptional = isOptional
        tags?.minCount = minimum
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Emma"
            for index in 0..<members {
                let tag = Tag(context: context)
                tag.name = "\(index)"
                book.tags.insert(tag)
            }
            var found = 0
            do { try context.save() } catch { found = (error as NSError).code }
            #expect(found == code)
            guard code == 0 else { return }
            // As an update, too.
            book.pages = 3
            book.tags = []
            let isRefused = minimum > 0 && !isOptional
            do { try context.save() } catch { found = (error as NSError).code }
            #expect(found == (isRefused ? 1580 : 0))
            var value: AnyObject? = NSSet()
            if isRefused {
                #expect(throws: CocoaError.self) { try book.validateValue(&value, forKey: "tags") }
            } else {
                try book.validateValue(&value, forKey: "tags")
            }
        }
    }
}
