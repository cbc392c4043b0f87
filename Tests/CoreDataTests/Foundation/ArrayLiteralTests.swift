import CoreData
import Foundation
import Testing

/// Array literals where Foundation's sets are wanted, and URLs of resources.
@Suite struct ArrayLiteralTests {
    /// As Xcode's generated classes have it.
    private final class Shelf {
        var tags: NSSet?
        var added: [NSSet] = []
        func addToTags(_ values: NSSet) { added.append(values) }
    }

    @Test func literalsOfEachKindOfSet() {
        let shelf = Shelf()
        shelf.tags = ["a", "b", "a"]
        #expect(shelf.tags?.count == 2 && shelf.tags?.contains("a") == true)
        shelf.tags = []
        #expect(shelf.tags?.count == 0)
        shelf.addToTags([1, 2])
        #expect(shelf.added == [NSSet(array: [1, 2])])
        let mutable: NSMutableSet = ["a"]
        mutable.add("b")
        #expect(mutable.count == 2)
        mutable.minus(["a"])
        #expect(mutable == ["b"] && mutable as? Set<String> == ["b"])
        #expect((["a"] as NSSet).isEqual(to: ["a"]))
        // Other literals are what they were.
        let swift: Set<String> = ["a"]
        let ordered: NSOrderedSet = ["a", "b"]
        #expect(swift.count == 1 && ordered.count == 2)
    }

    @Test func aLiteralOfObjectsIsAssigned() throws {
        let stack = try LibraryStack()
        stack.story { context in
            let (book, tag) = (Book(context: context), Tag(context: context))
            book.setValue([tag] as NSSet, forKey: "tags")
            #expect(book.tags == [tag] && tag.books == [book])
        }
    }

    @Test func resourcesAreFoundAsURLs() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("urls-\(UUID().uuidString).bundle")
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("Library.xcdatamodel")
        try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0"><entity name="Book"/></model>
            """
        try Data(text.utf8).write(to: source.appendingPathComponent("contents"))
        let bundle = try #require(Bundle(url: folder))
        let urls: [URL]? = bundle.urls(forResourcesWithExtension: "xcdatamodel", subdirectory: nil)
        #expect(urls?.map(\.lastPathComponent) == ["Library.xcdatamodel"])
        // The usual line, whatever the elements are.
        let first = try #require(bundle.urls(forResourcesWithExtension: "xcdatamodel", subdirectory: nil)?.first)
        #expect(NSManagedObjectModel(contentsOf: first)?.entitiesByName["Book"] != nil)
        let models = bundle.urls(forResourcesWithExtension: "xcdatamodel", subdirectory: nil)?.compactMap {
            NSManagedObjectModel(contentsOf: $0)
        }
        #expect(models?.count == 1)
        #expect(NSMappingModel(contentsOf: first) == nil)
    }
}
