import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

/// Which lines each edit changes.
@Suite struct VersionEditorTests {
    static let library = modelText(
        """
            <entity name="Author" representedClassName="Author" syncable="YES">
                <attribute name="name" optional="YES" attributeType="String"/>
                <relationship name="books" optional="YES" toMany="YES" deletionRule="Deny" destinationEntity="Book" \
        inverseName="author" inverseEntity="Book"/>
            </entity>
            <entity name="Book" representedClassName=".Book" syncable="YES">
                <attribute name="isbn" attributeType="String"/>
                <attribute name="pages" optional="YES" attributeType="Integer 16" defaultValueString="0" \
        usesScalarValueType="YES"/>
                <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" \
        destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
                <fetchIndex name="byISBN">
                    <fetchIndexElement property="isbn" type="Binary" order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="isbn"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
            </entity>
            <entity name="Novel" representedClassName="Novel" parentEntity="Book" syncable="YES"/>
            <fetchRequest name="all" entity="Book" predicateString="pages &gt; 0"/>
            <configuration name="Catalogue">
                <memberEntity name="Author"/>
                <memberEntity name="Book"/>
            </configuration>
            <elements>
                <element name="Author" positionX="0" positionY="0" width="128" height="73"/>
                <element name="Book" positionX="9" positionY="9" width="128" height="88"/>
            </elements>
        """)

    static func edited(_ edits: [ModelEdit], _ text: String = library) throws -> String {
        var editor = VersionEditor(try EditableMarkup(Data(text.utf8), file: nil))
        for edit in edits { try editor.apply(edit) }
        return editor.markup.text
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var edits: [ModelEdit]
        var removed: [String] = []
        var added: [String] = []

        init(_ edits: ModelEdit..., removed: [String] = [], added: [String] = []) {
            self.edits = edits
            self.removed = removed
            self.added = added
        }

        var testDescription: String { edits.map(\.title).joined(separator: "; ") }
    }

    static func property(_ name: String, _ entity: String = "Book") -> ModelPath {
        .property(entity: entity, name: name)
    }

