import CoreData
@_spi(Service) import CoreDataSync
import Foundation
import Logging

/// Brings a replica and the served store together, as the account sees it.
///
/// ```
/// recover ──▶ read both ──▶ plan ──▶ up: changes of devices ──▶ read served ──▶ down: replica gets what is served
/// ```
/// Each step may be the last one of the process. What a device changed counts as new until a transaction of the replica
/// says that it was dealt with. Values that the served store does not take are replaced by its own, with a notice for
/// the device's journal.
///
/// A pass reads every object that the account may read. It runs on the queue of the replica's context.
final class HubPass {
    let schema: HubSchema
    let replica: HubReplica
    let served: HubServedStore
    let access: HubAccess
    let logger: Logger
    /// Called before each step that could be the last one of a process; a test throws there.
    let checkpoint: (@Sendable (String) throws -> Void)?

    /// The replica as devices left it.
    var devices: HubReading
    /// The served store as the account saw it before the changes of devices.
    private var seen: [HubKey: HubRecord] = [:]
    /// Times of the served store's values, read when they are needed.
    private lazy var times = served.times(after: replica.lastPass)

    init(
        _ schema: HubSchema, _ replica: HubReplica, _ served: HubServedStore, _ access: HubAccess, _ logger: Logger,
        _ checkpoint: (@Sendable (String) throws -> Void)?
    ) throws {
        (self.schema, self.replica, self.served, self.access) = (schema, replica, served, access)
        (self.logger, self.checkpoint) = (logger, checkpoint)
        devices = try HubReading(schema, in: replica.context)
    }

    /// - Returns: whether the replica has changed.
    static func run(
        _ schema: HubSchema, _ replica: HubReplica, _ served: HubServedStore, _ access: HubAccess, _ logger: Logger,
        _ checkpoint: (@Sendable (String) throws -> Void)?
    ) throws -> Bool {
        try replica.context.performAndWait {
            defer { replica.context.reset() }
            try recover(replica, served)
            return try HubPass(schema, replica, served, access, logger, checkpoint).run()
        }
    }

    private func run() throws -> Bool {
        let began = Date()
        try nameObjects()
        for (key, link) in replica.links where link.global == nil {
            replica.newObjects[key] = devices.objects[key]?.objectID
        }
        try replica.noteIdentities()
        let context = try served.makeContext(access)
        var hasChanged: Bool?
        var operations: [HubOperation] = []
        try context.performAndWait {
            var reading = try HubReading(schema, in: context)
            reading.removeIncomplete()
            join(with: reading)
            seen = reading.records
            let plan = makePlan(reading)
            try noteLosses(plan, reading)
            operations = plan.operations
            if operations.isEmpty { hasChanged = try HubDownstream(self, reading).run(began) }
        }
        if !operations.isEmpty {
            try HubUpstream(self).run(operations)
            try checkpoint?("served")
            // What was written, and what other clients wrote meanwhile.
            let after = try served.makeContext(access)
            try after.performAndWait {
                var reading = try HubReading(schema, in: after)
                reading.removeIncomplete()
                hasChanged = try HubDownstream(self, reading).run(began)
            }
        }
        try checkpoint?("copied")
        return hasChanged ?? false
    }

    /// Finishes what a process that died had written into the served store and not noted.
    private static func recover(_ replica: HubReplica, _ served: HubServedStore) throws {
        for turn in try replica.begunTurns() {
            var links: [HubKey: HubLink?] = [:]
            if try served.hasNote(turn.key) { accept(turn.accepted, replica.links, &links) }
            replica.context.delete(turn.row)
            try replica.save(links)
        }
    }

    /// Notes that changes are dealt with.
    static func accept(
        _ accepted: [HubAcceptance], _ links: [HubKey: HubLink], _ changed: inout [HubKey: HubLink?]
    ) {
        for one in accepted {
            guard let values = one.values else {
                changed[one.key] = .some(nil)
                continue
            }
            let known = changed[one.key] ?? links[one.key]
            var link = known ?? HubLink(base: HubRecord(entity: one.entity, values: [:]), global: nil)
            for (name, value) in values { link.base.values[name] = value == .null ? nil : value }
            changed[one.key] = .some(link)
        }
    }

    // MARK: Before the plan

    /// Gives objects a UUID that a device made without one.
    private func nameObjects() throws {
        guard !devices.unnamed.isEmpty else { return }
        for object in devices.unnamed {
            guard let entity = schema[object.entity.name ?? ""] else { continue }
            object.setValue(UUID(), forKey: entity.identity)
        }
        try replica.context.save()
        devices = try HubReading(schema, in: replica.context)
    }

