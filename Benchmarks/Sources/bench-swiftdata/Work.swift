import Measuring

/// What is measured, by SwiftData beside Core Data with generated classes.
enum Work: String, CaseIterable {
    case insert = "S1"
    case insertEnumerations = "S1e"
    case fetchAll = "S2"
    case fetchPage = "S3"
    case fetchFew = "S3f"
    case update = "S4"
    case readNumber = "S5"
    case readText = "S5t"
    case readEnumeration = "S5e"
    case writeNumber = "S6"

    var title: String {
        switch self {
        case .insert: "insert all, one save"
        case .insertEnumerations: "the same with an enumeration"
        case .fetchAll: "fetch all, read three"
        case .fetchPage: "#Predicate, sort, first 20"
        case .fetchFew: "the same where 100 are there"
        case .update: "change all, one save"
        case .readNumber: "read a number"
        case .readText: "read a text"
        case .readEnumeration: "read an enumeration"
        case .writeNumber: "write a number"
        }
    }

    /// The ratio to Core Data that is good enough.
    var goal: Double? {
        switch self {
        case .insert, .fetchAll, .update: 1.3
        case .fetchPage: 1.1
        case .readNumber, .readText: 2
        case .insertEnumerations, .fetchFew, .readEnumeration, .writeNumber: nil
        }
    }

    /// How many notes there are, of so many asked for.
    func count(_ rows: Int) -> Int {
        switch self {
        case .fetchFew: 100
        case .readNumber, .readText, .readEnumeration, .writeNumber: 1000
        default: rows
        }
    }

    /// How often the work is done in a round.
    var repeats: Int {
        switch self {
        case .insert, .insertEnumerations, .update, .fetchAll: 1
        case .fetchPage: 5
        case .fetchFew: 500
        case .readNumber, .readText, .readEnumeration, .writeNumber: 1000
        }
    }

    /// Whether each round needs a store of its own.
    var needsNewStore: Bool { self == .insert || self == .insertEnumerations }

    /// Whether the store has entries, which have an enumeration, in place of notes.
    var isOfEntries: Bool { self == .insertEnumerations || self == .readEnumeration }
}

/// The values of a note or an entry.
struct Sample {
    let title: String
    let mood: Mood
    let stars: Int
    let weight: Double
    let isDone: Bool
    let folder: Int

    static let folders = 20

    /// The same ones in every run.
    static func make(_ count: Int) -> [Sample] {
        (0..<count).map { number in
            let mixed = (number &* 7_919) % 100_003
            return Sample(
                title: "Note number \(mixed)", mood: Mood(rawValue: mixed % 3) ?? .calm, stars: mixed % 10,
                weight: Double(mixed) / 4, isDone: mixed % 3 == 0,
                folder: mixed % folders)
        }
    }
}

/// One of the two that are compared.
protocol Contender: AnyObject {
    /// Opens a store that has ``Sample/folders`` folders, and these notes or entries.
    func open(_ file: String, _ work: Work, _ samples: [Sample]) throws
    /// What is not timed, before each round.
    func prepare(_ work: Work) throws
    /// What is timed.
    func run(_ work: Work, _ samples: [Sample]) throws -> Digest
    /// All that is in the store.
    func contents() throws -> Digest
}
