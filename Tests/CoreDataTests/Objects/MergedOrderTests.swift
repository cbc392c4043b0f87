import Foundation
import Testing

@testable import CoreData

/// The order of an ordered to-many that two sides have changed.
@Suite struct MergedOrderTests {
    // MARK: Lists

    /// Both had 1, 2 and 3; 10 and 11 came here, 20 and 21 there.
    @Test(arguments: [
        // Moved here.
        ("3 1 2", "1 2 3 20", true, "3 1 2 20"), ("3 1 2", "1 20 2 3", true, "3 1 20 2"),
        ("3 1 2", "20 1 2 3", true, "20 3 1 2"), ("3 1 2", "2 3 1", true, "3 1 2"),
        ("3 1 2 10", "1 3 2 20", true, "3 1 2 10 20"), ("3 10 1 2", "2 3 20 1", true, "3 10 20 1 2"),
        // Not moved here.
        ("1 2 3 10", "1 2 3", false, "1 2 3 10"), ("1 2 3 10", "3 1 2", false, "3 1 2 10"),
        ("10 1 2 3", "3 1 2", false, "10 3 1 2"), ("1 10 2 3", "3 1 2", false, "3 1 10 2"),
        // The same place.
        ("1 2 3 10", "1 2 3 20", false, "1 2 3 10 20"), ("10 1 2 3", "20 1 2 3", false, "10 20 1 2 3"),
        ("1 10 2 3", "1 20 2 3", false, "1 10 20 2 3"), ("1 2 3 10 11", "1 20 21 2 3", false, "1 20 21 2 3 10 11"),
        // Removed here, there, and the member that another follows.
        ("1 3 10", "1 3 20", false, "1 3 10 20"), ("1 2", "1 2 20", true, "1 2 20"), ("3 1", "1 20 3", true, "3 1 20"),
        ("2 1", "1 2 20", true, "2 1 20"),
        // Nothing that both have.
        ("10", "20", false, "10 20"), ("", "20", true, "20"), ("10", "", false, "10"), ("", "", false, ""),
    ])
    func listsAreMerged(here: String, there: String, isMovedHere: Bool, merged: String) {
        let (here, there) = (Self.list(here), Self.list(there))
        let found = MergedOrder.members(
            here: here, there: there, addedHere: Set(here).subtracting(there), isMovedHere: isMovedHere)
        #expect(found == Self.list(merged))
    }

    @Test func whatBothAddedStandsWhereItWasPutHere() {
        let found = MergedOrder.members(
            here: ["9", "1", "2"], there: ["1", "2", "20", "9"], addedHere: ["9"], isMovedHere: false)
        #expect(found == ["9", "1", "2", "20"])
    }

