import CoreDataPredicate
import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreData

@Suite struct NSSortDescriptorTests {
    @Test(arguments: ["objectID", "self"], [true, false])
    func objectsAreSortedByTheirKeysInMemoryAsInAStore(_ key: String, isAscending: Bool) throws {
        try LibraryStack().story { context in
            let names = ["a", "b", "c", "d", "e"]
            for name in names {
                let tag = Tag(context: context)
                tag.setValue(name, forKey: "name")
                try context.save()
            }
            let sort = NSSortDescriptor(key: key, ascending: isAscending)
            let request = NSFetchRequest<Tag>(entityName: "Tag")
            request.sortDescriptors = [sort]
            let fetched = try context.fetch(request)
            #expect(fetched.map { $0.value(forKey: "name") as? String } == (isAscending ? names : names.reversed()))
            let inMemory = NSArray(array: [3, 0, 4, 1, 2].map { fetched[$0] }).sortedArray(using: [sort])
            #expect(inMemory as? [Tag] == fetched)
            let new = Tag(context: context)
            #expect(sort.compare(fetched[0], to: new) == (isAscending ? .orderedAscending : .orderedDescending))
        }
    }

    private func titles(_ descriptors: [NSSortDescriptor], _ novels: [Novel]) -> [String] {
        NSArray(array: novels).sortedArray(using: descriptors).compactMap { ($0 as? Novel)?.title }
    }

    private let novels = [
        Novel("b10", pages: 2, subtitle: "x", author: Writer("Z")), Novel("B9", pages: 1, author: Writer("A")),
        Novel("a", pages: 2, subtitle: "X"), Novel("É", pages: 3, subtitle: "a"),
    ]

