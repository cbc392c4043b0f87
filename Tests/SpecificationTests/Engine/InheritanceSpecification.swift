import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Testing

/// An entity's rows are its parent's too.
@Suite struct InheritanceSpecification {
    private func fill(_ library: SpecifiedSource) throws {
        try library.insert(
            library.insertion("Book", 1, ["title": .string("One")]),
            library.insertion("Novel", 2, ["title": .string("Two"), "genre": .string("Crime")]),
            library.insertion("Comic", 3, ["title": .string("Three"), "artist": .string("Lars")]),
            library.insertion("Author", 1, ["name": .string("Ann"), "rating": .double(4)]))
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aFetchIncludesSubentitiesUnlessToldNotTo(_ store: SpecifiedStore) throws {  // M11
        try store.check { library in
            try fill(library)
            var plan = library.sorted(try library.plan("Book"), by: ["self"])
            #expect(
                try library.source.keys(plan).map(\.entity)
                    == ["Book", "Novel", "Comic"].map { library.entity($0).ordinal })
            #expect(try library.rows(plan).map(\.key) == library.source.keys(plan))
            plan.includesSubentities = false
            #expect(try library.source.keys(plan) == [library.key("Book", 1)])
            #expect(try library.source.count(plan) == 1)
            #expect(try library.tuples(plan, ["title"]) == [[.string("One")]])
            #expect(try library.keys("Novel") == [2])
            #expect(try library.keys("Thing") == [1])
            var things = try library.plan("Thing")
            things.includesSubentities = false
            #expect(try library.source.count(things) == 0)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func rowsHaveTheColumnsOfTheirOwnEntity(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            let rows = try library.rows(library.sorted(library.plan("Book"), by: ["self"]))
            #expect(library.value("genre", of: rows[1]) == .string("Crime"))
            #expect(library.value("artist", of: rows[2]) == .string("Lars"))
            #expect(rows.map { library.value("title", of: $0) } == [.string("One"), .string("Two"), .string("Three")])
            let thing = try #require(try library.rows(library.plan("Thing")).first)
            #expect(library.value("rating", of: thing) == .double(4))
            #expect(try library.row("Book", 3)?.key == library.key("Comic", 3))
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aRowChangesAsOneOfItsOwnEntity(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            try library.save {
                $0.updates = [
                    library.update(
                        "Comic", 3, ["title": .string("Three"), "artist": .string("Lars")],
                        ["title": .string("Tre"), "artist": .string("Tove")])
                ]
            }
            #expect(try library.value("artist", of: "Comic", 3) == .string("Tove"))
            try library.save { $0.deletions = [library.deletion("Comic", 3, version: 2)] }
            #expect(try library.keys("Book") == [1, 2])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func whatOnlyASubentityHasIsNoKeyOfItsParent(_ store: SpecifiedStore) throws {  // M15, M16
        try store.check { library in
            try fill(library)
            #expect(try library.keys("Novel", "genre == 'Crime'") == [2])
            for key in ["genre", "nothing"] {
                #expect(throws: PredicateFailure.self) { try library.keys("Book", "\(key) == 'Crime'") }
                #expect(throws: PredicateFailure.self) { try library.keys("Book", by: key) }
                #expect(throws: PredicateFailure.self) { try library.tuples(library.plan("Book"), [key]) }
                #expect(throws: PredicateFailure.self) { try library.keys("Tag", "ANY books.\(key) == 'Crime'") }
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func anUnknownKeyIsAFailureThoughNoRowIsThere(_ store: SpecifiedStore) throws {
        try store.check { library throws in
            #expect(throws: PredicateFailure.self) { try library.keys("Book", "nothing == 1") }
            #expect(throws: PredicateFailure.self) { try library.keys("Book", "author.nothing == 1") }
            #expect(throws: PredicateFailure.self) { try library.keys("Book", "title == 'a' AND note == 'b'") }
            #expect(throws: PredicateFailure.self) { try library.keys("Book", by: "author.nothing") }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func rowsAreToldApartByTheirEntity(_ store: SpecifiedStore) throws {
        try store.check { library in
            try fill(library)
            #expect(try library.keys("Book", "entity.name == 'Comic'") == [3])
            #expect(try library.keys("Book", "entity.name IN {'Book', 'Novel'}") == [1, 2])
            #expect(
                try library.tuples(library.sorted(library.plan("Book"), by: ["self"]), ["entity.name"])
                    == [[.string("Book")], [.string("Novel")], [.string("Comic")]])
        }
    }
}
