import CoreData
import CoreDataRemoteSync
import CoreDataSync
import Foundation
import Synchronization
import Testing

@testable import CoreDataService

/// The program with `--sync`, killed while a device synchronises.
@Suite struct HubProgramTests {
    private static let contents = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="Note" representedClassName="NSManagedObject">
        <attribute name="id" attributeType="UUID" usesScalarValueType="NO"/>
        <attribute name="text" attributeType="String"/>
        <attribute name="count" attributeType="Integer 64" defaultValueString="0" usesScalarValueType="NO">
        <userInfo><entry key="sync.merge" value="sum"/></userInfo></attribute>
        <uniquenessConstraints><uniquenessConstraint><constraint value="id"/></uniquenessConstraint></uniquenessConstraints>
        <userInfo><entry key="allow.read" value="signedIn"/><entry key="allow.create" value="signedIn"/>
        <entry key="allow.update" value="signedIn"/></userInfo>
        </entity></model>
        """

    /// A service whose port changes with each start.
    private final class MovingPlace: SyncPlace {
        private let place: Mutex<ServicePlace>

        init(_ place: ServicePlace) { self.place = Mutex(place) }

        func move(to place: ServicePlace) { self.place.withLock { $0 = place } }

        private var current: ServicePlace { place.withLock { $0 } }

        func list(_ folder: String?) async throws -> [String] { try await current.list(folder) }
        func read(_ file: String, in folder: String) async throws -> Data? { try await current.read(file, in: folder) }
        func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
            try await current.create(file, in: folder, data)
        }
        func delete(_ file: String, in folder: String) async throws { try await current.delete(file, in: folder) }
    }

    private static func service(_ port: Int) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)") else { throw ClientFailure(description: "no address") }
        return url
    }

    @Test func aKilledHubLosesNothingAndDoesNothingTwice() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Killed-\(UUID().uuidString)")
        let model = folder.appendingPathComponent("Notes.xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Self.contents.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        let store = folder.appendingPathComponent("Notes.sqlite")
        let arguments = ["--sync", folder.appendingPathComponent("replicas").path]

        var process = try ServiceProcess(model: model, store: store, arguments)
        var client = try await process.client()
        let session = try await ServiceSession.signUp(
            at: try Self.service(client.port), name: "ann", password: "four plain words here", device: "Kitchen")
        let token = session.token
        let place = MovingPlace(ServicePlace(session: session))
        let device = try HubDevice(
            folder.appendingPathComponent("Kitchen.sqlite"), "Kitchen", place,
            model: try NSManagedObjectModel.load(contentsOf: model))
        try device.add("Note", ["text": "sum"])
        try await device.exchange()

        let pauses = [30, 80, 150, 250, 400]
        for (round, pause) in pauses.enumerated() {
            try device.change { context in
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue(UUID(), forKey: "id")
                note.setValue("note \(round)", forKey: "text")
                let sum = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
                    .first { $0.value(forKey: "text") as? String == "sum" }
                sum?.setValue((sum?.value(forKey: "count") as? Int64 ?? 0) + 1, forKey: "count")
            }
            let victim = process
            let killing = Task {
                try? await Task.sleep(for: .milliseconds(pause))
                victim.send(SIGKILL)
            }
            try? await device.exchange()
            await killing.value
            _ = try await victim.end()
            process = try ServiceProcess(model: model, store: store, arguments)
            client = try await process.client()
            place.move(
                to: ServicePlace(session: try ServiceSession(service: try Self.service(client.port), token: token)))
        }
        for _ in 0..<2 { try await device.exchange() }
        client.token = token
        let page = try await client.get("/api/Note?sort=text").json
        let texts = page["items"]?.array?.compactMap { $0["text"]?.string }
        #expect(texts == pauses.indices.map { "note \($0)" } + ["sum"])
        #expect(page["items"]?.array?.last?["count"] == .integer(pauses.count))
        #expect(try await device.sync.conflicts().isEmpty)
        process.send(SIGTERM)
        let ended = try await process.end()
        #expect(ended.status == 0, "\(ended.text)")
    }
}
