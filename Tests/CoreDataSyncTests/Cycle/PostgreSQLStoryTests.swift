import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataSync

/// A store on a server and a store in a file. Does nothing where no server is installed.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct PostgreSQLStoryTests {
    private let folder: TemporaryFolder
    private let place = MemoryPlace()

    init() throws { folder = try TemporaryFolder() }

    private func devices(_ model: () -> NSManagedObjectModel) throws -> (server: SyncingDevice, phone: SyncingDevice) {
        PostgreSQLStore.register()
        let schema = "t" + UUID().uuidString.filter { $0 != "-" }.lowercased()
        let url = try PostgreSQLServer.shared.url(schema: schema)
        let sidecar = folder("Server-sync")
        let server = try SyncingDevice("Server", place, model: model(), url: url, type: NSPostgreSQLStoreType) {
            $0.sidecar = sidecar
        }
        return (server, try SyncingDevice("Phone", place, model: model(), url: folder("Shop.sqlite")))
    }

    private func settled(_ a: SyncingDevice, _ b: SyncingDevice) async throws {
        try await settle(a, b)
        #expect(try a.contents() == b.contents())
        #expect(a.sync.state.troubles == [] && b.sync.state.troubles == [])
        #expect(a.sync.state.waiting == 0 && b.sync.state.waiting == 0)
    }

    static func attributes() -> NSManagedObjectModel {
        typealias M = ModelMaking
        let row = M.entity(
            "Row", info: ["sync.key": "name"], M.attribute("name"), M.attribute("flag", .booleanAttributeType),
            M.attribute("short", .integer16AttributeType), M.attribute("middle", .integer32AttributeType),
            M.attribute("long", .integer64AttributeType), M.attribute("float", .floatAttributeType),
            M.attribute("double", .doubleAttributeType), M.attribute("decimal", .decimalAttributeType),
            M.attribute("date", .dateAttributeType), M.attribute("data", .binaryDataAttributeType),
            M.attribute("uuid", .UUIDAttributeType), M.attribute("uri", .URIAttributeType),
            M.attribute("list", .transformableAttributeType),
            M.composite("address", M.attribute("city"), M.attribute("zip")))
        return M.model(row)
    }

    private static var values: [String: Any] {
        [
            "flag": true, "short": Int16.min, "middle": Int32.max, "long": Int64.min, "float": Float(1.1),
            "double": Double.pi, "decimal": NSDecimalNumber(string: "1234567890.12"),
            "date": Date(timeIntervalSinceReferenceDate: 700_000_000.123_456), "data": Data([0, 255, 10]),
            "uuid": UUID(uuidString: "A0A0A0A0-0000-4000-8000-00000000000F") ?? UUID(),
            "uri": URL(string: "https://example.org/a?b=c") ?? URL(fileURLWithPath: "/"),
            "list": ["red", "é\u{0301}"] as NSArray, "address": ["city": "Ghent", "zip": "9000"],
        ]
    }

    @Test func allKindsOfAttributesArriveBothWays() async throws {
        let (server, phone) = try devices(Self.attributes)
        for (device, name) in [(server, "of the server"), (phone, "of the phone")] {
            try device.save { _ in
                _ = device.new("Row", Self.values.merging(["name": name]) { $1 })
                _ = device.new("Row", ["name": name + ", empty"])
                _ = device.new("Row", ["name": name + ", large", "data": Data(repeating: 7, count: 300_000)])
            }
        }
        try await settled(server, phone)
        #expect(try server.contents().count == 6)
        for device in [server, phone] {
            for name in ["of the server", "of the phone"] {
                try device.save { _ in
                    let row = try #require(try device.object("Row", name))
                    for (key, value) in Self.values {
                        let found = row.value(forKey: key) as? NSObject
                        #expect(found == value as? NSObject, "\(device.name), \(name): \(key)")
                    }
                }
            }
        }
        // Each value by itself, the other way round.
        for (key, value) in Self.values {
            try server.set("Row", "of the phone, empty", [key: value])
            try phone.save { _ in try phone.object("Row", "of the server")?.setValue(nil, forKey: key) }
        }
        try await settled(server, phone)
        try phone.save { _ in
            let row = try #require(try phone.object("Row", "of the phone, empty"))
            for (key, value) in Self.values {
                #expect(row.value(forKey: key) as? NSObject == value as? NSObject, "\(key)")
            }
        }
        #expect(try await server.exchange() == SyncSummary())
    }

    @Test func relationshipsMergeAndDeletionsArrive() async throws {
        let (server, phone) = try devices(ModelMaking.office)
        try server.save { _ in
            let folder = server.new("Folder", ["name": "Home"])
            let topics = ["z", "a", "m"].map { server.new("Topic", ["name": $0]) }
            let author = server.new("Person", ["name": "Ada"])
            server.new("Passport", ["name": "1"]).setValue(author, forKey: "person")
            for (entity, name) in [("Note", "Roof"), ("Sketch", "Wall"), ("Plan", "Floor")] {
                let note = server.new(entity, ["name": name, "folder": folder, "author": author])
                note.setValue(NSOrderedSet(array: topics), forKey: "topics")
            }
            folder.setValue(NSSet(array: topics), forKey: "marks")
        }
        try await settled(server, phone)
        #expect(try phone.names("Note", "Roof", "topics") == ["z", "a", "m"])
        try phone.save { _ in
            let note = try #require(try phone.object("Note", "Roof"))
            note.mutableOrderedSetValue(forKey: "topics").insert(phone.new("Topic", ["name": "p"]), at: 1)
            try phone.object("Folder", "Home")?.mutableSetValue(forKey: "marks").removeAllObjects()
        }
        try server.save { _ in
            let note = try #require(try server.object("Note", "Roof"))
            note.mutableOrderedSetValue(forKey: "topics").insert(server.new("Topic", ["name": "s"]), at: 3)
            try server.delete("Person", "Ada")
        }
        try await settled(server, phone)
        #expect(try server.names("Note", "Roof", "topics") == ["z", "p", "a", "m", "s"])
        #expect(try phone.names("Folder", "Home", "marks") == [])
        #expect(try phone.text("Note", "Roof", "author") == nil)
        try phone.save { _ in try phone.delete("Folder", "Home") }
        try await settled(phone, server)
        #expect(try server.names("Note") == [])
    }

    @Test func mergeRulesUniqueValuesAndConflictsAreTheSame() async throws {
        let (server, phone) = try devices(ModelMaking.warehouse)
        for device in [server, phone] {
            try device.save { _ in
                _ = device.new("Product", ["code": "1", "name": "Tea", "text": device.name])
                _ = device.new("Counter", ["name": "a", "low": device.name.count, "high": device.name.count])
            }
        }
        try await settled(server, phone)
        #expect(try server.names("Product") == ["Tea"])
        #expect(try server.text("Counter", "a", "low") == "5.0")
        #expect(try phone.text("Counter", "a", "high") == "6.0")
        try server.set("Counter", "a", ["count": 3])
        try phone.set("Counter", "a", ["count": 4])
        for device in [server, phone] { try device.set("Product", "Tea", ["text": "by \(device.name)"]) }
        try await settled(server, phone)
        #expect(try server.text("Counter", "a", "count") == "7")
        let text = try #require(try server.text("Product", "Tea", "text"))
        for device in [server, phone] {
            #expect(
                try await device.sync.conflicts().map(\.losing) == [text == "by Phone" ? "by Server" : "by Phone"])
        }
    }

    @Test func aServersStoreGoesOnAfterARestart() async throws {
        let (server, phone) = try devices(CaptureStack.shop)
        try server.save { _ in _ = server.new("Item", ["name": "a"]) }
        try await settled(server, phone)
        let device = server.sync.store.sidecar.settings.device
        try server.save { _ in _ = server.new("Item", ["name": "b"]) }
        try server.restart()
        try await settled(server, phone)
        #expect(server.sync.store.sidecar.settings.device == device)
        #expect(try phone.names("Item") == ["a", "b"])
        // Another Sync of the same sidecar is refused.
        try await server.sync.start()
        let second = try Sync(server.container, to: place, device: "Second", options: server.options)
        let error = await #expect(throws: CocoaError.self) { try await second.syncNow() }
        #expect(error?.code == .fileLocking)
        await server.sync.stop()
    }
}
