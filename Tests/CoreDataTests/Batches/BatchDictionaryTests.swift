import Foundation
import Testing

@testable import CoreData

/// What a batch insert's handler fills in is a dictionary like any other.
@Suite struct BatchDictionaryTests {
    private func check(_ dictionary: NSMutableDictionary, _ expected: [String: Int]) {
        #expect(dictionary.count == expected.count)
        for (key, value) in expected {
            #expect(dictionary[key] as? Int == value)
            #expect(dictionary.object(forKey: key) as? Int == value)
            #expect(dictionary.object(forKey: NSString(string: key)) as? Int == value)
            #expect(dictionary.value(forKey: key) as? Int == value)
        }
        #expect(dictionary["nothing"] == nil && dictionary[5] == nil)
        #expect(Set(dictionary.allKeys.compactMap { $0 as? String }) == Set(expected.keys))
        #expect(dictionary.allValues.compactMap { $0 as? Int }.sorted() == expected.values.sorted())
        var read: [String: Int] = [:]
        for (key, value) in dictionary { read[key as? String ?? ""] = value as? Int }
        #expect(read == expected)
        for key in expected.keys { #expect(dictionary.description.contains(key)) }
    }

    @Test func itDoesWhatFoundationsDo() {
        for dictionary in [BatchDictionary(), NSMutableDictionary()] {
            for round in 1...3 {
                check(dictionary, [:])
                dictionary["a"] = round
                dictionary["b"] = 2
                check(dictionary, ["a": round, "b": 2])
                dictionary.setObject(3, forKey: NSString(string: "b"))
                dictionary.setValue(4, forKey: "c")
                check(dictionary, ["a": round, "b": 3, "c": 4])
                dictionary["a"] = nil
                dictionary.removeObject(forKey: "never")
                check(dictionary, ["b": 3, "c": 4])
                dictionary.addEntries(from: ["c": 5, "a": 6])
                check(dictionary, ["a": 6, "b": 3, "c": 5])
                dictionary.setDictionary(["d": 7])
                check(dictionary, ["d": 7])
                dictionary.removeAllObjects()
            }
        }
    }

    @Test func aClearedOneKnowsItsKeys() {
        let dictionary = BatchDictionary()
        for number in 1...4 {
            // In the same order, in another one, with a key more, with a key less.
            let keys = [["a", "b"], ["b", "a"], ["a", "c", "b"], ["b"]][number - 1]
            for key in keys { dictionary[key] = number }
            check(dictionary, Dictionary(keys.map { ($0, number) }, uniquingKeysWith: { first, _ in first }))
            var places: [AnyHashable] = []
            dictionary.forEachValue { place, value in
                places.append(dictionary.keys[place])
                #expect(value as? Int == number)
            }
            #expect(Set(places) == Set(keys.map(AnyHashable.init)))
            dictionary.clear()
            check(dictionary, [:])
        }
        #expect(dictionary.keys == ["a", "b", "c"])
    }

    @Test("A dictionary that a handler keeps has what was put there; other rows have other keys")
    func keptDictionaries() throws {
        let stack = try LibraryStack()
        try stack.story { context throws in
            var kept: [NSMutableDictionary] = []
            var number = 0
            let request = NSBatchInsertRequest(entityName: "Book") { (dictionary: NSMutableDictionary) in
                #expect(dictionary.count == 0)
                number += 1
                dictionary["title"] = "book \(number)"
                switch number {
                case 1: dictionary["pages"] = 10
                case 2: dictionary[NSString(string: "rating")] = 2.5
                case 3: dictionary.addEntries(from: ["isbn": "3", "nothing": 1, 7: "x"])
                case 4: dictionary.setDictionary(["title": "book 4", "pages": 40])
                default: dictionary["isLent"] = NSNull()
                }
                if number % 2 == 0 { kept.append(dictionary) }
                return number == 6
            }
            request.resultType = .count
            #expect(try (context.execute(request) as? NSBatchInsertResult)?.result as? Int == 5)
            #expect(kept.map { $0["title"] as? String } == ["book 2", "book 4", "book 6"])
            #expect(kept[0]["rating"] as? Double == 2.5 && kept[1]["pages"] as? Int == 40)
            let fetch = NSFetchRequest<Book>(entityName: "Book")
            fetch.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let books = try context.fetch(fetch)
            #expect(books.map(\.title) == (1...5).map { "book \($0)" })
            #expect(books.map(\.pages) == [10, 0, 0, 40, 0] && books.map(\.rating) == [0, 2.5, 0, 0, 0])
            #expect(books.map(\.isbn) == [nil, nil, "3", nil, nil])
        }
    }
}
