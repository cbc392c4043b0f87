import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataStore

/// The same rows in an SQL database and in memory: both sources must answer alike.
@Suite struct MemoryEngineTests {
    /// A bookshop of generated rows, twice.
    private struct Twins {
        let sql: StoreEngine
        let memory: MemoryEngine
        let graph: BookshopGraph
        var numbers: SeededNumbers

        init(seed: UInt64) throws {
            var numbers = SeededNumbers(seed: seed)
            sql = try BookshopStore { $0.fill(&numbers) }.engine
            graph = try BookshopGraph(sql)
            memory = try MemoryEngine(copying: sql, graph)
            self.numbers = numbers
        }
    }

    @Test(arguments: UInt64(1)...4)
    func bothSourcesSelectTheSameRows(seed: UInt64) throws {
        let twins = try Twins(seed: seed)
        let graph = twins.graph
        var generator = PredicateGenerator(numbers: twins.numbers) { graph.objects(of: $0) }
        var comparedCount = 0
        for _ in 0..<400 {
            let entity = Bookshop.ordinal(
                generator.numbers.pick(["Book", "Author", "Tag", "Chapter", "Shelf", "Comic"]))
            var plan = FetchPlan(entity: entity)
            plan.predicate = generator.predicate(on: entity).mapExpressions { $0.withKeys }
            guard let expected = try? twins.sql.keys(plan), let found = try? twins.memory.keys(plan) else { continue }
            comparedCount += 1
            #expect(Set(found) == Set(expected), "\(plan.predicate?.predicateFormat ?? "")")
            #expect(try twins.memory.count(plan) == found.count)
        }
        #expect(comparedCount > 300)
    }

    @Test(arguments: ["title", "pages", "price", "published", "author.name", "author", "isOut"], [true, false])
    func bothSourcesSortAlike(key: String, isAscending: Bool) throws {
        let twins = try Twins(seed: 7)
        var plan = FetchPlan(entity: Bookshop.ordinal("Book"))
        plan.sorts = [
            .init(keyPath: key.split(separator: ".").map(String.init), isAscending: isAscending),
            .init(keyPath: ["self"], isAscending: true),
        ]
        for (offset, limit) in [(0, 0), (3, 0), (0, 5), (2, 4), (1000, 2)] {
            (plan.offset, plan.limit) = (offset, limit)
            #expect(try twins.memory.keys(plan) == twins.sql.keys(plan))
        }
    }

    @Test(arguments: [
        ["title"], ["title", "pages", "price"], ["author.name", "author"], ["isOut", "code", "link"], ["tags.@count"],
    ])
    func bothSourcesGiveTheSameTuples(paths: [String]) throws {
        let twins = try Twins(seed: 9)
        var plan = FetchPlan(entity: Bookshop.ordinal("Book"))
        plan.sorts = [.init(keyPath: ["self"], isAscending: true)]
        let columns = paths.map {
            FetchColumn(
                name: $0,
                expression: .keyPath(operand: .evaluatedObject, $0.split(separator: ".").map(String.init)))
        }
        func tuples(_ source: any RowSource, distinct: Bool) throws -> [[Value]] {
            var tuples: [[Value]] = []
            try source.forEachTuple(plan, columns: columns, distinct: distinct, groupBy: [], having: nil) { tuple in
                tuples.append(columns.indices.map { tuple[$0] })
            }
            return tuples
        }
        #expect(try tuples(twins.memory, distinct: false) == tuples(twins.sql, distinct: false))
        plan.sorts = []
        #expect(try Set(tuples(twins.memory, distinct: true)) == Set(tuples(twins.sql, distinct: true)))
    }

    @Test func bothSourcesGroupAlike() throws {
        let twins = try Twins(seed: 11)
        let plan = FetchPlan(entity: Bookshop.ordinal("Book"))
        let isOut = ExpressionNode.keyPath(operand: .evaluatedObject, ["isOut"])
        let pages = ExpressionNode.keyPath(operand: .evaluatedObject, ["pages"])
        let columns = [
            FetchColumn(name: "isOut", expression: isOut),
            FetchColumn(name: "sum", expression: .function("sum:", [pages])),
            FetchColumn(name: "max", expression: .function("max:", [pages])),
            FetchColumn(name: "count", expression: .function("count:", [pages])),
        ]
        func tuples(_ source: any RowSource, groupBy: [ExpressionNode], _ columns: [FetchColumn]) throws -> Set<[Value]>
        {
            var tuples: Set<[Value]> = []
            try source.forEachTuple(plan, columns: columns, distinct: false, groupBy: groupBy, having: nil) { tuple in
                tuples.insert(columns.indices.map { tuple[$0] })
            }
            return tuples
        }
        #expect(try tuples(twins.memory, groupBy: [isOut], columns) == tuples(twins.sql, groupBy: [isOut], columns))
        let all = Array(columns.dropFirst())
        #expect(try tuples(twins.memory, groupBy: [], all) == tuples(twins.sql, groupBy: [], all))
    }

