import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Authors write books, some of them comics; books have tags, chapters in order, and places on shelves.
package enum Bookshop {
    package static let model: CompiledModel = {
        do {
            return try ModelCompiler.compile(document)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    package static let schema = SchemaLayout.fresh(model: model, entities: Array(model.entities.indices))
    package static var layout: StoreLayout { schema.layout }

    package static func ordinal(_ name: String) -> Int {
        guard let ordinal = model.ordinalByName[name] else { preconditionFailure("no entity \(name)") }
        return ordinal
    }

    package static func slot(_ entity: String, _ property: String) -> Int {
        guard let slot = model.entities[ordinal(entity)].slotByName[property] else {
            preconditionFailure("no property \(property)")
        }
        return slot
    }

    package static func plan(
        _ entity: String, _ format: String? = nil, _ arguments: [FormatArgument] = []
    ) throws -> FetchPlan {
        var plan = FetchPlan(entity: ordinal(entity))
        if let format { plan.predicate = try PredicateParser.parse(format: format, arguments: arguments) }
        return plan
    }

    package static var document: ModelDocument {
        var document = ModelDocument()
        document.entities = [
            entity(
                "Author",
                [
                    attribute("name", .string), attribute("born", .date), attribute("rating", .double),
                    toMany("books", "Book", inverse: "author"),
                ]),
            entity(
                "Book",
                [
                    attribute("title", .string), attribute("subtitle", .string), attribute("pages", .integer32),
                    attribute("stock", .integer16), attribute("price", .decimal), attribute("weight", .double),
                    attribute("isOut", .boolean), attribute("published", .date), attribute("code", .uuid),
                    attribute("link", .uri), attribute("digest", .binaryData), attribute("mood", .transformable),
                    attribute("cover", .binaryData) { $0.allowsExternalBinaryDataStorage = true },
                    transient("note"),
                    toOne("author", "Author", inverse: "books"),
                    toMany("tags", "Tag", inverse: "books"),
                    toMany("chapters", "Chapter", inverse: "book", isOrdered: true),
                    toMany("shelves", "Shelf", inverse: "books"),
                ]),
            entity("Comic", parent: "Book", [attribute("artist", .string), toOne("hero", "Author", inverse: nil)]),
            entity(
                "Chapter",
                [
                    attribute("title", .string), attribute("length", .integer32),
                    toOne("book", "Book", inverse: "chapters"),
                ]),
            entity(
                "Shelf",
                [
                    attribute("label", .string),
                    toMany("books", "Book", inverse: "shelves", isOrdered: true),
                    toMany("picks", "Tag", inverse: nil),
                ]),
            entity(
                "Tag",
                [attribute("name", .string), attribute("heft", .integer64), toMany("books", "Book", inverse: "tags")]),
        ]
        return document
    }

    private static func entity(_ name: String, parent: String? = nil, _ properties: [PropertyElement]) -> EntityElement
    {
        var entity = EntityElement(name: name)
        entity.parentName = parent
        entity.properties = properties
        return entity
    }

    private static func attribute(
        _ name: String, _ type: AttributeType, _ change: (inout AttributeElement) -> Void = { _ in }
    ) -> PropertyElement {
        var attribute = AttributeElement(type: type)
        change(&attribute)
        var property = PropertyElement(name: name, kind: .attribute(attribute))
        property.isOptional = true
        return property
    }

    private static func transient(_ name: String) -> PropertyElement {
        var property = attribute(name, .string)
        property.isTransient = true
        return property
    }

    private static func toOne(_ name: String, _ destination: String, inverse: String?) -> PropertyElement {
        relationship(name, destination, inverse, maxCount: 1, isOrdered: false)
    }

    private static func toMany(
        _ name: String, _ destination: String, inverse: String?, isOrdered: Bool = false
    ) -> PropertyElement {
        relationship(name, destination, inverse, maxCount: 0, isOrdered: isOrdered)
    }

    private static func relationship(
        _ name: String, _ destination: String, _ inverse: String?, maxCount: Int, isOrdered: Bool
    ) -> PropertyElement {
        var relationship = RelationshipElement()
        relationship.destinationName = destination
        relationship.inverseName = inverse
        relationship.inverseEntityName = inverse == nil ? nil : destination
        relationship.maxCount = maxCount
        relationship.isOrdered = isOrdered
        var property = PropertyElement(name: name, kind: .relationship(relationship))
        property.isOptional = true
        return property
    }
}
