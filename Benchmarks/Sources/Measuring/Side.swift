import Foundation

/// What was read or is left in the file, added up: sides that did the same work have equal digests.
package struct Digest: Equatable, Codable, CustomStringConvertible {
    package var rows = 0
    package var number = 0.0
    package var bytes = 0
    /// Sums over the table after the work, for workloads that change it.
    package var table = ""

    package init() {}

    package init(rows: Int, number: Double, bytes: Int) {
        self.rows = rows
        self.number = number
        self.bytes = bytes
    }

    package var description: String { "rows \(rows), numbers \(number), bytes \(bytes), table \(table)" }
}

/// Somebody who can do the workloads: the product, plain C calls, another library.
package protocol Side {
    var name: SideName { get }

    /// Opens the file and gets everything ready that is not part of the work; `nil` where the side cannot do it.
    func trial(_ workload: Workload, store: URL, rows: Int) throws -> Trial?

    /// A reader and a writer of one store.
    func sharedWork(store: URL, rows: Int) throws -> SharedWork

    /// Makes `rows` objects and holds them, for the count of bytes; `nil` where the side has no such thing.
    func hold(_ kind: ObjectKind, store: URL, rows: Int) throws -> Holding?
}

/// A workload ready to run on one side.
package struct Trial {
    /// The work: what is timed.
    package let run: () throws -> Digest
    /// Called after each run, not timed.
    package let reset: () throws -> Void
    /// Closes the file.
    package let finish: () throws -> Void

    package init(
        run: @escaping () throws -> Digest, reset: @escaping () throws -> Void = {},
        finish: @escaping () throws -> Void
    ) {
        self.run = run
        self.reset = reset
        self.finish = finish
    }
}

/// In which state objects are held when their bytes are counted.
package enum ObjectKind: String, CaseIterable, Codable, Sendable {
    case realised
    case faults
    /// Fetched with a batch size and all read, one after the other.
    case batches

    /// Bytes per object that are good enough; `nil`: only the peak counts.
    package var goal: Double? {
        switch self {
        case .realised: 250
        case .faults: 100
        case .batches: nil
        }
    }
}

/// Objects that are kept alive: `make` brings them about, `let go` releases them.
package struct Holding {
    package let make: () throws -> Int
    package let letGo: () -> Void

    package init(make: @escaping () throws -> Int, letGo: @escaping () -> Void) {
        self.make = make
        self.letGo = letGo
    }
}
