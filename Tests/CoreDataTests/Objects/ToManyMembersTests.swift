import Foundation
import TestSupport
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

    private static let sizes: [(poolCount: Int, seed: UInt64)] = [(900, 1), (900, 2), (2400, 3)]

    /// Few members, and so many that they lie in several runs.
    @Test(arguments: [true, false], Trials.some(of: sizes))
    func changesAreThoseOfAnArray(isOrdered: Bool, size: (poolCount: Int, seed: UInt64)) throws {
        var random = SeededRandom(state: size.seed)
        let pool = try objects(size.poolCount)
        let stored = Array(pool[..<(size.poolCount * 2 / 3)])
        let members = ToManyMembers(isOrdered: isOrdered, isKnown: false)
        members.know(stored)
        var expected = stored
        var present = references(stored)
        var atEvent = stored
        members.beginJournal()
        for step in 0..<Trials.count(2000) {
            let object = pool[Int(random.next() % UInt64(size.poolCount))]
            let place = Int(random.next() % UInt64(expected.count + 1))
            switch random.next() % 5 {
            case 0 where isOrdered && present.insert(ObjectReference(object)).inserted:
                members.insert(object, at: place)
                expected.insert(object, at: place)
            case 4 where isOrdered && place < expected.count:
                let moved = expected.remove(at: Int(random.next() % UInt64(expected.count)))
                members.move([moved], to: place)
                expected.insert(moved, at: place)
            case 1, 2:
                let isMember = present.remove(ObjectReference(object)) != nil
                #expect(members.remove(object) == isMember)
                if isMember { expected.removeAll { $0 === object } }
            default:
                let isNew = present.insert(ObjectReference(object)).inserted
                #expect(members.add(object) == isNew)
                if isNew { expected.append(object) }
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
        #expect(members.membersBeforeEvent.elementsEqual(atEvent) { $0 === $1 })
        if members.isOrdered {
            #expect(members.members.elementsEqual(expected) { $0 === $1 })
        }
        #expect(areSame(members.members, expected))
        let added = references(expected).subtracting(references(stored))
        #expect(members.added.count == added.count && members.added.isSubset(of: added))
        let removed = references(stored).subtracting(references(expected))
        #expect(members.removed.count == removed.count && members.removed.isSubset(of: removed))
        #expect(areSame(members.committedMembers, stored))
        #expect(members.count == expected.count)
        for (index, object) in members.members.enumerated() {
            #expect(members.position(of: object) == index && members[index] === object)
        }
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

    @Test func aMoveIsAChangeWhereAMemberStandsElsewhereAfterwards() throws {
        let pool = try objects(4)
        let members = ToManyMembers(isOrdered: true, isKnown: false)
        members.know(Array(pool[..<3]))
        members.move([], to: 0)
        members.move([pool[3]], to: 0)
        members.move([pool[1]], to: 1)
        members.move([pool[1], pool[2]], to: 1)
        #expect(!members.hasChanges)
        #expect(members.members.elementsEqual(pool[..<3]) { $0 === $1 })
        members.move([pool[0], pool[2]], to: 0)
        #expect(members.isReordered && members.hasChanges)
        #expect(members.members.elementsEqual([pool[0], pool[2], pool[1]]) { $0 === $1 })
    }

    /// Every run is split, shrinks, joins its neighbours and goes.
    @Test func aListFillsFromTheMiddleAndEmptiesFromTheFront() throws {
        let pool = try objects(2000)
        var list = MemberList()
        for (index, object) in pool.enumerated() { list.insert(object, at: index / 2) }
        // Those with odd numbers stand before those with even ones, which came in front of each other.
        let expected = list.members
        #expect(Set(expected.map(ObjectReference.init)).count == 2000)
        for (index, object) in expected.enumerated() {
            #expect(list[index] === object && list.position(of: object) == index)
        }
        for (index, object) in expected.enumerated() {
            #expect(list.remove(object) == 0)
            #expect(!list.contains(object) && list.count == 1999 - index)
        }
        #expect(list.members.isEmpty)
        list.append(pool[7])
        #expect(list.members == [pool[7]] && list.remove(pool[8]) == nil)
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
