import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// A kind of store of which the specification must hold: how to make one, and what it cannot do.
///
/// A file in this folder adds a kind, as ``sqliteFile``, ``sqliteMemory`` and ``memory``; ``every`` lists them.
struct SpecifiedStore: Sendable, CustomTestStringConvertible {
    let name: String
    /// Makes an empty store for the model.
    let make: @Sendable (CompiledModel) throws -> OpenedStore
    /// Adds an empty store to the coordinator, where a source alone is no store: one of a program's own class, which is given
    /// objects. Then only what contexts do is tried, and nothing on its source.
    var attach: (@Sendable (NSPersistentStoreCoordinator) throws -> OpenedStore)?
    /// The capabilities that the store lacks, each with the reason; ``CapabilityTests`` fails where it has one of them after all.
    var lacks: [Capability: String] = [:]
    /// The first primary key that the store gives out.
    var firstKey: Int64 = 1
    /// How often the generated predicates are tried: what is slow to ask is asked less.
    var predicateSeeds = 2

    /// Whether each statement is a way to a server: what is tried at random is tried less.
    var isOnServer = false

    /// The programs that the store needs and this machine does not have; the store's tests are then skipped with this message.
    var missing: String?
    /// Whether text may have the character U+0000.
    var keepsNUL = true
    /// Whether a date may be any number of seconds; else it is kept to the microsecond, for some hundred thousand years.
    var keepsEveryDate = true

    /// The stores besides ``sqliteFile`` that need no server.
    private static let onThisMachine: [SpecifiedStore] = [
        .sqliteMemory, .xml, .sqliteLackingMuch, .binary, .memory, .jsonFolder,
    ]
    private static let onServers: [SpecifiedStore] = [.postgreSQL, .pooledPostgreSQL, .plainPostgreSQL]
    /// Every kind of store.
    static let every = [sqliteFile] + onThisMachine + onServers
    /// The stores that tests run on: in the short form ``sqliteFile``, another one and one on a server, other ones every day.
    static let all = [sqliteFile] + Trials.some(of: onThisMachine) + Trials.some(of: onServers)

    /// Why a store lacks query generations.
    static let noFormerState =
        "only a file with a write-ahead log keeps what was: others are read as they are (semantics P3)"

    var testDescription: String { name }

    /// The stores that have all of the capabilities: those that a test of them is tried on.
    static func having(_ capabilities: Capability...) -> [SpecifiedStore] {
        all.filter { store in capabilities.allSatisfy(store.has) }
    }

    func has(_ capability: Capability) -> Bool { lacks[capability] == nil }

    /// Skips the test case where the machine does not have the programs that the store needs.
    func requireInstalled() throws {
        if let missing { try Test.cancel("\(missing)") }
    }

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
        _ model: CompiledModel = Library.model, _ body: (SpecifiedSource) throws -> Void
    ) throws {
        try requireInstalled()
        let opened = try make(model)
        defer { opened.remove() }
        try body(SpecifiedSource(opened, model: model))
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
