import CoreDataModel
import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreData

@Suite struct ModelDocumentTests {
    /// Authors with books: every kind of property, with texts that only a predicate parser understands.
    private func document() -> ModelDocument {
        var author = EntityElement(name: "Author")
        author.className = ".Author"
        author.uniquenessConstraints = [["name"]]
        author.renamingIdentifier = "Writer"
        author.userInfo = ["table": "authors"]
        author.versionHashModifier = "2"
        var name = AttributeElement(type: .string)
        name.validations = [ValidationElement(predicate: "length >= 2", warning: "1670")]
        var count = AttributeElement(type: .integer64)
        count.derivationExpression = "books.@count"
        var books = RelationshipElement()
        books.destinationName = "Book"
        books.inverseName = "author"
        books.inverseEntityName = "Book"
        books.isOrdered = true
        books.deleteRule = .cascade
        var place = AttributeElement(type: .composite)
        place.compositeName = "Place"
        author.properties = [
            PropertyElement(name: "name", kind: .attribute(name)),
            PropertyElement(name: "bookCount", kind: .attribute(count)),
            PropertyElement(name: "books", kind: .relationship(books)),
            PropertyElement(name: "home", kind: .attribute(place)),
        ]
        var index = FetchIndexElement(name: "byName")
        index.elements = [.init(propertyName: "name")]
        index.predicate = "name != nil"
        author.fetchIndexes = [index]

        var book = EntityElement(name: "Book")
        var toAuthor = RelationshipElement()
        toAuthor.destinationName = "Author"
        toAuthor.inverseName = "books"
        toAuthor.inverseEntityName = "Author"
        toAuthor.maxCount = 1
        var others = FetchRequestElement(name: "fetchedPropertyFetchRequest")
        others.entityName = "Book"
        others.fetchLimit = 9
        others.predicate = "pages > $FETCH_SOURCE.pages"
        var pages = AttributeElement(type: .integer16)
        pages.defaultValueText = "100"
        book.properties = [
            PropertyElement(name: "author", kind: .relationship(toAuthor)),
            PropertyElement(name: "others", kind: .fetched(others)),
            PropertyElement(name: "pages", kind: .attribute(pages)),
        ]
        book.properties[0].isOptional = true
        book.properties[1].isTransient = true
        var novel = EntityElement(name: "Novel")
        novel.parentName = "Book"

        var composite = CompositeElement(name: "Place")
        composite.properties = [
            PropertyElement(name: "x", kind: .attribute(AttributeElement(type: .double))),
            PropertyElement(name: "y", kind: .attribute(AttributeElement(type: .double))),
        ]
        var document = ModelDocument()
        document.entities = [novel, author, book]
        document.composites = [composite]
        document.versionIdentifiers = ["7"]
        var configuration = ConfigurationElement(name: "Catalogue")
        configuration.entityNames = ["Book", "Novel"]
        document.configurations = [configuration]
        var template = FetchRequestElement(name: "Thick")
        template.entityName = "Book"
        template.includesSubentities = false
        template.predicate = "pages > $PAGES"
        template.sorts = [
            .init(key: "pages", isAscending: false),
            .init(key: "author.name", isAscending: true, selector: "localizedStandardCompare:"),
        ]
        document.fetchRequests = [template]
        return document
    }

