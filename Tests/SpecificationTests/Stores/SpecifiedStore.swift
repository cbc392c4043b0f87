import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// A kind of store of which the specification must hold: how to make one, and what it cannot do.
///
/// A file in this folder adds a kind, as ``sqliteFile``, ``sqliteMemory`` and ``memory``; ``all`` lists them.
struct SpecifiedStore: Sendable, CustomTestStringConvertible {
    let name: String
    /// Makes an empty store for the model.
    let make: @Sendable (CompiledModel) throws -> OpenedStore
    /// Adds an empty store to the coordinator, where a source alone is no store: one of a program's own class, which is given
    /// objects. Then only what contexts do is tried, and nothing on its source.
    var attach: (@Sendable (NSPersistentStoreCoordinator) throws -> OpenedStore)?
    /// The tests that the store fails, by their functions' names, each with the reason.
    ///
    /// One that succeeds after all fails the suite, as does a name that is no test's.
    var exceptions: [String: String] = [:]
    /// Those of the ``exceptions`` of which the store fails some cases only: a test is tried under several policies, orders and seeds.
    var passesInPart: Set<String> = []
    /// How often the generated predicates are tried: what is slow to ask is asked less.
    var predicateSeeds = 2

    /// Whether each statement is a way to a server: what is tried at random is tried less.
    var isOnServer = false

    /// Whether the machine has what the store needs; its tests do nothing where it has not.
    var isInstalled = true
    /// Whether text may have the character U+0000.
    var keepsNUL = true
    /// Whether a date may be any number of seconds; else it is kept to the microsecond, for some hundred thousand years.
    var keepsEveryDate = true

    static let all: [SpecifiedStore] = [
        .sqliteFile, .sqliteMemory, .sqliteLackingMuch, .memory, .xml, .binary, .jsonFolder, .postgreSQL,
        .pooledPostgreSQL,
        .plainPostgreSQL,
    ]

    /// Why a store lacks query generations.
    static let noFormerState =
        "only a file with a write-ahead log keeps what was: others are read as they are (semantics P3)"

    var testDescription: String { name }

    /// The seeds of a test of random work that has `full` of them; on a server, where each statement is a round trip, a quarter.
    func seeds(_ full: Int) -> [UInt64] { Trials.seeds(isOnServer ? max(1, full / 4) : full) }

    /// Whether it keeps the value; of what it does not it says so.
    func keeps(_ value: Value) -> Bool {
        switch value {
        case .string(let text): keepsNUL || !text.unicodeScalars.contains("\0")
        case .date(let seconds): keepsEveryDate || Microseconds(seconds)?.seconds == seconds
        default: true
        }
    }

    /// Runs a test on an empty store of the model.
    func check(
        _ model: CompiledModel = Library.model, test: String = #function, _ body: (SpecifiedSource) throws -> Void
    ) throws {
        guard attach == nil, isInstalled else { return }
        try expectingExceptions(of: test) {
            let opened = try make(model)
            defer { opened.remove() }
            try body(SpecifiedSource(opened, model: model))
        }
    }

    /// Runs a test that may be one of the ``exceptions``.
    func expectingExceptions(of test: String, _ body: () throws -> Void) throws {
        let name = String(test.prefix { $0 != "(" })
        guard let reason = exceptions[name] else { return try body() }
        withKnownIssue("\(self.name): \(reason)", isIntermittent: passesInPart.contains(name)) { try body() }
    }
}

/// A store that was made for one test.
struct OpenedStore: Sendable {
    let source: any RowSource
    /// Closes the store, and opens it again, for reading only if that is asked for; `nil` where it ends when it is closed.
    var reopen: (@Sendable (_ isReadOnly: Bool) throws -> OpenedStore)?
    /// Closes it and leaves nothing behind.
    let remove: @Sendable () -> Void
    /// What the store makes of a fetch, for messages.
    var explain: @Sendable (FetchPlan) -> String = { _ in "" }
}
