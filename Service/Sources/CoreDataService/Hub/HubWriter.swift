import CoreData
import Foundation

/// Applies operations to the objects of the served store, in one context of the account.
///
/// It runs on the queues of this context and of the replica's.
struct HubWriter {
    private let pass: HubPass
    private let context: NSManagedObjectContext
    private var objects: [HubKey: NSManagedObject] = [:]
    private let later: Set<HubKey>
    /// Changes of references to objects that later transactions create.
    private(set) var waiting: [HubOperation] = []
    /// References to objects that do not exist, or that the account may not read: refused.
    private(set) var missing: [(operation: HubOperation, property: String)] = []
    /// Properties that are not dealt with yet, by object.
    private(set) var unaccepted: [HubKey: Set<String>] = [:]

    /// An object that the account does not see, or a required reference to one.
    struct Missing: Error {
        let key: HubKey
    }

    init(
        _ pass: HubPass, _ context: NSManagedObjectContext, _ operations: [HubOperation], _ later: Set<HubKey>
    ) throws {
        (self.pass, self.context, self.later) = (pass, context, later)
        var wanted: [String: Set<UUID>] = [:]
        for operation in operations {
            for key in operation.references.union([operation.key]) { wanted[key.root, default: []].insert(key.id) }
        }
        for (root, ids) in wanted { try fetch(root, ids) }
        for operation in operations where operation.kind == .create {
            guard let entity = pass.schema[operation.entity] else { continue }
            // Another process may have made it from an earlier state of the replica.
            if objects[operation.key] != nil { continue }
            let object = NSEntityDescription.insertNewObject(forEntityName: operation.entity, into: context)
            object.setValue(operation.key.id, forKey: entity.identity)
            objects[operation.key] = object
        }
    }

    private mutating func fetch(_ root: String, _ ids: Set<UUID>) throws {
        let identities = Set(pass.schema.entities.values.filter { $0.root == root }.map(\.identity))
        for identity in identities.sorted() {
            let request = NSFetchRequest<NSManagedObject>(entityName: root)
            let list = Array(ids)
            for start in stride(from: 0, to: list.count, by: 500) {
                request.predicate = NSPredicate(
                    format: "%K IN %@", identity, Array(list[start..<min(list.count, start + 500)]))
                for object in try context.fetch(request) {
                    guard let id = object.value(forKey: identity) as? UUID else { continue }
                    objects[HubKey(root: root, id: id)] = object
                }
            }
        }
    }

    // MARK: Operations

    mutating func apply(_ operation: HubOperation) throws {
        guard let object = objects[operation.key] else {
            // Another client deleted it meanwhile.
            if operation.kind == .delete || operation.changes.isEmpty { return }
            throw Missing(key: operation.key)
        }
        if operation.kind == .delete {
            context.delete(object)
            return
        }
        guard let entity = pass.schema[operation.entity], let source = pass.devices.objects[operation.key] else {
            return
        }
        for (name, change) in operation.changes.sorted(by: { $0.key < $1.key }) {
            switch change {
            case .copy: object.setValue(source.value(forKey: name), forKey: name)
            case .merge(let rule, let base):
                guard let attribute = entity.attributes.first(where: { $0.name == name }) else { continue }
                let mine = HubValue(source.value(forKey: name), attribute)
                let theirs = HubValue(object.value(forKey: name), attribute)
                let merged = HubMerging.value(rule, base: base, mine: mine, theirs: theirs)
                object.setValue(merged.object(attribute.kind), forKey: name)
            case .toOne(let key):
                if let other = try found(key.map { [$0] } ?? [], name, operation, entity) {
                    object.setValue(other.first, forKey: name)
                }
            case .members(let added, let removed, let order):
                guard let others = try found(added, name, operation, entity) else { continue }
                set(others, removed.compactMap { objects[$0] }, order, name, of: object)
            case .order(let order): sort(like: order, name, of: object)
            }
        }
    }

