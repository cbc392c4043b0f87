import CoreData
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

@Suite struct SyncRulesTests {
    private typealias M = ModelMaking

    private func rules(_ entities: NSEntityDescription...) throws -> SyncRules {
        let model = NSManagedObjectModel()
        model.entities = entities
        return try SyncRules(model: model)
    }

    private func kind(_ entity: String, _ property: String, _ rules: SyncRules) -> SyncProperty.Kind? {
        rules[entity]?[property]?.kind
    }

    // MARK: Attributes

    @Test(arguments: [
        (NSAttributeType.integer16AttributeType, AttributeKind.integer(bits: 16)),
        (.integer32AttributeType, .integer(bits: 32)), (.integer64AttributeType, .integer(bits: 64)),
        (.booleanAttributeType, .boolean), (.doubleAttributeType, .double), (.floatAttributeType, .float),
        (.decimalAttributeType, .decimal), (.stringAttributeType, .string), (.dateAttributeType, .date),
        (.binaryDataAttributeType, .data), (.UUIDAttributeType, .uuid), (.URIAttributeType, .uri),
        (.transformableAttributeType, .transformable),
    ])
    func attributesHaveTheKindOfTheirType(type: NSAttributeType, kind: AttributeKind) throws {
        let rules = try rules(M.entity("Book", M.attribute("value", type)))
        #expect(self.kind("Book", "value", rules) == .attribute(kind, .last))
    }

    @Test(arguments: [
        ("last", NSAttributeType.binaryDataAttributeType, MergeRule.last), ("min", .dateAttributeType, .min),
        ("max", .stringAttributeType, .max), ("min", .booleanAttributeType, .min), ("sum", .decimalAttributeType, .sum),
        ("sum", .integer16AttributeType, .sum), ("sum", .floatAttributeType, .sum),
        ("text", .stringAttributeType, .text),
        ("union", .stringAttributeType, .union), ("app", .transformableAttributeType, .app),
    ])
    func mergeRulesAreRead(word: String, type: NSAttributeType, rule: MergeRule) throws {
        let rules = try rules(M.entity("Book", M.attribute("value", type, info: ["sync.merge": word])))
        #expect(rules["Book"]?.mergeRule(of: "value") == rule)
    }

    @Test func compositesAreExchangedElementByElement() throws {
        let inner = M.composite("geo", M.attribute("x", .doubleAttributeType, info: ["sync.merge": "max"]))
        let address = M.composite(
            "address", M.attribute("city"), inner,
            M.attribute("note", .stringAttributeType, info: ["sync.ignore": "YES"]))
        let rules = try rules(M.entity("Reader", address))
        let book = try #require(rules["Reader"])
        #expect(book.values.map(\.name) == ["address.city", "address.geo.x"])
        #expect(book["address.geo.x"]?.kind == .attribute(.double, .max))
        #expect(book["address.geo.x"]?.modelName == "address")
        #expect(book["address.note"]?.kind == .notExchanged(.ignored))
    }

    @Test func transientDerivedAndIgnoredPropertiesStayHere() throws {
        let derived = NSDerivedAttributeDescription()
        derived.name = "upper"
        derived.attributeType = .stringAttributeType
        derived.derivationExpression = NSExpression(format: "uppercase:(name)")
        let rules = try rules(
            M.entity(
                "Book", M.attribute("name"), derived, M.attribute("shown") { $0.isTransient = true },
                M.attribute("secret", .stringAttributeType, info: ["sync.ignore": "YES"]),
                M.attribute("told", .stringAttributeType, info: ["sync.ignore": "NO"])))
        #expect(kind("Book", "upper", rules) == .notExchanged(.derived))
        #expect(kind("Book", "shown", rules) == .notExchanged(.transient))
        #expect(kind("Book", "secret", rules) == .notExchanged(.ignored))
        #expect(rules["Book"]?.values.map(\.name) == ["name", "told"])
    }

    // MARK: Relationships

