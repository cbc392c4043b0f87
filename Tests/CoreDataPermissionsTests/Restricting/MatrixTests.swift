import CoreData
import CoreDataPermissions
import Foundation
import TestSupport
import Testing

/// Random models, rules, objects and accessors: every entity, verb and role, compared with a plain evaluator that knows
/// neither predicates nor SQL.
@Suite struct MatrixTests {
    /// A part of a rule, and what it means.
    struct Clause: Sendable {
        var text: String
        var allows: @Sendable (Row, Who, [Row]) -> Bool
    }

    struct Row: Sendable {
        var entity: Int
        var owner: UUID?
        var team: UUID?
        var number: Int
        var isOpen: Bool
        var note: String
        /// The index of the object to which it refers.
        var link: Int?
    }

    struct Who: Sendable {
        var accessor: Accessor
        var account: UUID? { accessor.account }
        func role(in team: UUID?) -> String? { account == nil ? nil : team.flatMap { accessor.groups[$0] } }
    }

    private static let clauses: [Clause] = [
        Clause(text: "nobody") { _, _, _ in false }, Clause(text: "signedIn") { _, who, _ in who.account != nil },
        Clause(text: "owner") { row, who, _ in who.account != nil && row.owner == who.account },
        Clause(text: "group") { row, who, _ in who.role(in: row.team) != nil },
        Clause(text: "role:editor") { row, who, _ in who.role(in: row.team) == "editor" },
        Clause(text: "administrator") { _, who, _ in who.account != nil && who.accessor.isAdministrator },
        Clause(text: "isOpen == YES") { row, _, _ in row.isOpen },
        Clause(text: "number < 3") { row, _, _ in row.number < 3 },
        Clause(text: "link.number < 3") { row, _, rows in row.link.map { rows[$0].number < 3 } ?? false },
        Clause(text: "link.owner == $user") { row, who, rows in
            who.account != nil && row.link.map { rows[$0].owner == who.account } ?? false
        },
        Clause(text: "NOT team IN $groups") { row, who, _ in
            who.account != nil && row.team.map { who.accessor.groups[$0] == nil } ?? true
        },
        Clause(text: "$role == 'viewer' AND number > 1") { row, who, _ in
            who.role(in: row.team) == "viewer" && row.number > 1
        },
        Clause(text: "$role != 'editor'") { row, who, _ in who.account != nil && who.role(in: row.team) != "editor" },
        Clause(text: "SUBQUERY(links, $x, $x.isOpen == YES).@count > 0") { _, _, _ in false },
    ]

    private static let people = (1...3).map { ModelMaking.uuid("A0000000-0000-0000-0000-00000000000\($0)") }
    private static let teams = (1...3).map { ModelMaking.uuid("70000000-0000-0000-0000-00000000000\($0)") }

    struct Rules {
        /// By entity and verb.
        var verbs: [[AccessVerb: [Clause]]]
        /// Of the property `note`.
        var notes: [[AccessVerb: [Clause]]]

        func allows(_ clauses: [Clause]?, _ index: Int, _ who: Who, _ rows: [Row]) -> Bool {
            (clauses ?? []).contains { clause in
                if clause.text.hasPrefix("SUBQUERY") { return rows.contains { $0.link == index && $0.isOpen } }
                return clause.allows(rows[index], who, rows)
            }
        }

        func may(_ verb: AccessVerb, _ index: Int, _ who: Who, _ rows: [Row]) -> Bool {
            allows(verbs[rows[index].entity][verb], index, who, rows)
        }

        func mayNote(_ verb: AccessVerb, _ index: Int, _ who: Who, _ rows: [Row]) -> Bool {
            guard let own = notes[rows[index].entity][verb] else { return true }
            return allows(own, index, who, rows)
        }
    }

    private static let names = ["A", "B", "C", "D"]

