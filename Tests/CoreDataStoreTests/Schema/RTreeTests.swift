import CoreDataModel
import CoreDataPredicate
import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataStore

extension Entity {
    /// A fetch index whose elements are all of the type R-tree.
    fileprivate func tree(_ name: String, _ properties: String..., where predicate: String? = nil) -> Entity {
        var copy = self
        var index = FetchIndexElement(name: name)
        index.predicate = predicate
        index.elements = properties.map {
            var element = FetchIndexElement.Element(propertyName: $0)
            element.isRTree = true
            return element
        }
        copy.element.fetchIndexes.append(index)
        return copy
    }
}

/// R-trees of fetch indexes: as Apple's stores have them (store-format §5), kept up by triggers, asked for ranges.
@Suite struct RTreeTests {
    private let shop = Entity("Shop").attribute("x", .double).attribute("y", .double).tree("byPlace", "x", "y")

    // MARK: Making

    @Test(arguments: [false, true])
    func aTreeIsMadeAsInTheLibrariesOfPhotos(isOfPhotos: Bool) throws {
        var asset = Entity("Asset").attribute("latitude", .double).attribute("longitude", .double)
        if isOfPhotos {
            // Private to Apple: the index is the attribute's.
            asset = asset.attribute("boundedByRect", .undefined, transient: true)
            asset.element.properties[2].userInfo = ["_NSLocationAttributeDerivedComponents": "latitude, longitude"]
        } else {
            asset = asset.tree("boundedByRect", "latitude", "longitude")
        }
        let compiled = try model(asset)
        let columns = "(Z_PK, ZLATITUDE_MIN, ZLATITUDE_MAX, ZLONGITUDE_MIN, ZLONGITUDE_MAX)"
        let values = "(NEW.Z_PK, NEW.ZLATITUDE ,NEW.ZLATITUDE, NEW.ZLONGITUDE, NEW.ZLONGITUDE)"
        try check(
            compiled, only: "CREATE VIRTUAL",
            """
            CREATE VIRTUAL TABLE Z_RT_Asset_boundedByRect USING RTREE (Z_PK INTEGER PRIMARY KEY, ZLATITUDE_MIN FLOAT, \
            ZLATITUDE_MAX FLOAT, ZLONGITUDE_MIN FLOAT, ZLONGITUDE_MAX FLOAT); \
            CREATE TRIGGER Z_RT_Asset_boundedByRect_INSERT AFTER INSERT ON ZASSET FOR EACH ROW BEGIN \
            INSERT OR REPLACE INTO Z_RT_Asset_boundedByRect \(columns) VALUES \(values) ; END; \
            CREATE TRIGGER Z_RT_Asset_boundedByRect_UPDATE AFTER UPDATE ON ZASSET FOR EACH ROW BEGIN \
            DELETE FROM Z_RT_Asset_boundedByRect WHERE Z_PK = NEW.Z_PK ; \
            INSERT INTO Z_RT_Asset_boundedByRect \(columns) VALUES \(values) ; END; \
            CREATE TRIGGER Z_RT_Asset_boundedByRect_DELETE AFTER DELETE ON ZASSET FOR EACH ROW BEGIN \
            DELETE FROM Z_RT_Asset_boundedByRect WHERE Z_PK = OLD.Z_PK ; END
            """)
        try check(compiled, only: "CREATE INDEX", "")
    }

    @Test func whatNoTreeCanHaveIsAnOrdinaryIndex() throws {
        let six = ["a", "b", "c", "d", "e", "f"]
        var many = six.reduce(Entity("Shop")) { $0.integer($1) }.tree("byIt")
        many.element.fetchIndexes[0].elements = six.map {
            var element = FetchIndexElement.Element(propertyName: $0)
            element.isRTree = true
            return element
        }
        let cases: [(Entity, String)] = [
            (Entity("Shop").string("name").tree("byIt", "name"), "(ZNAME COLLATE BINARY ASC)"),
            (Entity("Shop").attribute("price", .decimal).tree("byIt", "price"), "(ZPRICE COLLATE BINARY ASC)"),
            (
                Entity("Shop").integer("x").tree("byIt", "x", where: "x != nil"),
                "(ZX COLLATE BINARY ASC) WHERE ZX IS NOT NULL"
            ),
            (many, "(\(six.map { "Z\($0.uppercased()) COLLATE BINARY ASC" }.joined(separator: ", ")))"),
        ]
        for (entity, columns) in cases {
            try check(model(entity), only: "CREATE VIRTUAL", "")
            try check(model(entity), only: "CREATE INDEX", "CREATE INDEX Z_Shop_byIt ON ZSHOP \(columns)")
        }
    }

