import Foundation
import Testing

@testable import CoreData

/// What refers to an entity without holding it finds it as long as it lives.
@Suite struct WeakEntityTests {
    private struct Holder {
        @WeakEntity var entity: NSEntityDescription?
    }

    @Test func anEntityIsFoundUntilItGoes() {
        var holder = Holder()
        #expect(holder.entity == nil)
        var entity: NSEntityDescription? = NSEntityDescription()
        weak let weakly = entity
        holder.entity = entity
        let copy = holder
        #expect(holder.entity === entity && copy.entity === entity)
        entity = nil
        #expect(weakly == nil && holder.entity == nil && copy.entity == nil)
        let other = NSEntityDescription()
        holder.entity = other
        #expect(holder.entity === other && copy.entity == nil)
        holder.entity = nil
        #expect(holder.entity == nil)
    }

    @Test func aPropertyOutlivesItsEntity() {
        let attribute = NSAttributeDescription()
        let toOne = NSRelationshipDescription()
        do {
            let entity = NSEntityDescription()
            entity.name = "Item"
            entity.properties = [attribute, toOne]
            toOne.destinationEntity = entity
            #expect(attribute.owner === entity && toOne.destinationEntity === entity)
        }
        #expect(attribute.owner == nil && toOne.destinationEntity == nil)
    }

    @Test func threadsMayAskWhileItGoes() async {
        for _ in 0..<200 {
            var entity: NSEntityDescription? = NSEntityDescription()
            entity?.name = "Item"
            var holder = Holder()
            holder.entity = entity
            let asked = holder
            async let found = Task.detached { asked.entity.map { $0.name == "Item" } ?? true }.value
            entity = nil
            #expect(await found)
        }
    }
}
