import CoreData
import CoreDataSync
import Foundation
import Testing

/// Texts, lists and values that an app merges, on two devices.
@Suite struct ElementStoryTests {
    typealias M = ModelMaking

    /// A note with a text that merges by lines, words that are united, and a number that the app decides.
    private static func notes() -> NSManagedObjectModel {
        M.model(
            M.entity(
                "Note", info: ["sync.key": "name"], M.attribute("name"),
                M.attribute("text", .stringAttributeType, info: ["sync.merge": "text"]),
                M.attribute("words", .stringAttributeType, info: ["sync.merge": "union"]),
                M.attribute("level", .integer64AttributeType, info: ["sync.merge": "app"])))
    }

    /// The number whose last digit is greater wins, and the later one of equals.
    @Sendable private static func merge(_ versions: SyncVersions) -> (any Sendable)? {
        guard versions.entity == "Note", versions.attribute == "level", let a = versions.earlier as? Int64,
            let b = versions.later as? Int64
        else { return versions.later }
        return a % 10 > b % 10 ? a : b
    }

    private let place = MemoryPlace()
    private let kitchen: SyncingDevice
    private let phone: SyncingDevice

    init() throws {
        kitchen = try SyncingDevice("Kitchen", place, model: Self.notes()) { $0.merge = Self.merge }
        phone = try SyncingDevice("Phone", place, model: Self.notes()) { $0.merge = Self.merge }
    }

    private func set(_ device: SyncingDevice, _ key: String, _ value: Any?) throws {
        try device.save { _ in
            let note = try device.object("Note", "n") ?? device.new("Note", ["name": "n"])
            note.setValue(value, forKey: key)
        }
    }

    private func settled(_ key: String) async throws -> String? {
        try await settle(kitchen, phone)
        #expect(try kitchen.contents() == phone.contents())
        #expect(try await phone.exchange() == SyncSummary(), "nothing is left to send")
        return try phone.text("Note", "n", key)
    }

    /// What both had, what each writes, and what both have then.
    @Test(
        arguments: [
            ("Milk\nEggs", "Milk\nBread\nEggs", "Milk\nEggs\nTea", "Milk\nBread\nEggs\nTea"),
            ("Milk\nEggs", "Eggs", "Milk\nEggs\nTea", "Eggs\nTea"),
            ("a\r\nb\r\n", "x\r\na\r\nb\r\n", "a\r\nb\r\nc\r\n", "x\r\na\r\nb\r\nc\r\n"),
            ("a\n\nb", "a\n\nb\n", "\na\n\nb", "\na\n\nb\n"), (nil, "same", "same", "same"), ("a", nil, "a\nb", "b"),
            ("a", "", "a", ""), ("cafe\u{301}", "cafe\u{301}\nx", "caf\u{e9}", "caf\u{e9}\nx"),
        ] as [(String?, String?, String?, String?)])
    func textsMergeByLines(_ row: (before: String?, one: String?, other: String?, merged: String?)) async throws {
        try set(kitchen, "text", row.before)
        #expect(try await settled("text") == row.before)
        try set(kitchen, "text", row.one)
        try set(phone, "text", row.other)
        let merged = try await settled("text")
        #expect(merged.map { Array($0.utf8) } == row.merged.map { Array($0.utf8) }, "\(merged ?? "nil")")
    }

    @Test(
        arguments: [
            ("red, blue", "red, green, blue", "red, blue, black", "red, green, blue, black"),
            ("red, blue", "blue", "red, blue, black", "blue, black"), (nil, "red", "red", "red"),
            ("red", nil, "red, blue", "blue"), ("red", nil, "red", nil),
        ] as [(String?, String?, String?, String?)])
    func listsAreUnited(_ row: (before: String?, one: String?, other: String?, merged: String?)) async throws {
        try set(kitchen, "words", row.before)
        #expect(try await settled("words") == row.before)
        try set(kitchen, "words", row.one)
        try set(phone, "words", row.other)
        #expect(try await settled("words") == row.merged)
    }

    /// An item is there once, without white space around it.
    @Test func listsHaveOneForm() async throws {
        try set(kitchen, "words", " red,blue , ,red")
        #expect(try await settled("words") == "red, blue")
        #expect(try kitchen.text("Note", "n", "words") == "red, blue")
    }

    @Test(arguments: [(1, 19, 25, "19"), (1, 25, 19, "19"), (1, 15, 25, "25"), (1, 1, 7, "7")])
    func theAppDecides(_ row: (before: Int, kitchen: Int, phone: Int, merged: String)) async throws {
        try set(kitchen, "level", row.before)
        #expect(try await settled("level") == "\(row.before)")
        try set(kitchen, "level", row.kitchen)
        phone.clock.advance(seconds: 100)
        try set(phone, "level", row.phone)
        #expect(try await settled("level") == row.merged)
        // The next write is the only version.
        try set(phone, "level", 20)
        #expect(try await settled("level") == "20")
    }

    /// Devices whose closures disagree show a value each, until one is written.
    @Test func devicesThatDisagreeAgreeAgain() async throws {
        let other = try SyncingDevice("Other", place, model: Self.notes()) { $0.merge = { $0.earlier } }
        try set(kitchen, "level", 1)
        try await settle(kitchen, other)
        try set(kitchen, "level", 15)
        other.clock.advance(seconds: 100)
        try set(other, "level", 25)
        try await settle(kitchen, other)
        #expect(try kitchen.text("Note", "n", "level") == "25")
        #expect(try other.text("Note", "n", "level") == "15")
        try set(other, "level", 30)
        try await settle(kitchen, other)
        #expect(try kitchen.contents() == other.contents())
        #expect(try kitchen.text("Note", "n", "level") == "30")
    }

    /// A result that the attribute cannot hold is no decision.
    @Test func aWrongResultLeavesTheLaterValue() async throws {
        let place = MemoryPlace()
        let (one, other) = (
            try SyncingDevice("A", place, model: Self.notes()) { $0.merge = { _ in "text" } },
            try SyncingDevice("B", place, model: Self.notes()) { $0.merge = { _ in "text" } }
        )
        try set(one, "level", 1)
        try await settle(one, other)
        try set(one, "level", 2)
        other.clock.advance(seconds: 100)
        try set(other, "level", 3)
        try await settle(one, other)
        #expect(try one.text("Note", "n", "level") == "3" && other.text("Note", "n", "level") == "3")
    }

    @Test func aStoreWithoutTheClosureIsRefused() throws {
        let error = #expect(throws: CocoaError.self) { _ = try SyncingDevice("A", place, model: Self.notes()) }
        #expect(error?.code.rawValue == 134060)
        #expect(error?.localizedDescription.contains("\"level\" of entity \"Note\" has sync.merge \"app\"") == true)
    }

    /// Both had a text before they were attached: one of them counts, and no line is there twice.
    @Test func textsFromBeforeAreNotJoined() async throws {
        try set(kitchen, "text", "Milk\nEggs")
        try set(phone, "text", "Milk\nTea")
        let text = try await settled("text")
        #expect(["Milk\nEggs", "Milk\nTea"].contains(text))
        try set(kitchen, "text", "Milk")
        #expect(try await settled("text") == "Milk")
    }

    /// An object that is created again has none of the lines from before.
    @Test func aTextBeginsAnewWithAnObjectThatIsCreatedAgain() async throws {
        try set(kitchen, "text", "old")
        _ = try await settled("text")
        try kitchen.save { _ in try kitchen.delete("Note", "n") }
        _ = try await settled("text")
        try set(phone, "text", "new")
        #expect(try await settled("text") == "new")
    }
}
