import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// Schemas of new stores against those that Apple's Core Data makes (store-format §3 to §5): against stores of its
/// own, and against a prediction that is independent of this package.
@Suite struct SchemaOracleTests {
    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func everyKnownStoreHasTheSchemaThatAppleGaveIt() throws {
        let vectors = try SchemaVector.all().filter(\.isCurrent)
        #expect(vectors.count >= 40)
        for vector in vectors {
            let model = try ModelCompiler.compile(vector.document)
            let statements = try SchemaLayout.fresh(model: model, entities: Array(model.entities.indices)).statements()
                .dropLast(3).map { try SchemaRenderer.text($0) }
            let difference = zip(statements, vector.statements).first { $0 != $1 }
            #expect(statements == vector.statements, "\(vector.source): \(String(describing: difference))")
        }
    }

    /// Of every age: tables and columns are found where they are.
    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func everyKnownStoreBindsToItsTables() throws {
        for vector in try SchemaVector.all() where vector.partial != true {
            let model = try ModelCompiler.compile(vector.document)
            let database = try makeDatabase(DatabaseOptions(path: nil))
            let schema = try database.write { connection in
                for case let sql? in vector.schema.map({ $0[2] }) { try connection.execute(sql) }
                for entity in model.entities {
                    let parent = entity.parent.map { $0 + 1 } ?? 0
                    try connection.execute(
                        "INSERT INTO Z_PRIMARYKEY VALUES (\(entity.ordinal + 1), '\(entity.name)', \(parent), 0)")
                }
                return try SchemaLayout.existing(
                    model: model, entities: Array(model.entities.indices), connection: connection)
            }
            let expected = SchemaLayout.fresh(model: model, entities: Array(model.entities.indices))
            #expect(schema.layout.joinTables == expected.layout.joinTables, "\(vector.source)")
            #expect(
                schema.layout.entities.map { $0?.columnNames } == expected.layout.entities.map { $0?.columnNames },
                "\(vector.source)")
        }
    }

    /// How Apple orders the columns `Z_FOK_…` of one table is not known there.
    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func aLibraryOfPhotosHasTheSchemaThatAppleGaveIt() throws {
        let orders = try Regex(#"Z_FOK_\w+ INTEGER(?:, Z_FOK_\w+ INTEGER)+"#, as: Substring.self)
        func sorted(_ text: String) -> String {
            guard text.contains(" Z_PK INTEGER PRIMARY KEY") else { return text }
            return text.replacing(orders) { $0.output.components(separatedBy: ", ").sorted().joined(separator: ", ") }
        }
        // Older frameworks number the columns of join tables in another order.
        let vectors = try SchemaVector.photos().filter { $0.framework >= 1403 }
        #expect(vectors.count == 1)
        for vector in vectors {
            let model = try ModelCompiler.compile(vector.document)
            let statements = try SchemaLayout.fresh(model: model, entities: Array(model.entities.indices)).statements()
                .dropLast(3).map { sorted(try SchemaRenderer.text($0)) }
            let expected = vector.statements.map(sorted)
            let difference = zip(statements, expected).first { $0 != $1 }
            #expect(statements == expected, "\(vector.source): \(String(describing: difference))")
        }
    }

    /// Stores of another numbering stay as they are.
    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func joinTablesBindWhateverTheirColumnsAreNumbered() throws {
        var renumbered: [Int: Bool] = [:]
        for vector in try SchemaVector.photos() {
            let model = try ModelCompiler.compile(vector.document)
            let entities = Array(model.entities.indices)
            let database = try makeDatabase(DatabaseOptions(path: nil))
            let (schema, catalog) = try database.write { connection in
                for row in vector.schema where row[0] != "trigger" && row[1]?.hasPrefix("Z_RT_") == false {
                    if let sql = row[2] { try connection.execute(sql) }
                }
                for entity in model.entities {
                    let parent = entity.parent.map { $0 + 1 } ?? 0
                    try connection.execute(
                        "INSERT INTO Z_PRIMARYKEY VALUES (\(entity.ordinal + 1), '\(entity.name)', \(parent), 0)")
                }
                return (
                    try SchemaLayout.existing(model: model, entities: entities, connection: connection),
                    try StoreCatalog.read(connection)
                )
            }
            let fresh = SchemaLayout.fresh(model: model, entities: entities)
            #expect(schema.joinTables.count == fresh.joinTables.count && !schema.joinTables.isEmpty)
            renumbered[vector.framework] = schema.layout.joinTables != fresh.layout.joinTables
            for table in schema.joinTables {
                #expect(Set(table.join.columns) == Set(catalog.table(table.name)?.columns ?? []), "\(table.name)")
                for (end, column) in [
                    (table.master, table.join.destinationColumn), (table.inverse, table.join.ownerColumn),
                ] where !table.isSelfInverse {
                    let name = model.entities[end.entity].properties[end.slot].name.uppercased()
                    #expect(column.dropFirst(2).drop(while: \.isNumber).hasPrefix(name), "\(table.name).\(column)")
                }
            }
        }
        #expect(renumbered == [973: true, 1251: true, 1448: false])
    }

    @Test(.enabled(if: SchemaOracle.isAvailable, Comment(rawValue: SchemaOracle.missing)))
    func everyKnownModelHasThePredictedSchema() throws {
        let stores = try Stores()
        let vectors = try SchemaVector.all()
        #expect(vectors.count >= 60)
        for (number, vector) in Trials.some(of: Array(vectors.enumerated())) {
            try stores.make(vector.document, named: "vector-\(number)")
        }
        #expect(!stores.urls.isEmpty)
        try stores.checkPrediction()
    }

    @Test(.enabled(if: SchemaOracle.isAvailable, Comment(rawValue: SchemaOracle.missing)))
    func everyModelAmongTheFixturesHasThePredictedSchema() throws {
        let stores = try Stores()
        for path in Fixtures.models {
            for version in try ModelReader.read(contentsOf: Fixtures.url(path)).versions {
                try stores.make(version.document, named: "\(path) \(version.name)")
            }
        }
        #expect(stores.urls.count >= 30)
        try stores.checkPrediction()
    }

    @Test(.enabled(if: SchemaOracle.isAvailable, Comment(rawValue: SchemaOracle.missing)))
    func anyModelHasThePredictedSchema() throws {
        let stores = try Stores()
        let seeds = Trials.some(of: Trials.seeds(600))
        for seed in seeds {
            var generator = ModelGenerator(seed: seed)
            try stores.make(generator.document(), named: "seed-\(seed)")
        }
        #expect(stores.urls.count == seeds.count)
        try stores.checkPrediction()
    }

    /// The generator makes what it is meant to make.
    @Test func generatedModelsAreHard() throws {
        var joinTables = 0
        var numbered = 0
        var reflexive = 0
        var ordered = 0
        for seed in 0..<200 {
            var generator = ModelGenerator(seed: UInt64(seed))
            let model = try ModelCompiler.compile(generator.document())
            let schema = SchemaLayout.fresh(model: model, entities: Array(model.entities.indices))
            for table in schema.joinTables {
                joinTables += 1
                if table.isSelfInverse { reflexive += 1 }
                if table.join.orderColumn != nil, table.join.inverseOrderColumn != nil { ordered += 1 }
                for (end, column) in [
                    (table.master, table.join.destinationColumn), (table.inverse, table.join.ownerColumn),
                ] where column != SchemaJoinTable.selfInverseColumn {
                    let name = model.entities[end.entity].properties[end.slot].name.uppercased()
                    if !column.hasSuffix(name) { numbered += 1 }
                }
            }
        }
        #expect(joinTables > 200)
        #expect(numbered > 20)
        #expect(reflexive > 10)
        #expect(ordered > 5)
    }

    /// New stores in a folder of their own.
    private final class Stores {
        let folder: URL
        var urls: [URL] = []

        init() throws { folder = try Fixtures.temporaryFolder() }

        deinit { try? FileManager.default.removeItem(at: folder) }

        func checkPrediction() throws {
            let complaints = try SchemaOracle.complaints(about: urls)
            #expect(complaints.isEmpty, "\(complaints.prefix(20).joined(separator: "\n"))")
        }

        func make(_ document: ModelDocument, named name: String) throws {
            let url = folder.appendingPathComponent(name.replacingOccurrences(of: "/", with: "-") + ".sqlite")
            var options = StoreOptions(path: url.path)
            options.document = { document }
            options.database.pragmas = ["synchronous": "OFF"]
            _ = try StoreEngine.open(
                model: ModelCompiler.compile(document), options: options, makeDatabase: makeDatabase)
            urls.append(url)
        }
    }
}
