import CoreData
import Foundation
import StoreTestSupport
import Synchronization
import TestSupport
import Testing

/// Saves of objects that have both ordered to-manys and derived attributes: nothing that was set is lost, and whoever looks has what the
/// store computes (U1, U2).
///
/// `COREDATA_SEEDS=50 swift test --filter DerivedListSpecification` tries more of them.
@Suite struct DerivedListSpecification {
    /// Orders and items are in one table, and both have subentities.
    static var entities: [Entity] {
        [
            Entity("Named", isAbstract: true).string("name").attribute("folded", .string, derived: "canonical:(name)")
                .attribute("touched", .date, derived: "now()"),
            Entity("Order", parent: "Named").toMany("items", "Item", inverse: "order", ordered: true)
                .attribute("count", .integer64, derived: "items.@count")
                .attribute("total", .double, derived: "items.@sum.price"),
            Entity("Express", parent: "Order").toMany("stops", "Stop", inverse: "express", ordered: true)
                .attribute("stopCount", .integer32, derived: "stops.@count"),
            Entity("Item", parent: "Named").attribute("price", .double).toOne("order", "Order", inverse: "items")
                .attribute("orderName", .string, derived: "uppercase:(order.name)")
                .toMany("tags", "Tag", inverse: "items", ordered: true)
                .attribute("tagCount", .integer16, derived: "tags.@count")
                .toMany("parts", "Item", inverse: "whole", ordered: true).toOne("whole", "Item", inverse: "parts")
                .attribute("partCount", .integer32, derived: "parts.@count")
                .attribute("partTotal", .double, derived: "parts.@sum.price"),
            Entity("Gift", parent: "Item").string("wish"),
            Entity("Stop").string("name").toOne("express", "Express", inverse: "stops"),
            Entity("Tag").string("name").toMany("items", "Item", inverse: "tags", ordered: true)
                .attribute("itemCount", .integer64, derived: "items.@count"),
        ]
    }

    /// What a store in memory has after each save, by the seed: every other one is compared with it.
    private static let inMemory = Mutex<[UInt64: [String]]>([:])

    private static func runInMemory(_ seed: UInt64) throws -> [String] {
        if let known = inMemory.withLock({ $0[seed] }) { return known }
        let pictures = try run(.memory, seed)
        inMemory.withLock { $0[seed] = pictures }
        return pictures
    }

    @Test(arguments: SpecifiedStore.having(.derivedAttributes))
    func nothingIsLost(_ store: SpecifiedStore) throws {
        try store.requireInstalled()
        for seed in store.seeds(6) {
            let memory = try Self.runInMemory(seed)
            let pictures = try Self.run(store, seed)
            if let step = zip(pictures, memory).enumerated().first(where: { $1.0 != $1.1 }) {
                Issue.record("seed \(seed), save \(step.offset): \(step.element.0)\nin memory\n\(step.element.1)")
            }
            #expect(pictures.count == memory.count)
        }
    }

    @Test(arguments: SpecifiedStore.having(.derivedAttributes))
    func whatIsSetByHandIsTheStores(_ store: SpecifiedStore) throws {  // U1
        try store.checkContexts(StoreTestSupport.document(Self.entities)) { stack in
            try stack.story { context throws in
                let order = context.insert("Order", ["name": "One", "count": 77, "folded": "x", "total": 5.5])
                try context.save()
                func values() -> [String] {
                    ["name", "count", "folded", "total"].map { "\(order.value(forKey: $0) ?? "nil")" }
                }
                func stored() throws -> [String] {
                    try stack.story { other throws in
                        let found = try other.one("Order")
                        return ["name", "count", "folded", "total"].map { "\(found.value(forKey: $0) ?? "nil")" }
                    }
                }
                #expect(values() == ["One", "0", "one", "0.0"])
                #expect(try stored() == values())
                #expect(!context.hasChanges && !order.hasChanges)

                let other = stack.newContext()
                try other.performAndWait {
                    let same = try other.one("Order")
                    #expect(same.text("name") == "One")
                }
                order.setValue(99, forKey: "count")
                order.setValue("y", forKey: "folded")
                try context.save()
                #expect(values() == ["One", "0", "one", "0.0"])
                #expect(try stored() == values())
                #expect(!context.hasChanges && !order.hasChanges && order.changedValues().isEmpty)
                // Nothing was written that somebody else could be in conflict with.
                try other.performAndWait {
                    try other.one("Order").setValue("Two", forKey: "name")
                    try other.save()
                }
                context.refreshAllObjects()

                order.setValue("Three", forKey: "name")
                order.setValue(99, forKey: "count")
                order.setValue(nil, forKey: "total")
                order.setValue("z", forKey: "folded")
                let item = context.insert("Item", ["name": "Item", "price": 2.5, "order": order, "tagCount": 4])
                try context.save()
                #expect(values() == ["Three", "1", "three", "2.5"])
                #expect(try stored() == values())
                #expect(item.value(forKey: "tagCount") as? Int == 0)
                #expect(!context.hasChanges)
            }
        }
    }

