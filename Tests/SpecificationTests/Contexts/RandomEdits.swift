import CoreData
import Foundation
import TestSupport

/// Edits of every kind, equal for equal seeds.
struct RandomEdits {
    private var numbers: SeededNumbers
    private let context: NSManagedObjectContext
    private var count = 0

    init(seed: UInt64, context: NSManagedObjectContext) {
        numbers = SeededNumbers(seed: seed)
        self.context = context
    }

    mutating func below(_ limit: Int) -> Int { numbers.below(limit) }

    private mutating func any(_ entity: String) throws -> NSManagedObject? {
        let found = try context.all(entity).filter { !$0.isDeleted }
        return found.isEmpty ? nil : found[numbers.below(found.count)]
    }

    mutating func edit() throws {
        count += 1
        switch numbers.below(14) {
        case 0: _ = context.insert("Author", ["name": "author \(count)"])
        case 1: _ = context.insert("Book", ["title": "book \(count)"])
        case 2: _ = context.insert("Chapter", ["title": "chapter \(count)", "length": count])
        case 3: _ = context.insert("Tag", ["name": "tag \(count)"])
        case 4: _ = context.insert("Person", ["name": "person \(count)"])
        case 5:
            let entity = numbers.pick(["Author", "Book", "Chapter", "Tag", "Person"])
            if let object = try any(entity) { context.delete(object) }
        case 6: try any("Book")?.setValue("title \(count)", forKey: "title")
        case 7: try any("Chapter")?.setValue(numbers.chance(3) ? nil : count, forKey: "length")
        case 8: try any("Book")?.setValue(numbers.chance(3) ? nil : try any("Author"), forKey: "author")
        case 9: try any("Chapter")?.setValue(numbers.chance(3) ? nil : try any("Book"), forKey: "book")
        case 10: try editTags()
        case 11: try moveChapters()
        case 12:
            guard let person = try any("Person"), let other = try any("Person") else { return }
            person.setValue(numbers.chance(3) ? nil : other, forKey: numbers.pick(["mentor", "spouse"]))
        default:
            guard let person = try any("Person"), let other = try any("Person") else { return }
            let friends = person.mutableSetValue(forKey: "friends")
            if friends.contains(other) { friends.remove(other) } else { friends.add(other) }
        }
    }

    private mutating func editTags() throws {
        guard let book = try any("Book"), let tag = try any("Tag") else { return }
        let tags = book.mutableOrderedSetValue(forKey: "tags")
        switch numbers.below(4) {
        case 0 where tags.count > 0: tags.removeObject(at: numbers.below(tags.count))
        case 1: tags.insert(tag, at: numbers.below(tags.count + 1))
        case 2: tag.mutableSetValue(forKey: "books").add(book)
        default: book.setValue(NSOrderedSet(array: Array(try context.all("Tag").prefix(3))), forKey: "tags")
        }
    }

    private mutating func moveChapters() throws {
        guard let book = try any("Book") else { return }
        let chapters = book.mutableOrderedSetValue(forKey: "chapters")
        if chapters.count > 1 {
            chapters.moveObjects(
                at: IndexSet(integer: numbers.below(chapters.count)), to: numbers.below(chapters.count))
        } else if let chapter = try any("Chapter") {
            chapters.add(chapter)
        }
    }
}
