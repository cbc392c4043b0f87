import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The formats of what is shown.
enum ExportFormat: String, CaseIterable, Sendable {
    case json, csv, swift

    var title: String {
        switch self {
        case .json: "JSON"
        case .csv: "CSV"
        case .swift: "Swift"
        }
    }

    var type: String {
        switch self {
        case .json: "application/json"
        case .csv: "text/csv; charset=utf-8"
        case .swift: "text/plain; charset=utf-8"
        }
    }

    func makeWriter(_ entity: NSEntityDescription) -> any ExportWriter {
        switch self {
        case .json: JSONExport()
        case .csv: CSVExport()
        case .swift: SwiftExport(entity)
        }
    }
}

/// Writes the objects of a query as text, piece by piece.
protocol ExportWriter {
    mutating func begin(_ columns: [PropertyPath]) -> String
    mutating func write(_ object: NSManagedObject, _ columns: [PropertyPath]) -> String
    mutating func end() -> String
}

/// The file of a query's objects, read while it is sent.
struct Export: Sendable {
    let browser: StoreBrowser
    let query: RowQuery

    func response(_ visit: Visit) async throws -> StudioResponse {
        guard let format = ExportFormat(rawValue: visit.query["format"] ?? "json") else {
            throw PageFailure(400, "There is no format “\(visit.query["format"] ?? "")”: json, csv, swift.")
        }
        let run = try await ExportRun.start(query, format, of: browser)
        let stream = AsyncThrowingStream<Data, any Error> { try await run.next() }
        return .download(.stream(stream), type: format.type, name: "\(query.entity).\(format.rawValue)")
    }
}

/// An export between two pieces.
///
/// Memory holds the IDs of all objects, and the values of a few hundred.
// Safe because its variables are used on the context's queue only.
private final class ExportRun: @unchecked Sendable {
    private let context: NSManagedObjectContext
    private let entity: NSEntityDescription
    private var ids: ArraySlice<NSManagedObjectID>
    private var writer: any ExportWriter
    private let columns: [PropertyPath]
    private var hasBegun = false
    private var hasEnded = false

    private static let chunk = 500

    static func start(_ query: RowQuery, _ format: ExportFormat, of browser: StoreBrowser) async throws -> ExportRun {
        let context = browser.opened.makeContext()
        return try await context.perform {
            let entity = try browser.entity(query.entity)
            let request = try browser.fetch(query, of: entity, in: context).request()
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: query.entity)
            ids.resultType = .managedObjectIDResultType
            ids.predicate = request.predicate
            ids.sortDescriptors = request.sortDescriptors
            return ExportRun(context, entity, try context.fetch(ids), format)
        }
    }

    private init(
        _ context: NSManagedObjectContext, _ entity: NSEntityDescription, _ ids: [NSManagedObjectID],
        _ format: ExportFormat
    ) {
        self.context = context
        self.entity = entity
        self.ids = ids[...]
        writer = format.makeWriter(entity)
        let shown = GridColumns(entity)
        let names = ["objectID"] + shown.attributes.map(\.name) + (shown.toOnes + shown.toManys).map(\.name)
        columns = names.compactMap { try? PropertyPath($0, of: entity) }
    }

    /// Returns the next piece; `nil` at the end.
    func next() async throws -> Data? {
        try await context.perform { [self] in
            if hasEnded { return nil }
            var text = ""
            if !hasBegun {
                hasBegun = true
                text += writer.begin(columns)
            }
            if ids.isEmpty {
                hasEnded = true
                return Data((text + writer.end()).utf8)
            }
            let chunk = Array(ids.prefix(Self.chunk))
            ids = ids.dropFirst(Self.chunk)
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.predicate = NSPredicate(format: "self IN %@", argumentArray: [chunk])
            request.returnsObjectsAsFaults = false
            request.relationshipKeyPathsForPrefetching = columns.compactMap(\.relationship).map(\.name)
            let objects = Dictionary(
                try context.fetch(request).map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
            for id in chunk { if let object = objects[id] { text += writer.write(object, columns) } }
            context.reset()
            return Data(text.utf8)
        }
    }
}
