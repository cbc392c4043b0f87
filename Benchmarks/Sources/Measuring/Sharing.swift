/// W12: how much of its speed alone a reader and a writer keep when both work on one store.
package struct SharingResult: Codable {
    package let side: SideName
    package let rows: Int
    /// Of each round: pieces of work per second together, divided by those alone.
    package let readerShares: [Double]
    package let writerShares: [Double]
    /// Pieces of work per second alone, of each round.
    package let readerAlone: [Double]
    package let writerAlone: [Double]

    package init(side: SideName, rows: Int, readers: [SharedSpeed], writers: [SharedSpeed]) {
        self.side = side
        self.rows = rows
        readerShares = readers.map(\.share)
        writerShares = writers.map(\.share)
        readerAlone = readers.map(\.alone)
        writerAlone = writers.map(\.alone)
    }

    package static let readerGoal = 0.9
    package static let writerGoal = 0.8
}

/// Pieces of work per second.
package struct SharedSpeed {
    package let alone: Double
    package let together: Double

    package init(alone: Double, together: Double) {
        self.alone = alone
        self.together = together
    }

    fileprivate var share: Double { alone > 0 ? together / alone : 0 }
}

/// Endless work on one store: a reader and a writer, each for a thread of its own.
package struct SharedWork {
    /// Objects that one piece of the reader's work reads.
    package static let readRows = 1000
    /// Objects that one piece of the writer's work inserts and saves.
    package static let savedRows = 100

    /// Fetches ``readRows`` items and reads three values of each.
    package let read: () throws -> Digest
    /// Inserts ``savedRows`` items and saves them.
    package let write: () throws -> Void
    package let finish: () throws -> Void

    package init(
        read: @escaping () throws -> Digest, write: @escaping () throws -> Void, finish: @escaping () throws -> Void
    ) {
        self.read = read
        self.write = write
        self.finish = finish
    }
}

extension Report {
    /// Shares of the speed alone; a ✗ marks one below its goal.
    package var sharingTable: String {
        var table = Table(
            [
                "W12", "side", "n", "reader's share", "goal", "", "writer's share", "goal", "", "fetches/s", "saves/s",
            ], leading: [0, 1, 5, 8])
        for result in sharing {
            let ours = result.side == .ours
            let reader = Statistics.median(result.readerShares) ?? 0
            let writer = Statistics.median(result.writerShares) ?? 0
            table.add([
                "reader beside writer", result.side.rawValue, Self.grouped(result.rows), Self.hundredths(reader),
                ours ? Self.hundredths(SharingResult.readerGoal) : "",
                ours && reader < SharingResult.readerGoal ? "✗" : "", Self.hundredths(writer),
                ours ? Self.hundredths(SharingResult.writerGoal) : "",
                ours && writer < SharingResult.writerGoal ? "✗" : "",
                Self.grouped(Int(Statistics.median(result.readerAlone) ?? 0)),
                Self.grouped(Int(Statistics.median(result.writerAlone) ?? 0)),
            ])
        }
        return table.text
    }

    private static func hundredths(_ value: Double) -> String { String(format: "%.2f", value) }
}
