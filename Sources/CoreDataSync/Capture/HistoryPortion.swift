import CoreData
import CoreDataSyncEngine
import Foundation

/// What became of the objects of one entity.
struct EntityChanges {
    let entity: SyncEntity
    /// The transactions of objects that were inserted and still exist, by primary key.
    var inserted = InsertedKeys()
    /// The names of changed properties by primary key.
    var updated: [Int64: Set<String>] = [:]
    var deleted: Set<Int64> = []
}

/// The transactions after a position, as one change for each object.
struct HistoryPortion {
    private(set) var changes: [EntityChanges] = []
    private(set) var transactions = 0
    /// The number of the last transaction that was read.
    private(set) var end: Int64 = 0
    private(set) var isPartial = false
    /// The last transaction that was read.
    private(set) var mark: HistoryMark?
    /// The times of the transactions, by number.
    private(set) var times: [Int64: Date] = [:]

    init(_ capture: Capture, after position: Int64, limit: Int, _ intended: IntendedChanges?) throws {
        var collapsed = Collapsed(capture.rules, intended)
        var own: Set<Int64> = []
        let read = try capture.coordinator.readHistory(of: capture.store, after: position, limit: limit) {
            own = Set($0.lazy.filter { $0.author == IntendedChanges.author }.map(\.number))
        } change: { change in
            collapsed.add(change, isOwn: own.contains(change.transaction))
        }
        (transactions, isPartial) = (read.transactions.count, read.isPartial)
        times = Dictionary(read.transactions.map { ($0.number, $0.time) }, uniquingKeysWith: { first, _ in first })
        if let last = read.transactions.last {
            end = last.number
            mark = HistoryMark(number: last.number, time: last.time)
        }
        changes = collapsed.changes
    }
}

/// Transactions become changes of objects.
private struct Collapsed {
    private let rules: SyncRules
    private let intended: IntendedChanges?
    private(set) var changes: [EntityChanges] = []
    /// The places in `changes`; -1 for entities that are not exchanged.
    private var places: [ObjectIdentifier: Int] = [:]

    init(_ rules: SyncRules, _ intended: IntendedChanges?) { (self.rules, self.intended) = (rules, intended) }

    mutating func add(_ change: HistoryRecordChange, isOwn: Bool) {
        let place = self.place(of: change.entity)
        guard place >= 0 else { return }
        let key = change.key
        switch change.type {
        case .insert:
            if !isOwn || intended.map({ !$0.inserted.contains(key, changes[place].entity.root) }) ?? false {
                changes[place].inserted[key] = change.transaction
            }
        case .update: update(change, place, isOwn)
        case .delete:
            changes[place].updated[key] = nil
            // An object that came and went was never captured; if it was, its entry tells.
            changes[place].inserted[key] = nil
            if !isOwn || isUnintendedDeletion(place, key) { changes[place].deleted.insert(key) }
        }
    }

    private mutating func update(_ change: HistoryRecordChange, _ place: Int, _ isOwn: Bool) {
        var names = change.properties
        let key = change.key
        guard !names.isEmpty, changes[place].inserted[key] == nil else { return }
        if isOwn {
            guard let intended else { return }
            let object = ObjectKey(root: changes[place].entity.root, key: key)
            if intended.inserted.contains(key, object.root) { return }
            names.subtract(intended.updated[object] ?? [])
            if names.isEmpty { return }
        }
        changes[place].updated[key, default: []].formUnion(names)
    }

    private func isUnintendedDeletion(_ place: Int, _ key: Int64) -> Bool {
        intended.map { !$0.deleted.contains(ObjectKey(root: changes[place].entity.root, key: key)) } ?? false
    }

    private mutating func place(of entity: NSEntityDescription) -> Int {
        if let place = places[ObjectIdentifier(entity)] { return place }
        var place = -1
        if let entity = rules[entity.name ?? ""], !entity.isIgnored {
            place = changes.count
            changes.append(EntityChanges(entity: entity))
        }
        places[ObjectIdentifier(entity)] = place
        return place
    }
}
