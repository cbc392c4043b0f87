import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Faults that fired one by one, each with its own statement, although one statement could have read them all.
///
///     for item in try context.fetch(request) { print(item.unit?.name ?? "") }
///     // 10 faults of Unit fired one by one, through Item.unit: set relationshipKeyPathsForPrefetching = ["unit"] on the fetch of Item
///
/// Apple's framework has no counterpart.
public struct FaultLoop: Hashable, Sendable, CustomStringConvertible {
    /// The entity whose rows were read, or whose objects' to-many relationship was read.
    public let entityName: String
    /// The relationship through which the objects were reached, and the entity that has it; `nil` if it is none of the
    /// context's objects.
    public let relationship: Relationship?
    /// How many statements there were by now.
    public let count: Int

    /// A relationship of an entity.
    public struct Relationship: Hashable, Sendable {
        /// The entity of the objects that were visited.
        public let entityName: String
        /// The relationship's name.
        public let name: String
        /// What to put into `relationshipKeyPathsForPrefetching`.
        public let prefetchingKeyPath: String
        /// Whether it is to-many.
        public let isToMany: Bool
    }

    /// What happened, and what to do.
    public var description: String {
        guard let relationship else {
            return
                "\(count) faults of \(entityName) fired one by one: fetch them together, with returnsObjectsAsFaults = false and the "
                + "predicate 'self IN %@'"
        }
        let cure = "set relationshipKeyPathsForPrefetching = [\"\(relationship.prefetchingKeyPath)\"] on the fetch"
        if relationship.isToMany {
            return "\(relationship.entityName).\(relationship.name) was read one by one of \(count) objects: \(cure)"
        }
        return
            "\(count) faults of \(entityName) fired one by one, through \(relationship.entityName).\(relationship.name): \(cure)"
    }
}

/// The reaction of a context to faults that fire one by one.
public enum FaultLoopReporting: Sendable {
    /// Nothing, at no cost.
    case off
    /// Logs a warning when so many of one kind have fired, and again at ten times as many.
    case log(after: Int)
    /// Calls the closure then, on the context's queue.
    case call(after: Int, @Sendable (FaultLoop) -> Void)
}

/// Faults fired one by one in a piece of work that must not have such loops.
public struct FaultLoopError: LocalizedError, Sendable, CustomStringConvertible {
    /// The loops, in the order in which they were found.
    public let loops: [FaultLoop]

    /// Each loop, and what to do.
    public var errorDescription: String? { description }

    public var description: String { loops.map(\.description).joined(separator: "\n") }
}

extension NSManagedObjectContext {
    /// The reaction of the context to faults that fire one by one, each with a statement.
    ///
    ///     context.faultLoopReporting = .log(after: 10)
    ///     for item in try context.fetch(request) { print(item.unit?.name ?? "") }
    ///     // warning: 10 faults of Unit fired one by one, through Item.unit: set relationshipKeyPathsForPrefetching = ["unit"] on the fetch
    ///
    /// Counting starts when it is set. A fault whose row is in memory does not count.
    ///
    /// Not in Apple's API.
    public final var faultLoopReporting: FaultLoopReporting {
        get { rowReading.faultWatch?.reporting ?? .off }
        set {
            if case .off = newValue {
                rowReading.faultWatch = nil
            } else {
                rowReading.faultWatch = FaultWatch(newValue)
            }
        }
    }

    /// Runs `body`, and throws if it fired that number of faults of one kind one by one.
    ///
    ///     try context.withoutFaultLoops {
    ///         for item in try context.fetch(request) { print(item.unit?.name ?? "") }
    ///     }
    ///     // FaultLoopError: 10 faults of Unit fired one by one, through Item.unit: set relationshipKeyPathsForPrefetching = ["unit"] …
    ///
    /// The effects of `body` stay: use it in tests and for analysis.
    ///
    /// - Throws: ``FaultLoopError``; the errors of `body`.
    ///
    /// Not in Apple's API.
    @discardableResult
    public nonisolated final func withoutFaultLoops<R>(of count: Int = 10, _ body: () throws -> R) throws -> R {
        checkOwned("withoutFaultLoops(of:_:)")
        let outer = rowReading.faultWatch
        let watch = FaultWatch(.log(after: count), collects: true, inside: outer)
        rowReading.faultWatch = watch
        defer { rowReading.faultWatch = outer }
        let result = try body()
        if !watch.found.isEmpty { throw FaultLoopError(loops: watch.found) }
        return result
    }
}

