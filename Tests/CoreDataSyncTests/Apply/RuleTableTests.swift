import CoreData
import CoreDataSync
import Foundation
import TestSupport
import Testing

/// One device deletes an owner while another one adds a member: every delete rule and kind of relationship, and counts.
@Suite struct RuleTableTests {
    enum Kind: String, CaseIterable { case toMany, required, ordered, manyToMany, oneToOne, oneWay }

    struct Row: Sendable, CustomTestStringConvertible {
        let rule: NSDeleteRule
        let kind: Kind
        /// Whether the owner exists in the end, and the member.
        let owner: Bool
        let member: Bool
        var testDescription: String { "\(rule) \(kind)" }
    }

    static let rows: [Row] = Kind.allCases.flatMap { kind -> [Row] in
        let needsOwner = kind == .required
        let plain = [NSDeleteRule.nullifyDeleteRule, .noActionDeleteRule].map {
            Row(rule: $0, kind: kind, owner: needsOwner, member: true)
        }
        return plain + [
            Row(rule: .denyDeleteRule, kind: kind, owner: true, member: true),
            Row(rule: .cascadeDeleteRule, kind: kind, owner: false, member: false),
        ]
    }

    private static func model(_ rule: NSDeleteRule, _ kind: Kind, min: Int = 0, max: Int = 0) -> NSManagedObjectModel {
        typealias M = ModelMaking
        let owner = M.entity(
            "Owner", M.attribute("name"),
            kind == .oneToOne ? M.toOne("members") : M.toMany("members", ordered: kind == .ordered))
        let back = kind == .manyToMany ? M.toMany("owner") : M.toOne("owner")
        let member = M.entity("Member", M.attribute("name"), M.attribute("text"))
        if kind != .oneWay { member.properties += [back] }
        M.connect(owner, "members", member, kind == .oneWay ? nil : "owner")
        let members = owner.relationshipsByName["members"]
        members?.deleteRule = rule
        members?.minCount = min
        if kind != .oneToOne { members?.maxCount = max }
        if min > 0 { members?.isOptional = false }
        if kind == .required { back.isOptional = false }
        return M.model(owner, member)
    }

    private func add(_ member: NSManagedObject, to owner: NSManagedObject, _ kind: Kind) {
        switch kind {
        case .oneToOne: owner.setValue(member, forKey: "members")
        case .ordered: owner.mutableOrderedSetValue(forKey: "members").add(member)
        default: owner.mutableSetValue(forKey: "members").add(member)
        }
    }

    private func has(_ device: SyncingDevice, _ entity: String, _ name: String) throws -> Bool {
        try device.text(entity, name, "name") != nil
    }

    @Test(arguments: Trials.some(of: rows, atLeast: 8)) func allDevicesEndEqualAndNothingIsLost(_ row: Row) async throws
    {
        for (late, seed) in Trials.some(of: [(false, UInt64(1)), (true, 2), (false, 3), (true, 4)]) {
            var numbers = SeededNumbers(seed: seed)
            let comment: Comment = "\(row.testDescription), seed \(seed)"
            let fleet = try Fleet { Self.model(row.rule, row.kind) }
            try fleet[0].save { _ in _ = fleet[0].new("Owner", ["name": "o"]) }
            try await fleet.settle()
            if late { fleet[1].clock.advance(seconds: 100) }
            try fleet[0].save { _ in try fleet[0].delete("Owner", "o") }
            try fleet[1].save { _ in
                let owner = try #require(try fleet[1].object("Owner", "o"))
                add(fleet[1].new("Member", ["name": "m", "text": "kept"]), to: owner, row.kind)
            }
            try await fleet.deliver(&numbers)
            try await fleet.settle(comment)
            for device in fleet.devices {
                #expect(try has(device, "Owner", "o") == row.owner, comment)
                #expect(try has(device, "Member", "m") == row.member, comment)
                #expect(device.sync.state.waiting == 0, comment)
                if row.owner, row.kind != .oneToOne {
                    #expect(try device.names("Owner", "o", "members") == ["m"], comment)
                }
            }
            if !row.member { #expect(try await fleet[1].journal().contains("text: kept (deleted)"), comment) }
        }
    }

    /// Kinds of relationships with numbers of members that are too small or too large.
    static let counted = [Kind.toMany, .ordered, .manyToMany, .oneWay]

    @Test(arguments: Trials.some(of: counted, atLeast: 2), Trials.seeds(4))
    func tooManyMembersLeaveTheEarliest(_ kind: Kind, seed: UInt64) async throws {
        var numbers = SeededNumbers(seed: seed)
        let fleet = try Fleet { Self.model(.nullifyDeleteRule, kind, max: 2) }
        try fleet[0].save { _ in
            add(fleet[0].new("Member", ["name": "m"]), to: fleet[0].new("Owner", ["name": "o"]), kind)
        }
        try await fleet.settle()
        for (number, device) in fleet.devices.enumerated() {
            device.clock.advance(seconds: UInt64(100 * number))
            try device.save { _ in
                let owner = try #require(try device.object("Owner", "o"))
                add(device.new("Member", ["name": "m\(number)", "text": "kept"]), to: owner, kind)
            }
            try await fleet.exchange(number, seeing: [])
        }
        try await fleet.deliver(&numbers)
        try await fleet.settle("\(kind), seed \(seed)")
        for device in fleet.devices {
            #expect(try Set(device.names("Owner", "o", "members")) == ["m", "m0"], "\(kind), seed \(seed)")
            #expect(device.sync.state.waiting == 0)
            for number in 0..<3 { #expect(try device.text("Member", "m\(number)", "text") == "kept") }
        }
        // The device that finds it has it in its journal.
        var journals: [String] = []
        for device in fleet.devices { journals += try await device.journal() }
        #expect(journals.count { $0.hasSuffix("(edited)") } >= 2, "\(kind), seed \(seed): \(journals)")
    }

    @Test(arguments: Trials.some(of: counted, atLeast: 2), [true, false])
    func tooFewMembersComeBack(_ kind: Kind, byDeletion: Bool) async throws {
        for seed in Trials.seeds(4) {
            var numbers = SeededNumbers(seed: seed)
            let comment: Comment = "\(kind), by deletion \(byDeletion), seed \(seed)"
            let fleet = try Fleet { Self.model(.nullifyDeleteRule, kind, min: 1) }
            try fleet[0].save { _ in
                let owner = fleet[0].new("Owner", ["name": "o"])
                for name in ["m0", "m1"] { add(fleet[0].new("Member", ["name": name]), to: owner, kind) }
            }
            try await fleet.settle()
            for number in 0..<2 {
                let device = fleet[number]
                try device.save { context in
                    let owner = try #require(try device.object("Owner", "o"))
                    let member = try #require(try device.object("Member", "m\(number)"))
                    if byDeletion, kind != .oneWay { return context.delete(member) }
                    if kind == .ordered {
                        owner.mutableOrderedSetValue(forKey: "members").remove(member)
                    } else {
                        owner.mutableSetValue(forKey: "members").remove(member)
                    }
                }
            }
            try await fleet.deliver(&numbers)
            try await fleet.settle(comment)
            for device in fleet.devices {
                #expect(try !device.names("Owner", "o", "members").isEmpty, comment)
                #expect(device.sync.state.waiting == 0, comment)
            }
        }
    }
}
