import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataStore

/// The columns of composite attributes (store-format §10).
@Suite struct CompositeLayoutTests {
    private func compiled(_ properties: PropertyElement...) throws -> CompiledModel {
        var shop = EntityElement(name: "Shop")
        shop.properties = properties
        return try ModelCompiler.compile(model(shop))
    }

    private func columns(_ model: CompiledModel, _ naming: ElementNaming = .apples) -> [String] {
        SchemaLayout(model: model, entities: [0], numbers: [1], elementNaming: naming).tables[0].columns.map(\.name)
    }

    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func everyTableOfAStoreOfSwiftDataIsMadeAlike() throws {
        let model = try ModelCompiler.compile(CompositeVector.document())
        let statements = try SchemaLayout.fresh(model: model, entities: Array(model.entities.indices)).statements()
            .map { try SchemaRenderer.text($0) }
        for vector in try CompositeVector.all() { #expect(statements.contains(vector.sql[0]), "\(vector.entity)") }
    }

    /// By type, then by the name of the property, then as the elements are declared; numbered in that order.
    @Test func columnsAreNamedAndNumberedAsApplesAre() throws {
        let model = try compiled(
            attribute("city"), attribute("address_city"), attribute("zip"),
            composite("address", attribute("zip", .integer32), attribute("number", .integer16), attribute("city")),
            composite("beside", attribute("city"), composite("geo", attribute("y", .double), attribute("x", .double))),
            composite("zulu", attribute("city")))
        #expect(
            columns(model) == [
                "ZZIP", "ZNUMBER", "ZY", "ZX", "ZCITY", "ZADDRESS_CITY", "ZCITY1", "ZCITY2", "ZZIP1", "ZCITY3",
            ])
        #expect(
            columns(model, .former) == [
                "ZADDRESS_NUMBER", "ZADDRESS_ZIP", "ZBESIDE_GEO_X", "ZBESIDE_GEO_Y", "ZADDRESS_CITY", "ZADDRESS_CITY1",
                "ZBESIDE_CITY", "ZCITY", "ZZIP", "ZZULU_CITY",
            ])
    }

    /// The row has its columns in the order of the names, wherever they are in the table.
    @Test func elementsAreBoundByTheirPaths() throws {
        let model = try compiled(
            attribute("city"), composite("address", attribute("number", .integer16), attribute("city")))
        let layout = SchemaLayout.fresh(model: model, entities: [0]).layout
        let entity = model.entities[0]
        func column(_ path: String) throws -> String? {
            let slot = try #require(entity.property(named: path)).slot
            return layout.entities[0]?.columnNames[entity.rowLayout.columnOfSlot[slot]]
        }
        #expect(try column("address.city") == "ZCITY")
        #expect(try column("city") == "ZCITY1")
        #expect(try column("address.number") == "ZNUMBER")
        let address = try #require(entity.property(named: "address")?.attribute)
        #expect(address.elements.map { entity.properties[$0].name } == ["address.city", "address.number"])
        #expect(address.declaredElements.map { entity.properties[$0].name } == ["address.number", "address.city"])
    }

    /// Where a table has the columns of an earlier version of this framework, those are taken, all of them.
    @Test(arguments: [ElementNaming.apples, .former])
    func existingTablesAreBoundUnderEitherNames(naming: ElementNaming) throws {
        let model = try compiled(
            attribute("city"), composite("address", attribute("number", .integer16), attribute("city")))
        let made = SchemaLayout(model: model, entities: [0], numbers: [1], elementNaming: naming)
        let database = try makeDatabase(DatabaseOptions(path: nil))
        let found = try database.write { connection in
            for statement in try made.statements() { try connection.execute(try SchemaRenderer.text(statement)) }
            try connection.execute("INSERT INTO Z_PRIMARYKEY VALUES (1, 'Shop', 0, 0)")
            return try SchemaLayout.existing(model: model, entities: [0], connection: connection)
        }
        #expect(found.layout.entities[0]?.columnNames == made.layout.entities[0]?.columnNames)
        #expect(found.tables[0].columns.map(\.name) == columns(model, naming))
    }

    @Test func aTableWithoutAnElementIsIncomplete() throws {
        let model = try compiled(composite("address", attribute("number", .integer16), attribute("city")))
        let catalog = StoreCatalog(tables: [
            .init(name: "ZSHOP", columns: SchemaTable.fixedColumns + ["ZNUMBER", "ZADDRESS_CITY"])
        ])
        let failure = try #require(throws: StoreFailure.self) {
            try SchemaLayout.existing(
                model: model, entities: [0], numbers: [.init(number: 1, name: "Shop", parent: 0, maximum: 0)],
                catalog: catalog)
        }
        #expect(failure.kind == .incompleteSchema)
        #expect(failure.message.contains("ZCITY"))
    }
}
