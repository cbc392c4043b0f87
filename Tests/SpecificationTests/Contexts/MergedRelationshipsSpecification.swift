import CoreData
import Foundation
import StoreTestSupport
import Testing

/// What a context changed without saving, where another's save changed the same.
@Suite struct MergedRelationshipsSpecification {
    /// How a context takes over what the other saved.
    enum Way: CaseIterable {
        case notification, automatic, refreshing
    }

    /// Has `other` change and save, and `context` learn of it.
    private func learn(
        _ way: Way, _ context: NSManagedObjectContext, of other: NSManagedObjectContext, _ change: () throws -> Void
    ) throws {
        nonisolated(unsafe) var notes: [Notification] = []
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { notes.append($0) }
        defer { NotificationCenter.default.removeObserver(token) }
        context.automaticallyMergesChangesFromParent = way == .automatic
        try other.performAndWait {
            try change()
            try other.save()
        }
        // What merges by itself is behind it.
        context.performAndWait {
            switch way {
            case .notification: notes.forEach { context.mergeChanges(fromContextDidSave: $0) }
            case .automatic: break
            case .refreshing: context.refreshAllObjects()
            }
        }
        context.automaticallyMergesChangesFromParent = false
    }

    private func people(_ names: [String], in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.performAndWait {
            try names.map { try context.one("Person", "name == %@", $0) }
        }
    }