    private static func list(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    // MARK: Contexts

    /// How the two sides meet.
    enum Way: CaseIterable, CustomTestStringConvertible {
        /// A context merges a save of another one.
        case merge
        /// A parent that has unsaved changes takes what its child saves; and one that has saved its changes.
        case child, childOfSaved

        var testDescription: String { "\(self)" }
    }

    private static let edits: [(name: String, isMove: Bool, apply: @Sendable (inout [String], _ new: String) -> Void)] =
        [
            ("append", false, { $0.append($1) }), ("insert first", false, { $0.insert($1, at: 0) }),
            ("insert behind 1", false, { $0.insert($1, at: 1) }),
            ("remove 2", false, { titles, _ in titles.removeAll { $0 == "2" } }),
            ("move the last", true, { titles, _ in titles.insert(titles.removeLast(), at: 0) }),
            (
                "move the first and append", true,
                {
                    $0.append($0.removeFirst())
                    $0.append($1)
                }
            ),
        ]

    private static func expected(_ mine: Int, _ theirs: Int) -> [String] {
        let both = ["1", "2", "3"]
        var (here, there) = (both, both)
        edits[mine].apply(&here, "10")
        edits[theirs].apply(&there, "20")
        let (goneHere, goneThere) = (Set(both).subtracting(here), Set(both).subtracting(there))
        return MergedOrder.members(
            here: here.filter { !goneThere.contains($0) }, there: there.filter { !goneHere.contains($0) },
            addedHere: ["10"], isMovedHere: edits[mine].isMove)
    }

    private func titles(_ owner: NSManagedObject, _ key: String) -> [String] {
        Nodes.targets(owner.value(forKey: key)).compactMap { $0.value(forKey: "title") as? String }
    }

    private func make(_ title: String, _ key: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let entity = key == "chapters" ? "Chapter" : "Book"
        let made = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        made.setValue(title, forKey: "title")
        return made
    }

    private func edit(
        _ id: NSManagedObjectID, _ key: String, _ edit: Int, _ new: String, in context: NSManagedObjectContext
    ) {
        let owner = context.object(with: id)
        let members = Nodes.targets(owner.value(forKey: key))
        let known = Dictionary(uniqueKeysWithValues: zip(titles(owner, key), members))
        var wanted = titles(owner, key)
        Self.edits[edit].apply(&wanted, new)
        owner.setValue(NSOrderedSet(array: wanted.map { known[$0] ?? make($0, key, context) }), forKey: key)
    }

    @Test(
        "A merge and a child's save put the members into the same order",
        arguments: ["chapters", "sequels"], Way.allCases)
    func sidesMeet(_ key: String, _ way: Way) throws {
        let stack = try LibraryStack()
        let other = way == .merge ? stack.newContext() : NSManagedObjectContext(.privateQueue)
        if way != .merge { other.parent = stack.context }
        for mine in Self.edits.indices {
            for theirs in Self.edits.indices {
                let id = try stack.story { context in
                    let owner = Book(context: context)
                    owner.title = "owner"
                    owner.setValue(NSOrderedSet(array: ["1", "2", "3"].map { make($0, key, context) }), forKey: key)
                    try context.save()
                    return owner.objectID
                }
                let found =
                    way == .merge
                    ? try merge(id, key, mine, theirs, stack.context, other)
                    : try saveChild(id, key, mine, theirs, stack.context, other, saves: way == .childOfSaved)
                let comment: Comment = "\(Self.edits[mine].name) here, \(Self.edits[theirs].name) there"
                #expect(found == Self.expected(mine, theirs), comment)
                let fresh = stack.newContext()
                #expect(fresh.performAndWait { titles(fresh.object(with: id), key) } == found, comment)
            }
        }
    }

    /// Edits here, merges what the other context saved, and saves.
    private func merge(
        _ id: NSManagedObjectID, _ key: String, _ mine: Int, _ theirs: Int, _ context: NSManagedObjectContext,
        _ other: NSManagedObjectContext
    ) throws -> [String] {
        try context.performAndWait {
            edit(id, key, mine, "10", in: context)
            let saves = NotificationSaves(other)
            try other.performAndWait {
                edit(id, key, theirs, "20", in: other)
                try other.save()
            }
            context.mergeChanges(fromContextDidSave: try #require(saves.last))
            let merged = titles(context.object(with: id), key)
            do { try context.save() } catch let error as CocoaError where error.code == .managedObjectMerge {
                // Rows of members were changed there, too.
                context.refreshAllObjects()
                try context.save()
            }
            #expect(titles(context.object(with: id), key) == merged)
            return merged
        }
    }

    /// Edits in the child, then in the parent, and saves both.
    private func saveChild(
        _ id: NSManagedObjectID, _ key: String, _ mine: Int, _ theirs: Int, _ parent: NSManagedObjectContext,
        _ child: NSManagedObjectContext, saves: Bool
    ) throws -> [String] {
        try child.performAndWait {
            edit(id, key, mine, "10", in: child)
            try parent.performAndWait {
                edit(id, key, theirs, "20", in: parent)
                if saves { try parent.save() }
            }
            try child.save()
            child.reset()
        }
        return try parent.performAndWait {
            let merged = titles(parent.object(with: id), key)
            try parent.save()
            return merged
        }
    }
}