    @Test func oneSideOfEachRelationshipIsExchanged() throws {
        let author = M.entity("Author", M.toMany("books"), M.toOne("passport"), M.toMany("clubs", ordered: true))
        let book = M.entity("Book", M.toOne("author"), M.toMany("keywords"))
        let passport = M.entity("Passport", M.toOne("owner"))
        let club = M.entity("Club", M.toMany("members"))
        M.connect(author, "books", book, "author")
        M.connect(author, "passport", passport, "owner")
        M.connect(author, "clubs", club, "members")
        M.connect(book, "keywords", club)
        let rules = try rules(author, book, passport, club)
        #expect(kind("Author", "books", rules) == .notExchanged(.otherSide))
        #expect(kind("Book", "author", rules) == .toOne(destination: "Author", isRequired: false, inverse: "books"))
        #expect(
            kind("Author", "passport", rules) == .toOne(destination: "Passport", isRequired: false, inverse: "owner"))
        #expect(kind("Passport", "owner", rules) == .notExchanged(.otherSide))
        #expect(
            kind("Author", "clubs", rules)
                == .pairs(destination: "Club", isOrdered: true, inverse: "members", inverseIsOrdered: false))
        #expect(kind("Club", "members", rules) == .notExchanged(.otherSide))
        #expect(
            kind("Book", "keywords", rules)
                == .pairs(destination: "Club", isOrdered: false, inverse: nil, inverseIsOrdered: false))
    }

    @Test func membersOfAnOrderedToManyHavePositions() throws {
        let list = M.entity("List", M.toMany("items", ordered: true))
        let folder = M.entity("Folder", M.toMany("items", ordered: true))
        let other = M.entity("Shelf", M.toMany("books", ordered: true))
        let item = M.entity("Item", M.toOne("list"), M.toOne("folder"), M.toOne("shelf"))
        M.connect(list, "items", item, "list")
        M.connect(folder, "items", item, "folder")
        M.connect(other, "books", item, "shelf")
        let rules = try rules(list, folder, other, item)
        #expect(kind("Item", "books#", rules) == .ordering(owner: "Shelf", relationship: "books", toOne: "shelf"))
        // Two relationships have one name: the owner's name tells their positions apart.
        #expect(kind("Item", "List.items#", rules) == .ordering(owner: "List", relationship: "items", toOne: "list"))
        #expect(
            kind("Item", "Folder.items#", rules) == .ordering(owner: "Folder", relationship: "items", toOne: "folder"))
    }

    @Test func relationshipsToIgnoredEntitiesStayHere() throws {
        let cache = M.entity("Cache", info: ["sync.ignore": "YES"], M.toOne("book"))
        let image = M.entity("Image", parent: cache, M.attribute("data", .binaryDataAttributeType))
        let book = M.entity("Book", M.toMany("caches"), M.toOne("reader"))
        let reader = M.entity("Reader", M.toOne("book", info: ["sync.ignore": "YES"]))
        M.connect(cache, "book", book, "caches")
        M.connect(book, "reader", reader, "book")
        let rules = try rules(cache, image, book, reader)
        #expect(rules["Cache"]?.isIgnored == true && rules["Image"]?.isIgnored == true)
        #expect(rules.exchanged.map(\.name) == ["Book", "Reader"])
        #expect(kind("Book", "caches", rules) == .notExchanged(.destination))
        #expect(kind("Book", "reader", rules) == .notExchanged(.ignored))
    }

    @Test func inheritedRelationshipsBelongToTheEntityThatDeclaresThem() throws {
        let item = M.entity("Zebra", M.toOne("tag"))
        let drink = M.entity("Antelope", parent: item)
        let tag = M.entity("Tag", M.toOne("holder"))
        M.connect(item, "tag", tag, "holder")
        let rules = try rules(item, drink, tag)
        // "Tag.holder" < "Zebra.tag", also for Antelope, which inherits it.
        #expect(kind("Antelope", "tag", rules) == .notExchanged(.otherSide))
        #expect(kind("Tag", "holder", rules) == .toOne(destination: "Zebra", isRequired: false, inverse: "tag"))
        #expect(rules["Antelope"]?.root == "Zebra")
    }

    @Test func entitiesOfOtherConfigurationsStayOut() throws {
        let book = M.entity("Book", M.toOne("log"))
        let log = M.entity("Log")
        M.connect(book, "log", log)
        let model = M.model(book, log)
        model.setEntities([book], forConfigurationName: "Shared")
        let rules = try SyncRules(model: model, configuration: "Shared")
        #expect(rules.entities.keys.sorted() == ["Book"])
        #expect(kind("Book", "log", rules) == .notExchanged(.destination))
    }

    // MARK: Identity and deletion

    @Test func keysAreDeclaredInheritedOrTakenFromConstraints() throws {
        let item = M.entity("Item", info: ["sync.key": "name, unit"], M.attribute("name"), M.attribute("unit"))
        let drink = M.entity("Drink", parent: item, M.attribute("strength", .doubleAttributeType))
        let isbn = M.entity("Book", unique: [["isbn"], ["title"]], M.attribute("isbn"), M.attribute("title"))
        let user = M.entity(
            "User", info: ["sync.id": "uid"], unique: [["mail"]], M.attribute("uid", .UUIDAttributeType),
            M.attribute("mail"))
        let plain = M.entity("Plain", M.attribute("name"))
        let rules = try rules(item, drink, isbn, user, plain)
        #expect(rules["Drink"]?.keyAttributes == ["name", "unit"] && rules["Drink"]?.hasDeclaredKey == true)
        #expect(rules["Drink"]?.keyEntity == "Item" && rules["Book"]?.keyEntity == "Book")
        #expect(rules["Book"]?.keyAttributes == ["isbn"] && rules["Book"]?.hasDeclaredKey == false)
        #expect(rules["Book"]?.constraints == [["isbn"], ["title"]])
        #expect(rules["User"]?.idAttribute == "uid" && rules["User"]?.keyAttributes == [])
        #expect(rules["Plain"]?.keyAttributes == [] && rules["Plain"]?.idAttribute == nil)
        #expect(rules["Plain"]?.keyEntity == "" && rules["User"]?.keyEntity == "")
    }

    @Test func deletionRulesAreInherited() throws {
        let item = M.entity("Item", info: ["sync.delete": "editWins"])
        let drink = M.entity("Drink", parent: item)
        let other = M.entity("Other")
        let rules = try rules(item, drink, other)
        #expect(rules["Drink"]?.deletionRule == .editWins && rules["Other"]?.deletionRule == .deleteWins)
    }

    @Test func theHashIsThatOfTheModel() throws {
        func hash(_ name: String) throws -> Data { try rules(M.entity("Book", M.attribute(name))).modelHash }
        #expect(try hash("title") == hash("title"))
        #expect(try hash("title") != hash("name"))
        #expect(try hash("title").count == 32)
    }

    // MARK: Wrong words

    struct Wrong: CustomTestStringConvertible {
        var entity: [String: String] = [:]
        var property: [String: String] = [:]
        var type = NSAttributeType.stringAttributeType
        let message: [String]
        var testDescription: String { "\(entity) \(property)" }
    }

    @Test(arguments: [
        Wrong(
            entity: ["sync.key": "nme"],
            message: ["sync.key of entity \"Book\"", "no attribute \"nme\"", "write names"]),
        Wrong(entity: ["sync.key": "name,"], message: ["a name is missing"]),
        Wrong(entity: ["sync.key": "name, name"], message: ["twice"]),
        Wrong(entity: ["sync.key": "unit.name"], message: ["key path \"unit.name\" leads out of the object"]),
        Wrong(entity: ["sync.key": "unit"], message: ["\"unit\" is a relationship"]),
        Wrong(entity: ["sync.key": "shown"], message: ["\"shown\" is transient or derived"]),
        Wrong(entity: ["sync.key": "colour"], message: ["composite or transformable"]),
        Wrong(entity: ["sync.key": "value"], property: ["sync.ignore": "YES"], message: ["remove sync.ignore"]),
        Wrong(
            entity: ["sync.id": "name"], message: ["sync.id of entity \"Book\"", "no stored attribute of type UUID"]),
        Wrong(entity: ["sync.id": "guid"], message: ["no attribute \"guid\""]),
        Wrong(entity: ["sync.id": "uid", "sync.key": "name"], message: ["second identity", "keep one"]),
        Wrong(entity: ["sync.delete": "never"], message: ["\"never\"", "write \"deleteWins\" or \"editWins\""]),
        Wrong(entity: ["sync.ignore": "perhaps"], message: ["\"perhaps\"", "write \"YES\" or \"NO\""]),
        Wrong(entity: ["sync.merge": "last"], message: ["sync.merge of entity \"Book\"", "an entity has sync.delete"]),
        Wrong(
            property: ["sync.merge": "first"],
            message: ["sync.merge of property \"value\" of entity \"Book\"", "write \"last\""]),
        Wrong(property: ["sync.merge": "sum"], message: ["\"sum\" is for numbers"]),
        Wrong(property: ["sync.merge": "max"], type: .binaryDataAttributeType, message: ["\"max\" is for numbers"]),
        Wrong(property: ["sync.merge": "text"], type: .dateAttributeType, message: ["\"text\" is for texts"]),
        Wrong(
            property: ["sync.merge": "union"], type: .transformableAttributeType, message: ["\"union\" is for texts"]),
        Wrong(property: ["sync.ignore": "2"], message: ["sync.ignore of property \"value\"", "\"2\""]),
        Wrong(property: ["sync.kye": "x"], message: ["sync.kye of property \"value\"", "sync.ignore, sync.merge"]),
    ])
    func wrongWordsAreErrorsThatSayWhatToWrite(_ wrong: Wrong) throws {
        let unit = M.entity("Unit", M.attribute("name"))
        let book = M.entity(
            "Book", info: wrong.entity, M.attribute("name"), M.attribute("shown") { $0.isTransient = true },
            M.attribute("colour", .transformableAttributeType), M.attribute("uid", .UUIDAttributeType),
            M.attribute("value", wrong.type, info: wrong.property), M.toOne("unit"))
        M.connect(book, "unit", unit)
        let error = try #require(throws: CocoaError.self) { try rules(book, unit) }
        #expect(error.code.rawValue == 134060)
        for part in wrong.message {
            #expect(error.localizedDescription.contains(part), "\(String(describing: error))")
        }
    }

    @Test func wordsOfRelationshipsAndElementsAreChecked() throws {
        let unit = M.entity(
            "Unit", M.toOne("other", info: ["sync.merge": "max"]),
            M.composite("size", M.attribute("x", .stringAttributeType, info: ["sync.merge": "sum"])))
        M.connect(unit, "other", unit)
        let error = try #require(throws: CocoaError.self) { try rules(unit) }
        #expect(error.localizedDescription.contains("sync.merge of property \"other\" of entity \"Unit\""))
        #expect(error.localizedDescription.contains("sync.merge of property \"size.x\" of entity \"Unit\""))
    }
}
