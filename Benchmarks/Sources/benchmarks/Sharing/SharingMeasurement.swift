import Foundation
import Measuring
import Sides
import Synchronization

/// W12: a reader and a writer, each alone and then both at once, side after side in each round.
struct SharingMeasurement {
    let rows: Int
    let rounds: Int
    let sides: [any Side]
    let stores: Stores

    /// Seconds for which each works alone, and then both together.
    private static let span = 1.0

    func run() throws -> [SharingResult] {
        var readers: [SideName: [SharedSpeed]] = [:]
        var writers: [SideName: [SharedSpeed]] = [:]
        for round in 0...rounds {
            var digests: [Digest] = []
            for side in sides {
                let (reader, writer, digest) = try speeds(side)
                digests.append(digest)
                // The first round warms up.
                guard round > 0 else { continue }
                readers[side.name, default: []].append(reader)
                writers[side.name, default: []].append(writer)
            }
            guard digests.allSatisfy({ $0 == digests[0] }) else {
                throw MeasuringFailure("W12: the readers did different work: \(digests).")
            }
        }
        return sides.map {
            SharingResult(
                side: $0.name, rows: rows, readers: readers[$0.name] ?? [], writers: writers[$0.name] ?? [])
        }
    }

    /// The speeds of one side, on a file of its own, and what a fetch reads.
    private func speeds(_ side: any Side) throws -> (reader: SharedSpeed, writer: SharedSpeed, digest: Digest) {
        let store = try stores.copy(.full, rows: rows, for: side.name.rawValue)
        defer { try? stores.remove(store) }
        let work = try side.sharedWork(store: store, rows: rows)
        let digest = try work.read()
        try work.write()
        let reader = Loop {
            guard try work.read() == digest else {
                throw MeasuringFailure("W12: \(side.name.rawValue) read something else beside the writer.")
            }
        }
        let writer = Loop(work.write)
        let readerAlone = try Loop.speeds([reader], seconds: Self.span)[0]
        let writerAlone = try Loop.speeds([writer], seconds: Self.span)[0]
        let together = try Loop.speeds([reader, writer], seconds: Self.span)
        try work.finish()
        let saved = (writer.count + 1) * SharedWork.savedRows
        let found = try RawSession(store).text("SELECT COUNT(*) FROM ZITEM")
        guard found == String(rows + saved) else {
            throw MeasuringFailure("W12: \(side.name.rawValue) saved \(saved) items, the store has \(found).")
        }
        return (
            SharedSpeed(alone: readerAlone, together: together[0]),
            SharedSpeed(alone: writerAlone, together: together[1]), digest
        )
    }
}

/// Work that a thread does over and over until it is told to stop.
private final class Loop: @unchecked Sendable {
    // Safe because one thread at a time calls `body` and has `count` and `failure`; the caller looks at them when the
    // thread has ended.
    private let body: () throws -> Void
    private(set) var count = 0
    private var failure: (any Error)?
    private let isStopped = Atomic(false)

    init(_ body: @escaping () throws -> Void) { self.body = body }

    /// How often per second each of the loops does its work, all at the same time.
    static func speeds(_ loops: [Loop], seconds: Double) throws -> [Double] {
        let group = DispatchGroup()
        let before = loops.map(\.count)
        let start = ContinuousClock.now
        for loop in loops {
            loop.isStopped.store(false, ordering: .relaxed)
            group.enter()
            Thread.detachNewThread {
                loop.run()
                group.leave()
            }
        }
        Thread.sleep(forTimeInterval: seconds)
        for loop in loops { loop.isStopped.store(true, ordering: .relaxed) }
        group.wait()
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        for loop in loops { if let failure = loop.failure { throw failure } }
        return zip(loops, before).map { Double($0.count - $1) / elapsed }
    }

    private func run() {
        do {
            while !isStopped.load(ordering: .relaxed) {
                try body()
                count += 1
            }
        } catch { failure = error }
    }
}
