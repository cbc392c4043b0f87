#if PostgreSQL
    import CoreData
    import CoreDataPostgreSQL
    import Foundation
    import Measuring
    import PostgreSQLServer
    import RawSQLite
    import Sides

    /// P8: `migratePersistentStore` of an SQLite store to a schema of its own, beside COPY of as many items that are in memory.
    struct CopyMeasurement {
        let server: PostgreSQLServer
        let rows: Int
        let rounds: Int

        func run(_ raw: RawServerSide) throws -> [String] {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("copies-\(getpid())")
            defer { try? FileManager.default.removeItem(at: folder) }
            let side = CoreDataSide()
            let stores = Stores(folder: folder) { url in try CoreDataSide.close(side.open(url)) }
            try stores.prepare(.full, rows: rows)
            let source = stores.original(.full, rows: rows)
            var (mine, theirs): ([Double], [Double]) = ([], [])
            var peak = 0
            for _ in 0..<rounds {
                let container = try side.open(source)
                let coordinator = container.persistentStoreCoordinator
                guard let store = coordinator.persistentStores.first else {
                    throw MeasuringFailure("There is no store.")
                }
                let url = server.url(schema: "copied")
                let start = ContinuousClock.now
                let copy = try coordinator.migratePersistentStore(store, to: url, type: .sqlite)
                mine.append((ContinuousClock.now - start) / .seconds(1))
                // Before the other side has all items in memory.
                if peak == 0 { peak = Machine.peakMemory }
                try coordinator.remove(copy)
                let count = try raw.text("SELECT COUNT(*) FROM copied.\"Item\"")
                guard count == "\(rows)" else { throw MeasuringFailure("P8: \(count) items were copied.") }
                try coordinator.destroyPersistentStore(at: url, type: .sqlite)
                try raw.reset(withItems: false)
                theirs.append(try raw.copyItems())
                try raw.reset(withItems: false)
            }
            let ratio = Statistics.median(zip(mine, theirs).map { $0 / $1 }) ?? 0
            func milliseconds(_ seconds: [Double]) -> String {
                String(format: "%.1f", (Statistics.median(seconds) ?? 0) * 1000)
            }
            let kind = ServerWorkload.copy
            return [
                kind.rawValue, "\(kind.title), at most \(peak >> 20) MiB in use", Report.grouped(rows),
                milliseconds(mine),
                milliseconds(theirs), String(format: "%.2f", ratio), "",
                kind.goal.map { String(format: "%.1f", $0) } ?? "",
                ratio <= kind.goal ?? 0 ? "" : "✗",
            ]
        }
    }
#endif
