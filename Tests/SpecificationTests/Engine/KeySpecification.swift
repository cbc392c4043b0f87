import CoreDataPrimitives
import CoreDataStore
import Testing

/// Primary keys are given out once (S9).
@Suite struct KeySpecification {
    @Test(arguments: SpecifiedStore.having(.rows))
    func keysAreNeverGivenOutTwice(_ store: SpecifiedStore) throws {
        try store.check { library in
            let (tag, first) = (library.root("Tag"), store.firstKey)
            #expect(try library.source.allocateKeys(root: tag, count: 2) == first...(first + 1))
            let third = first + 2
            #expect(try library.source.allocateKeys(root: tag, count: 1) == third...third)
            try library.insert(library.insertion("Tag", third))
            try library.save { $0.deletions = [library.deletion("Tag", third)] }
            #expect(try library.source.allocateKeys(root: tag, count: 1) == (third + 1)...(third + 1))
            let outcome = try library.save(keys: [tag: 3]) { _ in }
            #expect(outcome.keys == [tag: (third + 2)...(third + 4)])
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aHierarchyHasOneRangeOfKeys(_ store: SpecifiedStore) throws {
        try store.check { library throws in
            #expect(library.source.root(ofEntity: library.entity("Novel").ordinal) == library.root("Book"))
            func next(_ entity: String) throws -> ClosedRange<Int64> {
                try library.source.allocateKeys(root: library.root(entity), count: 1)
            }
            let first = store.firstKey
            #expect(try next("Novel") == first...first)
            #expect(try next("Book") == (first + 1)...(first + 1))
            let ofTags = store.has(.rangesOfKeys) ? first : first + 2
            #expect(try next("Tag") == ofTags...ofTags)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func keysOfRowsThatAreThereAreNotGivenOut(_ store: SpecifiedStore) throws {
        try store.check { library in
            let key = store.firstKey + 40
            try library.insert(library.insertion("Comic", key))
            #expect(
                try library.source.allocateKeys(root: library.root("Book"), count: 2) == (key + 1)...(key + 2))
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func aFailedSaveTakesNoKeys(_ store: SpecifiedStore) throws {
        try store.check { library throws in
            let tag = library.root("Tag")
            #expect(throws: SaveFailure.self) {
                try library.save(keys: [tag: 5]) { $0.updates = [library.update("Tag", 1, [:], [:])] }
            }
            let next = store.has(.keysOfFailedSaves) ? store.firstKey : store.firstKey + 5
            #expect(try library.source.allocateKeys(root: tag, count: 1) == next...next)
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func usedUpKeysAreAFailure(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(library.insertion("Tag", .max - 1))
            let tag = library.root("Tag")
            #expect(throws: StoreFailure.self) { try library.source.allocateKeys(root: tag, count: 2) }
            #expect(try library.source.allocateKeys(root: tag, count: 1) == .max ... .max)
            #expect(throws: StoreFailure.self) { try library.save(keys: [tag: 1]) { _ in } }
        }
    }

    @Test(arguments: SpecifiedStore.having(.rows))
    func entityNumbersAreThereAndBack(_ store: SpecifiedStore) throws {
        try store.check { library in
            for entity in library.model.entities {
                #expect(library.source.includes(entity: entity.ordinal))
                let number = library.source.number(ofEntity: entity.ordinal)
                #expect(number > 0)
                #expect(library.source.entity(numbered: number) == entity.ordinal)
            }
            #expect(library.source.entity(numbered: 0) == nil)
            #expect(library.source.entity(numbered: .max) == nil)
            #expect(library.source.entity(numbered: .min) == nil)
        }
    }
}