    @Test func bothSourcesKnowTheSameMembers() throws {
        let twins = try Twins(seed: 13)
        for entity in Bookshop.model.entities {
            let owners = try twins.sql.keys(FetchPlan(entity: entity.ordinal)).filter { $0.entity == entity.ordinal }
            for property in entity.properties where property.relationship?.isToMany == true {
                let (slot, keys) = (property.slot, owners.map(\.primaryKey))
                let expected = try twins.sql.destinationRows(entity: entity.ordinal, slot: slot, owners: keys)
                let found = try twins.memory.destinationRows(entity: entity.ordinal, slot: slot, owners: keys)
                #expect(found.map(\.owner) == expected.map(\.owner))
                for (found, expected) in zip(found, expected) {
                    #expect(found.rows.map(\.key) == expected.rows.map(\.key), "\(entity.name).\(property.name)")
                }
            }
        }
    }

    // MARK: Saving

    private func row(_ entity: String, _ key: Int64, version: Int32 = 1, title: String? = nil) -> RowSnapshot {
        let entity = Bookshop.model.entities[Bookshop.ordinal(entity)]
        let builder = RowBuilder(columnCount: entity.rowLayout.columns.count)
        if let title, let slot = entity.slotByName["title"] {
            builder.setText(title, at: entity.rowLayout.columnOfSlot[slot])
        }
        return builder.finish(primaryKey: key, version: version, entity: entity.ordinal)
    }

    @Test func aSaveWritesAllOrNothing() throws {
        let source = MemoryEngine(model: Bookshop.model)
        let root = Bookshop.model.entities[Bookshop.ordinal("Book")].root
        let outcome = try source.save(keys: [root: 2]) { keys in
            var changes = ChangeSet()
            changes.insertions = (keys[root].map(Array.init) ?? []).map { .init(row: row("Book", $0, title: "old")) }
            return changes
        }
        #expect(outcome.keys[root] == 1...2)
        #expect(throws: SaveFailure.self) {
            try source.save(keys: [root: 1]) { _ in
                var changes = ChangeSet()
                changes.insertions = [.init(row: row("Book", 3))]
                changes.updates = [
                    .init(old: row("Book", 1), new: row("Book", 1, version: 2, title: "new")),
                    .init(old: row("Book", 2, version: 7), new: row("Book", 2, version: 8)),
                ]
                changes.deletions = [.init(key: row("Book", 9).key, version: 1)]
                return changes
            }
        }
        let books = try source.keys(FetchPlan(entity: Bookshop.ordinal("Book")))
        #expect(books.map(\.primaryKey) == [1, 2])
        #expect(try source.row(1, root: root, staleness: -1)?.version == 1)
        #expect(try source.allocateKeys(root: root, count: 1) == 3...3, "the failed save took no keys")
    }

    @Test func readersKeepTheirRowsWhileSomebodySaves() throws {
        let source = MemoryEngine(model: Bookshop.model)
        let root = Bookshop.model.entities[Bookshop.ordinal("Book")].root
        var changes = ChangeSet()
        changes.insertions = (1...3).map { .init(row: row("Book", $0, title: "old")) }
        let made = changes
        try source.save(keys: [:]) { _ in made }
        var seen: [Int32] = []
        try source.fetchRows(FetchPlan(entity: Bookshop.ordinal("Book"))) { rows in
            try source.save(keys: [:]) { _ in
                var changes = ChangeSet()
                changes.updates = (1...3).map { .init(old: row("Book", $0), new: row("Book", $0, version: 2)) }
                return changes
            }
            seen = rows.map(\.version)
        }
        #expect(seen == [1, 1, 1])
        #expect(try source.row(2, root: root, staleness: -1)?.version == 2)
    }
}

extension MemoryEngine {
    /// A source with the rows and pairs of another.
    fileprivate convenience init(copying other: StoreEngine, _ graph: BookshopGraph) throws {
        self.init(model: other.model, identifier: other.identifier)
        var changes = ChangeSet()
        changes.insertions = graph.objects.map { .init(row: $0.row) }
        for entity in other.model.entities {
            let owners = graph.objects.filter { $0.row.entity == entity.ordinal }.map(\.row.primaryKey)
            for property in entity.properties {
                guard let relationship = property.relationship, relationship.isToMany,
                    let inverseSlot = relationship.inverseSlot,
                    other.model.entities[relationship.destination].properties[inverseSlot].relationship?.isToMany
                        == true
                else { continue }
                for (owner, keys) in try other.destinationKeys(
                    entity: entity.ordinal, slot: property.slot, owners: owners)
                {
                    for (position, key) in keys.enumerated() {
                        changes.links.append(
                            ChangeSet.Link(
                                .insert, entity: property.declaringEntity, slot: property.slot, owner: owner,
                                destination: key.primaryKey,
                                order: relationship.isOrdered ? Int64(position + 1) * 1024 : nil))
                    }
                }
            }
        }
        let all = changes
        try save(keys: [:]) { _ in all }
    }
}
