import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation

/// Saves in a loop until it is killed, and tells the number of each save that was committed.
///
///     SaveKiller create <store>
///     SaveKiller run <store> <seed>      // prints 1, 2, 3, …, or goes on where the store stands
///     SaveKiller count <store> <number>  // counts up that often, whoever else changes the counter's row
///     SaveKiller migrate <store> <model> // migrates the store to a model in a file of JSON
///     SaveKiller rewrite <store> xml|binary   // the same with a store that is one file, which is made where there is none
///     SaveKiller tell <store> xml|binary      // what is in such a store
///
/// Save *k* inserts batch *k* with some items, counts it in the one counter row, and empties batch *k − 3*:
/// its items are deleted, its item count is set to 0. The test that kills it knows these rules.
func run() throws {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else {
        FileHandle.standardError.write(
            Data("usage: SaveKiller create|run|count|migrate <store> [seed|number|model]\n".utf8))
        exit(2)
    }
    if arguments[1] == "migrate" { return try migrate(arguments[2], to: arguments[3]) }
    if ["rewrite", "tell"].contains(arguments[1]) {
        let shop = try FileShop(path: arguments[2], format: arguments.count > 3 ? arguments[3] : "")
        if arguments[1] == "tell" {
            let told = try shop.told()
            return FileHandle.standardOutput.write(Data("\(told.counter) \(told.items)\n".utf8))
        }
        while true { FileHandle.standardOutput.write(Data("\(try shop.saveNext())\n".utf8)) }
    }
    let shop = try Shop(path: arguments[2], creates: arguments[1] == "create")
    if arguments[1] == "count" {
        try shop.count(Int(arguments.count > 3 ? arguments[3] : "") ?? 1)
        return shop.engine.database.close()
    }
    guard arguments[1] == "run" else { return shop.engine.database.close() }
    var generator = Generator(state: UInt64(arguments.count > 3 ? arguments[3] : "") ?? 1)
    while true {
        let number = try shop.saveNext(&generator)
        // Not print: nothing may stay in a buffer.
        FileHandle.standardOutput.write(Data("\(number)\n".utf8))
    }
}

func migrate(_ store: String, to file: String) throws {
    let document = try JSONDecoder().decode(
        ModelDocument.self, from: Data(contentsOf: URL(fileURLWithPath: file)))
    let migration = try StoreMigration(
        to: document, model: try ModelCompiler.compile(document), configuration: nil, encode: { _, _ in Data() },
        findSource: { _ in nil },
        // Told before it is done, so that whoever kills may be in the midst of it.
        progress: { done, _ in FileHandle.standardOutput.write(Data("\(done)\n".utf8)) },
        makeDatabase: { try SQLiteDatabase(SQLiteOptions($0)) })
    try migration.run(DatabaseOptions(path: store))
}

/// SplitMix64.
struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

/// A store of batches, items and a counter.
struct Shop {
    let engine: StoreEngine

    init(path: String, creates: Bool) throws {
        var options = StoreOptions(path: path)
        options.createsStore = creates
        engine = try StoreEngine.open(model: Self.makeModel(), options: options) {
            try SQLiteDatabase(SQLiteOptions($0))
        }
        guard creates else { return }
        let counter = ordinal("Counter")
        _ = try engine.save(keys: [counter: 1]) { keys in
            var changes = ChangeSet()
            changes.insertions = [.init(row: row("Counter", keys[counter]?.lowerBound ?? 0, 1, [.integer(0)]))]
            return changes
        }
    }

    private static func makeModel() throws -> CompiledModel {
        func attribute(_ name: String, _ type: AttributeType, isExternal: Bool = false) -> PropertyElement {
            var attribute = AttributeElement(type: type)
            attribute.allowsExternalBinaryDataStorage = isExternal
            var property = PropertyElement(name: name, kind: .attribute(attribute))
            property.isOptional = true
            return property
        }
        var document = ModelDocument()
        var batch = EntityElement(name: "Batch")
        batch.properties = [
            attribute("number", .integer64), attribute("itemCount", .integer64),
            attribute("picture", .binaryData, isExternal: true),
        ]
        batch.uniquenessConstraints = [["number"]]
        var item = EntityElement(name: "Item")
        item.properties = [attribute("batch", .integer64), attribute("text", .string)]
        var counter = EntityElement(name: "Counter")
        counter.properties = [attribute("value", .integer64), attribute("word", .string)]
        document.entities = [batch, item, counter]
        return try ModelCompiler.compile(document)
    }