    @Test func namesThatSQLiteWouldTakeTwiceAreTakenOnce() throws {
        let entity = Entity("Shop").integer("x").tree("a", "x").tree("a_node", "x").tree("A", "x")
        let names = try SchemaLayout.fresh(model: model(entity), entities: [0]).rTrees().map(\.name)
        #expect(names == ["Z_RT_Shop_a"])
        _ = try open(model(entity))
    }

    private func open(_ model: CompiledModel, path: String? = nil) throws -> StoreEngine {
        try StoreEngine.open(model: model, options: StoreOptions(path: path), makeDatabase: makeDatabase)
    }

    @Test func anOpenedStoreKnowsItsTrees() throws {
        let path = try Fixtures.temporaryFolder().appendingPathComponent("Shop.sqlite").path
        for _ in 0..<2 {
            let engine = try open(model(shop), path: path)
            defer { engine.close() }
            #expect(engine.layout.rTrees.map(\.name) == ["Z_RT_Shop_byPlace"])
        }
    }

    // MARK: Asking

    private static let rows = """
        INSERT INTO ZSHOP (Z_PK, Z_ENT, Z_OPT, ZX, ZY) VALUES (1, 1, 1, 0.1, 0.1), (2, 1, 1, 0.3, NULL), \
        (3, 1, 1, NULL, 0.2), (4, 1, 1, 1e300, 0.25), (5, 1, 1, 16777217, 0.5), (6, 1, 1, -0.25, 1), (7, 1, 1, 0, 0)
        """

    /// The keys of the rows, and whether the tree is asked.
    @Test(
        arguments: [
            ("x BETWEEN {0, 1} AND y BETWEEN {0, 1}", [1, 7], true),
            // Its numbers have 32 bits.
            ("x >= 0.1 AND x <= 0.1", [1], true), ("x == 0.1 AND y < 5", [1], true),
            ("x > 16777216 AND 16777217 >= x", [5], true),
            // Nil is 0 there.
            ("x >= -0.1 AND x <= 0.3", [1, 2, 7], true), ("y > -1 AND y < 0.2 AND x != nil", [1, 7], true),
            ("x > 0.2", [2, 4, 5], false), ("x > 0 AND y > 0", [1, 4, 5], false), ("x < 0 OR x > 1", [4, 5, 6], false),
            ("x != 0.1 AND x != 0.3 AND x < 1", [6, 7], false),
        ] as [(String, [Int64], Bool)])
    func aRangeIsAskedOfTheTree(format: String, keys: [Int64], asksTree: Bool) throws {
        let engine = try open(model(shop))
        try engine.database.write { try $0.execute(Self.rows) }
        var plan = FetchPlan(entity: 0)
        plan.predicate = try PredicateParser.parse(format: format)
        var plain = engine.layout
        plain.rTrees = []
        for layout in [engine.layout, plain] {
            let planner = FetchPlanner(model: engine.model, layout: layout, now: 0, dialect: engine.dialect)
            let statement = try planner.keys(plan)
            let isAsked = statement.text.sql.contains("Z_RT_Shop_byPlace")
            #expect(isAsked == (asksTree && !layout.rTrees.isEmpty))
            let found = try engine.database.read { try $0.rows(statement).map { $0[0] } }
            #expect(Set(found) == Set(keys.map(SQLValue.integer)), "\(statement.text.sql)")
        }
    }