    @Test(arguments: SpecifiedStore.having(.derivedAttributes))
    func aPinnedContextHasWhatItSaved(_ store: SpecifiedStore) throws {  // H, P2, U1
        try store.checkContexts(StoreTestSupport.document(Self.entities)) { stack in
            let context = stack.newContext()
            try context.performAndWait { () throws in
                let order = context.insert("Order", ["name": "One"])
                let first = context.insert("Item", ["name": "a", "price": 1.0, "order": order])
                try context.save()
                try context.setQueryGenerationFrom(.current)
                #expect(try context.names("Order") == ["One"])
                for (number, name) in ["Two", "Three", "Four"].enumerated() {
                    order.setValue(name, forKey: "name")
                    first.setValue("a \(number)", forKey: "name")
                    let item = context.insert("Item", ["name": "b \(number)", "price": 2.0])
                    order.mutableOrderedSetValue(forKey: "items").insert(item, at: 0)
                    // Under the policy that resolves no conflict.
                    try context.save()
                    #expect(order.text("name") == name && order.text("folded") == name.lowercased())
                    #expect(first.text("name") == "a \(number)" && first.text("orderName") == name.uppercased())
                    #expect(order.value(forKey: "count") as? Int == number + 2)
                    #expect(order.value(forKey: "total") as? Double == Double(2 * number + 3))
                    #expect(
                        order.names(of: "items").first == "b \(number)"
                            && order.names(of: "items").last == "a \(number)")
                    let fresh = try stack.story { try DerivedListPicture($0) }
                    #expect(try DerivedListPicture(context).text == fresh.text && fresh.wrong.isEmpty)
                }
            }
        }
    }

    /// What the store changes of itself gives a row no version, so that nobody is in conflict with it.
    @Test(arguments: SpecifiedStore.having(.derivedAttributes))
    func derivedValuesOutliveWhoHadOlderOnes(_ store: SpecifiedStore) throws {  // U1, U2
        try store.checkContexts(StoreTestSupport.document(Self.entities)) { stack in
            let (first, second) = (stack.newContext(), stack.newContext())
            try first.performAndWait { () throws in
                let order = first.insert("Order", ["name": "One"])
                let item = first.insert("Item", ["name": "a", "price": 1.0, "order": order])
                try first.save()
                let same = try second.performAndWait { () throws -> NSManagedObject in
                    let same = try second.one("Order")
                    #expect(same.value(forKey: "total") as? Double == 1)
                    return same
                }
                item.setValue(5.0, forKey: "price")
                try first.save()
                #expect(order.value(forKey: "total") as? Double == 5)
                try second.performAndWait { () throws in
                    same.setValue("Two", forKey: "name")
                    try second.save()
                    #expect(same.value(forKey: "total") as? Double == 5 && same.text("folded") == "two")
                }
                let third = stack.newContext()
                try third.performAndWait { () throws in
                    let fault = third.object(with: order.objectID)
                    #expect(fault.value(forKey: "total") as? Double == 5)
                    #expect(try third.one("Order").value(forKey: "total") as? Double == 5)
                }
                first.refresh(order, mergeChanges: false)
                #expect(order.value(forKey: "total") as? Double == 5 && order.text("name") == "Two")
            }
        }
    }

    /// The store's objects after each save.
    private static func run(_ store: SpecifiedStore, _ seed: UInt64) throws -> [String] {
        var pictures: [String] = []
        try store.checkContexts(StoreTestSupport.document(entities)) { stack in
            let context = stack.newContext()
            let sibling = stack.newContext()
            for context in [context, sibling] {
                try context.setMergePolicyAndUndo(seed)
            }
            var numbers = SeededNumbers(seed: seed)
            for save in 0..<15 {
                let writer = numbers.chance(4) ? sibling : context
                var edits = DerivedListEdits(numbers: numbers, prefix: "\(save)")
                let (expected, own) = try writer.performAndWait {
                    for _ in 0...numbers.below(6) { try edits.edit(writer) }
                    writer.processPendingChanges()
                    let expected = try DerivedListPicture(writer).plain
                    try writer.save()
                    return (expected, try DerivedListPicture(writer))
                }
                numbers = edits.numbers
                let fresh = try stack.story { try DerivedListPicture($0) }
                let comment = "\(store.name), seed \(seed), save \(save)\n\(edits.log.joined(separator: "\n"))"
                #expect(fresh.plain == expected, "\(comment)\nlost")
                #expect(fresh.wrong == [], "\(comment)")
                #expect(own.text == fresh.text, "\(comment)\nin the context that saved")
                pictures.append(fresh.text)
                guard fresh.plain == expected, fresh.wrong.isEmpty, own.text == fresh.text else { return }
                let other = writer === context ? sibling : context
                let merged = try other.performAndWait {
                    if numbers.chance(3) { other.reset() } else { other.refreshAllObjects() }
                    return try DerivedListPicture(other)
                }
                #expect(merged.text == fresh.text, "\(comment)\nin the other context")
                guard merged.text == fresh.text else { return }
            }
        }
        return pictures
    }
}

