import CoreData
import CoreDataSync
import Foundation
import Measuring

/// Attaches a store with many objects to an empty folder.
struct UploadMeasurement: Measurement {
    let settings: Settings

    func measure() async throws -> [Line] {
        var rounds: [(Double, Double)] = []
        var sizes: (used: Int, file: Int) = (0, 0)
        for round in 0...settings.rounds {
            let result = try await once(compared: true)
            if round > 0 { rounds.append((result.upload, result.export)) }
            sizes = result.sidecar
        }
        let bytes = Double(sizes.used) / Double(settings.rows)
        return [
            Line("first upload to a folder", settings.rows, beside: "export as NDJSON", goal: 1.5, rounds),
            Line(
                "bytes of the sidecar for an object", settings.rows, String(format: "%.0f", bytes),
                note: String(
                    format: "%.1f a property (goal 60); file with free pages: %.0f",
                    bytes / Double(Groceries.properties),
                    Double(sizes.file) / Double(settings.rows))),
        ]
    }

    func profile() async throws { _ = try await once(compared: false) }

    private func once(
        compared: Bool
    ) async throws -> (upload: Double, export: Double, sidecar: (used: Int, file: Int)) {
        try await settings.inFolder { folder in
            let (store, target) = (try Groceries(folder, "upload"), folder.appendingPathComponent("place"))
            try store.insertAisles()
            try store.insertItems(settings.rows)
            let times = try await store.exchange(FolderPlace(target))
            guard times.files >= (settings.rows + 9_999) / 10_000 else {
                throw MeasuringFailure("upload: \(times.files) segments are too few for \(settings.rows) objects.")
            }
            let export = compared ? try Stopwatch.time { try NDJSONExport(store, folder).run() }.seconds : 1
            if compared {
                // Another device gets all of it.
                let other = try Groceries(folder, "other")
                _ = try await other.exchange(FolderPlace(target))
                try other.check(settings.rows, "upload")
                try other.close()
            }
            try store.close()
            return (times.total, export, try Self.sizes(store.sidecar))
        }
    }

    /// The bytes of an SQLite file without and with its free pages.
    private static func sizes(_ url: URL) throws -> (used: Int, file: Int) {
        let data = try Data(contentsOf: url)
        func number(_ offset: Int, _ count: Int) -> Int {
            data[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        guard data.count >= 100 else { throw MeasuringFailure("The sidecar \(url.path) has \(data.count) bytes.") }
        let page = number(16, 2) == 1 ? 65_536 : number(16, 2)
        return (data.count - number(36, 4) * page, data.count)
    }
}

/// Writes each item as a line of JSON, with the steps of `coredata export`: IDs first, then 500 objects at a time, values by key.
struct NDJSONExport {
    private let store: Groceries
    private let url: URL
    private static let chunk = 500

    init(_ store: Groceries, _ folder: URL) {
        (self.store, url) = (store, folder.appendingPathComponent("items.ndjson"))
    }

    func run() throws {
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        let file = try FileHandle(forWritingTo: url)
        let context = store.container.newBackgroundContext()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
            request.resultType = .managedObjectIDResultType
            request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            let ids = try context.fetch(request)
            for start in stride(from: 0, to: ids.count, by: Self.chunk) {
                let some = Array(ids[start..<min(ids.count, start + Self.chunk)])
                var text = ""
                for object in try objects(some, context) { text += line(object) + "\n" }
                try file.write(contentsOf: Data(text.utf8))
                context.reset()
            }
        }
        try file.synchronize()
        try file.close()
    }

    private func objects(_ ids: [NSManagedObjectID], _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: "self IN %@", argumentArray: [ids])
        request.returnsObjectsAsFaults = false
        let found = Dictionary(
            try context.fetch(request).map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
        return ids.compactMap { found[$0] }
    }

    private func line(_ object: NSManagedObject) -> String {
        let id = object.objectID.uriRepresentation().absoluteString
        let members = ["name", "quantity", "priority", "isBought", "added", "aisle"].map { name in
            "\"\(name)\": \(json(object.value(forKey: name)))"
        }
        return "{\"id\": \"\(id)\", " + members.joined(separator: ", ") + "}"
    }

    private func json(_ value: Any?) -> String {
        switch value {
        case let text as String: "\"\(text)\""
        case let date as Date: "\"\(date.formatted(.iso8601))\""
        case let number as NSNumber: number.stringValue
        case let object as NSManagedObject: "\"\(object.objectID.uriRepresentation().absoluteString)\""
        default: "null"
        }
    }
}
