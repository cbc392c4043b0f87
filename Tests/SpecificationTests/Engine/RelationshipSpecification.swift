import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import StoreTestSupport
import Testing

/// Rows refer to rows, by relationships of every kind. What follows from a change or a deletion is for those who save.
@Suite struct RelationshipSpecification {
    @Test(arguments: SpecifiedStore.having(.rows))
    func toOneAndOneToManyAreTwoSidesOfOne(_ store: SpecifiedStore) throws {  // E3
        try store.check { library in
            try library.insert(
                library.insertion("Author", 1), library.insertion("Author", 2),
                library.insertion("Book", 1, ["author": library.reference("Author", 1)]),
                library.insertion("Novel", 2, ["author": library.reference("Author", 1)]), library.insertion("Book", 3))
            #expect(try library.members("Author", "books", 1, 2) == [[1, 2], []])
            #expect(try library.value("author", of: "Book", 2) == library.reference("Author", 1))
            #expect(try library.value("author", of: "Book", 3) == .null)
            try library.save {
                $0.updates = [
                    library.update(
                        "Book", 1, ["author": library.reference("Author", 1)],
                        ["author": library.reference("Author", 2)]),
                    library.update("Book", 3, [:], ["author": library.reference("Author", 2)]),
                    library.update("Novel", 2, ["author": library.reference("Author", 1)], [:]),
                ]
            }
            #expect(try library.members("Author", "books", 2, 1) == [[1, 3], []])
            try library.save { $0.deletions = [library.deletion("Book", 1, version: 2)] }
            #expect(try library.members("Author", "books", 2) == [[3]])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func membersAreOfTheirOwnEntities(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(
                library.insertion("Author", 1),
                library.insertion("Comic", 4, ["author": library.reference("Author", 1), "artist": .string("Lars")]),
                library.insertion("Novel", 2, ["author": library.reference("Author", 1)]))
            let found = try library.source.destinationRows(
                entity: library.entity("Author").ordinal, slot: library.slot("Author", "books"), owners: [1])
            #expect(found.flatMap(\.rows).map(\.key) == [library.key("Novel", 2), library.key("Comic", 4)])
            #expect(found.first?.rows.last.map { library.value("artist", of: $0) } == .string("Lars"))
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aToOneKnowsTheEntityOfItsRow(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(
                library.insertion("Book", 1), library.insertion("Novel", 2),
                library.insertion("Person", 1, ["favourite": library.reference("Novel", 2)]),
                library.insertion("Person", 2, ["favourite": library.reference("Book", 1)]))
            #expect(try library.value("favourite", of: "Person", 1) == library.reference("Novel", 2))
            #expect(try library.value("favourite", of: "Person", 2) == library.reference("Book", 1))
            #expect(
                try library.tuples(library.sorted(library.plan("Person"), by: ["self"]), ["favourite"])
                    == [[library.reference("Novel", 2)], [library.reference("Book", 1)]])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func ownersMayBeAskedForInAnyOrder(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save { changes in
                changes.insertions = (1...600).map { library.insertion("Author", $0) }
                changes.insertions += (1...600).map {
                    library.insertion("Book", $0, ["author": library.reference("Author", 601 - $0)])
                }
            }
            let owners: [Int64] = Array((1...600).reversed()) + [9000]
            let found = try library.source.destinationRows(
                entity: library.entity("Author").ordinal, slot: library.slot("Author", "books"), owners: owners)
            #expect(found.map(\.owner) == owners)
            #expect(found.map { $0.rows.map(\.primaryKey) } == (1...600).map { [$0] } + [[]])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func anOwnerThatIsAskedForTwiceIsAnsweredOnce(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(
                library.insertion("Author", 1), library.insertion("Author", 2),
                library.insertion("Book", 1, ["author": library.reference("Author", 1)]))
            let found = try library.source.destinationRows(
                entity: library.entity("Author").ordinal, slot: library.slot("Author", "books"), owners: [2, 1, 2, 1])
            #expect(found.map(\.owner) == [2, 1])
            #expect(found.map { $0.rows.map(\.primaryKey) } == [[], [1]])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func onlyAToManyHasMembers(_ store: SpecifiedStore) throws {
        try store.check { library in
            for (entity, property) in [("Book", "author"), ("Book", "title")] {
                #expect(throws: PredicateFailure.self) {
                    try library.source.destinationRows(
                        entity: library.entity(entity).ordinal, slot: library.slot(entity, property), owners: [1])
                }
            }
        }
    }

    // MARK: Ordered

    @Test(arguments: SpecifiedStore.having(.rows))
    func orderedMembersComeInTheirOrder(_ store: SpecifiedStore) throws {  // C12
        try store.check { library in
            func chapter(_ book: Int64, _ order: Int64) -> [String: Value] {
                ["book": library.reference("Book", book), "order of book": .integer(order)]
            }
            try library.insert(
                library.insertion("Book", 1), library.insertion("Novel", 2),
                library.insertion("Chapter", 1, chapter(1, 3072)), library.insertion("Chapter", 2, chapter(1, -5)),
                library.insertion("Chapter", 3, chapter(1, 2048)), library.insertion("Chapter", 4, chapter(2, 1)))
            #expect(try library.members("Book", "chapters", 1) == [[2, 3, 1]])
            #expect(try library.members("Novel", "chapters", 2) == [[4]])
            try library.save {
                $0.updates = [
                    library.update("Chapter", 2, chapter(1, -5), chapter(1, 4096)),
                    library.update("Chapter", 4, chapter(2, 1), chapter(1, 2500)),
                ]
            }
            #expect(try library.members("Book", "chapters", 1, 2) == [[3, 4, 1, 2], []])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func positionsOfOrderedMembersArePredicates(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(library.insertion("Book", 1), library.insertion("Book", 2))
            for (index, title) in ["a", "b", "c"].enumerated() {
                try library.insert(
                    library.insertion(
                        "Chapter", Int64(index + 1),
                        [
                            "title": .string(title), "book": library.reference("Book", 1),
                            "order of book": .integer(Int64(100 - index)),
                        ]))
            }
            #expect(try library.keys("Book", "chapters[FIRST].title == 'c'") == [1])
            #expect(try library.keys("Book", "chapters[LAST].title == 'a'") == [1])
            #expect(try library.keys("Book", "chapters[SIZE] == 0") == [2])
        }
    }

    // MARK: Many to many

    @Test(arguments: SpecifiedStore.having(.rows))
    func pairsAreSeenFromBothSides(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save { changes in
                changes.insertions = [
                    library.insertion("Book", 1), library.insertion("Comic", 2), library.insertion("Tag", 1),
                    library.insertion("Tag", 2), library.insertion("Tag", 3),
                ]
                changes.links = [
                    library.link(.insert, "Book", "tags", 1, 1, order: 3),
                    library.link(.insert, "Book", "tags", 1, 2, order: 1),
                    library.link(.insert, "Tag", "books", 2, 2, inverseOrder: 5),
                ]
            }
            #expect(try library.members("Book", "tags", 1, 2) == [[2, 1], [2]])
            #expect(try library.members("Tag", "books", 1, 2, 3) == [[1], [1, 2], []])
            // A pair that is there gets another place; to remove one that is not is no failure.
            try library.save {
                $0.links = [
                    library.link(.insert, "Book", "tags", 1, 2, order: 9), library.link(.remove, "Book", "tags", 2, 1),
                    library.link(.remove, "Tag", "books", 2, 2),
                ]
            }
            #expect(try library.members("Book", "tags", 1, 2) == [[1, 2], []])
            #expect(try library.members("Tag", "books", 2) == [[1]])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func bothSidesMayBeOrdered(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save { changes in
                changes.insertions = (1...3).map { library.insertion("Person", $0) }
                changes.insertions += (1...3).map { library.insertion("Club", $0) }
                changes.links = [
                    library.link(.insert, "Person", "clubs", 1, 1, order: 30, inverseOrder: 1),
                    library.link(.insert, "Person", "clubs", 1, 2, order: 20, inverseOrder: 2),
                    library.link(.insert, "Person", "clubs", 1, 3, order: 10, inverseOrder: 3),
                    library.link(.insert, "Club", "members", 3, 2, order: 1, inverseOrder: 1),
                    library.link(.insert, "Club", "members", 3, 3, order: 2, inverseOrder: 1),
                ]
            }
            #expect(try library.members("Person", "clubs", 1, 2, 3) == [[3, 2, 1], [3], [3]])
            #expect(try library.members("Club", "members", 3) == [[2, 3, 1]])
            // One side's place alone leaves the other's.
            try library.save { $0.links = [library.link(.insert, "Club", "members", 3, 1, order: 0)] }
            #expect(try library.members("Club", "members", 3) == [[1, 2, 3]])
            #expect(try library.members("Person", "clubs", 1) == [[3, 2, 1]])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func pairsTellTheirOrderValues(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save { changes in
                changes.insertions = (1...2).map { library.insertion("Person", $0) }
                changes.insertions += (1...3).map { library.insertion("Club", $0) }
                changes.links = [
                    library.link(.insert, "Person", "clubs", 1, 1, order: 30, inverseOrder: 1),
                    library.link(.insert, "Person", "clubs", 1, 2, order: 20, inverseOrder: 2),
                    library.link(.insert, "Person", "clubs", 1, 3, order: 10),
                    library.link(.insert, "Person", "clubs", 2, 3, order: 7, inverseOrder: 4),
                ]
            }
            func orders(_ entity: String, _ property: String, _ pairs: [[Int64]], _ owners: [Int64]) throws -> [[Int64]]
            {
                let found = try library.source.pairOrders(
                    entity: library.entity(entity).ordinal, slot: library.slot(entity, property),
                    pairs: pairs.map { MemberPair(owner: $0[0], destination: $0[1]) }, owners: owners)
                return try #require(found).map { [$0.owner, $0.destination, $1] }.sorted {
                    $0.lexicographicallyPrecedes($1)
                }
            }
            #expect(try orders("Person", "clubs", [[1, 3], [1, 1], [2, 2]], []) == [[1, 1, 30], [1, 3, 10]])
            #expect(try orders("Person", "clubs", [[1, 1]], [2]) == [[1, 1, 30], [2, 3, 7]])
            // The third club does not know a place of the first person.
            #expect(try orders("Club", "members", [[1, 1], [2, 1]], [3]) == [[1, 1, 1], [2, 1, 2], [3, 2, 4]])
            #expect(try orders("Club", "members", [], []).isEmpty)
            // More than one statement takes.
            let many: [[Int64]] = (1...100).flatMap { [[1, $0], [2, $0]] }
            #expect(try orders("Person", "clubs", many, []).count == 4)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aDeletedRowsPairsAreRemovedInTheSameSave(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.save { changes in
                changes.insertions = [
                    library.insertion("Book", 1), library.insertion("Book", 2), library.insertion("Tag", 1),
                ]
                changes.links = [
                    library.link(.insert, "Book", "tags", 1, 1, order: 1),
                    library.link(.insert, "Book", "tags", 2, 1, order: 1),
                ]
            }
            try library.save { changes in
                changes.deletions = [library.deletion("Book", 1)]
                changes.links = [library.link(.remove, "Book", "tags", 1, 1)]
            }
            #expect(try library.members("Tag", "books", 1) == [[2]])
            // No rule is applied here: a pair that stays leads nowhere.
            try library.save { $0.deletions = [library.deletion("Book", 2)] }
            #expect(try library.members("Tag", "books", 1) == [[]])
        }
    }

    // MARK: To the same entity

    @Test(arguments: SpecifiedStore.having(.rows))
    func aRelationshipToItsOwnEntityHasTwoSides(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(
                library.insertion("Person", 1), library.insertion("Person", 2, ["mentor": .integer(1)]),
                library.insertion("Person", 3, ["mentor": .integer(1)]),
                library.insertion("Person", 4, ["mentor": .integer(4)]))
            #expect(try library.members("Person", "pupils", 1, 2, 4) == [[2, 3], [], [4]])
            #expect(try library.keys("Person", "mentor.mentor == SELF") == [4])
            #expect(try library.keys("Person", "pupils.@count == 2") == [1])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aRelationshipThatIsItsOwnInverseIsMutual(_ store: SpecifiedStore) throws {  // E6
        try store.check { library in
            try library.save { changes in
                changes.insertions = (1...3).map { library.insertion("Person", $0) }
                changes.links = [
                    library.link(.insert, "Person", "friends", 1, 2), library.link(.insert, "Person", "friends", 3, 1),
                    library.link(.insert, "Person", "friends", 2, 2),
                ]
            }
            #expect(try library.members("Person", "friends", 1, 2, 3) == [[2, 3], [1, 2], [1]])
            try library.save { $0.links = [library.link(.remove, "Person", "friends", 2, 1)] }
            #expect(try library.members("Person", "friends", 1, 2, 3) == [[3], [2], [1]])
            #expect(try library.keys("Person", "ANY friends == SELF") == [2])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aToOneThatIsItsOwnInverseIsAColumnOnEitherSide(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(
                library.insertion("Person", 1, ["spouse": .integer(2), "name": .string("Ann")]),
                library.insertion("Person", 2, ["spouse": .integer(1)]), library.insertion("Person", 3))
            #expect(try library.value("spouse", of: "Person", 1) == library.reference("Person", 2))
            #expect(try library.keys("Person", "spouse.name == 'Ann'") == [2])
            #expect(try library.keys("Person", "spouse.spouse == SELF") == [1, 2])
            #expect(try library.keys("Person", "spouse == nil") == [3])
        }
    }

    // MARK: Without inverse

    @Test(arguments: SpecifiedStore.having(.rows))
    func aToManyWithoutInverseIsKeptByItsMembers(_ store: SpecifiedStore) throws {  // E4
        try store.check { library in
            try library.insert(
                library.insertion("Shelf", 1), library.insertion("Shelf", 2),
                library.insertion("Tag", 1, ["Shelf.picks": .integer(2), "name": .string("red")]),
                library.insertion("Tag", 2, ["Shelf.picks": .integer(1)]), library.insertion("Tag", 3))
            #expect(try library.members("Shelf", "picks", 1, 2) == [[2], [1]])
            #expect(try library.keys("Shelf", "ANY picks.name == 'red'") == [2])
            try library.save {
                $0.updates = [
                    library.update("Tag", 2, ["Shelf.picks": .integer(1)], ["Shelf.picks": .integer(2)])
                ]
            }
            #expect(try library.members("Shelf", "picks", 1, 2) == [[], [1, 2]])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aToManyWithoutInverseMayBeOrdered(_ store: SpecifiedStore) throws {
        try store.check { library in
            func place(_ order: Int64) -> [String: Value] {
                ["Shelf.row": .integer(1), "order of Shelf.row": .integer(order)]
            }
            try library.insert(
                library.insertion("Shelf", 1), library.insertion("Book", 1, place(3)),
                library.insertion("Novel", 2, place(1)), library.insertion("Comic", 3, place(2)))
            #expect(try library.members("Shelf", "row", 1) == [[2, 3, 1]])
            try library.save { $0.updates = [library.update("Novel", 2, place(1), place(9))] }
            #expect(try library.members("Shelf", "row", 1) == [[3, 1, 2]])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aToOneMayLeadToARowThatIsNotThere(_ store: SpecifiedStore) throws {  // E4
        try store.check { library in
            try library.insert(
                library.insertion("Book", 1, ["author": library.reference("Author", 77)]), library.insertion("Book", 2))
            #expect(try library.value("author", of: "Book", 1) == library.reference("Author", 77))
            #expect(try library.keys("Book", "author == nil") == [2])
            #expect(try library.keys("Book", "author.name == nil") == [1, 2])
            #expect(try library.keys("Book", "author.name == 'Ann'") == [])
            #expect(try library.keys("Book", "author.books.@count == 1") == [1])
            #expect(try library.members("Author", "books", 77) == [[1]])
            #expect(
                try library.tuples(library.sorted(library.plan("Book"), by: ["self"]), ["author", "author.name"])
                    == [[library.reference("Author", 77), .null], [.null, .null]])
        }
    }
}