    @Test func aDocumentBecomesDescriptions() throws {
        let model = try NSManagedObjectModel(document: document())
        let author = try #require(model.entitiesByName["Author"])
        let book = try #require(model.entitiesByName["Book"])
        #expect(model.entitiesByName["Novel"]?.superentity === book)
        #expect(author.managedObjectClassName == ".Author" && author.renamingIdentifier == "Writer")
        #expect(author.userInfo as? [String: String] == ["table": "authors"])
        #expect(author.uniquenessConstraints as? [[String]] == [["name"]])
        #expect(author.indexes.map(\.name) == ["byName"])
        #expect(author.indexes[0].elements[0].property === author.attributesByName["name"])
        #expect(author.attributesByName["name"]?.validationPredicates.map(\.node.predicateFormat) == ["length >= 2"])
        #expect(author.attributesByName["name"]?.validationWarnings as? [NSNumber] == [1670])
        let derived = try #require(author.attributesByName["bookCount"] as? NSDerivedAttributeDescription)
        #expect(derived.writtenExpression?.text == "books.@count")
        #expect(derived.derivationExpression != nil)
        let home = try #require(author.attributesByName["home"] as? NSCompositeAttributeDescription)
        #expect(home.elements.map(\.name) == ["x", "y"])
        let books = try #require(author.relationshipsByName["books"])
        #expect(books.isOrdered && books.isToMany && books.deleteRule == .cascadeDeleteRule)
        #expect(books.inverseRelationship === book.relationshipsByName["author"])
        #expect(book.attributesByName["pages"]?.defaultValue as? Int == 100)
        let others = try #require(book.propertiesByName["others"] as? NSFetchedPropertyDescription)
        #expect(others.fetchRequest?.entity === book && others.fetchRequest?.fetchLimit == 9)
        #expect(model.entities(forConfigurationName: "Catalogue")?.map(\.name) == ["Book", "Novel"])
        #expect(model.fetchRequestTemplate(forName: "Thick")?.includesSubentities == false)
        #expect(model.versionIdentifiers == ["7"])
    }

    @Test func descriptionsBecomeTheSameDocument() throws {
        let model = try NSManagedObjectModel(document: document())
        let again = try NSManagedObjectModel(document: model.makeDocument())
        #expect(again == model)
        #expect(again.entityVersionHashesByName == model.entityVersionHashesByName)
        let name = again.entitiesByName["Author"]?.makeElement().properties.first { $0.name == "name" }
        guard case .attribute(let attribute) = name?.kind else {
            Issue.record("no attribute 'name'")
            return
        }
        #expect(attribute.validations == [ValidationElement(predicate: "length >= 2", warning: "1670")])
        #expect(again.entitiesByName["Author"]?.indexes.first?.makeElement().predicate == "name != nil")
    }

