import CoreData
import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import SwiftData

/// The same random edits through a `ModelContext` and through an `NSManagedObjectContext` make the same rows, and the same history (J1, L3).
@Suite struct TwinStoreTests {
    @Test(arguments: Trials.seeds(16)) func bothWaysMakeTheSameStore(seed: UInt64) throws {
        var twins = try Twins(seed: seed)
        for round in 1...40 {
            try twins.edit()
            if twins.numbers.chance(4) || round == 40 {
                try twins.save()
                #expect(try twins.models.contents() == twins.objects.contents(), "seed \(seed), round \(round)")
            } else if twins.numbers.chance(12) {
                twins.rollBack()
            }
            try twins.compare("seed \(seed), round \(round)")
        }
        let contents = try twins.models.contents()
        #expect(contents["ZDISH"]?.isEmpty == false && contents["ACHANGE"]?.count ?? 0 > 10, "seed \(seed)")
    }
}

/// A store of its own, and what is in its tables.
private struct TwinStore {
    let container: ModelContainer
    let url: URL

    init(_ types: [any PersistentModel.Type]) throws {
        url = try Fixtures.temporaryFolder().appendingPathComponent("twin.store")
        container = try ModelContainer(for: Schema(types), configurations: [ModelConfiguration(url: url)])
    }

    /// All rows of all tables, without the times of transactions and what a file says of itself.
    func contents() throws -> [String: [[SQLValue]]] {
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: url.path))
        defer { database.close() }
        return try database.read { connection in
            func texts(_ sql: SQLText, _ column: Int) throws -> [String] {
                try connection.rows(sql).compactMap { if case .text(let text) = $0[column] { text } else { nil } }
            }
            var contents: [String: [[SQLValue]]] = [:]
            let names = try texts("SELECT name FROM sqlite_master WHERE type = 'table'", 0)
            for name in names where !["Z_METADATA", "Z_MODELCACHE"].contains(name) && !name.hasPrefix("sqlite_") {
                let columns = try texts("PRAGMA table_info(\(identifier: name))", 1).filter { $0 != "ZTIMESTAMP" }
                contents[name] = try connection.rows(
                    "SELECT \(identifiers: columns) FROM \(identifier: name) ORDER BY \(identifiers: columns)")
            }
            return contents
        }
    }
}

/// Two stores of one random part of a schema, and pairs of what is in both.
private struct Twins {
    struct Pair<Model: PersistentModel> {
        let model: Model
        let object: NSManagedObject

        var isGone: Bool { model.isDeleted || model.modelContext == nil }
        var isGoneThere: Bool { object.isDeleted || object.managedObjectContext == nil }
    }

    let models: TwinStore
    let objects: TwinStore
    var numbers: SeededNumbers
    private let context: ModelContext
    private let managed: NSManagedObjectContext
    private let hasOrders: Bool
    private let hasTickets: Bool
    private var dishes: [Pair<Dish>] = []
    private var steps: [Pair<DishStep>] = []
    private var labels: [Pair<DishLabel>] = []
    private var orders: [Pair<DishOrder>] = []
    private var guests: [Pair<DishGuest>] = []
    private var tickets: [Pair<Ticket>] = []
    private var count = 0

    init(seed: UInt64) throws {
        numbers = SeededNumbers(seed: seed)
        (hasOrders, hasTickets) = (numbers.chance(2), numbers.chance(2))
        var types: [any PersistentModel.Type] = [Dish.self]
        if hasOrders { types.append(DishOrder.self) }
        if hasTickets { types.append(Ticket.self) }
        models = try TwinStore(types)
        objects = try TwinStore(types)
        context = ModelContext(models.container)
        managed = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        managed.isUnbound = true
        managed.persistentStoreCoordinator = objects.container.coordinator
    }

    private func inserted<Model: PersistentModel>(_ model: Model, _ values: [String: Any]) -> Pair<Model> {
        context.insert(model)
        let object = NSEntityDescription.insertNewObject(
            forEntityName: Schema.entityName(for: Model.self), into: managed)
        object.setValuesForKeys(values)
        return Pair(model: model, object: object)
    }

    private mutating func text(_ name: String) -> String {
        count += 1
        return "\(name) \(count)"
    }

    // MARK: Edits

