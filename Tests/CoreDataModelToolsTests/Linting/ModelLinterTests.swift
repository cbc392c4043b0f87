import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

/// A model that breaks a rule, and the same mended.
struct LintCase: CustomTestStringConvertible {
    var rule: LintRule
    var subject: String
    var broken: String
    var mended: String

    init(_ rule: LintRule, _ subject: String, broken: String, mended: String) {
        self.rule = rule
        self.subject = subject
        self.broken = broken
        self.mended = mended
    }

    var testDescription: String { rule.rawValue }

    static func document(_ xml: String) -> ModelDocument {
        ContentsReader.document(from: Data("<model>\n\(xml)\n</model>".utf8), file: "contents")
    }
}

/// An entity with a name and these elements beside it.
private func book(_ elements: String, attributes: String = "", others: String = "") -> String {
    "<entity name=\"Book\" \(attributes)><attribute name=\"title\" optional=\"YES\" attributeType=\"String\"/>\n"
        + "\(elements)</entity>\(others)"
}

/// Two entities with a relationship each.
private func pair(_ a: String, _ b: String) -> String {
    "<entity name=\"Author\"><relationship name=\"books\" \(a) destinationEntity=\"Book\" inverseName=\"author\" "
        + "inverseEntity=\"Book\"/></entity>\n<entity name=\"Book\"><relationship name=\"author\" \(b) "
        + "destinationEntity=\"Author\" inverseName=\"books\" inverseEntity=\"Author\"/></entity>"
}

private let many = "toMany=\"YES\" optional=\"YES\""
private let one = "maxCount=\"1\" optional=\"YES\""

/// Entities A, B, C in a circle of to-ones with these XML attributes, each with an inverse.
private func circle(_ text: String) -> String {
    zip(["A", "B", "C"], ["B", "C", "A"]).map { name, next in
        let before = ["A": "C", "B": "A", "C": "B"][name] ?? ""
        return """
            <entity name="\(name)"><relationship name="next" maxCount="1" \(text) destinationEntity="\(next)" \
            inverseName="before" inverseEntity="\(next)"/><relationship name="before" maxCount="1" optional="YES" \
            destinationEntity="\(before)" inverseName="next" inverseEntity="\(before)"/></entity>
            """
    }.joined()
}

