import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Testing

/// Stores that migrations and old versions left: other numbers, other order, less columns (store-format §3, §21).
@Suite struct ExistingLayoutTests {
    @Test func numbersComeFromTheStore() throws {
        let layout = try layout(numbers: [("Zebra", 7, 0), ("Zoo", 3, 0)], tables: Self.zooTables(zebra: 7, zoo: 3))
        #expect(layout.entities.map { $0?.number } == [7, 3])
        #expect(layout.ordinalByNumber == [7: 0, 3: 1])
        #expect(layout.joinTables[.init(entity: 1, slot: 1)]?.name == "Z_3ZEBRAS")
    }

    @Test func joinTableIsFoundUnderOldNumbers() throws {
        let layout = try layout(numbers: [("Zebra", 1, 0), ("Zoo", 2, 0)], tables: Self.zooTables(zebra: 4, zoo: 5))
        #expect(
            layout.joinTables[.init(entity: 1, slot: 1)]
                == .init(name: "Z_5ZEBRAS", ownerColumn: "Z_5ZOOS", destinationColumn: "Z_4ZEBRAS"))
        #expect(
            layout.joinTables[.init(entity: 0, slot: 1)]
                == .init(name: "Z_5ZEBRAS", ownerColumn: "Z_4ZEBRAS", destinationColumn: "Z_5ZOOS"))
    }

    /// Two inverses of one name: a fresh store has `Z_2BOOKS` in the first table and `Z_2BOOKS1` in the second.
    @Test func joinColumnsAreFoundUnderOtherNumbersOfTheirName() throws {
        let library = try model(
            Entity("Author").toMany("books", "Book", inverse: "authors", ordered: true),
            Entity("Book").toMany("authors", "Author", inverse: "books").toMany("users", "User", inverse: "books"),
            Entity("User").toMany("books", "Book", inverse: "users"))
        let fixed = ["Z_PK", "Z_ENT", "Z_OPT"]
        let layout = try SchemaLayout.existing(
            model: library, entities: [0, 1, 2],
            numbers: ["Author", "Book", "User"].enumerated().map {
                .init(number: Int64($0.offset + 1), name: $0.element, parent: 0, maximum: 0)
            },
            catalog: catalog([
                "ZAUTHOR": fixed, "ZBOOK": fixed, "ZUSER": fixed,
                "Z_1BOOKS": ["Z_1AUTHORS", "Z_2BOOKS1", "Z_FOK_2BOOKS1"], "Z_2USERS": ["Z_2BOOKS", "Z_3USERS"],
            ])
        ).layout
        #expect(
            layout.joinTables[.init(entity: 0, slot: 0)]
                == .init(
                    name: "Z_1BOOKS", ownerColumn: "Z_1AUTHORS", destinationColumn: "Z_2BOOKS1",
                    orderColumn: "Z_FOK_2BOOKS1"))
        #expect(
            layout.joinTables[.init(entity: 2, slot: 0)]
                == .init(name: "Z_2USERS", ownerColumn: "Z_3USERS", destinationColumn: "Z_2BOOKS"))
    }

    @Test func joinTableIsFoundUnderTheOtherSidesName() throws {
        var tables = Self.zooTables(zebra: 1, zoo: 2)
        tables["Z_2ZEBRAS"] = nil
        tables["Z_1ZOOS"] = ["Z_1ZEBRAS", "Z_2ZOOS"]
        let layout = try layout(numbers: [("Zebra", 1, 0), ("Zoo", 2, 0)], tables: tables)
        #expect(layout.joinTables[.init(entity: 1, slot: 1)]?.name == "Z_1ZOOS")
        #expect(layout.joinTables[.init(entity: 1, slot: 1)]?.destinationColumn == "Z_1ZEBRAS")
    }

    @Test func namesAreFoundWithoutRegardToCase() throws {
        let tables = Self.zooTables(zebra: 1, zoo: 2).map { ($0.key.lowercased(), $0.value.map { $0.lowercased() }) }
        let layout = try layout(
            numbers: [("Zebra", 1, 0), ("Zoo", 2, 0)], tables: Dictionary(uniqueKeysWithValues: tables))
        #expect(layout.entities[0]?.table == "zzebra")
        #expect(layout.entities[0]?.columnNames == ["zname"])
    }

    @Test func companionsAndOrdersMayBeMissing() throws {
        let shelves = try model(
            Entity("Book").toOne("shelf", "Shelf", inverse: "books"),
            Entity("Shelf").toMany("books", "Book", inverse: "shelf", ordered: true),
            Entity("Rack", parent: "Shelf"))
        let schema = try SchemaLayout.existing(
            model: shelves, entities: [0, 1, 2],
            numbers: [
                .init(number: 1, name: "Book", parent: 0, maximum: 0),
                .init(number: 2, name: "Shelf", parent: 0, maximum: 0),
                .init(number: 3, name: "Rack", parent: 2, maximum: 0),
            ],
            catalog: catalog([
                "ZBOOK": ["Z_PK", "Z_ENT", "Z_OPT", "ZSHELF"], "ZSHELF": ["Z_PK", "Z_ENT", "Z_OPT"],
            ]))
        #expect(schema.layout.entities[0]?.columnNames == ["ZSHELF", nil, nil])
    }

    @Test func companionWithAnotherNumberIsFound() throws {
        let places = try model(Entity("Item").toOne("place", "Place"), Entity("Place"), Entity("Shop", parent: "Place"))
        let schema = try SchemaLayout.existing(
            model: places, entities: [0, 1, 2],
            numbers: [
                .init(number: 1, name: "Item", parent: 0, maximum: 0),
                .init(number: 2, name: "Place", parent: 0, maximum: 0),
                .init(number: 3, name: "Shop", parent: 2, maximum: 0),
            ],
            catalog: catalog([
                "ZITEM": ["Z_PK", "Z_ENT", "Z_OPT", "ZPLACE", "Z9_PLACE"], "ZPLACE": ["Z_PK", "Z_ENT", "Z_OPT"],
            ]))
        #expect(schema.layout.entities[0]?.columnNames == ["ZPLACE", "Z9_PLACE"])
    }

    @Test func everythingMissingIsNamed() throws {
        let failure = try #require(throws: StoreFailure.self) {
            try layout(numbers: [("Zebra", 1, 0)], tables: ["ZZEBRA": ["Z_PK", "Z_ENT"]])
        }
        #expect(failure.kind == .incompleteSchema)
        #expect(
            failure.missing.map(\.description) == [
                "Zebra: no column Z_OPT in table ZZEBRA", "Zebra.name: no column ZNAME in table ZZEBRA",
                "Zoo: no table ZZOO",
                "Zoo: Z_PRIMARYKEY has no row for the entity, or one without a number in Z_ENT, Z_SUPER or Z_MAX",
            ])
        #expect(failure.message.contains("Zebra.name"))
    }

    /// Zebra 0 (name 0, zoos 1), Zoo 1 (name 0, zebras 1).
    private func layout(
        numbers: [(name: String, number: Int64, parent: Int64)], tables: [String: [String]]
    ) throws -> StoreLayout {
        let animals = try model(
            Entity("Zebra").string("name").toMany("zoos", "Zoo", inverse: "zebras"),
            Entity("Zoo").string("name").toMany("zebras", "Zebra", inverse: "zoos"))
        return try SchemaLayout.existing(
            model: animals, entities: [0, 1],
            numbers: numbers.map { .init(number: $0.number, name: $0.name, parent: $0.parent, maximum: 0) },
            catalog: catalog(tables)
        ).layout
    }

    private static func zooTables(zebra: Int, zoo: Int) -> [String: [String]] {
        [
            "ZZEBRA": ["Z_PK", "Z_ENT", "Z_OPT", "ZNAME"], "ZZOO": ["Z_PK", "Z_ENT", "Z_OPT", "ZNAME"],
            "Z_\(zoo)ZEBRAS": ["Z_\(zoo)ZOOS", "Z_\(zebra)ZEBRAS"],
        ]
    }

    private func catalog(_ tables: [String: [String]]) -> StoreCatalog {
        StoreCatalog(tables: tables.map { .init(name: $0.key, columns: $0.value) })
    }
}