    /// Finds objects of a device that the served store has under another UUID: default data with equal keys.
    private func join(with reading: HubReading) {
        var known: [String: HubKey] = [:]
        for (key, record) in reading.records where devices.records[key] == nil && replica.links[key] == nil {
            for text in names(record) { known[text] = key }
        }
        guard !known.isEmpty else { return }
        for (key, record) in devices.records where reading.records[key] == nil && replica.links[key] == nil {
            let other = names(record).lazy.compactMap { known[$0] }.first
            guard let other, devices.records[other] == nil else { continue }
            devices.rename(key, to: other)
        }
    }

    /// The values of an object that identify it, as texts.
    private func names(_ record: HubRecord) -> [String] {
        guard let entity = schema[record.entity] else { return [] }
        return entity.keys.compactMap { key in
            let values = key.map { record[$0] }
            guard !values.contains(.null) else { return nil }
            return ([entity.root] + key + values.map { "\($0)" }).joined(separator: "\u{0}")
        }
    }

    // MARK: Planning

    private func makePlan(_ reading: HubReading) -> HubPlanner.Plan {
        var deviceTimes: [HubKey: [String: Date]] = [:]
        return HubPlanner(
            schema: schema, links: replica.links, replica: devices.records, served: reading.records,
            writtenByDevice: { [self] key, property in
                if deviceTimes[key] == nil {
                    let id = devices.objects[key]?.objectID
                    deviceTimes[key] = (try? id.map { try replica.sync.times(of: $0) } ?? [:]) ?? [:]
                }
                let known = deviceTimes[key] ?? [:]
                // Elements of a composite have a time each.
                return known[property] ?? known.filter { $0.key.hasPrefix(property + ".") }.values.max() ?? .distantPast
            },
            writtenByService: { [self] key, property in
                guard let id = reading.objects[key]?.objectID else { return .distantPast }
                return times.time(of: id, property)
            }
        ).plan()
    }

    /// Notes values of devices that lost against later ones, and those of objects that are there no more.
    private func noteLosses(_ plan: HubPlanner.Plan, _ reading: HubReading) throws {
        var notices: [Data] = []
        for loss in plan.losses {
            guard let record = devices.records[loss.key], record[loss.property] != .null else { continue }
            let instead = reading.records[loss.key]?[loss.property] ?? .null
            notices += try self.notices(
                of: loss.property, in: loss.key, instead: instead.text, reason: .edited)
        }
        for (key, changed) in plan.lostObjects {
            notices += try self.notices(ofWhole: key, reason: .deleted, cause: changed.first)
        }
        if notices.isEmpty { return }
        replica.add(notices)
        try replica.save([:])
        try checkpoint?("noticed")
    }

    /// The value that the account sees, for people.
    func servedText(_ key: HubKey, _ property: String) -> String? { seen[key].map { $0[property].text } }

    /// Describes an object that ceases to exist on devices, with all values that it had there.
    ///
    /// - Parameter cause: the property whose writer is told; `nil` for the writers of the values.
    func notices(ofWhole key: HubKey, reason: SyncConflict.Reason, cause: String? = nil) throws -> [Data] {
        guard let record = devices.records[key], let entity = schema[record.entity] else { return [] }
        let names = [entity.identity] + entity.names.filter { record[$0] != .null }
        return try names.flatMap { try notices(of: $0, in: key, instead: nil, reason: reason, cause: cause) }
    }

    /// Describes a change of a device that was not taken, for its journal.
    func notices(
        of property: String, in key: HubKey, instead: String?, reason: SyncConflict.Reason = .refused,
        cause: String? = nil
    ) throws -> [Data] {
        guard let object = devices.objects[key], let entity = schema[object.entity.name ?? ""] else { return [] }
        if let toMany = entity.toManys.first(where: { $0.name == property }) {
            if toMany.isOrderOnly { return [] }
            let before = Set(replica.links[key]?.base[property].members ?? [])
            let now = Set(devices.records[key]?[property].members ?? [])
            return try before.symmetricDifference(now).sorted().compactMap { member in
                guard let other = devices.objects[member] else { return nil }
                return try replica.sync.refusal(
                    of: property, in: object, member: other, instead: instead, reason: reason, cause: cause)
            }
        }
        let attribute = entity.attributes.first { $0.name == property }
        guard case .composite(let elements)? = attribute?.kind else {
            let notice = try replica.sync.refusal(
                of: property, in: object, instead: instead, reason: reason, cause: cause)
            return notice.map { [$0] } ?? []
        }
        return try elements.compactMap { element in
            try replica.sync.refusal(
                of: "\(property).\(element.name)", in: object, instead: instead, reason: reason, cause: cause)
        }
    }
}
