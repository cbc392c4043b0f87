import CoreData
import CoreDataPermissions
import Foundation
import Testing

/// A save must not tell whether a hidden object has a value that must be unique.
@Suite struct ConstraintTests {
    /// Lists whose names are unique in their household.
    private static func shop(_ store: TestedStore, create: String = "group") throws -> Shop {
        let model = Groceries.model()
        model.entitiesByName["List"]?.uniquenessConstraints = [["name", "household"]]
        model.entitiesByName["List"]?.userInfo?["allow.create"] = create
        let shop = try Shop(store, model: model)
        try shop.fill()
        return shop
    }

    /// The words of a save's error after the change.
    private static func refusal(
        _ shop: Shop, _ change: (NSManagedObjectContext) throws -> Void
    ) throws -> String {
        try shop.story(Groceries.member()) { context in
            try change(context)
            let error = try #require(throws: (any Error).self) { try context.save() as Void }
            guard let denied = error as? AccessDenied else {
                let error = error as NSError
                let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
                let names = conflicts.map { $0.conflictingObjects.map { "\($0.value(forKey: "name") ?? "")" } }
                return "\(error.code) \(names)"
            }
            return denied.description
        }
    }

    private static func list(
        _ context: NSManagedObjectContext, _ name: String, _ household: UUID
    ) -> NSManagedObject {
        context.make("List", ["name": name, "household": household])
    }

    @Test(arguments: TestedStore.available)
    func insertionIntoAnotherRangeIsDeniedWhetherTheValueIsTakenOrNot(store: TestedStore) throws {
        let shop = try Self.shop(store)
        let answers = try ["Office", "Nothing"].map { name in
            try Self.refusal(shop) { _ = Self.list($0, name, Groceries.office) }
        }
        #expect(answers[0] == "List may not be created: its rule is \"group\".")
        #expect(answers[0] == answers[1])
        #expect(try shop.unrestricted { try $0.names("List") } == ["Home", "Office", "Party"])
    }

    @Test(arguments: TestedStore.available)
    func updateIntoAnotherRangeIsDeniedWhetherTheValueIsTakenOrNot(store: TestedStore) throws {
        let shop = try Self.shop(store)
        let answers = try ["Office", "Nothing"].map { name in
            try Self.refusal(shop) { context in
                let home = try #require(try context.one("List", "Home"))
                home.setValue(name, forKey: "name")
                home.setValue(Groceries.office, forKey: "household")
            }
        }
        #expect(answers[0].hasPrefix("List may not be updated to such values"))
        #expect(answers[0] == answers[1])
        #expect(try shop.unrestricted { try $0.names("List") } == ["Home", "Office", "Party"])
    }

    /// The account may read the own list that conflicts, and learns of that one only.
    @Test(arguments: TestedStore.available)
    func conflictWithVisibleObjectsHidesTheOther(store: TestedStore) throws {
        let shop = try Self.shop(store, create: "signedIn")
        let answers = try ["Office", "Nothing"].map { name in
            try Self.refusal(shop) { context in
                _ = Self.list(context, "Home", Groceries.home)
                _ = Self.list(context, name, Groceries.office)
            }
        }
        #expect(answers[0] == "\(NSManagedObjectConstraintMergeError) [[\"Home\"]]")
        #expect(answers[0] == answers[1])
    }

    /// Two new objects conflict with each other, whether a hidden one has the value or not.
    @Test(arguments: TestedStore.available)
    func conflictOfNewObjectsHidesTheOther(store: TestedStore) throws {
        let shop = try Self.shop(store, create: "signedIn")
        let answers = try ["Office", "Nothing"].map { name in
            try Self.refusal(shop) { context in
                for _ in 0..<2 { _ = Self.list(context, name, Groceries.office) }
            }
        }
        #expect(answers[0].replacing("Office", with: "x") == answers[1].replacing("Nothing", with: "x"))
    }

    /// Where the rules allow the row, a taken value has to be told; the object is not named, and nothing is deleted.
    @Test(arguments: TestedStore.available)
    func allowedValueIsTaken(store: TestedStore) throws {
        let shop = try Self.shop(store, create: "signedIn")
        let answer = try Self.refusal(shop) { _ = Self.list($0, "Office", Groceries.office) }
        #expect(answer == "\(NSManagedObjectConstraintMergeError) []")
        #expect(try shop.unrestricted { try $0.names("List") } == ["Home", "Office", "Party"])
        #expect(try shop.unrestricted { try $0.names("Item") }.count == 3)
    }
}
