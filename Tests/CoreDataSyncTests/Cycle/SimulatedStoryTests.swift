import CoreData
import CoreDataSync
import Foundation
import Testing

/// Defects that the simulation found, as stories.
@Suite struct SimulatedStoryTests {
    private typealias M = ModelMaking
    private let place = MemoryPlace()

    /// Shelves contain folders, and folders notes; the deletion of one takes along what it contains.
    private static func shelves() -> NSManagedObjectModel {
        let shelf = M.entity("Shelf", M.attribute("name"), M.toMany("folders"))
        let folder = M.entity("Folder", M.attribute("name"), M.toOne("shelf"), M.toMany("notes"))
        let note = M.entity("Note", M.attribute("name"), M.attribute("text"), M.toOne("folder"))
        M.connect(folder, "shelf", shelf, "folders")
        M.connect(note, "folder", folder, "notes")
        shelf.relationshipsByName["folders"]?.deleteRule = .cascadeDeleteRule
        folder.relationshipsByName["notes"]?.deleteRule = .cascadeDeleteRule
        return M.model(shelf, folder, note)
    }

    @Test func aNewObjectIsTakenAlongByADeletionOfTheSameExchange() async throws {
        let kitchen = try SyncingDevice("Kitchen", place, model: Self.shelves())
        let phone = try SyncingDevice("Phone", place, model: Self.shelves())
        try kitchen.save { _ in
            _ = kitchen.new("Shelf", ["name": "Top"])
            _ = kitchen.new("Folder", ["name": "Bills"])
        }
        try await settle(kitchen, phone)
        // The phone does not know that the folder is on the shelf now.
        try kitchen.save { _ in
            try kitchen.object("Folder", "Bills")?.setValue(kitchen.object("Shelf", "Top"), forKey: "shelf")
        }
        try phone.save { _ in
            try phone.delete("Shelf", "Top")
            let folder = try #require(try phone.object("Folder", "Bills"))
            _ = phone.new("Note", ["name": "Rent", "text": "due", "folder": folder])
        }
        try await phone.exchange()
        try await settle(kitchen, phone)
        #expect(try kitchen.contents() == phone.contents())
        let kept = try await kitchen.sync.conflicts().filter { $0.entity == "Note" }.map(\.losing)
        #expect(try kitchen.contents().values.contains { $0.hasPrefix("Note") } || kept.contains("due"))
    }

    /// Where something was added before, nil is 0 on all devices, this one too.
    @Test func aSumThatIsSetToNilIsZero() async throws {
        let (kitchen, phone) = (try SyncingDevice("Kitchen", place), try SyncingDevice("Phone", place))
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk"]) }
        try await settle(kitchen, phone)
        for value in [55, NSNull(), NSNull()] as [Any] {
            try phone.set("Item", "Milk", ["count": value])
            try await settle(kitchen, phone)
            #expect(try kitchen.contents() == phone.contents(), "\(value)")
        }
        #expect(try phone.text("Item", "Milk", "count") == "0")
    }
}