    @Test func requestsOfADocumentKeepTheirPredicatesAndOrder() throws {
        let model = try NSManagedObjectModel(document: document())
        for model in [model, try NSManagedObjectModel(document: model.makeDocument())] {
            let template = try #require(model.fetchRequestTemplate(forName: "Thick"))
            #expect(template.predicate?.node.predicateFormat == "pages > $PAGES")
            #expect(template.sortDescriptors?.map(\.key) == ["pages", "author.name"])
            #expect(template.sortDescriptors?.map(\.ascending) == [false, true])
            #expect(template.sortDescriptors?.last?.selector == "localizedStandardCompare:")
            let made = try #require(
                model.fetchRequestFromTemplate(withName: "Thick", substitutionVariables: ["PAGES": 300]))
            #expect(made.predicate?.node.predicateFormat == "pages > 300")
            #expect(template.predicate?.node.predicateFormat == "pages > $PAGES")
            let others = model.entitiesByName["Book"]?.propertiesByName["others"] as? NSFetchedPropertyDescription
            #expect(others?.fetchRequest?.predicate?.node.predicateFormat == "pages > $FETCH_SOURCE.pages")
        }
    }

    /// store-format §10: an expression made in code counts as one read from a file.
    @Test func aDerivedAttributeInCodeHasTheHashOfItsText() throws {
        let read = try NSManagedObjectModel(document: document())
        let derived = try #require(read.entitiesByName["Author"]?.attributesByName["bookCount"])
        let made = NSDerivedAttributeDescription()
        made.name = "bookCount"
        made.type = .integer64
        made.isOptional = false
        made.derivationExpression = CoreData.NSExpression(format: "books.@count")
        #expect(made.versionHash == derived.versionHash)
        #expect(made == derived)
        made.derivationExpression = CoreData.NSExpression(format: "canonical:(name)")
        #expect(made.versionHash != derived.versionHash && made != derived)
    }

    @Test func predicatesSetInCodeReachTheDocument() throws {
        let model = try NSManagedObjectModel(document: document())
        let name = try #require(model.entitiesByName["Author"]?.attributesByName["name"])
        name.setValidationPredicates(
            [NSPredicate(format: "length <= %d", 20), NSPredicate { _, _ in true }],
            withValidationWarnings: ["Too long", "Code"])
        let copy = try #require(name.copy() as? NSAttributeDescription)
        #expect(copy == name && copy.validationPredicates.count == 2)
        guard case .attribute(let attribute) = name.makeElement().kind else {
            Issue.record("no attribute")
            return
        }
        #expect(attribute.validations == [ValidationElement(predicate: "length <= 20", warning: "Too long")])
        try model.freeze()
        #expect(name.validations.map(\.code) == [1660, 1550])
    }

    @Test func copiesKeepTextsAndHashes() throws {
        let model = try NSManagedObjectModel(document: document())
        let copy = try #require(model.copy() as? NSManagedObjectModel)
        #expect(copy == model)
        let compiled = try copy.freeze()
        #expect(copy.entityVersionHashesByName == model.entityVersionHashesByName)
        let count = compiled.entity(named: "Author")?.property(named: "bookCount")?.attribute
        #expect(count?.derivationExpression == "books.@count")
        let data = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
        let archived = try #require(
            try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data))
        #expect(archived == model)
    }

    @Test func loadingCompilesAndFreezingUsesThat() throws {
        let model = try NSManagedObjectModel(document: document())
        let compiled = try #require(model.compiledIfKnown)
        #expect(try model.freeze() === compiled)
        let changed = try NSManagedObjectModel(document: document())
        changed.entitiesByName["Book"]?.versionHashModifier = "x"
        #expect(changed.compiledIfKnown == nil)
        #expect(changed.versionChecksum != model.versionChecksum)
    }

    @Test func anInvalidDocumentIsToldAboutWhole() {
        var document = document()
        document.entities[0].parentName = "Nothing"
        document.entities[1].properties[0].name = "description"
        let error = #expect(throws: CocoaError.self) { try NSManagedObjectModel(document: document) }
        let text = error?.userInfo[NSLocalizedDescriptionKey] as? String ?? ""
        #expect(text.contains("Nothing") && text.contains("description"))
    }

    @Test func freezingGivesValidationsTheirCodes() throws {
        var document = document()
        var pages = AttributeElement(type: .integer16)
        pages.validations = [
            ValidationElement(predicate: "SELF >= 1", warning: "1620"),
            ValidationElement(predicate: "SELF <= 9", warning: "Too many pages"),
            ValidationElement(predicate: "SELF IN {1, 2}", warning: ""),
        ]
        document.entities[2].properties[2].kind = .attribute(pages)
        let model = try NSManagedObjectModel(document: document)
        let attribute = try #require(model.entitiesByName["Book"]?.attributesByName["pages"])
        #expect(attribute.validations.isEmpty)
        try model.freeze()
        #expect(attribute.validations.map(\.code) == [1620, 1610, 1550])
        #expect(attribute.validations.map(\.message) == [nil, "Too many pages", nil])
        let verdicts = attribute.validations.map { validation in
            [0, 1, 2, 10].map { validation.predicate.evaluate(with: NSNumber(value: $0)) }
        }
        #expect(
            verdicts == [[false, true, true, true], [true, true, true, false], [false, true, true, false]])
    }

    @Test func aPredicateThatCannotBeReadIsToldAboutWithItsEntity() {
        var document = document()
        document.entities[1].fetchIndexes[0].predicate = "name =="
        document.fetchRequests[0].predicate = "AND"
        let error = #expect(throws: CocoaError.self) { try NSManagedObjectModel(document: document) }
        let text = error?.userInfo[NSLocalizedDescriptionKey] as? String ?? ""
        #expect(text.contains("entity 'Author'") && text.contains("fetch request 'Thick'"), "\(text)")
    }
}