    private func check(
        _ store: SpecifiedStore, rules: [(String, String, NSDeleteRule)] = [],
        _ body: (Way, SpecifiedStack, NSManagedObjectContext, NSManagedObjectContext) throws -> Void
    ) throws {
        for way in Way.allCases {
            try store.checkContexts(rules: rules) { stack in
                try stack.story { context throws in
                    for name in ["i", "o1", "o2"] { _ = context.insert("Person", ["name": name]) }
                    try context.save()
                }
                try body(way, stack, stack.newContext(), stack.newContext())
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whatWasSetToItsValueFollowsTheStore(_ store: SpecifiedStore) throws {  // D3, L4
        try check(store) { way, stack, context, other in
            let mine = try people(["i", "o1"], in: context)
            let theirs = try people(["i", "o2"], in: other)
            try context.performAndWait {
                mine[0].setValue(mine[1], forKey: "mentor")
                try context.save()
                mine[0].setValue("i", forKey: "name")
                mine[0].setValue(nil, forKey: "mentor")
                mine[0].setValue(mine[1], forKey: "mentor")
                mine[0].setValue(nil, forKey: "spouse")
                mine[1].setValue("mine", forKey: "name")
            }
            try learn(way, context, of: other) {
                other.refreshAllObjects()
                theirs[0].setValue("theirs", forKey: "name")
                theirs[0].setValue(theirs[1], forKey: "mentor")
                theirs[0].setValue(theirs[1], forKey: "spouse")
            }
            try context.performAndWait {
                #expect(mine[0].text("name") == "theirs" && mine[0].object("mentor")?.text("name") == "o2", "\(way)")
                #expect(mine[1].names(of: "pupils") == [], "\(way)")
                try context.save()
            }
            try stack.story { fresh throws in
                let found = try fresh.one("Person", "name == 'theirs'")
                #expect(found.object("mentor")?.text("name") == "o2" && found.object("spouse")?.text("name") == "o2")
                #expect(try fresh.one("Person", "name == 'mine'").names(of: "pupils") == [], "\(way)")
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func anOwnerThatWasSetToItselfCanGo(_ store: SpecifiedStore) throws {  // L1
        for goesAway in [false, true] {
            try check(store) { way, stack, context, other in
                let mine = try people(["i", "o1", "o2"], in: context)
                let theirs = try people(["o1"], in: other)
                try context.performAndWait {
                    mine[0].setValue(mine[1], forKey: "mentor")
                    try context.save()
                    if goesAway { mine[0].setValue(mine[2], forKey: "mentor") }
                    mine[0].setValue(mine[1], forKey: "mentor")
                    mine[0].setValue("mine", forKey: "name")
                }
                try learn(way, context, of: other) {
                    other.refreshAllObjects()
                    other.delete(theirs[0])
                }
                try context.performAndWait {
                    #expect(mine[0].object("mentor") == nil, "\(way)")
                    try context.save()
                }
            }
        }
    }

    /// `reads` is when the lists of members are read: before, or after the save and the merge.
    @Test(arguments: SpecifiedStore.all, [true, false])
    func whoWasGivenToTwoOwnersIsOfOne(_ store: SpecifiedStore, reads: Bool) throws {  // E3, E5
        try check(store, rules: [("Person", "pupils", .cascadeDeleteRule)]) { way, stack, context, other in
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let mine = try people(["i", "o1", "o2"], in: context)
            let theirs = try people(["i", "o1", "o2"], in: other)
            func expectMine(_ comment: Comment) {
                #expect(mine[0].object("mentor") === mine[2], comment)
                #expect(mine[1].names(of: "pupils") == [] && mine[2].names(of: "pupils") == ["i"], comment)
                #expect(mine[0].object("spouse") === mine[2] && mine[2].object("spouse") === mine[0], comment)
                #expect(mine[1].object("spouse") == nil, comment)
            }
            context.performAndWait {
                if reads { for owner in mine { _ = (owner.names(of: "pupils"), owner.object("spouse")) } }
                mine[0].setValue(mine[2], forKey: "mentor")
                mine[0].setValue(mine[2], forKey: "spouse")
            }
            try learn(way, context, of: other) {
                theirs[0].setValue(theirs[1], forKey: "mentor")
                theirs[0].setValue(theirs[1], forKey: "spouse")
            }
            context.performAndWait { expectMine("\(way) merged") }
            try learn(.notification, other, of: context) {}
            other.performAndWait {
                #expect(theirs[1].names(of: "pupils") == [] && theirs[2].names(of: "pupils") == ["i"], "\(way)")
                #expect(theirs[1].object("spouse") == nil && theirs[2].object("spouse") === theirs[0], "\(way)")
            }
            try context.performAndWait {
                expectMine("\(way) saved")
                context.delete(mine[1])
                try context.save()
            }
            try stack.story { fresh throws in #expect(try fresh.names("Person") == ["i", "o2"], "\(way)") }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func membersThatAreReadBeforeTheMergeAreOfOneOwner(_ store: SpecifiedStore) throws {  // E3
        try store.checkContexts { stack in
            try stack.story { context throws in
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                let people = ["i", "o1", "o2"].map { context.insert("Person", ["name": $0]) }
                try context.save()
                context.refresh(people[1], mergeChanges: false)
                people[0].setValue(people[2], forKey: "mentor")
                try stack.story { other throws in
                    try other.one("Person", "name == 'i'").setValue(
                        try other.one("Person", "name == 'o1'"), forKey: "mentor")
                    try other.save()
                }
                #expect(people[1].names(of: "pupils") == [] && people[2].names(of: "pupils") == ["i"])
                try context.save()
                #expect(people[1].names(of: "pupils") == [] && people[2].names(of: "pupils") == ["i"])
                people[0].setValue(people[1], forKey: "mentor")
                try context.save()
                #expect(people[1].names(of: "pupils") == ["i"] && people[2].names(of: "pupils") == [])
            }
        }
    }

    @Test(arguments: SpecifiedStore.all)
    func whatWasAddedToWhatIsDeletedIsNotLookedForAfterAMerge(_ store: SpecifiedStore) throws {  // L4
        try check(store) { way, stack, context, other in
            let mine = try people(["i", "o1"], in: context)
            let theirs = try people(["i"], in: other)
            context.performAndWait {
                mine[0].mutableSetValue(forKey: "friends").add(mine[1])
                context.processPendingChanges()
                // Its delete rules are applied when changes are processed, behind the merge.
                context.delete(mine[0])
            }
            try learn(way, context, of: other) { theirs[0].setValue("theirs", forKey: "name") }
            try context.performAndWait {
                context.mergePolicy = NSMergePolicy.overwrite
                try context.save()
                #expect(mine[1].names(of: "friends") == [], "\(way)")
            }
            try stack.story { fresh throws in #expect(try fresh.names("Person") == ["o1", "o2"], "\(way)") }
        }
    }
}
