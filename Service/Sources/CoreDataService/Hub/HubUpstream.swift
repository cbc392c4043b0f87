import CoreData
import CoreDataPermissions
@_spi(Service) import CoreDataSync
import Foundation

/// Writes what devices changed into the served store, as their account.
///
/// Many objects are one transaction. If the store refuses it, its halves are tried, then each object, then each
/// property: what is refused stops nothing else. The transaction has a note, by which the next process finds out
/// whether it was committed.
struct HubUpstream {
    private let pass: HubPass
    private var replica: HubReplica { pass.replica }

    /// The greatest number of objects of a transaction: other writers wait for it.
    private static let portion = 200
    /// How often a transaction is tried anew if other writers change the same rows.
    private static let attempts = 5

    init(_ pass: HubPass) { self.pass = pass }

    private enum Outcome {
        case done([HubOperation])
        case refused(any Error)
        case changedMeanwhile
    }

    func run(_ operations: [HubOperation]) throws {
        var queue: [(operations: [HubOperation], attempt: Int)] = []
        let sorted = HubOperation.sorted(operations)
        for start in stride(from: 0, to: sorted.count, by: Self.portion) {
            queue.append((Array(sorted[start..<min(sorted.count, start + Self.portion)]), 1))
        }
        var next = 0
        while next < queue.count {
            let (portion, attempt) = queue[next]
            let later = Set(queue[(next + 1)...].flatMap { $0.operations.filter { $0.kind == .create }.map(\.key) })
            let outcome = try self.attempt(portion, later)
            switch outcome {
            case .done(let deferred):
                if !deferred.isEmpty { queue.append((deferred, 1)) }
                next += 1
            case .changedMeanwhile where attempt < Self.attempts: queue[next].attempt += 1
            case .changedMeanwhile, .refused:
                var error: (any Error)?
                if case .refused(let found) = outcome { error = found }
                let rest = portion.count > 1 ? Self.halves(portion) : try refuse(portion[0], error)
                queue.replaceSubrange(next...next, with: rest.map { (operations: $0, attempt: 1) })
            }
        }
    }

    private static func halves(_ portion: [HubOperation]) -> [[HubOperation]] {
        let middle = portion.count / 2
        return [Array(portion[..<middle]), Array(portion[middle...])]
    }

    // MARK: One transaction

    /// - Parameter later: objects that later transactions create: references to them wait.
    /// - Returns: with success, changes of references that wait.
    private func attempt(_ portion: [HubOperation], _ later: Set<HubKey>) throws -> Outcome {
        let context = try pass.served.makeContext(pass.access)
        var waiting: [HubOperation] = []
        var outcome: Outcome?
        try context.performAndWait {
            var writer = try HubWriter(pass, context, portion, later)
            do { for operation in portion { try writer.apply(operation) } } catch let error as HubWriter.Missing {
                outcome = .refused(error)
                return
            }
            waiting = writer.waiting
            let accepted = portion.map { acceptance(of: $0, without: writer.unaccepted[$0.key] ?? []) }
            let notices = try writer.missing.flatMap { try self.notices(of: $0.property, $0.operation) }
            let key = "hub \(UUID().uuidString)"
            do { try save(context, key, accepted, notices) } catch {
                guard let found = Self.outcome(of: error) else { throw error }
                outcome = found
                try replica.end(key)
                try replica.save([:])
            }
        }
        return outcome ?? .done(waiting)
    }

    private func save(
        _ context: NSManagedObjectContext, _ key: String, _ accepted: [HubAcceptance], _ notices: [Data]
    ) throws {
        if context.hasChanges {
            try replica.begin(key, accepted)
            try pass.checkpoint?("begun")
            context.transactionNote = TransactionNote(key: key, content: Data("hub".utf8))
            try context.save()
            try pass.checkpoint?("saved")
        }
        try note(accepted, notices, key)
        try pass.checkpoint?("accepted")
    }

    /// Notes in the replica that changes are dealt with.
    private func note(_ accepted: [HubAcceptance], _ notices: [Data], _ key: String?) throws {
        var links: [HubKey: HubLink?] = [:]
        HubPass.accept(accepted, replica.links, &links)
        if let key { try replica.end(key) }
        replica.add(notices)
        try replica.save(links)
    }

    private func acceptance(of operation: HubOperation, without names: Set<String>) -> HubAcceptance {
        guard operation.kind != .delete else {
            return HubAcceptance(key: operation.key, entity: operation.entity, values: nil)
        }
        let record = pass.devices.records[operation.key]
        let values = operation.accepted.subtracting(names).map { ($0, record?[$0] ?? .null) }
        return HubAcceptance(
            key: operation.key, entity: operation.entity,
            values: Dictionary(values, uniquingKeysWith: { first, _ in first }))
    }

    /// What an error of a save says; `nil` for one that has nothing to do with the changes.
    private static func outcome(of error: any Error) -> Outcome? {
        if error is AccessDenied { return .refused(error) }
        guard let error = error as? CocoaError else { return nil }
        switch error.code.rawValue {
        case NSManagedObjectMergeError, NSPersistentStoreSaveConflictsError: return .changedMeanwhile
        case NSManagedObjectConstraintMergeError, NSManagedObjectValidationError...1699: return .refused(error)
        default: return nil
        }
    }

    // MARK: Refusals

    /// Refuses an operation, or the part of it that the error names.
    ///
    /// - Returns: what is to be tried instead.
    private func refuse(_ operation: HubOperation, _ error: (any Error)?) throws -> [[HubOperation]] {
        let denied = error as? AccessDenied
        if operation.kind == .update, operation.changes.count > 1, denied != nil {
            // Each property by itself: some of them may be allowed.
            let settled = operation.accepted.subtracting(operation.changes.keys)
            return operation.changes.keys.sorted().enumerated().map { index, name in
                var part = operation
                part.changes = operation.changes.filter { $0.key == name }
                part.accepted = index == 0 ? settled.union([name]) : [name]
                return [part]
            }
        }
        if operation.kind == .create, let name = denied?.property, operation.changes[name] != nil,
            !isRequired(name, operation.entity)
        {
            try note([], notices(of: name, operation), nil)
            var rest = operation
            rest.changes[name] = nil
            return [[rest]]
        }
        pass.logger.debug("refused", metadata: ["reason": "\(error.map { "\($0)" } ?? "it changed meanwhile")"])
        var notices: [Data] = []
        switch operation.kind {
        case .create: notices = try pass.notices(ofWhole: operation.key, reason: .refused)
        case .update:
            for name in operation.changes.keys.sorted() { notices += try self.notices(of: name, operation) }
        case .delete:
            let global = replica.links[operation.key]?.global
            notices += try global.flatMap { try replica.sync.refusal(ofDeleting: $0) }.map { [$0] } ?? []
        }
        // An object that was not created has no link: the replica loses it.
        let accepted = operation.kind == .create ? [] : [acceptance(of: operation, without: [])]
        try note(accepted, notices, nil)
        return []
    }

    private func isRequired(_ name: String, _ entity: String) -> Bool {
        guard let entity = pass.schema[entity] else { return true }
        return entity.attributes.contains { $0.name == name && $0.isRequired }
            || entity.toOnes.contains { $0.name == name && $0.isRequired }
    }

    private func notices(of property: String, _ operation: HubOperation) throws -> [Data] {
        guard pass.devices.records[operation.key]?[property] ?? .null != .null || operation.kind == .update else {
            return []
        }
        let instead = operation.kind == .create ? nil : pass.servedText(operation.key, property)
        return try pass.notices(of: property, in: operation.key, instead: instead)
    }
}