private let cases: [LintCase] = [
    LintCase(
        .invalidModel, "Book.pages", broken: book("<attribute name=\"pages\" attributeType=\"Undefined\"/>"),
        mended: book("<attribute name=\"pages\" optional=\"YES\" attributeType=\"Integer 16\"/>")),
    LintCase(
        .duplicateName, "Book", broken: book("", others: "<entity name=\"Book\"/>"), mended: book("")),
    LintCase(
        .reservedName, "Book.hash", broken: book("<attribute name=\"hash\" attributeType=\"String\"/>"),
        mended: book("<attribute name=\"bookHash\" attributeType=\"String\"/>")),
    LintCase(
        .inheritedRedeclared, "Novel.title",
        broken: book(
            "",
            others:
                "<entity name=\"Novel\" parentEntity=\"Book\"><attribute name=\"title\" attributeType=\"Date\"/></entity>"
        ),
        mended: book(
            "",
            others:
                "<entity name=\"Novel\" parentEntity=\"Book\"><attribute name=\"genre\" attributeType=\"Date\"/></entity>"
        )
    ),
    LintCase(
        .badDestination, "Book.next",
        broken: book("<relationship name=\"next\" maxCount=\"1\" destinationEntity=\"Bok\"/>"),
        mended: book(
            "<relationship name=\"next\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Book\" inverseName=\"next\" "
                + "inverseEntity=\"Book\"/>")),
    LintCase(
        .badInverse, "Book.next",
        broken: book(
            "<relationship name=\"next\" maxCount=\"1\" destinationEntity=\"Book\" inverseName=\"nxt\" inverseEntity=\"Book\"/>"
        ),
        mended: pair(many, one)),
    LintCase(
        .badDefault, "Book.pages",
        broken: book("<attribute name=\"pages\" attributeType=\"Integer 16\" defaultValueString=\"70000\"/>"),
        mended: book("<attribute name=\"pages\" attributeType=\"Integer 16\" defaultValueString=\"700\"/>")),
    LintCase(
        .badConstraint, "Book",
        broken: book(
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"isbn\"/></uniquenessConstraint></uniquenessConstraints>"
        ),
        mended: book(
            "<attribute name=\"isbn\" attributeType=\"String\"/><uniquenessConstraints><uniquenessConstraint>"
                + "<constraint value=\"isbn\"/></uniquenessConstraint></uniquenessConstraints>")),
    LintCase(
        .badIndex, "Book", broken: book("<fetchIndex name=\"i\"><fetchIndexElement property=\"isbn\"/></fetchIndex>"),
        mended: book("<fetchIndex name=\"i\"><fetchIndexElement property=\"title\"/></fetchIndex>")),
    LintCase(
        .badConfiguration, "",
        broken: book("", others: "<configuration name=\"A\"><memberEntity name=\"Bok\"/></configuration>"),
        mended: book("", others: "<configuration name=\"A\"><memberEntity name=\"Book\"/></configuration>")),
    LintCase(
        .badFetchRequest, "all", broken: book("", others: "<fetchRequest name=\"all\" entity=\"Bok\"/>"),
        mended: book("", others: "<fetchRequest name=\"all\" entity=\"Book\"/>")),
    LintCase(
        .badDerivation, "Book.long",
        broken: book("<attribute name=\"long\" attributeType=\"String\" derived=\"YES\" derivationExpression=\" \"/>"),
        mended: book(
            "<attribute name=\"long\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"title\"/>")),
    LintCase(
        .minimumAboveMaximum, "Book.pages",
        broken: book(
            "<attribute name=\"pages\" attributeType=\"Integer 16\" minValueString=\"5\" maxValueString=\"2\"/>"),
        mended: book(
            "<attribute name=\"pages\" attributeType=\"Integer 16\" minValueString=\"2\" maxValueString=\"5\"/>")),
    LintCase(
        .minimumAboveMaximum, "Author.books", broken: pair(many + " minCount=\"3\" maxCount=\"2\"", one),
        mended: pair(many + " minCount=\"2\" maxCount=\"3\"", one)),
    LintCase(.unknownElement, "", broken: book("", others: "<decoration/>"), mended: book("")),
    LintCase(.toManyOfOne, "Author.books", broken: pair(many + " maxCount=\"1\"", one), mended: pair(many, one)),
    LintCase(
        .orderedToOne, "Book.author", broken: pair(many, one + " ordered=\"YES\""),
        mended: pair(many + " ordered=\"YES\"", one)),
    LintCase(
        .needlessExternalStorage, "Book.pages",
        broken: book(
            "<attribute name=\"pages\" attributeType=\"Integer 16\" allowsExternalBinaryDataStorage=\"YES\"/>"),
        mended: book("<attribute name=\"pages\" attributeType=\"Binary\" allowsExternalBinaryDataStorage=\"YES\"/>")),
    LintCase(
        .nothingGenerated, "Book", broken: book("", attributes: "codeGenerationType=\"class\""),
        mended: book("", attributes: "codeGenerationType=\"class\" representedClassName=\"Book\"")),
    LintCase(
        .missingInverse, "Book.next",
        broken: book("<relationship name=\"next\" optional=\"YES\" maxCount=\"1\" destinationEntity=\"Book\"/>"),
        mended: pair(many, one)),
    LintCase(
        .noActionWithInverse, "Author.books", broken: pair(many + " deletionRule=\"No Action\"", one),
        mended: pair(many, one)),
    LintCase(
        .denyDeadlock, "Author.books", broken: pair(many + " deletionRule=\"Deny\"", one + " deletionRule=\"Deny\""),
        mended: pair(many + " deletionRule=\"Deny\"", one)),
    LintCase(
        .nullifyRequired, "Author.books", broken: pair(many, "maxCount=\"1\""),
        mended: pair(many + " deletionRule=\"Cascade\"", "maxCount=\"1\"")),
    LintCase(
        .cascadeToOwner, "Author.books",
        broken: pair(many + " deletionRule=\"Cascade\"", one + " deletionRule=\"Cascade\""),
        mended: pair(many + " deletionRule=\"Cascade\"", one)),
    LintCase(
        .cascadeCycle, "A.next", broken: circle("deletionRule=\"Cascade\""),
        mended: circle("deletionRule=\"Cascade\" optional=\"YES\"")),
    LintCase(
        .configurationLeft, "Author.books",
        broken: pair(many, one) + "<configuration name=\"A\"><memberEntity name=\"Author\"/></configuration>",
        mended: pair(many, one)
            + "<configuration name=\"A\"><memberEntity name=\"Author\"/><memberEntity name=\"Book\"/></configuration>"),
    LintCase(
        .scalarWithoutDefault, "Book.pages",
        broken: book("<attribute name=\"pages\" attributeType=\"Integer 16\" usesScalarValueType=\"YES\"/>"),
        mended: book(
            "<attribute name=\"pages\" attributeType=\"Integer 16\" usesScalarValueType=\"YES\" defaultValueString=\"0\"/>"
        )),
    LintCase(
        .transformableWithoutTransformer, "Book.cover",
        broken: book("<attribute name=\"cover\" attributeType=\"Transformable\"/>"),
        mended: book(
            "<attribute name=\"cover\" attributeType=\"Transformable\" valueTransformerName=\"NSSecureUnarchiveFromData\"/>"
        )),
    LintCase(
        .insecureTransformer, "Book.cover",
        broken: book(
            "<attribute name=\"cover\" attributeType=\"Transformable\" valueTransformerName=\"NSKeyedUnarchiveFromData\"/>"
        ),
        mended: book(
            "<attribute name=\"cover\" attributeType=\"Transformable\" valueTransformerName=\"CoverTransformer\"/>")),
    LintCase(
        .optionalInConstraint, "Book.title",
        broken: book(
            "<uniquenessConstraints><uniquenessConstraint><constraint value=\"title\"/></uniquenessConstraint></uniquenessConstraints>"
        ),
        mended: book(
            "<attribute name=\"isbn\" attributeType=\"String\"/><uniquenessConstraints><uniquenessConstraint>"
                + "<constraint value=\"isbn\"/></uniquenessConstraint></uniquenessConstraints>")),
    LintCase(.entityWithoutProperties, "Empty", broken: book("", others: "<entity name=\"Empty\"/>"), mended: book("")),
    LintCase(
        .abstractWithoutChildren, "Book", broken: book("", attributes: "isAbstract=\"YES\""),
        mended: book("", attributes: "isAbstract=\"YES\"", others: "<entity name=\"Novel\" parentEntity=\"Book\"/>")),
    LintCase(
        .columnCollision, "Novel.TITLE",
        broken: book(
            "",
            others:
                "<entity name=\"Novel\" parentEntity=\"Book\"><attribute name=\"TITLE\" attributeType=\"Date\"/></entity>"
        ),
        mended: book("", others: "<entity name=\"Novel\"><attribute name=\"TITLE\" attributeType=\"Date\"/></entity>")),
    LintCase(
        .columnCollision, "BOOK",
        broken: book("", others: "<entity name=\"BOOK\"><attribute name=\"a\" attributeType=\"Date\"/></entity>"),
        mended: book("")),
    LintCase(
        .columnCollision, "Book._pk", broken: book("<attribute name=\"_pk\" attributeType=\"Integer 64\"/>"),
        mended: book("<attribute name=\"pk\" attributeType=\"Integer 64\"/>")),
    LintCase(
        .swiftKeyword, "Book.default", broken: book("<attribute name=\"default\" attributeType=\"String\"/>"),
        mended: book("<attribute name=\"defaults\" attributeType=\"String\"/>")),
    LintCase(
        .duplicateRenaming, "Book.subtitle",
        broken: book("<attribute name=\"subtitle\" attributeType=\"String\" elementID=\"title\"/>"),
        mended: book("<attribute name=\"subtitle\" attributeType=\"String\" elementID=\"longTitle\"/>")),
    LintCase(
        .duplicateRenaming, "Novel",
        broken: book(
            "",
            others: "<entity name=\"Novel\" elementID=\"Book\"><attribute name=\"a\" attributeType=\"Date\"/></entity>"),
        mended: book(
            "",
            others: "<entity name=\"Novel\" elementID=\"Story\"><attribute name=\"a\" attributeType=\"Date\"/></entity>"
        )
    ),
    LintCase(
        .sharedClass, "Novel",
        broken: book(
            "", attributes: "representedClassName=\".Book\"",
            others: "<entity name=\"Novel\" parentEntity=\"Book\" representedClassName=\"Book\"/>"),
        mended: book(
            "", attributes: "representedClassName=\".Book\"",
            others: "<entity name=\"Novel\" parentEntity=\"Book\" representedClassName=\"Novel\"/>")),
    LintCase(
        .invalidClassName, "Book", broken: book("", attributes: "representedClassName=\"my-book\""),
        mended: book("", attributes: "representedClassName=\"Library.Book\"")),
]