    static let additions = [
        Case(
            .addEntity("Club"),
            added: [
                #"<element name="Club" positionX="0" positionY="137" width="128" height="44"/>"#,
                #"<entity name="Club" representedClassName="Club" syncable="YES"/>"#,
            ]),
        Case(
            .addProperty(.attribute, name: "title", entity: "Book"),
            added: [#"<attribute name="title" optional="YES" attributeType="String"/>"#]),
        Case(
            .addProperty(.relationship, name: "sequel", entity: "Novel"),
            removed: [
                #"<entity name="Novel" representedClassName="Novel" parentEntity="Book" syncable="YES"/>"#
            ],
            added: [
                "</entity>",
                #"<entity name="Novel" representedClassName="Novel" parentEntity="Book" syncable="YES">"#,
                #"<relationship name="sequel" optional="YES" maxCount="1" deletionRule="Nullify"/>"#,
            ]),
        Case(
            .addProperty(.fetched, name: "others", entity: "Book"),
            .set(property("others"), .predicate, "pages > 1"),
            added: [
                "</fetchedProperty>",
                #"<fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="pages &gt; 1"/>"#,
                #"<fetchedProperty name="others" optional="YES">"#,
            ]),
        Case(
            .addFetchIndex("byPages", entity: "Book"),
            .setIndexElements(
                .fetchIndex(entity: "Book", name: "byPages"), [.init(propertyName: "pages"), .init(expression: "self")]),
            added: [
                "</fetchIndex>", #"<fetchIndex name="byPages">"#,
                #"<fetchIndexElement expression="self" type="Binary" order="ascending"/>"#,
                #"<fetchIndexElement property="pages" type="Binary" order="ascending"/>"#,
            ]),
        Case(
            .setConstraint(entity: "Book", at: nil, ["pages", "isbn"]),
            added: [
                "</uniquenessConstraint>", "<uniquenessConstraint>", #"<constraint value="isbn"/>"#,
                #"<constraint value="pages"/>"#,
            ]),
        Case(
            .addFetchRequest("short", entity: "Book"), added: [#"<fetchRequest name="short" entity="Book"/>"#]),
        Case(.addConfiguration("Archive"), added: [#"<configuration name="Archive"/>"#]),
        Case(
            .addComposite("Place"), .addCompositeElement("city", composite: "Place"),
            added: [
                "</composite>", #"<attribute name="city" optional="YES" attributeType="String"/>"#,
                #"<composite name="Place">"#,
            ]),
        Case(
            .setUserInfo(property("isbn"), key: "a", value: "1 & 2"),
            removed: [#"<attribute name="isbn" attributeType="String"/>"#],
            added: [
                "</attribute>", "</userInfo>", "<userInfo>", #"<attribute name="isbn" attributeType="String">"#,
                #"<entry key="a" value="1 &amp; 2"/>"#,
            ]),
        Case(
            .setMembers(configuration: "Catalogue", ["Author", "Book", "Novel"]),
            added: [#"<memberEntity name="Novel"/>"#]),
        Case(
            .setPosition(entity: "Book", x: -5, y: 20),
            removed: [#"<element name="Book" positionX="9" positionY="9" width="128" height="88"/>"#],
            added: [#"<element name="Book" positionX="-5" positionY="20" width="128" height="88"/>"#]),
    ]

    @Test(arguments: additions) func additionsAddOnlyTheirLines(row: Case) throws {
        let change = LineChange(Self.library, try Self.edited(row.edits))
        #expect(change == LineChange(removed: row.removed.sorted(), added: row.added.sorted()))
    }

    static let renames = [
        Case(
            .rename(property("isbn"), to: "number", keepsIdentity: true),
            removed: [
                #"<attribute name="isbn" attributeType="String"/>"#, #"<constraint value="isbn"/>"#,
                #"<fetchIndexElement property="isbn" type="Binary" order="ascending"/>"#,
            ],
            added: [
                #"<attribute name="number" attributeType="String" elementID="isbn"/>"#,
                #"<constraint value="number"/>"#,
                #"<fetchIndexElement property="number" type="Binary" order="ascending"/>"#,
            ]),
        Case(
            .rename(.entity("Author"), to: "Artist"),
            removed: [
                #"<element name="Author" positionX="0" positionY="0" width="128" height="73"/>"#,
                #"<entity name="Author" representedClassName="Author" syncable="YES">"#,
                #"<memberEntity name="Author"/>"#,
                #"<relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" "#
                    + #"destinationEntity="Author" inverseName="books" inverseEntity="Author"/>"#,
            ],
            added: [
                #"<element name="Artist" positionX="0" positionY="0" width="128" height="73"/>"#,
                #"<entity name="Artist" representedClassName="Artist" syncable="YES">"#,
                #"<memberEntity name="Artist"/>"#,
                #"<relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" "#
                    + #"destinationEntity="Artist" inverseName="books" inverseEntity="Artist"/>"#,
            ]),
        Case(
            .rename(property("author"), to: "writer"),
            removed: [
                #"<relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" "#
                    + #"destinationEntity="Author" inverseName="books" inverseEntity="Author"/>"#,
                #"<relationship name="books" optional="YES" toMany="YES" deletionRule="Deny" "#
                    + #"destinationEntity="Book" inverseName="author" inverseEntity="Book"/>"#,
            ],
            added: [
                #"<relationship name="books" optional="YES" toMany="YES" deletionRule="Deny" "#
                    + #"destinationEntity="Book" inverseName="writer" inverseEntity="Book"/>"#,
                #"<relationship name="writer" optional="YES" maxCount="1" deletionRule="Nullify" "#
                    + #"destinationEntity="Author" inverseName="books" inverseEntity="Author"/>"#,
            ]),
        Case(
            .delete(.entity("Author")),
            removed: [
                "</entity>", #"<attribute name="name" optional="YES" attributeType="String"/>"#,
                #"<element name="Author" positionX="0" positionY="0" width="128" height="73"/>"#,
                #"<entity name="Author" representedClassName="Author" syncable="YES">"#,
                #"<memberEntity name="Author"/>"#,
                #"<relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" "#
                    + #"destinationEntity="Author" inverseName="books" inverseEntity="Author"/>"#,
                #"<relationship name="books" optional="YES" toMany="YES" deletionRule="Deny" "#
                    + #"destinationEntity="Book" inverseName="author" inverseEntity="Book"/>"#,
            ],
            added: [#"<relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify"/>"#]),
        Case(
            .delete(property("isbn")),
            removed: [
                "</fetchIndex>", "</uniquenessConstraint>", "</uniquenessConstraints>", "<uniquenessConstraint>",
                "<uniquenessConstraints>", #"<attribute name="isbn" attributeType="String"/>"#,
                #"<constraint value="isbn"/>"#, #"<fetchIndex name="byISBN">"#,
                #"<fetchIndexElement property="isbn" type="Binary" order="ascending"/>"#,
            ]),
        Case(.rename(property("isbn"), to: "isbn")),
    ]

    @Test(arguments: renames) func renamesAndDeletionsChangeReferences(row: Case) throws {
        let change = LineChange(Self.library, try Self.edited(row.edits))
        #expect(change == LineChange(removed: row.removed.sorted(), added: row.added.sorted()))
    }

    @Test func renamedElementsStaySorted() throws {
        let text = try Self.edited([
            .rename(.entity("Author"), to: "Person"), .rename(Self.property("pages"), to: "count"),
        ])
        let document = ModelReader.document(fromContents: Data(text.utf8), file: nil)
        #expect(document.entities.map(\.name) == ["Book", "Novel", "Person"])
        #expect(document.entities[0].properties.map(\.name) == ["count", "isbn", "author"])
        #expect(document.diagram.map(\.name) == ["Book", "Person"])
        #expect(ModelCompiler.diagnose(document).filter { $0.severity == .error } == [])
    }

    @Test func movingToTheParentKeepsInverseAndIndexes() throws {
        let text = try Self.edited([
            .addEntity("Work"), .set(.entity("Book"), .parent, "Work"),
            .move(Self.property("author"), toEntity: "Work"),
            .move(Self.property("isbn"), toEntity: "Work"),
        ])
        let document = ModelReader.document(fromContents: Data(text.utf8), file: nil)
        #expect(document.entities.first { $0.name == "Work" }?.properties.map(\.name) == ["isbn", "author"])
        #expect(ModelCompiler.diagnose(document).filter { $0.severity != .note }.map(\.message) == [])
        #expect(document.entities.first { $0.name == "Book" }?.uniquenessConstraints == [["isbn"]])
    }

    @Test func elementsAreReordered() throws {
        let text = try Self.edited([.reorder(.entity("Novel"), to: 0), .reorder(Self.property("isbn"), to: 5)])
        let document = ModelReader.document(fromContents: Data(text.utf8), file: nil)
        #expect(document.entities.map(\.name) == ["Novel", "Author", "Book"])
        #expect(document.entities[2].properties.map(\.name) == ["pages", "isbn", "author"])
        #expect(LineChange(Self.library, text).added.count == 2)
    }

    // MARK: Inverses

    @Test func inversesAreSetAndRemovedOnBothSides() throws {
        let author = Self.property("author")
        let without = try Self.edited([.setInverse(author, nil)])
        #expect(!without.contains("inverse"))
        #expect(try Self.edited([.setInverse(author, nil), .setInverse(author, "books")]) == Self.library)
        let books = Self.property("books", "Author")
        #expect(try Self.edited([.setInverse(author, nil), .setInverse(books, "author")]) == Self.library)
        #expect(try Self.edited([.set(author, .destination, "Novel")]).components(separatedBy: "inverse").count == 1)
    }

    // MARK: Mistakes

    static let mistakes: [(ModelEdit, String)] = [
        (.addEntity("Book"), "there is already an entity 'Book'"),
        (.addEntity("2nd"), "'2nd' cannot be the name of an entity"),
        (.addEntity("<b>"), "'<b>' cannot be the name of an entity"),
        (.addEntity("New", parent: "None"), "there is no entity 'None'"),
        (.addProperty(.attribute, name: "isbn", entity: "Book"), "'Book' already has a property 'isbn'"),
        (.addProperty(.attribute, name: "a", entity: "None"), "'None' does not exist"),
        (.delete(property("none")), "'Book.none' does not exist"),
        (.rename(property("isbn"), to: "pages"), "'Book' already has a property 'pages'"),
        (.rename(.entity("Book"), to: "Novel"), "there is already an element named 'Novel'"),
        (.set(.entity("Book"), .parent, "Novel"), "'Novel' cannot be the parent of 'Book': it inherits from it"),
        (.set(property("isbn"), .destination, "Book"), "'Book.isbn' has no setting 'Destination'"),
        (.set(property("isbn"), .valueTransformer, "T"), "an attribute of type String has no setting 'Transformer'"),
        (.set(property("isbn"), .isOptional, "maybe"), "Optional of 'Book.isbn' cannot be 'maybe': it is no flag"),
        (
            .set(property("pages"), .defaultValue, "many"),
            "Default Value of 'Book.pages' cannot be 'many': it is no value of type Integer 16"
        ),
        (.set(property("pages"), .defaultValue, "40000"), "Default Value of 'Book.pages' cannot be '40000'"),
        (.set(property("pages"), .minimum, "x"), "Minimum of 'Book.pages' cannot be 'x': it is no number"),
        (.set(property("isbn"), .minimum, "-1"), "Minimum of 'Book.isbn' cannot be '-1': it is no length"),
        (.set(property("isbn"), .pattern, "("), "Reg. Ex. of 'Book.isbn' cannot be '('"),
        (.set(property("author"), .maximumCount, "3"), "'Book.author' is to-one, with a maximum of 1"),
        (.set(property("author"), .deleteRule, "Explode"), "Delete Rule of 'Book.author' cannot be 'Explode'"),
        (.setInverse(property("author"), "none"), "'Author' has no relationship 'none'"),
        (.setInverse(property("author"), "name"), "'Author.name' is no relationship"),
        (.setInverse(property("isbn"), "books"), "'Book.isbn' is no relationship"),
        (.setConstraint(entity: "Book", at: nil, ["none"]), "'Book' has no property 'none'"),
        (.setConstraint(entity: "Book", at: nil, ["isbn"]), "'Book' already has that constraint"),
        (.setConstraint(entity: "Book", at: 4, []), "'Book' has no constraint 5"),
        (.setMembers(configuration: "Catalogue", ["None"]), "there is no entity 'None'"),
        (.setUserInfo(.model, key: "a", value: "b"), "the model has no user info"),
        (.move(.entity("Book"), toEntity: "Author"), "'Book' cannot be moved to another entity"),
        (.delete(.model), "the model cannot be deleted here"),
    ]

    @Test(arguments: mistakes) func mistakesNameTheElement(edit: ModelEdit, message: String) throws {
        let failure = #expect(throws: ModelFailure.self) { try Self.edited([edit]) }
        #expect(failure?.diagnostics.first?.message.hasPrefix(message) == true, "\(failure as Any)")
    }

    @Test func predicateMistakesHaveTheirColumn() throws {
        let edit = ModelEdit.set(.fetchRequest("all"), .predicate, "pages > > 1")
        let failure = #expect(throws: ModelFailure.self) { try Self.edited([edit]) }
        #expect(failure?.diagnostics.first?.location?.column == 9)
        #expect(failure?.diagnostics.first?.subject == "all")
    }
}
