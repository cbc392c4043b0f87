import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

extension StoreEngine: CopyableSource {
    package func readingOneMoment<R>(_ body: () throws -> R) throws -> R { try database.read { _ in try body() } }

    package func forEachPortion(of entity: Int, _ take: (RowList) throws -> Void) throws {
        if dialect.readsWhole { return try fetchPages(of: entity, size: 4096, take) }
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        try fetchRows(plan, take)
    }

    package func forEachPortion(
        ofOwnersOf property: CompiledProperty, _ take: ([(owner: Int64, destinations: [Int64])]) throws -> Void
    ) throws {
        let entity = property.declaringEntity
        try keyPages(of: entity, size: 1024) { owners in
            let found = try destinationKeys(entity: entity, slot: property.slot, owners: owners)
            try take(found.map { ($0.owner, $0.keys.map(\.primaryKey)) })
        }
    }
}

extension StoreEngine: CopyTarget {
    package var copiedPortion: Int { dialect.isRemote ? 4096 : 1024 }
    package var sharesKeys: Bool { false }

    package func filling(_ body: () throws -> Void) throws { try body() }

    package func endCopy(highestKeys: () throws -> [Int: Int64], wasResumed: Bool) throws {
        try raiseKeyCounters(to: highestKeys())
        // Files of portions that were not committed.
        if wasResumed { try removeOrphanedExternalData() }
    }

    package func ownersWithMembers(of property: CompiledProperty, among owners: [Int64]) throws -> Set<Int64> {
        let found = try destinationKeys(entity: property.declaringEntity, slot: property.slot, owners: owners)
        return Set(found.filter { !$0.keys.isEmpty }.map(\.owner))
    }
}