    /// Returns the objects to which a change refers; `nil` if one of them is missing: the change waits or is refused.
    private mutating func found(
        _ keys: [HubKey], _ name: String, _ operation: HubOperation, _ entity: HubEntity
    ) throws -> [NSManagedObject]? {
        let missing = keys.filter { objects[$0] == nil }
        if missing.isEmpty { return keys.compactMap { objects[$0] } }
        let isRequired = entity.toOnes.contains { $0.name == name && $0.isRequired }
        if isRequired { throw Missing(key: missing[0]) }
        if missing.contains(where: later.contains) {
            var part = HubOperation(key: operation.key, entity: operation.entity, kind: .update)
            (part.changes, part.accepted) = ([name: operation.changes[name] ?? .copy], [name])
            waiting.append(part)
            unaccepted[operation.key, default: []].insert(name)
            return nil
        }
        self.missing.append((operation, name))
        // The members that exist are added.
        return entity.toOnes.contains { $0.name == name } ? nil : keys.compactMap { objects[$0] }
    }

    private func set(
        _ added: [NSManagedObject], _ removed: [NSManagedObject], _ order: [HubKey]?, _ name: String,
        of object: NSManagedObject
    ) {
        guard let order else {
            let members = object.mutableSetValue(forKey: name)
            for other in removed { members.remove(other) }
            for other in added { members.add(other) }
            return
        }
        let members = object.mutableOrderedSetValue(forKey: name)
        for other in removed { members.remove(other) }
        for other in added { members.add(other) }
        sort(like: order, name, of: object)
    }

    private func sort(like order: [HubKey], _ name: String, of object: NSManagedObject) {
        let present = ObjectReader.members(object.value(forKey: name))
        let sorted = HubMerging.ordered(present, like: order.compactMap { objects[$0] })
        if sorted.map(\.objectID) != present.map(\.objectID) {
            object.setValue(NSOrderedSet(array: sorted), forKey: name)
        }
    }
}

extension HubMerging {
    /// Returns what two changes of one attribute make together.
    static func value(_ rule: HubEntity.Merge, base: HubValue, mine: HubValue, theirs: HubValue) -> HubValue {
        switch (rule, mine, theirs) {
        case (.last, _, _): return mine
        case (.sum, .integer(let mine), .integer(let theirs)):
            guard case .integer(let base) = base else { return .integer(mine) }
            let (change, isWide) = mine.subtractingReportingOverflow(base)
            let (sum, isWider) = theirs.addingReportingOverflow(change)
            return .integer(isWide || isWider ? mine : sum)
        case (.sum, .real(let mine), .real(let theirs)):
            guard case .real(let base) = base else { return .real(mine) }
            let sum = Double(bitPattern: theirs) + Double(bitPattern: mine) - Double(bitPattern: base)
            return .real(sum.bitPattern)
        case (.sum, .decimal(let mine), .decimal(let theirs)):
            guard case .decimal(let base) = base, let a = Decimal(string: mine), let b = Decimal(string: theirs),
                let c = Decimal(string: base)
            else { return .decimal(mine) }
            return .decimal("\(b + a - c)")
        case (.min, _, _): return theirs == .null || precedes(mine, theirs) ? mine : theirs
        case (.max, _, _): return theirs == .null || precedes(theirs, mine) ? mine : theirs
        case (.text, .text(let mine), .text(let theirs)):
            guard case .text(let base) = base else { return .text(lines("", mine, theirs)) }
            return .text(lines(base, mine, theirs))
        case (.union, .text(let mine), .text(let theirs)):
            guard case .text(let base) = base else { return .text(items("", mine, theirs)) }
            return .text(items(base, mine, theirs))
        default: return mine
        }
    }

    private static func precedes(_ a: HubValue, _ b: HubValue) -> Bool {
        switch (a, b) {
        case (.integer(let a), .integer(let b)): a < b
        case (.real(let a), .real(let b)): Double(bitPattern: a) < Double(bitPattern: b)
        case (.decimal(let a), .decimal(let b)): Decimal(string: a) ?? 0 < Decimal(string: b) ?? 0
        case (.text(let a), .text(let b)): a.utf8.lexicographicallyPrecedes(b.utf8)
        default: a != .null
        }
    }
}

extension HubValue {
    /// The value as an object has it. Only for values that merge.
    fileprivate func object(_ kind: HubEntity.Attribute.Kind) -> Any? {
        switch (self, kind) {
        case (.integer(let number), _): NSNumber(value: number)
        case (.real(let bits), .date): Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))
        case (.real(let bits), _): NSNumber(value: Double(bitPattern: bits))
        case (.decimal(let text), _): Decimal(string: text).map { NSDecimalNumber(decimal: $0) }
        case (.text(let text), _): text
        default: nil
        }
    }
}