extension NSManagedObjectContext {
    fileprivate func setMergePolicyAndUndo(_ seed: UInt64) throws {
        performAndWait {
            mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            if seed % 2 == 0 { undoManager = UndoManager() }
        }
    }
}

/// What a context has of the orders, their items, stops and tags.
private struct DerivedListPicture {
    /// Without derived attributes.
    private(set) var plain = ""
    /// With them.
    private(set) var text = ""
    /// The derived attributes that are not what they are derived from.
    private(set) var wrong: [String] = []

    init(_ context: NSManagedObjectContext) throws {
        for entity in ["Order", "Item", "Stop", "Tag"] {
            for object in try context.all(entity, by: "name") where !object.isDeleted { add(object) }
        }
    }

    private mutating func add(_ object: NSManagedObject) {
        var plain: [String] = []
        var derived: [String] = []
        for (name, property) in object.entity.propertiesByName.sorted(by: { $0.key < $1.key }) {
            let text = "\(name): \(Self.text(object.value(forKey: name)))"
            if property is NSDerivedAttributeDescription { derived.append(text) } else { plain.append(text) }
        }
        let begin = "\(object.entity.name ?? "") "
        self.plain += begin + plain.joined(separator: ", ") + "\n"
        // The moment is another one in each store.
        text += begin + (plain + derived.filter { !$0.hasPrefix("touched") }).joined(separator: ", ") + "\n"
        check(object)
    }

    private static func text(_ value: Any?) -> String {
        switch value {
        case let object as NSManagedObject: object.text("name")
        case let ordered as NSOrderedSet:
            "[" + ordered.compactMap { ($0 as? NSManagedObject)?.text("name") }.joined(separator: ",") + "]"
        case nil: "nil"
        case let value?: "\(value)"
        }
    }

    private mutating func check(_ object: NSManagedObject) {
        let name = object.text("name")
        func members(_ key: String) -> [NSManagedObject] {
            (object.value(forKey: key) as? NSOrderedSet)?.array.compactMap { $0 as? NSManagedObject } ?? []
        }
        func sum(_ key: String) -> Double {
            members(key).reduce(0) { $0 + ($1.value(forKey: "price") as? Double ?? 0) }
        }
        func expect(_ key: String, _ expected: AnyHashable?) {
            let value = object.value(forKey: key) as? AnyHashable
            if value != expected {
                wrong.append("\(name).\(key) is \(Self.text(value)), not \(Self.text(expected))")
            }
        }
        let entity = object.entity.name ?? ""
        if entity != "Stop", entity != "Tag" {
            expect("folded", name.lowercased())
            if object.value(forKey: "touched") == nil { wrong.append("\(name).touched is nil") }
        }
        switch entity {
        case "Order", "Express":
            expect("count", members("items").count)
            expect("total", sum("items"))
            if entity == "Express" { expect("stopCount", members("stops").count) }
        case "Item", "Gift":
            expect("orderName", object.object("order")?.text("name").uppercased())
            expect("tagCount", members("tags").count)
            expect("partCount", members("parts").count)
            expect("partTotal", sum("parts"))
        case "Tag": expect("itemCount", members("items").count)
        default: break
        }
    }
}

/// Edits through the lists, and of their members, equal for equal seeds whatever the store.
private struct DerivedListEdits {
    var numbers: SeededNumbers
    let prefix: String
    private(set) var log: [String] = []
    private var count = 0

    init(numbers: SeededNumbers, prefix: String) {
        self.numbers = numbers
        self.prefix = prefix
    }