/// Counts the reads of a context that are of one object each.
final class FaultWatch {
    let reporting: FaultLoopReporting
    private let collects: Bool
    /// The surrounding watch, which counts the same faults.
    private let outer: FaultWatch?
    private let threshold: Int
    private(set) var found: [FaultLoop] = []
    private var kinds: [Kind: Count] = [:]
    /// The key path to an entity, and the entity where it begins, as far as loops have shown it.
    private var paths: [Int: String] = [:]

    private struct Kind: Hashable {
        var entity: Int
        /// Of a to-many; -1 for rows.
        var slot: Int
    }

    private struct Count {
        var total = 0
        var next: Int
        /// Some of the rows that were read.
        var keys: Set<Int64> = []
    }

    init(_ reporting: FaultLoopReporting, collects: Bool = false, inside outer: FaultWatch? = nil) {
        self.outer = outer
        self.reporting = reporting
        self.collects = collects
        threshold =
            switch reporting {
            case .off: .max
            case .log(let count), .call(let count, _): max(1, count)
            }
    }

    /// Notes that a fault's row is read by itself.
    func willReadRow(of object: NSManagedObject, in context: NSManagedObjectContext) {
        outer?.willReadRow(of: object, in: context)
        let kind = Kind(entity: object.runtime.ordinal, slot: -1)
        guard let count = note(kind, object.primaryKey) else { return }
        let relationship = leading(to: object.runtime, count.keys, in: context)
        tell(FaultLoop(entityName: object.runtime.name, relationship: relationship, count: count.total))
    }

    /// The members of one object's to-many are read.
    func willReadMembers(of object: NSManagedObject, slot: Int) {
        outer?.willReadMembers(of: object, slot: slot)
        let kind = Kind(entity: object.runtime.ordinal, slot: slot)
        guard let count = note(kind, object.primaryKey) else { return }
        let info = object.runtime.slots[slot]
        let path = path(to: info, of: object.runtime)
        tell(
            FaultLoop(
                entityName: object.runtime.name,
                relationship: .init(
                    entityName: object.runtime.name, name: info.name, prefetchingKeyPath: path, isToMany: true),
                count: count.total))
    }

    /// Counts one more; returns the count when it reaches the limit.
    private func note(_ kind: Kind, _ key: Int64) -> Count? {
        var count = kinds[kind] ?? Count(next: threshold)
        count.total += 1
        if count.keys.count < 1000 { count.keys.insert(key) }
        let isEnough = count.total == count.next
        if isEnough { count.next = count.next.multipliedReportingOverflow(by: 10).partialValue }
        kinds[kind] = count
        return isEnough ? count : nil
    }

    private func tell(_ loop: FaultLoop) {
        if collects {
            // The last count of each is enough.
            found.removeAll { $0.entityName == loop.entityName && $0.relationship == loop.relationship }
            return found.append(loop)
        }
        switch reporting {
        case .off: break
        case .log: CoreDataLog.general.warning("\(loop.description)")
        case .call(_, let body): body(loop)
        }
    }

    // MARK: What led there

    /// Returns the to-one relationship of the context's objects through which most of the rows were reached.
    private func leading(
        to entity: EntityRuntime, _ keys: Set<Int64>, in context: NSManagedObjectContext
    ) -> FaultLoop.Relationship? {
        var counts: [Kind: (count: Int, runtime: EntityRuntime)] = [:]
        for object in context.registeredObjects where object.hasRow {
            guard let row = object.rowView else { continue }
            let runtime = object.runtime
            for slot in runtime.relationSlots {
                let info = runtime.slots[slot]
                guard let relationship = info.relationship, !relationship.isToMany, info.column >= 0,
                    relationship.destination == entity.ordinal
                        || entity.compiled.root == context.root(of: relationship.destination),
                    !row.isNull(info.column), keys.contains(row.integer(info.column))
                else { continue }
                counts[Kind(entity: runtime.ordinal, slot: slot), default: (0, runtime)].count += 1
            }
        }
        let most = counts.max {
            ($0.value.count, $1.key.entity, $1.key.slot) < ($1.value.count, $0.key.entity, $0.key.slot)
        }
        guard let most else { return nil }
        let info = most.value.runtime.slots[most.key.slot]
        let path = path(to: info, of: most.value.runtime)
        paths[entity.ordinal] = path
        return .init(
            entityName: most.value.runtime.name, name: info.name, prefetchingKeyPath: path, isToMany: false)
    }

    /// Returns the path from the fetched objects, if it is known how these objects were reached.
    private func path(to slot: EntityRuntime.Slot, of entity: EntityRuntime) -> String {
        paths[entity.ordinal].map { "\($0).\(slot.name)" } ?? slot.name
    }
}

extension NSManagedObjectContext {
    /// The root of an entity of the context's model.
    fileprivate func root(of entity: Int) -> Int? { coordinator?.runtime.entities[entity].root }
}
