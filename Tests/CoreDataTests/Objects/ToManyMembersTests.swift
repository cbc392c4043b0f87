import Foundation
import Testing

@testable import CoreData

/// The members of a to-many against a plain array that does the same.
@Suite struct ToManyMembersTests {
    private let model = GroceryModel.make()

    private func objects(_ count: Int) throws -> [NSManagedObject] {
        let entity = try #require(model.entitiesByName["Unit"])
        return (0..<count).map { _ in NSManagedObject(entity: entity, insertInto: nil) }
    }

    private func references(_ objects: some Sequence<NSManagedObject>) -> Set<ObjectReference> {
        Set(objects.map(ObjectReference.init))
    }

    private func areSame(_ a: [NSManagedObject], _ b: [NSManagedObject]) -> Bool {
        a.count == b.count && references(a) == references(b)
    }

    @Test(arguments: [true, false], [1, 2, 3])
    func changesAreThoseOfAnArray(isOrdered: Bool, seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        let pool = try objects(900)
        let stored = Array(pool[..<600])
        let members = ToManyMembers(isOrdered: isOrdered, isKnown: false)
        members.know(stored)
        var expected = stored
        var atEvent = stored
        members.beginJournal()
        for step in 0..<4000 {
            let object = pool[Int(random.next() % 900)]
            let place = Int(random.next() % UInt64(expected.count + 1))
            switch random.next() % 4 {
            case 0 where isOrdered && !expected.contains { $0 === object }:
                members.insert(object, at: place)
                expected.insert(object, at: place)
            case 1, 2:
                let isMember = expected.contains { $0 === object }
                #expect(members.remove(object) == isMember)
                if isMember { expected.removeAll { $0 === object } }
            default:
                let isMember = expected.contains { $0 === object }
                #expect(members.add(object) == !isMember)
                if !isMember { expected.append(object) }
            }
            guard step % 500 == 499 else { continue }
            check(members, expected, stored: stored, atEvent: atEvent)
            members.endJournal()
            members.beginJournal()
            atEvent = members.members
            expected = members.members
        }
    }

    private func check(
        _ members: ToManyMembers, _ expected: [NSManagedObject], stored: [NSManagedObject], atEvent: [NSManagedObject]
    ) {
        if members.isOrdered {
            #expect(members.members.elementsEqual(expected) { $0 === $1 })
            #expect(members.membersBeforeEvent.elementsEqual(atEvent) { $0 === $1 })
        }
        #expect(members.members.count == expected.count)
        #expect(areSame(members.members, expected))
        #expect(areSame(members.membersBeforeEvent, atEvent))
        let added = references(expected).subtracting(references(stored))
        #expect(members.added.count == added.count && members.added.isSubset(of: added))
        let removed = references(stored).subtracting(references(expected))
        #expect(members.removed.count == removed.count && members.removed.isSubset(of: removed))
        #expect(areSame(members.committedMembers, stored))
        for (index, object) in members.members.enumerated() { #expect(members.position(of: object) == index) }
    }

    @Test func whatIsNotedIsAppliedWhenMembersAreRead() throws {
        let pool = try objects(5)
        let members = ToManyMembers(isOrdered: true, isKnown: false)
        #expect(members.gain(pool[3]))
        #expect(members.lose(pool[0]))
        #expect(members.gain(pool[4]))
        #expect(members.lose(pool[4]))
        #expect(members.hasChanges)
        members.know([pool[0], pool[1], pool[2]])
        #expect(members.members.elementsEqual([pool[1], pool[2], pool[3]]) { $0 === $1 })
        #expect(members.added == references([pool[3]]))
        #expect(members.removed == references([pool[0]]))
        members.commit()
        #expect(!members.hasChanges)
    }

    @Test func aMemberThatLeavesAndComesBackIsNoChange() throws {
        let pool = try objects(2)
        let members = ToManyMembers(isOrdered: false, isKnown: false)
        #expect(members.lose(pool[0]))
        #expect(members.gain(pool[0]))
        #expect(!members.hasChanges)
        members.know(pool)
        #expect(members.remove(pool[1]))
        #expect(members.hasChanges)
        #expect(members.add(pool[1]))
        #expect(!members.hasChanges)
    }

    @Test func replacingTellsWhatCameAndWentAndWhatMoved() throws {
        let pool = try objects(4)
        let members = ToManyMembers(isOrdered: true, isKnown: false)
        members.know(Array(pool[..<3]))
        members.beginJournal()
        members.replaceAll(with: [pool[0], pool[2], pool[3], pool[3]])
        #expect(members.members.elementsEqual([pool[0], pool[2], pool[3]]) { $0 === $1 })
        #expect(!members.isReordered)
        #expect(members.removed == references([pool[1]]))
        members.replaceAll(with: [pool[3], pool[0], pool[2]])
        #expect(members.isReordered)
        #expect(members.membersBeforeEvent.elementsEqual(pool[..<3]) { $0 === $1 })
    }
}

/// Numbers that are the same in every run.
private struct SeededRandom {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
