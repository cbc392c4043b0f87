import CoreData
import Foundation
import Testing

/// Fetched properties of models that are made in code, in the forms that apps write.
@Suite struct FetchedPropertyInCodeTests {
    /// How the property's request names what it fetches.
    enum Form: CaseIterable {
        case entity, name, entityOfTheSameModelBefore
    }

    private func model(_ form: Form, _ format: String, userInfo: [AnyHashable: Any]? = nil) -> NSManagedObjectModel {
        let model = Library.model()
        let (author, book) = (model.entitiesByName["Author"], model.entitiesByName["Book"])
        let property = NSFetchedPropertyDescription()
        property.name = "found"
        property.userInfo = userInfo
        let request: NSFetchRequest<any NSFetchRequestResult>
        switch form {
        case .name: request = NSFetchRequest(entityName: "Book")
        case .entity, .entityOfTheSameModelBefore:
            request = NSFetchRequest()
            request.entity = book
        }
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        property.fetchRequest = request
        if form == .entityOfTheSameModelBefore {
            author?.properties = (author?.properties ?? []) + [property]
            return model.copy() as? NSManagedObjectModel ?? model
        }
        author?.properties.append(property)
        return model
    }

    private func titles(_ model: NSManagedObjectModel, saved: Bool) throws -> [String] {
        let stack = try LibraryStack(model: model)
        return try stack.story { context in
            let author = Author(context: context)
            author.name = "Ann"
            for (title, isbn) in [("Ann 1", "Ann"), ("Ann 2", "Ann-2"), ("Bob 1", "Bob")] {
                let book = Book(context: context)
                (book.title, book.isbn) = (title, isbn)
                if title.hasPrefix("Ann") { book.author = author }
            }
            if saved {
                try context.save()
                context.refreshAllObjects()
            }
            let found = author.value(forKey: "found")
            #expect(found is NSArray || found is [NSManagedObject])
            return (found as? [Book] ?? []).map { $0.title ?? "" }
        }
    }

    @Test("M17: in each form of the request", arguments: Form.allCases, [true, false])
    func forms(form: Form, saved: Bool) throws {
        #expect(try titles(model(form, "author == $FETCH_SOURCE"), saved: saved) == ["Ann 2", "Ann 1"])
        #expect(try titles(model(form, "isbn == $FETCH_SOURCE.name"), saved: saved) == ["Ann 1"])
        #expect(try titles(model(form, "isbn BEGINSWITH $FETCH_SOURCE.name"), saved: saved) == ["Ann 2", "Ann 1"])
        let search = model(form, "title CONTAINS $FETCHED_PROPERTY.userInfo.search", userInfo: ["search": "Bob"])
        #expect(try titles(search, saved: saved) == ["Bob 1"])
        let both = model(
            form, "author == $FETCH_SOURCE AND title ENDSWITH $FETCHED_PROPERTY.userInfo.search",
            userInfo: ["search": "2"])
        #expect(try titles(both, saved: saved) == ["Ann 2"])
    }

    @Test("M17: a subentity has the property of its parent")
    func inherited() throws {
        let model = Library.model()
        let property = NSFetchedPropertyDescription()
        property.name = "namesakes"
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Person")
        request.predicate = NSPredicate(format: "name == $FETCH_SOURCE.name AND SELF != $FETCH_SOURCE")
        property.fetchRequest = request
        model.entitiesByName["Person"]?.properties.append(property)
        let stack = try LibraryStack(model: model)
        try stack.story { context in
            let (author, reader) = (Author(context: context), Reader(context: context))
            (author.name, reader.name) = ("Ann", "Ann")
            try context.save()
            #expect(author.value(forKey: "namesakes") as? [NSManagedObject] == [reader])
            #expect(reader.value(forKey: "namesakes") as? [NSManagedObject] == [author])
        }
    }
}
