import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import TestSupport

extension SpecifiedSource {
    /// Rows of every entity of the ``Bookshop``, a third of their values nil, related at random.
    ///
    /// - Parameter hasObjects: whether every value is one that managed objects have: texts that are URLs, no bytes that no
    ///   transformer knows.
    func fillBookshop(_ numbers: inout SeededNumbers, hasObjects: Bool = false) throws {
        func maybe(_ value: Value, _ numbers: inout SeededNumbers) -> Value { numbers.chance(3) ? .null : value }
        func text(_ numbers: inout SeededNumbers) -> Value {
            maybe(.string(numbers.pick(PredicateGenerator.texts)), &numbers)
        }
        func integer(_ numbers: inout SeededNumbers) -> Value {
            maybe(.integer(Int64(numbers.below(8) - 2)), &numbers)
        }
        func real(_ numbers: inout SeededNumbers) -> Value {
            maybe(.double(Double(numbers.below(12) - 3) / 2), &numbers)
        }
        func key(_ limit: Int, _ numbers: inout SeededNumbers) -> Value {
            maybe(.integer(Int64(numbers.below(limit) + 1)), &numbers)
        }
        func link(_ numbers: inout SeededNumbers) -> Value {
            guard hasObjects else { return text(&numbers) }
            return maybe(.uri(numbers.pick(["a", "b", "https://example.org/a"])), &numbers)
        }
        var changes = ChangeSet()
        for index in 1...6 {
            changes.insertions.append(
                insertion(
                    "Author", Int64(index),
                    [
                        "name": text(&numbers), "born": maybe(.date(Double(numbers.below(6)) * 50), &numbers),
                        "rating": real(&numbers),
                    ]))
        }
        for index in 1...16 {
            let values: [String: Value] = [
                "title": text(&numbers), "subtitle": text(&numbers), "pages": integer(&numbers),
                "stock": integer(&numbers), "price": maybe(.decimal(Decimal(numbers.below(12)) / 4), &numbers),
                "weight": real(&numbers), "isOut": maybe(.integer(Int64(numbers.below(2))), &numbers),
                "published": maybe(.date(Double(numbers.below(6)) * 50), &numbers), "link": link(&numbers),
                "code": maybe(.data(Data(repeating: UInt8(numbers.below(3)), count: 16)), &numbers),
                "digest": maybe(.data(Data([1])), &numbers),
                "mood": hasObjects ? .null : maybe(.data(Data([2])), &numbers),
                "author": key(6, &numbers),
            ]
            changes.insertions.append(insertion(index > 11 ? "Comic" : "Book", Int64(index), values))
            for tag in 1...5 where numbers.chance(3) {
                changes.links.append(self.link(.insert, "Book", "tags", Int64(index), Int64(tag)))
            }
            for shelf in 1...4 where numbers.chance(4) {
                let order = Int64(numbers.below(1000))
                changes.links.append(self.link(.insert, "Shelf", "books", Int64(shelf), Int64(index), order: order))
            }
        }
        for index in 1...12 {
            let book = key(16, &numbers)
            var values: [String: Value] = ["title": text(&numbers), "length": integer(&numbers), "book": book]
            if !book.isNull {
                let isComic = if case .integer(let key) = book { key > 11 } else { false }
                if case .integer(let key) = book { values["book"] = reference(isComic ? "Comic" : "Book", key) }
                values["order of book"] = .integer(Int64(index * 7919 % 100))
            }
            changes.insertions.append(insertion("Chapter", Int64(index), values))
        }
        var owners: [Int: Int64] = [:]
        for index in 1...4 {
            changes.insertions.append(insertion("Shelf", Int64(index), ["label": text(&numbers)]))
            owners[numbers.below(5) + 1] = Int64(index)
        }
        for index in 1...5 {
            var values: [String: Value] = ["name": text(&numbers), "heft": integer(&numbers)]
            if let owner = owners[index] { values["Shelf.picks"] = .integer(owner) }
            changes.insertions.append(insertion("Tag", Int64(index), values))
        }
        let all = changes
        try save { $0 = all }
    }
}
