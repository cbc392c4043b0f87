import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// A model with mistakes, one element a line, and what is said of it: `line:column: message (hint)`, warnings with
/// `warning:` before the message.
struct BrokenModel: CustomTestStringConvertible {
    var xml: String
    var expected: [String]

    init(_ xml: String, _ expected: String...) {
        self.xml = xml
        self.expected = expected
    }

    var testDescription: String { xml }

    var findings: [String] {
        let document = ContentsReader.document(from: Data("<model>\n\(xml)\n</model>".utf8), file: "contents")
        return ModelCompiler.diagnose(document).map { diagnostic in
            let place = diagnostic.location.map { "\($0.line):\($0.column): " } ?? ""
            let severity = diagnostic.severity == .warning ? "warning: " : ""
            return place + severity + diagnostic.message + (diagnostic.hint.map { " (\($0))" } ?? "")
        }
    }
}

private let noInverse = "without an inverse, deleting the other end leaves a reference to nothing"

@Suite struct BrokenModelTests {
    // MARK: Names

    @Test(arguments: [
        BrokenModel("<entity/>", "2:1: an entity has no name"),
        BrokenModel("<entity name=\"\"/>", "2:1: an entity has no name"),
        BrokenModel(
            "<entity name=\"Book\"/>\n<entity name=\"Book\"/>",
            "3:1: two entities are named 'Book' (rename one of them)"),
        BrokenModel(
            "<entity name=\"1984\"/>",
            "2:1: entity name '1984' is not an identifier (use letters, digits and underscores, and start with a letter)"
        ),
        BrokenModel(
            "<entity name=\"A Book\"/>",
            "2:1: entity name 'A Book' is not an identifier (use letters, digits and underscores, and start with a letter)"
        ),
        BrokenModel(
            "<entity name=\"Book\">\n <attribute attributeType=\"String\"/>\n</entity>",
            "3:2: a property of entity 'Book' has no name"),
        BrokenModel(
            "<entity name=\"Book\">\n<attribute name=\"a-b\" attributeType=\"String\"/>\n</entity>",
            "3:1: property name 'a-b' of entity 'Book' is not an identifier "
                + "(use letters, digits and underscores, and start with a letter)"),
        BrokenModel(
            "<entity name=\"Book\">\n<attribute name=\"a\" attributeType=\"String\"/>\n<attribute name=\"a\" "
                + "attributeType=\"Date\"/>\n</entity>", "4:1: entity 'Book' has two properties named 'a'"),
        BrokenModel(
            "<entity name=\"Book\">\n<attribute name=\"description\" attributeType=\"String\"/>\n</entity>",
            "3:1: property 'Book.description' has the name of a method of NSManagedObject "
                + "(rename it, for example to 'bookDescription')"),
        BrokenModel(
            "<entity name=\"Loan\">\n<attribute name=\"isDeleted\" attributeType=\"Boolean\"/>\n</entity>",
            "3:1: property 'Loan.isDeleted' has the name of a method of NSManagedObject "
                + "(rename it, for example to 'loanIsDeleted')"),
    ])
    func namesAreChecked(_ model: BrokenModel) { #expect(model.findings == model.expected) }

    /// Each of these would replace an accessor of every object.
    @Test(arguments: [
        "hash", "entity", "objectID", "managedObjectContext", "isInserted", "isUpdated", "hasChanges", "isFault",
        "self",
        "faultingState", "observationInfo", "class", "copy",
    ])
    func methodsOfManagedObjectsAreReserved(_ name: String) {
        #expect(ReservedNames.contains(name))
        #expect(ModelCompiler.diagnose(model(entity("Book", attribute(name)))).count == 1)
    }

    @Test(arguments: ["id", "name", "type", "data", "size", "count", "value", "état", "_private", "URL", "x1"])
    func ordinaryNamesAreNot(_ name: String) {
        #expect(ModelCompiler.diagnose(model(entity("Book", attribute(name)))).isEmpty)
    }

    // MARK: Inheritance

    @Test(arguments: [
        BrokenModel(
            "<entity name=\"Novel\" parentEntity=\"Bock\"/>\n<entity name=\"Book\"/>",
            "2:1: entity 'Novel' inherits from 'Bock', which is not in the model (did you mean 'Book'?)"),
        BrokenModel(
            "<entity name=\"Novel\" parentEntity=\"Publication\"/>",
            "2:1: entity 'Novel' inherits from 'Publication', which is not in the model"),
        BrokenModel("<entity name=\"A\" parentEntity=\"A\"/>", "2:1: entities inherit in a circle: A → A"),
        BrokenModel(
            "<entity name=\"A\" parentEntity=\"B\"/>\n<entity name=\"B\" parentEntity=\"C\"/>\n"
                + "<entity name=\"C\" parentEntity=\"A\"/>\n<entity name=\"D\" parentEntity=\"A\"/>",
            "2:1: entities inherit in a circle: A → B → C → A"),
        BrokenModel(
            "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\"/>\n</entity>\n"
                + "<entity name=\"B\" parentEntity=\"A\"/>\n<entity name=\"C\" parentEntity=\"B\">\n"
                + "<attribute name=\"x\" attributeType=\"String\"/>\n</entity>",
            "7:1: warning: property 'C.x' is already inherited from 'A'"),
        BrokenModel(
            "<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"String\"/>\n</entity>\n"
                + "<entity name=\"B\" parentEntity=\"A\">\n<attribute name=\"x\" attributeType=\"Date\"/>\n</entity>",
            "6:1: property 'B.x' is already inherited from 'A', where it is different (rename one of them)"),
    ])
    func inheritanceIsChecked(_ model: BrokenModel) { #expect(model.findings == model.expected) }

    // MARK: Relationships

    @Test(arguments: [
        BrokenModel(
            "<entity name=\"Book\">\n<relationship name=\"author\" maxCount=\"1\"/>\n</entity>",
            "3:1: relationship 'Book.author' has no destination (set destinationEntity)"),
        BrokenModel(
            "<entity name=\"Book\">\n<relationship name=\"author\" maxCount=\"1\" destinationEntity=\"Autor\"/>\n</entity>\n"
                + "<entity name=\"Author\"/>",
            "3:1: relationship 'Book.author' leads to entity 'Autor', which is not in the model "
                + "(did you mean 'Author'?)"),
        BrokenModel(
            "<entity name=\"Book\">\n<relationship name=\"author\" maxCount=\"1\" destinationEntity=\"Author\"/>\n"
                + "</entity>\n<entity name=\"Author\"/>",
            "3:1: warning: relationship 'Book.author' has no inverse (\(noInverse))"),
        BrokenModel(
            "<entity name=\"Book\">\n<relationship name=\"author\" maxCount=\"1\" destinationEntity=\"Author\" "
                + "inverseName=\"book\" inverseEntity=\"Author\"/>\n</entity>\n<entity name=\"Author\">\n"
                + "<attribute name=\"books\" attributeType=\"String\"/>\n</entity>",
            "3:1: the inverse of relationship 'Book.author' is 'Author.book', which does not exist "
                + "(did you mean 'books'?)"),
        BrokenModel(
            "<entity name=\"Book\">\n<relationship name=\"author\" maxCount=\"1\" destinationEntity=\"Author\" "
                + "inverseName=\"name\" inverseEntity=\"Author\"/>\n</entity>\n<entity name=\"Author\">\n"
                + "<attribute name=\"name\" attributeType=\"String\"/>\n</entity>",
            "3:1: the inverse of relationship 'Book.author' is 'Author.name', which is not a relationship"),
        BrokenModel(
            "<entity name=\"Book\">\n<relationship name=\"author\" maxCount=\"1\" destinationEntity=\"Author\" "
                + "inverseName=\"books\" inverseEntity=\"Author\"/>\n</entity>\n<entity name=\"Author\">\n"
                + "<relationship name=\"books\" toMany=\"YES\" destinationEntity=\"Book\"/>\n</entity>",
            "6:1: warning: relationship 'Author.books' has no inverse (\(noInverse))",
            "3:1: the inverse of relationship 'Book.author' is 'Author.books', which names no inverse itself "
                + "(set the inverse of 'Author.books' to 'author')"),
        BrokenModel(
            "<entity name=\"Book\">\n<relationship name=\"author\" maxCount=\"1\" destinationEntity=\"Author\" "
                + "inverseName=\"books\" inverseEntity=\"Author\"/>\n<relationship name=\"editor\" maxCount=\"1\" "
                + "destinationEntity=\"Author\" inverseName=\"books\" inverseEntity=\"Author\"/>\n</entity>\n"
                + "<entity name=\"Author\">\n<relationship name=\"books\" toMany=\"YES\" destinationEntity=\"Book\" "
                + "inverseName=\"author\" inverseEntity=\"Book\"/>\n</entity>",
            "4:1: relationships 'Book.editor' and 'Author.books' are not each other's inverse: the second names "
                + "'Book.author'"),
        BrokenModel(
            "<entity name=\"Book\">\n<relationship name=\"pages\" toMany=\"YES\" minCount=\"5\" maxCount=\"2\" "
                + "destinationEntity=\"Book\" inverseName=\"pages\" inverseEntity=\"Book\"/>\n</entity>",
            "3:1: relationship 'Book.pages' has a minimum count of 5, more than its maximum of 2 (lower the minimum or raise the maximum)"
        ),
        BrokenModel(
            "<entity name=\"Book\">\n<relationship name=\"next\" ordered=\"YES\" maxCount=\"1\" "
                + "destinationEntity=\"Book\" inverseName=\"next\" inverseEntity=\"Book\"/>\n</entity>",
            "3:1: warning: relationship 'Book.next' is to-one, so being ordered has no effect"),
        BrokenModel(
            "<entity name=\"Book\">\n<fetchedProperty name=\"similar\"><fetchRequest name=\"f\" entity=\"Bok\"/>"
                + "</fetchedProperty>\n</entity>",
            "3:1: fetched property 'Book.similar' fetches entity 'Bok', which is not in the model"),
    ])
    func relationshipsAreChecked(_ model: BrokenModel) { #expect(model.findings == model.expected) }

    // MARK: Attributes

    @Test(arguments: [
        ("", "attribute 'Book.x' has no type (set attributeType, or make it transient)"),
        ("attributeType=\"Undefined\"", "attribute 'Book.x' has no type (set attributeType, or make it transient)"),
        (
            "attributeType=\"Integer 16\" defaultValueString=\"many\"",
            "attribute 'Book.x' has the default 'many', which is not a value of type Integer 16"
        ),
        (
            "attributeType=\"Integer 16\" defaultValueString=\"40000\"",
            "attribute 'Book.x' has the default 40000, which does not fit Integer 16"
        ),
        (
            "attributeType=\"Integer 32\" defaultValueString=\"-2147483649\"",
            "attribute 'Book.x' has the default -2147483649, which does not fit Integer 32"
        ),
        (
            "attributeType=\"Integer 64\" defaultValueString=\"1,000\"",
            "attribute 'Book.x' has the default '1,000', which is not a value of type Integer 64"
        ),
        (
            "attributeType=\"Integer 32\" defaultValueString=\"0x1F\"",
            "attribute 'Book.x' has the default '0x1F', which is not a value of type Integer 32"
        ),
        (
            "attributeType=\"Boolean\" defaultValueString=\"perhaps\"",
            "attribute 'Book.x' has the default 'perhaps', which is not a value of type Boolean"
        ),
        (
            "attributeType=\"Double\" defaultValueString=\"x\"",
            "attribute 'Book.x' has the default 'x', which is not a value of type Double"
        ),
        (
            "attributeType=\"Float\" defaultValueString=\"inf\"",
            "attribute 'Book.x' has the default inf, which is not a finite number"
        ),
        (
            "attributeType=\"Decimal\" defaultValueString=\"1,5\"",
            "attribute 'Book.x' has the default '1,5', which is not a value of type Decimal"
        ),
        (
            "attributeType=\"Date\" defaultDateTimeInterval=\"today\"",
            "attribute 'Book.x' has the default 'today', which is not a value of type Date"
        ),
        (
            "attributeType=\"UUID\" defaultValueString=\"42\"",
            "attribute 'Book.x' has the default '42', which is not a value of type UUID"
        ),
        (
            "attributeType=\"Binary\" defaultValueString=\"AA\"",
            "warning: attribute 'Book.x' has the default 'AA', which is ignored: type Binary has no text form"
        ),
        (
            "attributeType=\"String\" derived=\"YES\"",
            "attribute 'Book.x' is derived but has no expression (set derivationExpression)"
        ),
        (
            "attributeType=\"String\" derived=\"YES\" derivationExpression=\"now()\" transient=\"YES\"",
            "attribute 'Book.x' is derived and transient: a derived value must be stored"
        ),
        (
            "attributeType=\"Composite\"",
            "attribute 'Book.x' is composite but names no composite and has no elements"
        ),
        (
            "attributeType=\"Composite\" composite=\"Plaec\"",
            "attribute 'Book.x' is of composite 'Plaec', which is not in the model"
        ),
    ])
    func attributesAreChecked(_ xml: String, _ expected: String) {
        let model = BrokenModel(
            "<entity name=\"Book\">\n  <attribute name=\"x\" \(xml)/>\n</entity>", "3:3: " + expected)
        #expect(model.findings == model.expected)
    }

    @Test(arguments: [
        BrokenModel("<composite/>", "2:1: a composite has no name"),
        BrokenModel("<composite name=\"P\"/>", "2:1: composite 'P' has no elements"),
        BrokenModel(
            "<composite name=\"P\">\n<attribute name=\"x\" attributeType=\"Float\"/>\n</composite>\n"
                + "<composite name=\"P\">\n<attribute name=\"x\" attributeType=\"Float\"/>\n</composite>",
            "5:1: two composites are named 'P'"),
        BrokenModel(
            "<composite name=\"P\">\n<attribute name=\"x\" attributeType=\"Float\"/>\n<attribute name=\"x\" "
                + "attributeType=\"Float\"/>\n</composite>", "4:1: composite 'P' has two elements named 'x'"),
        BrokenModel(
            "<composite name=\"P\">\n<relationship name=\"x\" maxCount=\"1\" destinationEntity=\"B\"/>\n</composite>",
            "3:1: element 'x' of composite 'P' is not an attribute"),
        BrokenModel(
            "<composite name=\"P\">\n<attribute name=\"x\"/>\n</composite>",
            "3:1: element 'x' of composite 'P' has no type (set attributeType, or make it transient)"),
        BrokenModel(
            "<composite name=\"P\">\n<attribute name=\"x\" attributeType=\"Float\" derived=\"YES\" "
                + "derivationExpression=\"y\"/>\n</composite>", "3:1: element 'x' of composite 'P' cannot be derived"),
        BrokenModel(
            "<composite name=\"P\">\n<attribute name=\"q\" attributeType=\"Composite\" composite=\"Q\"/>\n</composite>\n"
                + "<composite name=\"Q\">\n<attribute name=\"p\" attributeType=\"Composite\" composite=\"P\"/>\n</composite>",
            "2:1: composites contain each other: P → Q → P"),
    ])
    func compositesAreChecked(_ model: BrokenModel) { #expect(model.findings == model.expected) }

    // MARK: Constraints, indexes, configurations, requests

    private static let shelf = """
        <entity name="Shelf">
        <attribute name="code" attributeType="String"/>
        <attribute name="note" transient="YES" attributeType="String"/>
        <attribute name="place" attributeType="Composite" composite="Place"/>
        <relationship name="books" toMany="YES" destinationEntity="Shelf" inverseName="books" inverseEntity="Shelf"/>
        <relationship name="next" maxCount="1" destinationEntity="Shelf" inverseName="next" inverseEntity="Shelf"/>
        <fetchedProperty name="found"><fetchRequest name="f" entity="Shelf"/></fetchedProperty>
        #
        </entity>
        <composite name="Place"><attribute name="room" attributeType="String"/></composite>
        """

    @Test(arguments: [
        ("cod", "it has no property 'cod' (did you mean 'code'?)"), ("zzzzzz", "it has no property 'zzzzzz'"),
        ("books", "'books' is a to-many relationship"), ("note", "'note' is transient"),
        ("found", "'found' is a fetched property"), ("next.code", "'next.code' leads to another entity"),
        ("place", "'place' is a composite; name one of its elements (its elements: 'place.room')"),
        ("place.desk", "'place' has no element 'desk' (its elements: 'place.room')"),
        ("room", "it has no property 'room' (did you mean 'place.room'?)"),
        ("code.x", "'code' has no element 'x'"),
    ])
    func constraintsAndIndexesNeedStoredProperties(_ name: String, _ expected: String) {
        let constraint =
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"\(name)\"/>"
            + "</uniquenessConstraint></uniquenessConstraints>"
        #expect(
            BrokenModel(Self.shelf.replacingOccurrences(of: "#", with: constraint)).findings == [
                "2:1: entity 'Shelf' must be unique by (\(name)), but \(expected)"
            ])
        // Apple's tools accept an index over a to-many.
        let (mark, hint) = name == "books" ? ("warning: ", " (stores are made without the index)") : ("", "")
        let index = "<fetchIndex name=\"byIt\"><fetchIndexElement property=\"\(name)\"/></fetchIndex>"
        #expect(
            BrokenModel(Self.shelf.replacingOccurrences(of: "#", with: index)).findings == [
                "9:1: \(mark)index 'byIt' of entity 'Shelf' has '\(name)' as an element, but \(expected)\(hint)"
            ])
        let compound = "<compoundIndexes><compoundIndex><index value=\"\(name)\"/></compoundIndex></compoundIndexes>"
        #expect(
            BrokenModel(Self.shelf.replacingOccurrences(of: "#", with: compound)).findings == [
                "2:1: \(mark)entity 'Shelf' has a compound index on (\(name)), but \(expected)\(hint)"
            ])
    }

    @Test(arguments: [
        ("<fetchIndex name=\"a\"/>", "9:1: index 'a' of entity 'Shelf' has no elements"),
        (
            "<fetchIndex><fetchIndexElement property=\"code\"/></fetchIndex>",
            "9:1: an index of entity 'Shelf' has no name"
        ),
        (
            "<fetchIndex name=\"a\"><fetchIndexElement property=\"code\"/></fetchIndex><fetchIndex name=\"a\">"
                + "<fetchIndexElement property=\"code\"/></fetchIndex>",
            "9:71: warning: entity 'Shelf' has two indexes named 'a' (stores are made with the first of them only)"
        ),
        (
            "<fetchIndex name=\"a\"><fetchIndexElement/></fetchIndex>",
            "9:1: an element of index 'a' of entity 'Shelf' has neither property nor expression"
        ),
        (
            "<fetchIndex name=\"a\"><fetchIndexElement property=\"code\" type=\"RTree\"/>"
                + "<fetchIndexElement property=\"next\" type=\"Binary\"/></fetchIndex>",
            "9:1: index 'a' of entity 'Shelf' mixes binary and R-tree elements"
        ),
        (
            "<uniquenessConstraints><uniquenessConstraint/></uniquenessConstraints>",
            "2:1: entity 'Shelf' has a uniqueness constraint on nothing"
        ),
    ])
    func indexesAreChecked(_ xml: String, _ expected: String) {
        #expect(BrokenModel(Self.shelf.replacingOccurrences(of: "#", with: xml)).findings == [expected])
    }

    @Test(arguments: [
        BrokenModel(
            "<entity name=\"Book\"/>\n<configuration name=\"C\"><memberEntity name=\"Bok\"/></configuration>",
            "3:1: configuration 'C' has entity 'Bok', which is not in the model (did you mean 'Book'?)"),
        BrokenModel("<configuration/>", "2:1: a configuration has no name"),
        BrokenModel(
            "<configuration name=\"C\"/>\n<configuration name=\"C\"/>", "3:1: two configurations are named 'C'"),
        BrokenModel("<fetchRequest/>", "2:1: a fetch request has no name"),
        BrokenModel(
            "<entity name=\"Book\"/>\n<fetchRequest name=\"all\" entity=\"Books\"/>",
            "3:1: fetch request 'all' fetches entity 'Books', which is not in the model (did you mean 'Book'?)"),
        BrokenModel(
            "<entity name=\"Book\"/>\n<fetchRequest name=\"all\" entity=\"Book\"/>\n"
                + "<fetchRequest name=\"all\" entity=\"Book\"/>", "4:1: two fetch requests are named 'all'"),
    ])
    func configurationsAndRequestsAreChecked(_ model: BrokenModel) { #expect(model.findings == model.expected) }

    // MARK: Together

    @Test func everyMistakeIsReportedAtOnce() {
        let model = BrokenModel(
            """
            <entity name="Book" parentEntity="Item">
                <attribute name="pages" attributeType="Integer 16" defaultValueString="none"/>
                <attribute name="hash" attributeType="Strng"/>
                <relationship name="author" maxCount="1" destinationEntity="Writer"/>
            </entity>
            <configuration name="Main"><memberEntity name="Loan"/></configuration>
            """)
        #expect(
            model.findings.map { $0.split(separator: " (").first.map(String.init) ?? "" } == [
                "4:28: attributeType is 'Strng', which is not known",
                "4:5: property 'Book.hash' has the name of a method of NSManagedObject",
                "2:1: entity 'Book' inherits from 'Item', which is not in the model",
                "5:5: relationship 'Book.author' leads to entity 'Writer', which is not in the model",
                "3:5: attribute 'Book.pages' has the default 'none', which is not a value of type Integer 16",
                "7:1: configuration 'Main' has entity 'Loan', which is not in the model",
            ])
    }

    @Test func theLineIsShownWithACaret() {
        let xml = "<model>\n\t<entity name=\"Book\" parentEntity=\"Item\"/>\n</model>"
        let document = ContentsReader.document(from: Data(xml.utf8), file: "Library.xcdatamodel/contents")
        #expect(
            ModelCompiler.diagnose(document).rendered == """
                Library.xcdatamodel/contents:2:2: error: entity 'Book' inherits from 'Item', which is not in the model
                    \t<entity name="Book" parentEntity="Item"/>
                    \t^
                """)
    }

    @Test func valuesOfCodeAreCheckedAgainstTheirTypes() {
        func findings(_ type: AttributeType, _ value: Value) -> [String] {
            var element = AttributeElement(type: type)
            element.defaultValue = value
            let property = PropertyElement(name: "x", kind: .attribute(element))
            return ModelCompiler.diagnose(model(entity("Book", property))).map(\.message)
        }
        #expect(findings(.string, .integer(1)) == ["attribute 'Book.x' has a default that is no value of type String"])
        #expect(
            findings(.integer16, .integer(70000)) == [
                "attribute 'Book.x' has the default 70000, which does not fit Integer 16"
            ])
        #expect(findings(.uuid, .data(Data())) == ["attribute 'Book.x' has a default that is no value of type UUID"])
        #expect(
            findings(.objectID, .null) == [
                "attribute 'Book.x' cannot be stored: object IDs exist only in fetch results"
            ])
        #expect(findings(.double, .integer(1)) == [])
        #expect(findings(.decimal, .double(0.5)) == [])
        #expect(findings(.date, .double(60)) == [])
        #expect(findings(.transformable, .opaque(OpaqueValue("x"))) == [])
    }
}
