#if PostgreSQL
    import CoreData
    import CoreDataPostgreSQL
    import Foundation
    import Measuring
    import PostgreSQLServer
    import RawPostgreSQL

    /// Both sides of each workload in turn, in one schema of one server.
    struct ServerMeasurement {
        let rows: Int
        let rounds: Int
        let waitsForDisk: Bool

        private static let schema = "bench"

        func run(_ kinds: [ServerWorkload], _ profile: (kind: ServerWorkload, times: Int)?) throws {
            PostgreSQLStore.register()
            let server = try server()
            let url = server.url(schema: Self.schema)
            let ours = ServerStore(url: url)
            try ours.close(ours.open())
            let raw = try RawServerSide(folder: server.folder, schema: Self.schema, rows: rows)
            try raw.fillPlaces()
            let clock = try ServerClock(folder: server.folder)
            if let profile { return try self.profile(profile.kind, profile.times, ours, raw) }
            print("\(Machine(sqlite: "–").summary); \(try raw.text("SELECT version()"))")
            var table = Table(
                ["", "", "n", "ms", "libpq ms", "ratio", "processor", "goal", ""], leading: [0, 1, 8])
            for kind in kinds {
                FileHandle.standardError.write(Data("\(kind.rawValue) …\n".utf8))
                if kind == .siblings {
                    for line in try SiblingMeasurement(server: server, url: url, rows: rows, rounds: rounds).run(raw) {
                        table.add(line)
                    }
                } else if kind == .copy {
                    table.add(try CopyMeasurement(server: server, rows: rows, rounds: rounds).run(raw))
                } else {
                    table.add(try measure(kind, ours, raw, clock))
                }
            }
            print("\n" + table.text)
        }

        private func server() throws -> PostgreSQLServer {
            if waitsForDisk {
                return try PostgreSQLServer("disk", ["fsync=on", "synchronous_commit=on", "full_page_writes=on"])
            }
            guard let server = PostgreSQLServer.shared else { throw MeasuringFailure("There is no server.") }
            return server
        }

        private func measure(
            _ kind: ServerWorkload, _ ours: ServerStore, _ raw: RawServerSide, _ clock: ServerClock
        ) throws -> [String] {
            var mine: [ServerClock.Sample] = []
            var theirs: [ServerClock.Sample] = []
            try raw.reset(withItems: kind.hasItems)
            for round in 0...rounds {
                let first = try time(clock) { try ours.trial(kind, rows: rows) }
                let firstDigest = try digest(first.digest, kind, raw)
                if kind.changesStore { try raw.reset(withItems: kind.hasItems) }
                let second = try time(clock) { try raw.trial(kind) }
                let secondDigest = try digest(second.digest, kind, raw)
                if kind.changesStore, round < rounds { try raw.reset(withItems: kind.hasItems) }
                guard firstDigest == secondDigest else {
                    throw MeasuringFailure(
                        "\(kind.rawValue): different work was done: [\(firstDigest)] and [\(secondDigest)].")
                }
                guard round > 0 else { continue }
                mine.append(first.sample)
                theirs.append(second.sample)
            }
            func milliseconds(_ samples: [ServerClock.Sample]) -> String {
                String(format: "%.1f", (Statistics.median(samples.map(\.elapsed)) ?? 0) * 1000)
            }
            let elapsed = Statistics.median(zip(mine, theirs).map { $0.elapsed / $1.elapsed }) ?? 0
            let processor = Statistics.median(zip(mine, theirs).map { $0.processor / $1.processor }) ?? 0
            return [
                kind.rawValue, kind.title, Report.grouped(kind.count(rows: rows)), milliseconds(mine),
                milliseconds(theirs), String(format: "%.2f", elapsed), String(format: "%.2f", processor),
                kind.goal.map { String(format: "%.1f", $0) } ?? "",
                kind.goal.map { min(elapsed, processor) <= $0 ? "" : "✗" } ?? "",
            ]
        }

        private func digest(_ digest: Digest, _ kind: ServerWorkload, _ raw: RawServerSide) throws -> Digest {
            var digest = digest
            if kind.changesStore { digest.table = try raw.tableDigest() }
            return digest
        }

        private func time(
            _ clock: ServerClock, _ make: () throws -> Trial
        ) throws -> (sample: ServerClock.Sample, digest: Digest) {
            let trial = try make()
            let start = clock.now()
            let digest = try trial.run()
            let sample = clock.since(start)
            try trial.finish()
            return (sample, digest)
        }

        private func profile(
            _ kind: ServerWorkload, _ times: Int, _ ours: ServerStore, _ raw: RawServerSide
        ) throws {
            try raw.reset(withItems: kind.hasItems)
            for _ in 0..<times {
                let trial = try ours.trial(kind, rows: rows)
                _ = try trial.run()
                try trial.finish()
                if kind.changesStore { try raw.reset(withItems: kind.hasItems) }
            }
        }
    }

    /// Time by the clock, and processor time of this process and of the server's.
    struct ServerClock {
        struct Sample {
            var elapsed: Double
            var processor: Double
        }

        /// Where the clocks stand.
        struct Moment {
            fileprivate var elapsed: Double
            fileprivate var own: Double
            /// By process.
            fileprivate var server: [Substring: Double]
        }

        private let postmaster: String

        init(folder: String) throws {
            let text = try String(contentsOfFile: folder + "/data/postmaster.pid", encoding: .utf8)
            postmaster = text.split(separator: "\n").first.map(String.init) ?? ""
        }

        func now() -> Moment {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            let elapsed = Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
            return Moment(elapsed: elapsed, own: Machine.processorTime, server: server())
        }

        /// What has passed since that moment; of processes that have ended since nothing is known.
        func since(_ start: Moment) -> Sample {
            let end = now()
            let server = end.server.reduce(0) { $0 + $1.value - (start.server[$1.key] ?? 0) }
            return Sample(elapsed: end.elapsed - start.elapsed, processor: end.own - start.own + server)
        }

        /// Seconds that each process of the server has run.
        private func server() -> [Substring: Double] {
            let path = "/proc/\(postmaster)/task/\(postmaster)/children"
            let children = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            var times: [Substring: Double] = [:]
            for child in children.split(separator: " ") {
                let text = (try? String(contentsOfFile: "/proc/\(child)/schedstat", encoding: .utf8)) ?? ""
                times[child] = (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) * 1e-9
            }
            return times
        }
    }
#endif