    mutating func edit() throws {
        switch numbers.below(16) {
        case 0, 1, 2:
            let (name, servings) = (text("Dish"), numbers.below(9))
            dishes.append(inserted(Dish(name: name, servings: servings), ["name": name, "servings": servings]))
        case 3, 4:
            let text = text("Step")
            steps.append(inserted(DishStep(text: text), ["text": text]))
        case 5:
            let title = text("Label")
            labels.append(inserted(DishLabel(title: title, rank: 1), ["title": title, "rank": 1]))
        case 6 where hasOrders:
            let (name, number) = (text("Guest"), numbers.below(100))
            let guest = inserted(DishGuest(name: name), ["name": name])
            guests.append(guest)
            let order = DishOrder(number: number, guest: guest.model)
            orders.append(inserted(order, ["number": number, "guest": guest.object]))
        case 7 where hasTickets:
            let code = text("Ticket")
            tickets.append(inserted(Ticket(code), ["code": code, "title": ""]))
        case 8 where hasTickets && !tickets.isEmpty: editTicket(numbers.pick(tickets))
        case 9 where hasOrders && !orders.isEmpty:
            let (order, item) = (numbers.pick(orders), dishes.isEmpty ? nil : numbers.pick(dishes))
            order.model.item = item?.model
            order.object.setValue(item?.object, forKey: "item")
        case 10 where !steps.isEmpty:
            let (step, dish) = (numbers.pick(steps), dishes.isEmpty || numbers.chance(4) ? nil : numbers.pick(dishes))
            step.model.dish = dish?.model
            step.object.setValue(dish?.object, forKey: "dish")
        default: if !dishes.isEmpty { editDish(numbers.pick(dishes)) }
        }
        context.processPendingChanges()
        managed.processPendingChanges()
        prune()
    }

    private mutating func editTicket(_ ticket: Pair<Ticket>) {
        if numbers.chance(3) {
            context.delete(ticket.model)
            managed.delete(ticket.object)
        } else {
            let seat = numbers.chance(3) ? nil : numbers.below(50)
            ticket.model.seat = seat
            ticket.object.setValue(seat, forKey: "seat")
        }
    }

    private mutating func editDish(_ dish: Pair<Dish>) {
        switch numbers.below(7) {
        case 0:
            let name = text("Dish")
            dish.model.name = name
            dish.object.setValue(name, forKey: "name")
        case 1:
            let note = numbers.chance(2) ? nil : text("Note")
            (dish.model.note, dish.model.price) = (note, 2.5)
            dish.object.setValuesForKeys(["note": note ?? NSNull(), "price": 2.5])
        case 2:
            let season = numbers.chance(2) ? DishSeason.winter : .summer
            dish.model.season = season
            dish.object.setValue(["season": season.rawValue], forKey: "season")
        case 3:
            let some = steps.filter { _ in numbers.chance(2) }
            dish.model.steps = some.map(\.model)
            dish.object.setValue(NSSet(array: some.map(\.object)), forKey: "steps")
        case 4 where !labels.isEmpty:
            let label = numbers.pick(labels)
            if dish.model.labels.contains(label.model) {
                dish.model.labels.removeAll { $0 === label.model }
                dish.object.mutableSetValue(forKey: "labels").remove(label.object)
            } else {
                dish.model.labels.append(label.model)
                dish.object.mutableSetValue(forKey: "labels").add(label.object)
            }
        case 5 where !hasOrders:
            context.delete(dish.model)
            managed.delete(dish.object)
        default:
            dish.model.servings += 1
            let servings = dish.object.value(forKey: "servings") as? Int ?? 0
            dish.object.setValue(servings + 1, forKey: "servings")
        }
    }

    // MARK: Ends

    mutating func save() throws {
        let author = numbers.chance(2) ? nil : "author \(numbers.below(3))"
        context.author = author
        managed.transactionAuthor = author
        try context.save()
        try managed.save()
        prune()
    }

    mutating func rollBack() {
        context.rollback()
        managed.rollback()
        prune()
    }

    private mutating func prune() {
        func prune<Model>(_ pairs: inout [Pair<Model>]) {
            for pair in pairs { #expect(pair.isGone == pair.isGoneThere) }
            pairs.removeAll { $0.isGone }
        }
        prune(&dishes)
        prune(&steps)
        prune(&labels)
        prune(&orders)
        prune(&guests)
        prune(&tickets)
    }

    /// What both contexts show.
    func compare(_ comment: String) throws {
        for dish in dishes {
            #expect(dish.model.name == dish.object.value(forKey: "name") as? String, "\(comment)")
            #expect(dish.model.servings == dish.object.value(forKey: "servings") as? Int, "\(comment)")
            let texts = (dish.object.value(forKey: "steps") as? Set<NSManagedObject>)?
                .compactMap { $0.value(forKey: "text") as? String }
            #expect(dish.model.steps.map(\.text).sorted() == texts?.sorted(), "\(comment)")
            #expect(dish.model.hasChanges == dish.object.hasChanges, "\(comment)")
        }
        #expect(context.hasChanges == managed.hasChanges, "\(comment)")
    }
}