    func saveNext(_ generator: inout Generator) throws -> Int64 {
        let itemCount = Int.random(in: 1...20, using: &generator)
        let hasPicture = Bool.random(using: &generator)
        let picture = Data(repeating: 7, count: hasPicture ? ExternalData.fileThreshold : 10)
        let (number, emptied) = try engine.database.read { connection -> (Int64, [[SQLValue]]) in
            let count = try connection.rows("SELECT ZVALUE FROM ZCOUNTER")
            guard case .integer(let last)? = count.first?.first else { return (1, []) }
            let items = try connection.rows(
                "SELECT Z_PK FROM ZITEM WHERE ZBATCH = \(bind: .integer(last - 2)) ORDER BY Z_PK")
            return (last + 1, items)
        }
        _ = try engine.save(keys: [ordinal("Batch"): 1, ordinal("Item"): itemCount]) { keys in
            var changes = ChangeSet()
            let texts = (keys[ordinal("Item")] ?? 1...1).map { key in
                ChangeSet.Insertion(
                    row: row("Item", key, 1, [.integer(number), .text(String(repeating: "x", count: 50))]))
            }
            let key = keys[ordinal("Batch")]?.lowerBound ?? 0
            let batch = row("Batch", key, 1, [.integer(Int64(itemCount)), .integer(number), .blob(picture)])
            changes.insertions = [.init(row: batch)] + texts
            let version = Int32(number)
            changes.updates = [
                .init(
                    old: row("Counter", 1, version, [.integer(number - 1)]),
                    new: row("Counter", 1, version + 1, [.integer(number)]))
            ]
            if number > 3 {
                // Keys and numbers of batches go together, for both count saves that were committed.
                let old = row("Batch", key - 3, 1, [.integer(-1), .integer(number - 3), .blob(Data([1]))])
                changes.updates.append(
                    .init(old: old, new: row("Batch", key - 3, 2, [.integer(0), .integer(number - 3), .null])))
            }
            for case .integer(let key)? in emptied.map(\.first) {
                changes.deletions.append(.init(key: RowKey(entity: ordinal("Item"), primaryKey: key), version: 1))
            }
            return changes
        }
        return number
    }

    /// Counts up in the counter's row; where somebody else has changed it, again.
    func count(_ times: Int) throws {
        let counter = ordinal("Counter")
        var left = times
        while left > 0 {
            guard let old = try engine.row(1, root: counter, staleness: 0) else { return }
            let layout = engine.model.entities[counter].rowLayout
            let builder = RowBuilder(columnCount: layout.columns.count)
            for (column, kind) in layout.kinds.enumerated() { builder.copy(column, kind: kind, from: old) }
            let column = layout.columnOfSlot[engine.model.entities[counter].slotByName["value"] ?? 0]
            builder.setInteger(old.integer(column) + 1, at: column)
            let new = builder.finish(primaryKey: 1, version: old.version + 1, entity: counter)
            do {
                _ = try engine.save(keys: [:]) { _ in
                    var changes = ChangeSet()
                    changes.updates = [.init(old: old, new: new)]
                    return changes
                }
                left -= 1
            } catch SaveFailure.conflicts {}
        }
    }

    private func ordinal(_ name: String) -> Int { engine.model.ordinalByName[name] ?? 0 }

    /// A row with values in the order of the properties' names.
    private func row(_ name: String, _ key: Int64, _ version: Int32, _ values: [SQLValue]) -> RowSnapshot {
        let entity = engine.model.entities[ordinal(name)]
        let builder = RowBuilder(columnCount: entity.rowLayout.columns.count)
        for (slot, value) in values.enumerated() {
            let column = entity.rowLayout.columnOfSlot[slot]
            switch value {
            case .null: break
            case .integer(let value): builder.setInteger(value, at: column)
            case .real(let value): builder.setReal(value, at: column)
            case .text(let value): builder.setText(value, at: column)
            case .blob(let value): value.withUnsafeBytes { builder.setBytes($0, at: column) }
            }
        }
        return builder.finish(primaryKey: key, version: version, entity: entity.ordinal)
    }
}

do {
    try run()
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