    @Test func keysSortInMemory() {  // M15
        #expect(titles([NSSortDescriptor(key: "title", ascending: true)], novels) == ["B9", "a", "b10", "É"])
        #expect(titles([NSSortDescriptor(key: "title", ascending: false)], novels) == ["É", "b10", "a", "B9"])
        #expect(
            titles([NSSortDescriptor(key: "title", ascending: true, selector: "localizedStandardCompare:")], novels)
                == ["a", "B9", "b10", "É"])
        #expect(
            titles([NSSortDescriptor(key: "title", ascending: true, selector: "caseInsensitiveCompare:")], novels) == [
                "a", "b10", "B9", "É",
            ])
        #expect(
            titles(
                [NSSortDescriptor(key: "pages", ascending: false), NSSortDescriptor(key: "title", ascending: true)],
                novels) == ["É", "a", "b10", "B9"])
    }

    @Test func nilComesFirst() {
        #expect(
            titles(
                [NSSortDescriptor(key: "subtitle", ascending: true), NSSortDescriptor(key: "title", ascending: true)],
                novels) == ["B9", "a", "É", "b10"])
        #expect(
            titles(
                [
                    NSSortDescriptor(key: "author.name", ascending: true),
                    NSSortDescriptor(key: "title", ascending: true),
                ], novels) == ["a", "É", "B9", "b10"])
    }

    @Test func keyPathsSortInMemoryAndHaveAKey() {
        let table: [(NSSortDescriptor, String?, [String])] = [
            (NSSortDescriptor(keyPath: \Novel.title, ascending: true), "title", ["B9", "a", "b10", "É"]),
            (NSSortDescriptor(keyPath: \Novel.pages, ascending: true), "pages", ["B9", "b10", "a", "É"]),
            (NSSortDescriptor(keyPath: \Novel.author?.name, ascending: false), "author.name", ["b10", "B9", "a", "É"]),
            (NSSortDescriptor(keyPath: \Novel.subtitle, ascending: true), "subtitle", ["B9", "a", "É", "b10"]),
        ]
        for (descriptor, key, expected) in table {
            #expect(descriptor.key == key)
            #expect(descriptor.ordering?.comparison == .order(.literal))
            #expect(titles([descriptor], novels) == expected, "\(key ?? "")")
        }
    }

    @Test func codeSorts() {
        let byLength: Comparator = { a, b in
            let (a, b) = ((a as? String)?.count ?? 0, (b as? String)?.count ?? 0)
            return a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
        }
        for descriptor in [
            NSSortDescriptor(key: "title", ascending: true, comparator: byLength),
            NSSortDescriptor(keyPath: \Novel.title, ascending: true, comparator: byLength),
        ] {
            #expect(descriptor.key == "title" && descriptor.ordering?.comparison == .code && descriptor.selector == nil)
            #expect(titles([descriptor], novels) == ["a", "É", "B9", "b10"])
        }
    }

    @Test func descriptorsAreReversedCopiedAndCompared() throws {
        let descriptor = NSSortDescriptor(key: "title", ascending: true, selector: "localizedCompare:")
        let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
        #expect(!reversed.ascending && reversed.key == "title" && reversed.selector == "localizedCompare:")
        #expect(try #require(descriptor.copy() as? NSSortDescriptor) == descriptor)
        #expect(descriptor == NSSortDescriptor(key: "title", ascending: true, selector: "localizedCompare:"))
        #expect(descriptor != NSSortDescriptor(key: "title", ascending: true) && descriptor != reversed)
        #expect(NSSortDescriptor(key: "a", ascending: true).selector == "compare:")
        #expect(NSSortDescriptor(key: "a", ascending: true, selector: "foo:").ordering?.comparison == .selector("foo:"))
    }

    @Test func selfIsSortedByANilKey() {
        #expect(
            NSArray(array: [3, 1, 2]).sortedArray(using: [NSSortDescriptor(key: nil, ascending: true)]) as? [Int] == [
                1, 2, 3,
            ])
        #expect(
            NSArray(array: [["a": 2], ["a": 1]]).sortedArray(using: [NSSortDescriptor(key: "a", ascending: true)]).map {
                ($0 as? [String: Int])?["a"]
            } == [1, 2])
    }

    @Test func valuesOfDifferentKindsHaveAnOrder() {
        let values: [Operand] = [
            .null, .value(.integer(1)), .value(.double(1.5)), .value(.date(0)), .value(.string("a")),
            .value(.data(Data([1]))), .value(.uuid(UUID())), .collection([], isOrdered: true),
        ]
        for i in values.indices {
            for j in values.indices { #expect(OperandSorting.order(values[i], values[j]).signum() == (i - j).signum()) }
        }
    }
}

@Suite struct KeyPathNamesTests {
    @Test(
        arguments: [
            ("\\Book.title", "title"), ("\\Book.author?.name", "author.name"), ("\\Book.author!.name", "author.name"),
            ("\\Module.Book.title", nil), ("\\Book.<computed 0x12 (Int)>", nil), ("\\Book.self", nil),
            ("\\Book.<offset 16 (Int)>", nil),
            ("\\Pair<Int, String>.first", "first"),
            ("\\Book.author?.<computed 0x7 (Optional<Foo.Bar>)>?", "author.born"),
        ] as [(String, String?)])
    func descriptionsTellNames(description: String, expected: String?) {
        let known: [Substring: String] = ["<computed 0x7 (Optional<Foo.Bar>)>": "born"]
        if description == "\\Module.Book.title" {  // A nested type's name cannot be told from a property's.
            #expect(KeyPathNames.derivedName(description) == "Book.title")
        } else {
            #expect(KeyPathNames.derivedName(description, known) == expected)
        }
    }

    @Test func registeredNamesAreKnownInsideLongerPaths() {
        #expect(KeyPathNames.name(for: \Novel.length) == nil)
        KeyPathNames.register(\Novel.length, name: "length")
        #expect(KeyPathNames.name(for: \Novel.length) == "length")
        #expect(NSSortDescriptor(keyPath: \Novel.length, ascending: true).key == "length")
        #expect(KeyPathNames.name(for: \Shelf.top?.length) == "top.length")
        #expect(KeyPathNames.name(for: \Shelf.top!.author) == "top.author")
    }

    private final class Shelf: @unchecked Sendable { let top: Novel? = nil }
}
