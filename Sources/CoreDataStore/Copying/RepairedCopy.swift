import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A temporary copy of a damaged store whose B-trees are rebuilt to include all remaining leaf pages.
///
/// ```
///  .recovering-UUID/Shop.sqlite        original pages, with rebuilt interior pages
///                  .Shop_SUPPORT  ──▶  the store's own files
/// ```
final class RepairedCopy {
    let path: String
    /// The number of orphaned pages of each table that had some.
    let found: [String: Int]
    private let folder: URL

    /// - Returns: `nil` if nothing needs a repair, or if there is no disk space for the copy.
    init?(of engine: StoreEngine, _ options: DatabaseOptions, beside output: String, driver: any SQLDatabaseFile.Type) {
        guard let source = options.path else { return nil }
        let (store, files) = (URL(fileURLWithPath: source), FileManager.default)
        folder = URL(fileURLWithPath: output).deletingLastPathComponent()
            .appendingPathComponent(".recovering-\(UUID().uuidString)")
        path = folder.appendingPathComponent(store.lastPathComponent).path
        do {
            try files.createDirectory(at: folder, withIntermediateDirectories: false)
            found = try driver.regrow(Self.marks(of: engine), of: options, at: path)
            if let (old, new) = ExternalData(storePath: source).folder.map({
                ($0, ExternalData(storePath: path).folder)
            }),
                let new, files.fileExists(atPath: old)
            {
                try files.createSymbolicLink(
                    at: URL(fileURLWithPath: new).deletingLastPathComponent(),
                    withDestinationURL: URL(fileURLWithPath: old).deletingLastPathComponent().absoluteURL)
            }
        } catch {
            try? files.removeItem(at: folder)
            return nil
        }
        if found.isEmpty {
            try? files.removeItem(at: folder)
            return nil
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private static func marks(of engine: StoreEngine) -> [TableMark] {
        let layout = engine.layout
        let numbers = Dictionary(
            grouping: engine.entities.filter { layout.entities[$0] != nil }, by: { layout.entities[$0]?.table ?? "" })
        return numbers.map { table, entities in
            TableMark(table: table, rows: .objects(numbers: Set(entities.compactMap { layout.entities[$0]?.number })))
        }
            + Set(layout.joinTables.values.map { TablePair(name: $0.name, columns: $0.columns.count) }).map {
                TableMark(table: $0.name, rows: .pairs(columns: $0.columns))
            }
    }

    private struct TablePair: Hashable {
        var name: String
        var columns: Int
    }

    /// The notes about the copy for the recovery's report.
    var notes: [String] {
        found.sorted { $0.key < $1.key }.map { table, pages in
            "nothing led to \(pages) pages of the table \(table): their rows were found all the same; whether others are missing cannot be told"
        }
    }
}
