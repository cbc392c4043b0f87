/// What is measured: one kind of work, done by every side on a file of the same layout and contents.
package enum Workload: String, CaseIterable, Codable, Sendable {
    case insert = "W1"
    case fetchAll = "W2"
    case fetchPage = "W3"
    case fetchPageIndexed = "W3i"
    case fetchKeys = "W4"
    case fetchRegistered = "W4r"
    case prefetch = "W5"
    case update = "W6"
    case delete = "W7"
    case count = "W8"
    case saveEach = "W9"
    case saveEachOwned = "W9o"
    case dictionaries = "W10"
    case open = "W11"
    case decodedRows = "W10d"
    case tuples = "W10t"
    case rows = "W10r"
    case insertRecorded = "W1h"
    case updateRecorded = "W6h"
    case deleteRecorded = "W7h"
    case saveEachRecorded = "W9h"

    package var title: String {
        switch self {
        case .insert: "insert all, one save"
        case .fetchAll: "fetch all, read three"
        case .fetchPage: "first 20 by name"
        case .fetchPageIndexed: "first 20 by name, indexed"
        case .fetchKeys: "each by ID, random order"
        case .fetchRegistered: "each by ID, registered"
        case .prefetch: "fetch all with a to-one"
        case .update: "change all, one save"
        case .delete: "delete all, one save"
        case .count: "count with a predicate"
        case .saveEach: "\(Self.saves) saves of one"
        case .saveEachOwned: "\(Self.saves) saves, owners too"
        case .dictionaries: "two columns as dictionaries"
        case .open: "open, first 20"
        case .decodedRows: "three columns, decoded"
        case .tuples: "three columns as tuples"
        case .rows: "three columns as rows"
        case .insertRecorded: "insert all, with history"
        case .updateRecorded: "change all, with history"
        case .deleteRecorded: "delete all, with history"
        case .saveEachRecorded: "\(Self.saves) saves, with history"
        }
    }

    /// The ratio to raw C that is good enough, at 100,000 rows.
    package var goal: Double {
        switch self {
        case .insert: 1.5
        case .fetchAll: 3.0
        case .fetchPage: 1.1
        case .fetchPageIndexed: 2.0
        case .fetchKeys: 2.0
        case .fetchRegistered: 0.4
        case .prefetch: 2.0
        case .update: 1.4
        case .delete: 1.3
        case .count: 1.05
        case .saveEach, .saveEachOwned: 1.25
        case .dictionaries: 3.0
        case .open: 4.0
        case .decodedRows, .tuples, .rows: 2.0
        case .insertRecorded, .updateRecorded, .deleteRecorded, .saveEachRecorded: 1.3
        }
    }

    /// Whether the store records its history.
    package var isRecorded: Bool {
        switch self {
        case .insertRecorded, .updateRecorded, .deleteRecorded, .saveEachRecorded: true
        default: false
        }
    }

    /// Whether every side also raises the versions of the three objects that a new item refers to, as Core Data does:
    /// what ``saveEach`` asks of ours alone.
    package var raisesOwners: Bool { self == .saveEachOwned || self == .saveEachRecorded }

    /// The same work without a history, and whatever the other sides do with owners.
    package var plain: Workload {
        switch self {
        case .insertRecorded: .insert
        case .updateRecorded: .update
        case .deleteRecorded: .delete
        case .saveEachRecorded, .saveEachOwned: .saveEach
        default: self
        }
    }

    /// Whether each round needs a file of its own.
    package var changesStore: Bool {
        switch plain {
        case .insert, .update, .delete, .saveEach: true
        default: false
        }
    }

    /// What the file holds before the work begins.
    package var contents: StoreContents {
        switch self {
        case .insert: .places
        case .insertRecorded: .placesRecorded
        case .updateRecorded, .deleteRecorded, .saveEachRecorded: .fullRecorded
        case .fetchPageIndexed: .indexed
        default: .full
        }
    }

    /// How often the work is done in one round, so that a round takes at least some milliseconds.
    package func repeats(rows: Int) -> Int {
        switch plain {
        case .insert, .update, .delete, .saveEach: 1
        case .fetchPageIndexed: 200
        case .open: 20
        case .count, .fetchPage: max(1, 200_000 / max(rows, 1))
        default: max(1, 20_000 / max(rows, 1))
        }
    }

    /// How many saves ``saveEach`` does, whatever the number of rows.
    package static let saves = 5000
}

/// The kinds of file that the workloads start from.
package enum StoreContents: String, CaseIterable, Sendable {
    /// Units and locations, no items.
    case places
    /// Units, locations and items.
    case full
    /// As `full`, with an index on the items' names.
    case indexed
    /// As `places` and `full`, with the tables of a history.
    case placesRecorded
    case fullRecorded

    package var hasItems: Bool { self != .places && self != .placesRecorded }
    package var isRecorded: Bool { self == .placesRecorded || self == .fullRecorded }
}

/// Who does the work.
package enum SideName: String, CaseIterable, Codable, Sendable {
    case ours
    case raw
    case grdb
}
