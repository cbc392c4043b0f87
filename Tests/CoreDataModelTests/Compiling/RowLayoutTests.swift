import CoreDataPrimitives
import TestSupport
import Testing

@testable import CoreDataModel

/// Columns written as a line of words: `title`, `author→` (key), `author?` (entity number), `book#` (order),
/// `Shelf.books←` (owner's key), `Shelf.books←#` (owner's order).
private func columns(_ name: String, _ document: ModelDocument) throws -> String {
    let model = try ModelCompiler.compile(document)
    let entity = try #require(model.entity(named: name))
    return entity.rowLayout.columns.map { column in
        func property(_ slot: Int) -> String { entity.properties[slot].name }
        func owner(_ ordinal: Int, _ slot: Int) -> String {
            "\(model.entities[ordinal].name).\(model.entities[ordinal].properties[slot].name)"
        }
        return switch column.role {
        case .attribute(let slot): property(slot)
        case .destinationKey(let slot): property(slot) + "→"
        case .destinationEntity(let slot): property(slot) + "?"
        case .order(let slot): property(slot) + "#"
        case .ownerKey(let entity, let slot): owner(entity, slot) + "←"
        case .ownerOrder(let entity, let slot): owner(entity, slot) + "←#"
        }
    }.joined(separator: " ")
}

@Suite struct RowLayoutTests {
    @Test func attributesAndKeysStandInTheOrderOfSlots() throws {
        let document = model(
            entity(
                "Book", attribute("title"), toOne("author", "Author", inverse: "books"), derived("n", .integer64, "x")),
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")))
        #expect(try columns("Book", document) == "author→ n title")
        #expect(try columns("Author", document) == "name")
    }

    @Test func transientAndFetchedPropertiesAreNotStored() throws {
        var request = FetchRequestElement(name: "similar")
        request.entityName = "Book"
        let document = model(
            entity(
                "Book", attribute("title"), attribute("shelfMark").with { $0.isTransient = true },
                PropertyElement(name: "similar", kind: .fetched(request)),
                toOne("cached", "Book").with { $0.isTransient = true }))
        #expect(try columns("Book", document) == "title")
    }

    @Test func aPolymorphicDestinationNeedsItsEntity() throws {
        let document = model(
            entity("Person", attribute("name"), toMany("loans", "Loan", inverse: "borrower")),
            entity("Member", parent: "Person"),
            entity("Loan", toOne("borrower", "Person", inverse: "loans")))
        #expect(try columns("Loan", document) == "borrower→ borrower?")
    }

    @Test func theInverseOfAnOrderedToManyHasAnOrder() throws {
        let document = model(
            entity("Book", toMany("pages", "Page", inverse: "book", ordered: true)), entity("Atlas", parent: "Book"),
            entity("Page", toOne("book", "Book", inverse: "pages"), attribute("text")))
        #expect(try columns("Page", document) == "book→ book? book# text")
    }

    @Test func bothSidesOfAOneToOneHaveAKey() throws {
        let document = model(
            entity("Book", toOne("cover", "Cover", inverse: "book")),
            entity("Cover", toOne("book", "Book", inverse: "cover")))
        #expect(try columns("Book", document) == "cover→")
        #expect(try columns("Cover", document) == "book→")
    }

    @Test func aToManyWithoutInverseIsStoredInItsDestination() throws {
        let document = model(
            entity("Shelf", toMany("books", "Book", ordered: true), toMany("atlases", "Atlas")),
            entity("Archive", toMany("items", "Book")),
            entity("Book", attribute("title"), toOne("author", "Author")), entity("Author"),
            entity("Atlas", parent: "Book", attribute("scale", .double)))
        #expect(try columns("Book", document) == "author→ title Archive.items← Shelf.books← Shelf.books←#")
        #expect(
            try columns("Atlas", document)
                == "author→ title scale Archive.items← Shelf.atlases← Shelf.books← Shelf.books←#")
        #expect(try columns("Shelf", document) == "")
    }

    @Test func anInheritedToManyWithoutInverseHasOneOwnerColumn() throws {
        let document = model(
            entity("Box", toMany("things", "Thing")), entity("Crate", parent: "Box"), entity("Thing"))
        #expect(try columns("Thing", document) == "Box.things←")
    }

    @Test func manyToManyPairsAreInNoRow() throws {
        let document = model(
            entity("Book", toMany("tags", "Tag", inverse: "books")),
            entity("Tag", toMany("books", "Book", inverse: "tags")))
        #expect(try columns("Book", document) == "")
        #expect(try columns("Tag", document) == "")
    }

    @Test func slotsLeadToColumns() throws {
        let document = model(
            entity("Book", toMany("pages", "Page", inverse: "book", ordered: true)),
            entity("Page", toOne("book", "Book", inverse: "pages"), attribute("text")))
        let page = try #require(try ModelCompiler.compile(document).entity(named: "Page"))
        #expect(page.rowLayout.columnOfSlot == [0, 2])
        #expect(page.rowLayout.orderColumnOfSlot == [1, -1])
        #expect(page.rowLayout.entityColumnOfSlot == [-1, -1])
        #expect(page.rowLayout.kinds == [.integer, .integer, .text])
    }
}