    /// A, B, and C with the subentity D; each refers to an object of the next one, A to itself.
    private static func model() -> NSManagedObjectModel {
        typealias M = ModelMaking
        func properties() -> [NSPropertyDescription] {
            [
                M.attribute("owner", .UUIDAttributeType), M.attribute("team", .UUIDAttributeType),
                M.attribute("number", .integer32AttributeType, default: NSNumber(value: 0)),
                M.attribute("isOpen", .booleanAttributeType, default: NSNumber(value: false)), M.attribute("note"),
                M.attribute("key", .integer32AttributeType, default: NSNumber(value: 0)),
            ]
        }
        let entities = names.map { M.entity($0) }
        for entity in entities.dropLast() { entity.properties = properties() }
        entities[2].subentities = [entities[3]]
        M.relate(entities[0], "link", entities[1], "links")
        M.relate(entities[1], "link", entities[2], "links")
        M.relate(entities[2], "link", entities[0], "links")
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    private static func destination(of entity: Int) -> [Int] { [[1], [2, 3], [0], [0]][entity] }

    private static func rules(_ random: inout SeededNumbers) -> Rules {
        var rules = Rules(verbs: [], notes: [])
        for entity in names.indices {
            func some() -> [Clause] { (0..<(1 + random.below(2))).map { _ in random.pick(clauses) } }
            var verbs: [AccessVerb: [Clause]] = [:]
            // D has its parent's rules where it has none.
            for verb in AccessVerb.allCases {
                verbs[verb] = entity == 3 && random.chance(2) ? rules.verbs[2][verb] : some()
            }
            rules.verbs.append(verbs)
            var notes: [AccessVerb: [Clause]] = entity == 3 ? rules.notes[2] : [:]
            if entity < 3, random.chance(2) { notes[.read] = some() }
            if entity < 3, random.chance(2) { notes[.update] = some() }
            rules.notes.append(notes)
        }
        return rules
    }

    private static func rows(_ random: inout SeededNumbers) -> [Row] {
        var rows: [Row] = []
        for index in 0..<32 {
            rows.append(
                Row(
                    entity: index % 4, owner: random.chance(4) ? nil : random.pick(people),
                    team: random.chance(4) ? nil : random.pick(teams), number: random.below(6),
                    isOpen: random.chance(3),
                    note: "note \(index)"))
        }
        for index in rows.indices where !random.chance(4) {
            let targets = rows.indices.filter { Self.destination(of: rows[index].entity).contains(rows[$0].entity) }
            rows[index].link = random.pick(targets)
        }
        return rows
    }

    private static func who(_ random: inout SeededNumbers) -> Who {
        if random.chance(5) { return Who(accessor: .anonymous) }
        var groups: [UUID: String] = [:]
        for team in teams where random.chance(2) { groups[team] = random.pick(["editor", "viewer", "owner"]) }
        return Who(
            accessor: Accessor(account: random.pick(people), groups: groups, isAdministrator: random.chance(3)))
    }

    // MARK: The test

    static let seeds: [(TestedStore, UInt64)] =
        (1...8).map { (.file, $0) } + (9...10).map { (.memory, $0) }
        + (TestedStore.available.contains(.postgreSQL) ? (11...13).map { (.postgreSQL, $0) } : [])

    @Test(arguments: seeds)
    func storesAgreeWithAPlainEvaluator(store: TestedStore, seed: UInt64) throws {
        var random = SeededNumbers(seed: seed)
        let rules = Self.rules(&random)
        let rows = Self.rows(&random)
        let shop = try Shop(store, model: Self.model()) { builder in
            for (entity, name) in Self.names.enumerated() {
                builder.owner("owner", of: name)
                builder.group("team", of: name)
                for (verb, clauses) in rules.verbs[entity] {
                    builder.allow(verb, name, clauses.map(\.text).joined(separator: ", "))
                }
                for (verb, clauses) in rules.notes[entity] where entity < 3 {
                    builder.allow(verb, "note", of: name, clauses.map(\.text).joined(separator: ", "))
                }
            }
        }
        let ids = try shop.unrestricted { context in
            let objects = rows.enumerated().map { index, row in Self.make(row, index, context) }
            for (index, row) in rows.enumerated() {
                objects[index].setValue(row.link.map { objects[$0] }, forKey: "link")
            }
            try context.save()
            return objects.map(\.objectID)
        }
        for _ in 0..<4 {
            let who = Self.who(&random)
            try checkReading(shop, rules, rows, who, ids)
            try checkWriting(shop, rules, rows, who, ids, &random)
        }
    }

    private static func make(_ row: Row, _ key: Int, _ context: NSManagedObjectContext) -> NSManagedObject {
        context.make(
            names[row.entity],
            [
                "owner": row.owner, "team": row.team, "number": row.number, "isOpen": row.isOpen, "note": row.note,
                "key": key,
            ])
    }

    private func checkReading(
        _ shop: Shop, _ rules: Rules, _ rows: [Row], _ who: Who, _ ids: [NSManagedObjectID]
    ) throws {
        let visible = Set(rows.indices.filter { rules.may(.read, $0, who, rows) })
        func link(_ index: Int) -> Int? { rows[index].link.flatMap { visible.contains($0) ? $0 : nil } }
        func note(_ index: Int) -> String? { rules.mayNote(.read, index, who, rows) ? rows[index].note : nil }
        try shop.story(who.accessor) { context in
            for (entity, name) in Self.names.enumerated() {
                let own = visible.filter { rows[$0].entity == entity || entity == 2 && rows[$0].entity == 3 }.sorted()
                let found = try context.fetch(context.request(name))
                let byKey = Dictionary(uniqueKeysWithValues: found.map { ($0.value(forKey: "key") as? Int ?? -1, $0) })
                #expect(byKey.keys.sorted() == own, "\(name) \(who.accessor)")
                #expect(try context.count(for: context.request(name)) == own.count)
                for (key, object) in byKey {
                    #expect(object.value(forKey: "note") as? String == note(key))
                    let target = (object.value(forKey: "link") as? NSManagedObject)?.value(forKey: "key") as? Int
                    #expect(target == link(key))
                    let members = (object.value(forKey: "links") as? Set<NSManagedObject> ?? [])
                        .compactMap { $0.value(forKey: "key") as? Int }.sorted()
                    #expect(members == visible.filter { rows[$0].link == key }.sorted())
                }
                func keys(_ format: String) throws -> [Int] {
                    try context.fetch(context.request(name, format)).compactMap { $0.value(forKey: "key") as? Int }
                        .sorted()
                }
                #expect(try keys("link.number > 2") == own.filter { link($0).map { rows[$0].number > 2 } ?? false })
                #expect(try keys("link == nil") == own.filter { link($0) == nil })
                #expect(try keys("note == nil") == own.filter { note($0) == nil })
                #expect(try keys("link.note != nil") == own.filter { link($0).flatMap { note($0) } != nil })
                #expect(
                    try keys("ANY links.number > 2")
                        == own.filter { key in visible.contains { rows[$0].link == key && rows[$0].number > 2 } })
                #expect(
                    try keys("links.@count == 0") == own.filter { key in !visible.contains { rows[$0].link == key } })
                #expect(
                    try keys("link.link.number > 2")
                        == own.filter { link($0).flatMap { link($0) }.map { rows[$0].number > 2 } ?? false })
            }
            for (index, id) in ids.enumerated() {
                let isThere = (try? context.existingObject(with: id)) != nil
                #expect(isThere == visible.contains(index))
            }
        }
    }

    /// Every object is changed and deleted, and objects are created, each in a save of its own that is taken back.
    private func checkWriting(
        _ shop: Shop, _ rules: Rules, _ rows: [Row], _ who: Who, _ ids: [NSManagedObjectID],
        _ random: inout SeededNumbers
    ) throws {
        for index in rows.indices where random.chance(3) && rules.may(.read, index, who, rows) {
            let context = try shop.context(who.accessor)
            try context.performAndWait {
                let object = try context.existingObject(with: ids[index])
                for verb in AccessVerb.allCases where verb != .create {
                    #expect(try context.may(verb, object) == rules.may(verb, index, who, rows))
                }
                // A change of the number may change what the rules say.
                var after = rows
                let changesNote = random.chance(3)
                if changesNote { after[index].note = "new" } else { after[index].number = random.below(6) }
                if after[index].number == rows[index].number, !changesNote { return }
                object.setValue(changesNote ? "new" : after[index].number, forKey: changesNote ? "note" : "number")
                let isAllowed =
                    rules.may(.update, index, who, rows) && rules.may(.update, index, who, after)
                    && (!changesNote
                        || rules.mayNote(.update, index, who, rows) && rules.mayNote(.update, index, who, after))
                #expect(try saved(context) == isAllowed, "\(rows[index]) → \(after[index]) \(who.accessor)")
            }
            try shop.unrestricted { context in
                context.reset()
                let object = try context.existingObject(with: ids[index])
                object.setValue(rows[index].number, forKey: "number")
                object.setValue(rows[index].note, forKey: "note")
                try context.save()
            }
        }
        for _ in 0..<6 {
            var row = Self.rows(&random)[random.below(32)]
            row.link = nil
            let after = rows + [row]
            let isAllowed =
                rules.may(.create, rows.count, who, after) && rules.mayNote(.update, rows.count, who, after)
            try shop.story(who.accessor) { context in
                let object = Self.make(row, rows.count, context)
                #expect(try saved(context) == isAllowed, "\(row) \(who.accessor)")
                let id = object.objectID
                guard isAllowed else { return }
                try shop.unrestricted { context in
                    context.delete(try context.existingObject(with: id))
                    try context.save()
                }
            }
        }
    }

    private func saved(_ context: NSManagedObjectContext) throws -> Bool {
        do {
            try context.save()
            return true
        } catch is AccessDenied { return false }
    }
}