    @Test func theStatementHasBothSidesOfEachRange() throws {
        let engine = try open(model(shop))
        var plan = FetchPlan(entity: 0)
        plan.predicate = try PredicateParser.parse(format: "x BETWEEN {1, 2} AND y > 3 AND y <= 4")
        let planner = FetchPlanner(model: engine.model, layout: engine.layout, now: 0, dialect: engine.dialect)
        let text = try planner.keys(plan).text
        #expect(
            text.sql == """
                SELECT t0.Z_PK, t0.Z_ENT FROM ZSHOP t0 WHERE t0.Z_PK IN (SELECT Z_PK FROM Z_RT_Shop_byPlace \
                WHERE ZX_MAX >= ? AND ZX_MIN <= ? AND ZY_MAX >= ? AND ZY_MIN <= ?) \
                AND t0.ZX BETWEEN ? AND ? AND t0.ZY > ? AND t0.ZY <= ?
                """)
        #expect(text.bindings == [1, 2, 3, 4, 1, 2, 3, 4].map(SQLValue.real))
    }

    // MARK: Keeping

    /// An R-tree rounds whole numbers to doubles, and the verifier does as it does.
    @Test func greatWholeNumbersAreWhereTheyAre() throws {
        let compiled = try model(Entity("Shop").attribute("n", .integer64).tree("byNumber", "n"))
        let engine = try open(compiled)
        let numbers: [Int64] = [.max, .max - 1, .min, 9_007_199_254_740_993, -9_007_199_254_740_993, 3]
        try engine.database.write { connection in
            for (key, number) in numbers.enumerated() {
                try connection.execute(
                    "INSERT INTO ZSHOP (Z_PK, Z_ENT, Z_OPT, ZN) VALUES (\(key + 1), 1, 1, \(number))")
            }
        }
        let found = try StoreVerifier.verify(engine.database, model: compiled, path: nil).map(\.message)
        #expect(!found.contains { $0.contains("Z_RT_") }, "\(found)")
    }

    @Test func itIsKeptUpAndVerified() throws {
        let compiled = try model(shop)
        let engine = try open(compiled)
        func findings(after statements: String...) throws -> [String] {
            try engine.database.write { connection in for sql in statements { try connection.execute(sql) } }
            return try StoreVerifier.verify(engine.database, model: compiled, path: nil).map(\.message).filter {
                $0.contains("Z_RT_")
            }
        }
        #expect(try findings(after: Self.rows) == [])
        #expect(
            try findings(
                after: "UPDATE ZSHOP SET ZX = 5, ZY = NULL WHERE Z_PK < 4", "DELETE FROM ZSHOP WHERE Z_PK = 6") == [])
        let count = try engine.database.read { try $0.rows("SELECT COUNT(*) FROM Z_RT_Shop_byPlace") }
        #expect(count == [[.integer(6)]])
        #expect(
            try findings(
                after: "DROP TRIGGER Z_RT_Shop_byPlace_UPDATE", "UPDATE ZSHOP SET ZX = 7 WHERE Z_PK = 1",
                "DELETE FROM Z_RT_Shop_byPlace WHERE Z_PK = 2", "INSERT INTO Z_RT_Shop_byPlace VALUES (99, 0, 0, 0, 0)")
                == [
                    "table ZSHOP has no trigger Z_RT_Shop_byPlace_UPDATE",
                    "is not where the R-tree Z_RT_Shop_byPlace has it",
                    "is not where the R-tree Z_RT_Shop_byPlace has it",
                    "does not exist, and is in the R-tree Z_RT_Shop_byPlace",
                ])
        // A fetch does without it.
        #expect(try RTrees.found(SchemaLayout.fresh(model: compiled, entities: [0]), in: engine.database) == [])
    }

    // MARK: Migrating

    @Test func aMigrationLeavesTheTreesOfTheNewerModel() throws {
        let tag = Entity("Tag").string("name")
        let place = Entity("Shop").attribute("x", .double).attribute("y", .double)
        // What Shop becomes, and whether its R-tree is made anew.
        let cases: [([Entity], isMade: Bool)] = [
            ([shop.string("note"), tag], true), ([place.tree("byPlace", "y"), tag.string("colour")], true),
            ([shop, tag.string("colour")], false), ([place, tag.string("colour")], false), ([tag], false),
        ]
        for (entities, isMade) in cases {
            let store = try MigratedStore(document([shop, tag])) { engine in
                try engine.database.write {
                    try $0.execute(Self.rows)
                    try $0.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_ENT = 1")
                }
            }
            let new = document(entities)
            let plan = try #require(try store.migrate(to: new))
            let steps = plan.steps.map(\.words).filter { $0.hasPrefix("make the R-tree") }
            #expect(steps.isEmpty == !isMade)
            #expect(try store.problems(new) == [])
            let compiled = try ModelCompiler.compile(new)
            let schema = SchemaLayout.fresh(model: compiled, entities: Array(compiled.entities.indices))
            guard let tree = try schema.rTrees().first else { continue }
            #expect(try store.rows("SELECT COUNT(*) FROM \(identifier: tree.name)") == [[.integer(7)]])
        }
    }
}
