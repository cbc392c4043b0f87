import CoreData
import Foundation

/// Whoever edits by one context: does one thing after the other, and keeps what it was told is saved.
final class StressEditor: @unchecked Sendable {
    // Safe because one thread drives an editor, and its objects are touched on the context's queue.

    let name: String
    let context: NSManagedObjectContext
    /// Whether nobody saves to this context, so that it may give up what it has.
    let isLeaf: Bool
    private(set) var report = StressReport()
    private(set) var doing = "nothing yet"
    /// Of a few of the objects, to see that they go.
    private(set) var samples: [WeakReference] = []
    private var generator: Generator
    private var number = 0

    init(_ name: String, _ context: NSManagedObjectContext, isLeaf: Bool, seed: UInt64) {
        self.name = name
        self.context = context
        self.isLeaf = isLeaf
        generator = Generator(state: seed)
        context.name = name
        context.transactionAuthor = name
    }

    private var hasParent: Bool { context.parent != nil }

    /// Does something at random.
    func act() throws {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<60: try edit()
        case 60..<70: try compare()
        case 70..<80: try mark()
        case 80..<88 where !hasParent && isLeaf: try count()
        case 88..<93 where isLeaf: try editAndUndo()
        case 93..<96 where isLeaf: try editInVain()
        case 96..<98 where isLeaf: try doing("resets") { context.performAndWait { context.reset() } }
        default: try doing("refreshes") { context.performAndWait { context.refreshAllObjects() } }
        }
    }

    private func doing(_ what: String, _ body: () throws -> Void) throws {
        doing = what
        do { try body() } catch { throw StressFailure("\(name) \(what): \(error)") }
        doing = "\(what), and has done so"
    }

    // MARK: Entries

    /// Makes, changes, moves and deletes some entries of its own in one save.
    private func edit() throws {
        try doing("edits") {
            var entries = report.entries
            try context.performAndWait {
                for _ in 0..<Int.random(in: 1...4, using: &generator) { try editOne(&entries) }
                try context.save()
            }
            try saveAncestors()
            report.entries = entries
        }
    }

    private func editOne(_ entries: inout [String: StressReport.Entry]) throws {
        let group = Int.random(in: 0..<StressModel.groupCount, using: &generator)
        let value = Int.random(in: 0..<1000, using: &generator)
        let known = entries.keys.sorted().randomElement(using: &generator)
        switch (Int.random(in: 0..<10, using: &generator), known) {
        case (0..<4, let name?) where entries.count > 3:
            try context.one("Entry", named: name).setValue(value, forKey: "value")
            entries[name]?.value = value
        case (4..<6, let name?) where entries.count > 3:
            let entry = try context.one("Entry", named: name)
            entry.setValue(try context.one("Group", named: "\(group)"), forKey: "group")
            entries[name]?.group = group
        case (6..<8, let name?) where entries.count > 20:
            context.delete(try context.one("Entry", named: name))
            entries[name] = nil
        default:
            number += 1
            let entry = try insert("\(name)-\(number)", value, group)
            if number % 50 == 0 { samples.append(WeakReference(entry)) }
            entries["\(name)-\(number)"] = StressReport.Entry(group: group, value: value)
        }
    }

    private func insert(_ name: String, _ value: Int, _ group: Int) throws -> NSManagedObject {
        let entry = NSEntityDescription.insertNewObject(forEntityName: "Entry", into: context)
        entry.setValue(name, forKey: "name")
        entry.setValue(value, forKey: "value")
        entry.setValue(try context.one("Group", named: "\(group)"), forKey: "group")
        return entry
    }

    /// Everything above this context saves, up to the store.
    private func saveAncestors() throws {
        var next = context.parent
        while let ancestor = next {
            try ancestor.performAndWait { try ancestor.save() }
            next = ancestor.parent
        }
        report.saves += 1
    }

    /// What the context finds of its own entries is what it saved.
    func compare() throws {
        try doing("compares") {
            try context.performAndWait {
                var found: [String: StressReport.Entry] = [:]
                for entry in try context.all("Entry", "name BEGINSWITH %@", name + "-") {
                    guard let name = entry.value(forKey: "name") as? String,
                        let value = entry.value(forKey: "value") as? Int,
                        let group = entry.value(forKey: "group") as? NSManagedObject,
                        let index = (group.value(forKey: "name") as? String).flatMap({ Int($0) })
                    else { throw StressFailure("half an entry: \(entry)") }
                    guard (group.value(forKey: "entries") as? Set<NSManagedObject>)?.contains(entry) == true else {
                        throw StressFailure("\(name) is not among the entries of its group")
                    }
                    found[name] = StressReport.Entry(group: index, value: value)
                }
                guard found == report.entries else {
                    throw StressFailure(StressCheck.difference(found, report.entries))
                }
            }
        }
    }

    // MARK: What others write, too

    /// Makes a label, which is there already most of the time.
    private func mark() throws {
        try doing("marks") {
            let name = "\(Int.random(in: 0..<StressModel.labelCount, using: &generator))"
            try context.performAndWait {
                let label = NSEntityDescription.insertNewObject(forEntityName: "Label", into: context)
                label.setValue(name, forKey: "name")
                label.setValue(self.name, forKey: "note")
                try context.save()
            }
            try saveAncestors()
            report.labels.insert(name)
        }
    }

    /// Steps a counter; who was slower than another reads it again.
    private func count() throws {
        try doing("counts") {
            let index = Int.random(in: 0..<StressModel.counterCount, using: &generator)
            try context.performAndWait {
                let policy = context.mergePolicy
                defer { context.mergePolicy = policy }
                context.mergePolicy = NSMergePolicy.error
                while true {
                    let counter = try context.one("Counter", named: "\(index)")
                    let value = counter.value(forKey: "value") as? Int ?? 0
                    counter.setValue(value + 1, forKey: "value")
                    // Time for others to be faster.
                    _ = try context.all("Entry", "value > %d", 500).count
                    do {
                        try context.save()
                        break
                    } catch let error as CocoaError where error.code == .managedObjectMerge {
                        report.conflicts += 1
                        context.rollback()
                        context.refresh(counter, mergeChanges: false)
                    }
                }
            }
            report.steps[index] += 1
            report.saves += 1
        }
    }

    // MARK: What is not to be saved

    private func editAndUndo() throws {
        try doing("edits and undoes") {
            try context.performAndWait {
                let undo = UndoManager()
                undo.groupsByEvent = false
                context.undoManager = undo
                defer { context.undoManager = nil }
                undo.beginUndoGrouping()
                var entries = report.entries
                for _ in 0..<3 { try editOne(&entries) }
                context.processPendingChanges()
                undo.endUndoGrouping()
                undo.undo()
                context.processPendingChanges()
                if Bool.random(using: &generator) {
                    undo.redo()
                    context.processPendingChanges()
                    undo.undo()
                    context.processPendingChanges()
                }
                try context.save()
            }
            try saveAncestors()
        }
        try compare()
    }

    /// A save that fails leaves everything as it was.
    private func editInVain() throws {
        try doing("edits in vain") {
            try context.performAndWait {
                var entries = report.entries
                try editOne(&entries)
                let label = NSEntityDescription.insertNewObject(forEntityName: "Label", into: context)
                label.setValue("0", forKey: "name")
                do { try context.save() } catch let error as CocoaError
                    where error.code == .validationMissingMandatoryProperty
                {
                    guard label.isInserted else { throw StressFailure("the label is not new any more") }
                    return context.rollback()
                }
                throw StressFailure("a label without note was saved")
            }
        }
        try compare()
    }
}

/// Does not keep what it refers to.
struct WeakReference {
    weak var object: AnyObject?

    init(_ object: AnyObject) { self.object = object }
}