    private mutating func any(_ entity: String, _ context: NSManagedObjectContext) throws -> NSManagedObject? {
        let found = try context.all(entity, by: "name").filter { !$0.isDeleted }
        return found.isEmpty ? nil : numbers.pick(found)
    }

    private mutating func newName(_ kind: String) -> String {
        count += 1
        return "\(kind) \(prefix).\(count)"
    }

    private mutating func insert(_ context: NSManagedObjectContext, _ entity: String) -> NSManagedObject {
        let object = context.insert(entity, ["name": newName(entity)])
        if object.entity.attributesByName["price"] != nil { object.setValue(Double(numbers.below(9)), forKey: "price") }
        return object
    }

    mutating func edit(_ context: NSManagedObjectContext) throws {
        let kind = numbers.below(16)
        log.append("edit \(kind)")
        switch kind {
        case 0: _ = insert(context, numbers.pick(["Order", "Express"]))
        case 1: try editList("Order", "items", insert(context, numbers.pick(["Item", "Gift"])), context)
        case 2: _ = insert(context, "Tag")
        case 3: try editList("Express", "stops", insert(context, "Stop"), context)
        case 4, 5: if let item = try any("Item", context) { try editList("Order", "items", item, context) }
        case 6: if let tag = try any("Tag", context) { try editList("Item", "tags", tag, context) }
        case 7: if let item = try any("Item", context) { try editList("Tag", "items", item, context) }
        case 8: try editParts(context)
        case 9, 10: try editMembers(context)
        case 11:
            let object = try any(numbers.pick(["Order", "Item", "Tag", "Stop"]), context)
            object?.setValue(newName(object?.entity.name ?? ""), forKey: "name")
        case 12: try any("Item", context)?.setValue(Double(numbers.below(9)), forKey: "price")
        case 13:
            let entity = numbers.pick(["Order", "Item", "Tag", "Stop"])
            if let object = try any(entity, context) { context.delete(object) }
        case 14:
            if let item = try any("Item", context) {
                item.setValue(numbers.chance(3) ? nil : try any("Order", context), forKey: "order")
            }
        default:
            // More rows than a statement has.
            guard let order = try any("Order", context) else { return }
            let items = order.mutableOrderedSetValue(forKey: "items")
            if numbers.chance(3) {
                for _ in 0..<40 { items.insert(insert(context, "Item"), at: numbers.below(items.count + 1)) }
            } else {
                for case let item as NSManagedObject in items { item.setValue(newName("Item"), forKey: "name") }
            }
        }
    }

    private mutating func editParts(_ context: NSManagedObjectContext) throws {
        guard let item = try any("Item", context), let whole = try any("Item", context), item !== whole else { return }
        let parts = whole.mutableOrderedSetValue(forKey: "parts")
        if parts.contains(item) { parts.remove(item) } else { parts.insert(item, at: numbers.below(parts.count + 1)) }
    }

    /// Edits members themselves, and moves them.
    private mutating func editMembers(_ context: NSManagedObjectContext) throws {
        guard let order = try any("Order", context) else { return }
        let items = order.mutableOrderedSetValue(forKey: "items")
        guard items.count > 1 else { return }
        items.moveObjects(at: IndexSet(integer: numbers.below(items.count)), to: numbers.below(items.count))
        guard let item = items.object(at: numbers.below(items.count)) as? NSManagedObject else { return }
        switch numbers.below(4) {
        case 0: item.setValue(newName("Item"), forKey: "name")
        case 1: item.setValue(Double(numbers.below(9)), forKey: "price")
        case 2: order.setValue(newName("Order"), forKey: "name")
        default: order.setValue(NSOrderedSet(array: items.array.reversed()), forKey: "items")
        }
    }

    private mutating func editList(
        _ entity: String, _ key: String, _ member: NSManagedObject, _ context: NSManagedObjectContext
    ) throws {
        guard let owner = try any(entity, context) else { return }
        let list = owner.mutableOrderedSetValue(forKey: key)
        switch numbers.below(6) {
        case 0 where list.count > 0: list.removeObject(at: numbers.below(list.count))
        case 1 where list.count > 0 && !list.contains(member):
            list.replaceObject(at: numbers.below(list.count), with: member)
        case 2:
            let sorted = list.array.compactMap { $0 as? NSManagedObject }.sorted { $0.text("name") > $1.text("name") }
            owner.setValue(NSOrderedSet(array: sorted), forKey: key)
        case 3:
            owner.setValue(NSOrderedSet(array: [member] + (list.array.filter { _ in numbers.chance(2) })), forKey: key)
        default: if !list.contains(member) { list.insert(member, at: numbers.below(list.count + 1)) }
        }
    }
}
