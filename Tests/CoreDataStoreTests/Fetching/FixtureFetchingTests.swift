import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataStore

/// Stores that Apple's Core Data wrote, read through every way of fetching: the ways must agree.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct FixtureFetchingTests {
    static func open(_ fixture: FixtureStore) throws -> StoreEngine {
        try StoreEngine.open(
            model: fixture.compiled(), options: StoreOptions(path: fixture.copy().path), makeDatabase: makeDatabase)
    }

    @Test(arguments: FixtureStore.all) func rowsKeysAndCountsAgree(fixture: FixtureStore) throws {
        let engine = try Self.open(fixture)
        for entity in engine.model.entities {
            let plan = FetchPlan(entity: entity.ordinal)
            let rows = try engine.rows(plan)
            // Without a sort the order is the database's, which may read keys from another index than rows.
            #expect(Set(try engine.keys(plan)) == Set(rows.map(\.key)))
            #expect(try engine.count(plan) == rows.count)
            #expect(rows.allSatisfy { entity.subtree.contains($0.entity) && $0.version > 0 })
            let byKey = try engine.rows(forKeys: rows.map(\.primaryKey), root: entity.root)
            #expect(Set(byKey.map(\.key)) == Set(rows.map(\.key)))
            for row in byKey.prefix(5) {
                let other = try #require(rows.first { $0.key == row.key })
                let kinds = engine.model.entities[row.entity].rowLayout.kinds
                #expect(kinds.indices.allSatisfy { row.isEqual(to: other, at: $0, kind: kinds[$0]) })
            }
        }
    }

    @Test(arguments: FixtureStore.all) func nilIsFoundWhereRowsHaveNone(fixture: FixtureStore) throws {
        let engine = try Self.open(fixture)
        for entity in engine.model.entities {
            let rows = try engine.rows(FetchPlan(entity: entity.ordinal))
            for property in entity.properties where !property.isTransient && property.relationship?.isToMany != true {
                var plan = FetchPlan(entity: entity.ordinal)
                plan.predicate = .comparison(
                    .init(.keyPath(operand: .evaluatedObject, [property.name]), .equalTo, .constant(.value(.null))))
                plan.sorts = [FetchPlan.Sort(keyPath: [property.name], isAscending: true)]
                let absent = rows.filter { row in
                    row.isNull(engine.model.entities[row.entity].rowLayout.columnOfSlot[property.slot])
                }
                #expect(
                    Set(try engine.keys(plan)) == Set(absent.map(\.key)), "\(entity.name).\(property.name)")
            }
        }
    }

    /// Members point back at their owners, and counting them in SQL gives as many.
    @Test(arguments: FixtureStore.all) func membersAndTheirOwnersAgree(fixture: FixtureStore) throws {
        let engine = try Self.open(fixture)
        for entity in engine.model.entities {
            let owners = try engine.keys(FetchPlan(entity: entity.ordinal)).map(\.primaryKey)
            for property in entity.properties {
                guard let relationship = property.relationship, relationship.isToMany else { continue }
                let found = try engine.destinationRows(entity: entity.ordinal, slot: property.slot, owners: owners)
                #expect(found.map(\.owner) == owners)
                if let inverse = relationship.inverseSlot {
                    for (owner, rows) in found {
                        for row in rows {
                            let member = engine.model.entities[row.entity]
                            guard member.properties[inverse].relationship?.isToMany == false else { continue }
                            #expect(row.integer(member.rowLayout.columnOfSlot[inverse]) == owner)
                        }
                    }
                }
                var plan = FetchPlan(entity: entity.ordinal)
                plan.predicate = try PredicateParser.parse(
                    format: "%K.@count > 1",
                    arguments: [.constant(.value(.string(property.name)))])
                #expect(try engine.count(plan) == found.count { $0.rows.count > 1 }, "\(entity.name).\(property.name)")
            }
        }
    }
}