/// Rules that need a reader of predicates, or two versions; the tool's own tests have a model for each.
private let testedElsewhere: Set<LintRule> = [
    .badPredicate, .unknownKey, .defaultFailsValidation, .requiredWithoutDefault, .noCurrentVersion,
]

@Suite struct ModelLinterTests {
    @Test(arguments: cases)
    func brokenModelIsFoundAndMendedModelIsNot(lint: LintCase) throws {
        let findings = ModelLinter.findings(in: LintCase.document(lint.broken)).filter { $0.rule == lint.rule.rawValue }
        #expect(findings.map { $0.subject ?? "" } == [lint.subject])
        let finding = try #require(findings.first)
        #expect(finding.location?.file == "contents" && (finding.location?.line ?? 0) > 1)
        #expect(!finding.message.isEmpty && finding.sourceLine != nil)
        let mended = ModelLinter.findings(in: LintCase.document(lint.mended))
        #expect(mended.allSatisfy { $0.rule != lint.rule.rawValue }, "\(mended.rendered)")
    }

    @Test func everyRuleHasACase() {
        #expect(Set(cases.map(\.rule)).union(testedElsewhere) == Set(LintRule.allCases))
    }

    @Test func everyRuleIsDocumented() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/model-tools.md"), encoding: .utf8)
        for rule in LintRule.allCases {
            #expect(page.contains("| `\(rule.rawValue)` | \(rule.severity.rawValue) |"), "\(rule.rawValue)")
        }
    }

    @Test func everyFindingOfTheLinterSaysWhatToDo() {
        let findings = cases.flatMap { ModelLinter.findings(in: LintCase.document($0.broken)) }
        let obvious: [LintRule] = [.unknownElement, .orderedToOne]
        for finding in findings where finding.severity != .error {
            let isObvious = obvious.contains { $0.rawValue == finding.rule }
            #expect(finding.hint != nil || isObvious, "\(finding.rendered)")
        }
    }

    @Test func findingsComeInTheOrderOfTheFile() {
        let document = LintCase.document(
            """
            <entity name="Empty"/>
            <entity name="Book" representedClassName="a b">
            <attribute name="default" attributeType="String"/>
            </entity>
            <entity name="Void"/>
            """)
        #expect(
            ModelLinter.findings(in: document).compactMap(\.rule) == [
                "entity-without-properties", "invalid-class-name", "swift-keyword", "entity-without-properties",
            ])
    }

    // MARK: Suppression

    @Test(arguments: [
        ("swift-keyword", 0), ("swift-keyword, scalar-without-default", 0), ("scalar-without-default", 1), ("", 1),
    ])
    func propertySuppressesRule(ignored: String, count: Int) {
        let document = LintCase.document(
            """
            <entity name="Book"><attribute name="default" optional="YES" attributeType="String"><userInfo>\
            <entry key="coredata.lint.ignore" value="\(ignored)"/></userInfo></attribute></entity>
            """)
        #expect(ModelLinter.findings(in: document).count == count)
    }

    @Test func entitySuppressesForItsPropertiesButNoErrors() {
        let document = LintCase.document(
            """
            <entity name="Book"><attribute name="default" optional="YES" attributeType="String"/>
            <attribute name="hash" optional="YES" attributeType="String"/><userInfo>\
            <entry key="coredata.lint.ignore" value="swift-keyword reserved-name"/></userInfo></entity>
            """)
        #expect(ModelLinter.findings(in: document).compactMap(\.rule) == ["reserved-name"])
    }

    // MARK: Versions

    @Test func whatTheVersionBeforeDoesNotFillIsFound() {
        let old = model(entity("Book", attribute("title"))).with { $0.name = "Model" }
        let new = model(
            entity(
                "Book", attribute("title", optional: false), attribute("isbn", optional: false),
                attribute("pages", .integer16, default: "0", optional: false)))
        let findings = ModelLinter.findings(in: new, previous: old)
        #expect(findings.allSatisfy { $0.rule == "required-without-default" })
        #expect(findings.compactMap(\.subject) == ["Book.isbn", "Book.title"])
        #expect(ModelLinter.findings(in: new, previous: new).isEmpty)
        // What an entity inherits since then is told where it is declared.
        let (book, name) = (attribute("title"), attribute("name", optional: false))
        let alone = model(entity("Book", book))
        let child = model(entity("Thing", name), entity("Book", parent: "Thing", book))
        #expect(ModelLinter.findings(in: child, previous: alone).compactMap(\.subject) == ["Thing.name"])
    }

    // MARK: Fixtures

    /// Models that Apple's tools accept have no errors, and what is warned of is what was looked at and found right.
    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func applesModelsHaveFewFindings() throws {
        let known: Set<String> = [
            "missing-inverse Human.meaninglessRelationship", "missing-inverse Parent.children",
            "transformable-without-transformer Parent.myTransformableSansClassName",
            "abstract-without-children RKSearchableManagedObject",
        ]
        var found: Set<String> = []
        for url in Fixtures.models.map(Fixtures.url) {
            for version in try ModelReader.read(contentsOf: url).versions {
                for finding in ModelLinter.findings(in: version.document) where finding.severity != .note {
                    let text = "\(finding.rule ?? "") \(finding.subject ?? "")"
                    if known.contains(text) {
                        found.insert(text)
                    } else {
                        Issue.record("\(version.name): \(finding.rendered)")
                    }
                }
            }
        }
        #expect(found == known)
    }
}
