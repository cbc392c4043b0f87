#if PostgreSQL
    import CoreData
    import Foundation
    import Measuring
    import PostgreSQLServer
    import Sides
    import Synchronization

    /// P7: a to-one of each object is read, by faults one by one, by faults with their siblings, and prefetched, where the server is a
    /// millisecond away; beside libpq's one statement for all.
    struct SiblingMeasurement {
        let server: PostgreSQLServer
        let url: URL
        let rows: Int
        let rounds: Int

        /// One way there and back.
        private static let latency = 0.001

        func run(_ raw: RawServerSide) throws -> [[String]] {
            try raw.reset(withItems: true)
            let ways = WayCount()
            let relay = try PacketRelay(to: server) { packet in
                if packet.isFromServer { return .pass }
                ways.count.wrappingAdd(1, ordering: .relaxed)
                return .halved(after: 0, pause: Self.latency)
            }
            let store = ServerStore(url: server.url(schema: "bench", folder: relay.folder))
            let container = try store.open()
            defer { try? store.close(container) }
            let count = ServerWorkload.siblings.count(rows: rows)
            var lines: [[String]] = []
            for (name, siblings, prefetches) in [
                ("one by one", false, false), ("with siblings", true, false), ("prefetched", true, true),
            ] {
                var seconds: [Double] = []
                for round in 0...(name == "one by one" ? min(rounds, 3) : rounds) {
                    let context = container.newBackgroundContext()
                    ways.count.store(0, ordering: .relaxed)
                    let start = ContinuousClock.now
                    try context.performAndWait {
                        context.readsSiblingsOfFaults = siblings
                        let request = NSFetchRequest<Item>(entityName: "Item")
                        request.fetchLimit = count
                        if prefetches { request.relationshipKeyPathsForPrefetching = ["locationAtHome"] }
                        let bytes = try context.fetch(request).reduce(0) {
                            $0 + ($1.locationAtHome?.storedIn?.utf8.count ?? 0)
                        }
                        guard bytes == count * 12 else { throw MeasuringFailure("P7: \(bytes) bytes were read.") }
                    }
                    if round > 0 { seconds.append((ContinuousClock.now - start) / .seconds(1)) }
                }
                lines.append([
                    ServerWorkload.siblings.rawValue,
                    "\(ServerWorkload.siblings.title): \(name), \(ways.count.load(ordering: .relaxed)) ways there",
                    Report.grouped(count),
                    String(format: "%.1f", (Statistics.median(seconds) ?? 0) * 1000),
                ])
            }
            return lines
        }
    }

    /// What the relay's threads count together.
    private final class WayCount: Sendable {
        let count = Atomic<Int>(0)
    }
#endif
