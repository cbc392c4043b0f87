import CoreDataPrimitives
import CoreDataStore
import Testing

/// Primary keys are given out once (S9).
@Suite struct KeySpecification {
    @Test(arguments: SpecifiedStore.all)
    func keysAreNeverGivenOutTwice(_ store: SpecifiedStore) throws {
        try store.check { library in
            let tag = library.root("Tag")
            #expect(try library.source.allocateKeys(root: tag, count: 2) == 1...2)
            #expect(try library.source.allocateKeys(root: tag, count: 1) == 3...3)
            try library.insert(library.insertion("Tag", 3))
            try library.save { $0.deletions = [library.deletion("Tag", 3)] }
            #expect(try library.source.allocateKeys(root: tag, count: 1) == 4...4)
            let outcome = try library.save(keys: [tag: 3]) { _ in }
            #expect(outcome.keys == [tag: 5...7])
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aHierarchyHasOneRangeOfKeys(_ store: SpecifiedStore) throws {
        try store.check { library in
            #expect(library.source.root(ofEntity: library.entity("Novel").ordinal) == library.root("Book"))
            let first = try library.source.allocateKeys(root: library.root("Novel"), count: 1)
            let second = try library.source.allocateKeys(root: library.root("Book"), count: 1)
            #expect(first == 1...1 && second == 2...2)
            #expect(try library.source.allocateKeys(root: library.root("Tag"), count: 1) == 1...1)
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func keysOfRowsThatAreThereAreNotGivenOut(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(library.insertion("Comic", 41))
            #expect(try library.source.allocateKeys(root: library.root("Book"), count: 2) == 42...43)
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func aFailedSaveTakesNoKeys(_ store: SpecifiedStore) throws {
        try store.check { library throws in
            let tag = library.root("Tag")
            #expect(throws: SaveFailure.self) {
                try library.save(keys: [tag: 5]) { $0.updates = [library.update("Tag", 1, [:], [:])] }
            }
            #expect(try library.source.allocateKeys(root: tag, count: 1) == 1...1)
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func usedUpKeysAreAFailure(_ store: SpecifiedStore) throws {
        try store.check { library in
            try library.insert(library.insertion("Tag", .max - 1))
            let tag = library.root("Tag")
            #expect(throws: StoreFailure.self) { try library.source.allocateKeys(root: tag, count: 2) }
            #expect(try library.source.allocateKeys(root: tag, count: 1) == .max ... .max)
            #expect(throws: StoreFailure.self) { try library.save(keys: [tag: 1]) { _ in } }
        }
    }

    @Test(arguments: SpecifiedStore.all)
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
