import CoreData
import Foundation
import Testing

/// Semantics F2, I7: what was led elsewhere before its owner was deleted stays, however often the delete rules are applied.
@Suite struct MovedPartnerTests {
    /// What has the rules applied again.
    enum Way: CaseIterable { case refresh, refreshAll, merge, conflict, child }

    /// Owner: name, passport (cascade, or deny) ↔ Passport: number, owner.
    private func model(_ rule: NSDeleteRule) -> NSManagedObjectModel {
        let (owner, passport) = (Library.entity("Owner", nil), Library.entity("Passport", nil))
        let (number, holder) = Library.pair("passport", of: owner, "owner", of: passport)
        holder.maxCount = 1
        (number.destinationEntity, holder.destinationEntity) = (passport, owner)
        number.deleteRule = rule
        owner.properties = [Library.attribute("name", .stringAttributeType), number]
        passport.properties = [Library.attribute("number", .stringAttributeType), holder]
        let model = NSManagedObjectModel()
        model.entities = [owner, passport]
        return model
    }

    @Test(arguments: Way.allCases, [NSDeleteRule.cascadeDeleteRule, .denyDeleteRule])
    func movedBeforeTheDeletion(_ way: Way, _ rule: NSDeleteRule) throws {
        let stack = try LibraryStack(model: model(rule))
        let other = stack.newContext()
        let ids = try stack.story { context in
            let made = ["Owner", "Owner", "Passport"].map {
                NSEntityDescription.insertNewObject(forEntityName: $0, into: context)
            }
            made[0].setValue(made[2], forKey: "passport")
            try context.save()
            return made.map(\.objectID)
        }
        let context = way == .child ? NSManagedObjectContext(.privateQueue) : stack.context
        if way == .child { context.parent = stack.context }
        try context.performAndWait { () throws in
            if way == .conflict { context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
            let objects = ids.map { context.object(with: $0) }
            let (old, heir, passport) = (objects[0], objects[1], objects[2])
            passport.setValue(heir, forKey: "owner")
            context.delete(old)
            context.processPendingChanges()
            #expect(!passport.isDeleted)
            switch way {
            case .refresh: context.refresh(old, mergeChanges: true)
            case .refreshAll, .child: context.refreshAllObjects()
            case .merge, .conflict:
                let saves = NotificationSaves(other)
                try other.performAndWait {
                    other.object(with: ids[0]).setValue("new", forKey: "name")
                    try other.save()
                }
                if way == .merge { context.mergeChanges(fromContextDidSave: try #require(saves.last)) }
            }
            context.processPendingChanges()
            #expect(!passport.isDeleted && passport.value(forKey: "owner") as? NSManagedObject === heir)
            try context.save()
        }
        if way == .child { try stack.story { try $0.save() } }
        let reading = stack.newContext()
        try reading.performAndWait { () throws in
            let passports = try reading.fetch(NSFetchRequest<NSManagedObject>(entityName: "Passport"))
            #expect(passports.map { ($0.value(forKey: "owner") as? NSManagedObject)?.objectID } == [ids[1]])
            #expect(try reading.count(for: NSFetchRequest<NSManagedObject>(entityName: "Owner")) == 1)
        }
    }
}
