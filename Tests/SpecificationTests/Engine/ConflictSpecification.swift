import CoreDataPrimitives
import CoreDataStore
import Foundation
import StoreTestSupport
import Testing

/// What stands in the way of a save, and that such a save changes nothing.
@Suite struct ConflictSpecification {
    /// Two authors, two books and a tag, all of version 1.
    private func fill(_ library: SpecifiedSource) throws {
        try library.save { changes in
            changes.insertions = [
                library.insertion("Author", 1, ["name": .string("Ann"), "email": .string("ann@x")]),
                library.insertion("Author", 2, ["name": .string("Bob"), "email": .string("bob@x")]),
                library.insertion(
                    "Book", 1,
                    ["title": .string("One"), "code": .string("A"), "author": library.reference("Author", 1)]),
                library.insertion("Novel", 2, ["code": .string("B"), "genre": .string("Crime")]),
                library.insertion("Tag", 1, ["name": .string("red")]),
            ]
            changes.links = [library.link(.insert, "Book", "tags", 1, 1, order: 2048)]
        }
    }

    // MARK: Versions

    @Test(arguments: SpecifiedStore.having(.rows))
    func everyOutdatedRowIsToldAndNothingIsWritten(_ store: SpecifiedStore) throws {  // I1, I2, I3
        try store.check { library in
            try fill(library)
            try library.save {
                $0.updates = [
                    library.update(
                        "Author", 1, ["name": .string("Ann"), "email": .string("ann@x")],
                        ["name": .string("Anna"), "email": .string("ann@x")]),
                    library.update(
                        "Novel", 2, ["code": .string("B"), "genre": .string("Crime")],
                        ["code": .string("B"), "genre": .string("Noir")]),
                ]
                $0.deletions = [library.deletion("Tag", 1)]
            }
            let before = try library.dump()
            let found = library.conflicts {
                $0.updates = [
                    library.update("Book", 1, ["title": .string("One")], ["title": .string("Fine")]),
                    library.update("Author", 1, [:], ["name": .string("Lost")]),
                    library.update("Tag", 1, [:], ["name": .string("Lost")]),
                ]
                $0.deletions = [library.deletion("Novel", 2), library.deletion("Author", 2)]
                $0.insertions = [library.insertion("Tag", 9)]
            }
            #expect(found.map(\.key) == [library.key("Author", 1), library.key("Tag", 1), library.key("Novel", 2)])
            #expect(found.map(\.expectedVersion) == [1, 1, 1])
            #expect(found.map { $0.persisted?.version } == [2, nil, 2])
            let novel = try #require(found.last?.persisted)
            #expect(library.value("genre", of: novel) == .string("Noir"))
            #expect(novel.entity == library.entity("Novel").ordinal)
            #expect(try library.dump() == before)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aCheckedRowMustBeAsItWasKnown(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let red: [String: Value] = ["name": .string("red")]
            try library.save { $0.updates = [library.update("Tag", 1, red, red)] }
            let before = try library.dump()
            let found = library.conflicts { changes in
                changes.insertions = [library.insertion("Tag", 5)]
                changes.checks = [
                    .init(key: library.key("Tag", 1), version: 1), .init(key: library.key("Author", 1), version: 1),
                    .init(key: library.key("Author", 77), version: 3),
                ]
            }
            #expect(found.map(\.key) == [library.key("Tag", 1), library.key("Author", 77)])
            #expect(found.map { $0.persisted?.version } == [2, nil])
            #expect(try library.dump() == before)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func outdatedRowsAreToldBeforeUniqueValues(_ store: SpecifiedStore) throws {  // I9
        try store.check { library in
            try fill(library)
            let found = library.conflicts {
                $0.insertions = [library.insertion("Author", 3, ["email": .string("bob@x")])]
                $0.updates = [library.update("Tag", 1, version: 4, [:], [:])]
            }
            #expect(found.map(\.key) == [library.key("Tag", 1)])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aConflictLeavesTheRowsThatWereKnownInReach(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let held = try #require(try library.row("Tag", 1))
            try library.save { $0.updates = [library.update("Tag", 1, [:], ["name": .string("blue")])] }
            _ = library.conflicts { $0.updates = [library.update("Tag", 1, [:], [:])] }
            #expect(library.value("name", of: held) == .string("red"))
            let now = try #require(try library.row("Tag", 1))
            #expect(now.version == 2 && library.value("name", of: now) == .string("blue"))
        }
    }

    // MARK: Unique values

    @Test(arguments: SpecifiedStore.having(.rows))
    func aTakenValueIsToldWithBothRows(_ store: SpecifiedStore) throws {  // I9, I10
        try store.check { library in
            try fill(library)
            let before = try library.dump()
            let found = library.violations {
                $0.insertions = [
                    library.insertion("Author", 3, ["email": .string("new@x")]),
                    library.insertion("Author", 4, ["email": .string("bob@x")]),
                    library.insertion("Book", 5, ["code": .string("C")]),
                ]
                $0.updates = [library.update("Novel", 2, ["code": .string("B")], ["code": .string("A")])]
            }
            #expect(found.map(\.changed) == [library.key("Novel", 2), library.key("Author", 4)])
            #expect(found.map(\.existing) == [library.key("Book", 1), library.key("Author", 2)])
            #expect(found.first?.entity == library.entity("Book").ordinal)
            #expect(found.first?.slots == [library.slot("Book", "code")])
            #expect(try library.dump() == before)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func newRowsWithOneValueAreTold(_ store: SpecifiedStore) throws {
        try store.check { library throws in
            let found = library.violations {
                $0.insertions = [
                    library.insertion("Author", 1, ["email": .string("a")]),
                    library.insertion("Author", 2, ["email": .string("a")]),
                ]
            }
            #expect(found.map(\.changed) == [library.key("Author", 2)])
            #expect(found.map(\.existing) == [library.key("Author", 1)])
            #expect(try library.keys("Author") == [])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func uniqueTextIsComparedByItsBytes(_ store: SpecifiedStore) throws {
        let separator = store.keepsNUL ? "\0" : "\u{1}"
        try store.check { library in
            try library.insert(
                library.insertion("Author", 1, ["email": .string("é")]),
                library.insertion("Author", 2, ["email": .string("e\u{301}")]),
                library.insertion("Author", 3, ["email": .string("É")]),
                library.insertion("Author", 4, ["email": .string("")]),
                library.insertion("Author", 5, ["email": .string("a\(separator)b")]),
                library.insertion("Author", 6, ["email": .string("a\(separator)c")]))
            let found = library.violations {
                $0.insertions = [
                    library.insertion("Author", 7, ["email": .string("e\u{301}")]),
                    library.insertion("Author", 8, ["email": .string("a\(separator)c")]),
                    // These two are not in each other's way.
                    library.insertion("Author", 9, ["email": .string("ö")]),
                    library.insertion("Author", 10, ["email": .string("o\u{308}")]),
                ]
            }
            #expect(found.map(\.existing) == [library.key("Author", 2), library.key("Author", 6)])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aConstraintHoldsForSubentitiesToo(_ store: SpecifiedStore) throws {  // I9
        try store.check { library in
            try library.insert(library.insertion("Novel", 1, ["code": .string("A")]))
            let found = library.violations {
                $0.insertions = [library.insertion("Comic", 2, ["code": .string("A")])]
            }
            #expect(found.map(\.existing) == [library.key("Novel", 1)])
            #expect(found.map(\.changed) == [library.key("Comic", 2)])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func severalValuesCollideOnlyAsAWholeAndNilNever(_ store: SpecifiedStore) throws {  // I12
        try store.check { library in
            func book(_ key: Int64, _ shelf: Value, _ place: Value) -> ChangeSet.Insertion {
                library.insertion("Book", key, ["shelf": shelf, "place": place])
            }
            try library.insert(
                book(1, .string("A"), .integer(1)), book(2, .string("A"), .integer(2)),
                book(3, .string("B"), .integer(1)), book(4, .null, .integer(1)), book(5, .null, .integer(1)))
            let found = library.violations { $0.insertions = [book(6, .string("A"), .integer(2))] }
            #expect(found.map(\.existing) == [library.key("Book", 2)])
            #expect(found.first?.slots == [library.slot("Book", "shelf"), library.slot("Book", "place")])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func rowsMayExchangeTheirValues(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            try library.insert(library.insertion("Book", 3, ["code": .string("C")]))
            try library.save {
                $0.updates = [
                    library.update("Book", 1, ["code": .string("A")], ["code": .string("B")]),
                    library.update("Novel", 2, ["code": .string("B")], ["code": .string("C")]),
                    library.update("Book", 3, ["code": .string("C")], ["code": .string("A")]),
                ]
            }
            let codes = try [1, 2, 3].map { try library.value("code", of: "Book", $0) }
            #expect(codes == [.string("B"), .string("C"), .string("A")])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func severalValuesMayBeExchanged(_ store: SpecifiedStore) throws {
        try store.check { library in
            func place(_ shelf: String, _ place: Int64) -> [String: Value] {
                ["shelf": .string(shelf), "place": .integer(place)]
            }
            try library.insert(library.insertion("Book", 1, place("A", 1)), library.insertion("Book", 2, place("A", 2)))
            try library.save {
                $0.updates = [
                    library.update("Book", 1, place("A", 1), place("A", 2)),
                    library.update("Book", 2, place("A", 2), place("A", 1)),
                ]
            }
            #expect(try library.keys("Book", "shelf == 'A' AND place == 2") == [1])
            #expect(try library.keys("Book", "shelf == 'A' AND place == 1") == [2])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func valuesOfDeletedAndChangedRowsAreFree(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            try library.save {
                $0.deletions = [library.deletion("Author", 1)]
                $0.updates = [
                    library.update("Author", 2, ["email": .string("bob@x")], ["email": .string("ann@x")])
                ]
                $0.insertions = [library.insertion("Author", 3, ["email": .string("bob@x")])]
            }
            #expect(try library.value("email", of: "Author", 2) == .string("ann@x"))
            #expect(try library.value("email", of: "Author", 3) == .string("bob@x"))
        }
    }

    // MARK: Failures

    private struct Stop: Error {}

    /// Changes of every kind, of which a save has done some when it comes to what it cannot do.
    private func change(_ library: SpecifiedSource, _ changes: inout ChangeSet) throws {
        changes.insertions = [library.insertion("Book", 20), library.insertion("Tag", 20)]
        changes.updates = [library.update("Author", 1, ["name": .string("Ann")], ["name": .string("Anna")])]
        changes.deletions = [library.deletion("Author", 2)]
        changes.links = [
            library.link(.remove, "Book", "tags", 1, 1), library.link(.insert, "Novel", "tags", 2, 1, order: 7),
        ]
        changes.metadata = try StoreMetadata(dictionary: ["Key": 1])
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aFailedSaveLeavesEverythingAsItWas(_ store: SpecifiedStore) throws {  // H6
        try store.check { library in
            try fill(library)
            let before = try library.dump()
            let failures: [(String, (inout ChangeSet) throws -> Void)] = [
                ("whoever makes the changes fails", { _ in throw Stop() }),
                ("a row is outdated", { $0.updates.append(library.update("Novel", 2, version: 3, [:], [:])) }),
                ("a row is gone", { $0.updates.append(library.update("Tag", 8, [:], [:])) }),
                ("a value is taken", { $0.insertions.append(library.insertion("Comic", 30, ["code": .string("A")])) }),
                ("a key is in use", { $0.insertions.append(library.insertion("Tag", 1)) }),
                ("a key comes twice", { $0.insertions.append(library.insertion("Tag", 20)) }),
                ("a row of the hierarchy has the key", { $0.insertions.append(library.insertion("Novel", 1)) }),
            ]
            for (reason, extra) in failures {
                let failure = library.failure {
                    try change(library, &$0)
                    try extra(&$0)
                }
                #expect(failure != nil, "\(reason)")
                #expect(try library.dump() == before, "\(reason)")
                #expect(try library.row("Author", 1)?.version == 1, "\(reason)")
                #expect(try library.row("Author", 2) != nil && library.row("Book", 20) == nil, "\(reason)")
            }
            try library.save { try change(library, &$0) }
            #expect(try library.dump() != before)
        }
    }
}
