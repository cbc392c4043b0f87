import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

private func read(_ body: String) -> ModelDocument {
    ContentsReader.document(from: Data("<model>\(body)</model>".utf8), file: "contents")
}

private func attribute(_ xml: String) throws -> (PropertyElement, AttributeElement) {
    let document = read("<entity name=\"Book\"><attribute name=\"x\" \(xml)/></entity>")
    #expect(document.diagnostics.isEmpty)
    let property = try #require(document.entities.first?.properties.first)
    guard case .attribute(let attribute) = property.kind else {
        throw ModelFailure(diagnostics: document.diagnostics)
    }
    return (property, attribute)
}

// store-format §13.1
@Suite struct ContentsReaderTests {
    @Test func modelAttributesAreKept() {
        let document = ContentsReader.document(
            from: Data(
                """
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" sourceLanguage="Swift" \
                userDefinedModelVersionIdentifier="v2"><elements><element name="Book" positionX="-9"/></elements></model>
                """.utf8), file: nil)
        #expect(document.versionIdentifiers == ["v2"])
        #expect(
            document.toolAttributes == [
                "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0", "sourceLanguage": "Swift",
            ])
        #expect(document.diagram == [DiagramElement(name: "Book", attributes: ["positionX": "-9"])])
        #expect(document.appliesIndexDecodingQuirk)
    }

    @Test func entitiesAreReadWhole() throws {
        let document = read(
            """
            <entity name="Novel" representedClassName=".Novel" parentEntity="Book" isAbstract="YES" syncable="NO"
                codeGenerationType="class" versionHashModifier="3" elementID="Fiction" future="yes">
                <fetchedProperty name="similar" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Novel" predicateString="genre == $x"/>
                </fetchedProperty>
                <fetchIndex name="byTitle">
                    <fetchIndexElement property="title" type="Binary" order="descending"/>
                    <fetchIndexElement expression="length(title)" expressionType="String" type="RTree" order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="a"/><constraint value="b"/></uniquenessConstraint>
                    <uniquenessConstraint><constraint value="c"/></uniquenessConstraint>
                </uniquenessConstraints>
                <compoundIndexes><compoundIndex><index value="a"/><index value="c"/></compoundIndex></compoundIndexes>
                <userInfo><entry key="k" value="v"/><entry key="k2" value="v2"/></userInfo>
            </entity>
            """)
        #expect(document.diagnostics.isEmpty)
        let entity = try #require(document.entities.first)
        #expect(entity.className == ".Novel")
        #expect(entity.parentName == "Book")
        #expect(entity.isAbstract)
        #expect(entity.isSyncable == false)
        #expect(entity.codeGenerationType == "class")
        #expect(entity.versionHashModifier == "3")
        #expect(entity.renamingIdentifier == "Fiction")
        #expect(entity.toolAttributes == ["future": "yes"])
        #expect(entity.uniquenessConstraints == [["a", "b"], ["c"]])
        #expect(entity.compoundIndexes == [["a", "c"]])
        #expect(entity.userInfo == ["k": "v", "k2": "v2"])
        let index = try #require(entity.fetchIndexes.first)
        #expect(index.name == "byTitle")
        #expect(index.elements.map(\.propertyName) == ["title", nil])
        #expect(index.elements.map(\.expression) == [nil, "length(title)"])
        #expect(index.elements.map(\.isAscending) == [false, true])
        #expect(index.elements.map(\.isRTree) == [false, true])
        guard case .fetched(let request)? = entity.properties.first?.kind else {
            Issue.record("no fetched property")
            return
        }
        #expect(request.entityName == "Novel")
        #expect(request.predicate == "genre == $x")
    }

    @Test(arguments: [
        ("attributeType=\"Integer 16\" defaultValueString=\"7\"", AttributeType.integer16, Value.integer(7)),
        ("attributeType=\"Integer 32\" defaultValueString=\"0.0\"", .integer32, .integer(0)),
        ("attributeType=\"Integer 64\" defaultValueString=\"-9223372036854775808\"", .integer64, .integer(.min)),
        ("attributeType=\"Boolean\" defaultValueString=\"YES\"", .boolean, .integer(1)),
        ("attributeType=\"Boolean\" defaultValueString=\"NO\"", .boolean, .integer(0)),
        ("attributeType=\"Double\" defaultValueString=\"0.5\"", .double, .double(0.5)),
        ("attributeType=\"Float\" defaultValueString=\"1\"", .float, .double(1)),
        (
            "attributeType=\"Decimal\" defaultValueString=\"19.99\"", .decimal,
            .decimal(Decimal(sign: .plus, exponent: -2, significand: 1999))
        ),
        ("attributeType=\"Date\" defaultDateTimeInterval=\"86400\"", .date, .date(86400)),
        ("attributeType=\"String\" defaultValueString=\"\"", .string, .string("")),
        ("attributeType=\"URI\" defaultValueString=\"https://example.org\"", .uri, .uri("https://example.org")),
        (
            "attributeType=\"UUID\" defaultValueString=\"00000000-0000-0000-0000-000000000001\"", .uuid,
            .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))
        ),
        ("attributeType=\"Binary\"", .binaryData, .null),
        ("attributeType=\"Integer 16\" defaultValueString=\"\"", .integer16, .null),
        ("transient=\"YES\"", .undefined, .null),
    ])
    func typesAndDefaultsAreTyped(_ xml: String, _ type: AttributeType, _ value: Value) throws {
        let (_, attribute) = try attribute(xml)
        #expect(attribute.type == type)
        #expect(attribute.defaultValue == value)
    }

    /// A default keeps the spelling that it had before the attribute's type was changed.
    @Test(arguments: [
        ("Integer 16", "NO", Value.integer(0)), ("Integer 32", "YES", .integer(1)),
        ("Integer 64", "false", .integer(0)),
        ("Integer 16", " 7\n", .integer(7)), ("Integer 16", "+7", .integer(7)), ("Integer 32", "1e3", .integer(1000)),
        ("Integer 16", " ", .null), ("Double", "NO", .double(0)), ("Float", "true", .double(1)),
        ("Double", " +.5 ", .double(0.5)), ("Double", "1e-3", .double(0.001)), ("Decimal", "YES", .decimal(1)),
        ("Decimal", " 1e2 ", .decimal(100)), ("Decimal", "+1", .decimal(1)), ("Boolean", "0.0", .integer(0)),
        ("Boolean", "1.0", .integer(1)), ("Boolean", "2", .integer(1)), ("Boolean", "-1", .integer(1)),
        ("Boolean", "y", .integer(1)), ("Boolean", "N", .integer(0)), ("Boolean", " no ", .integer(0)),
        ("String", " NO ", .string(" NO ")), ("URI", " x:y ", .uri("x:y")),
        (
            "UUID", " 6b29fc40-ca47-1067-b31d-00dd010662da\n",
            .uuid(UUID(uuidString: "6B29FC40-CA47-1067-B31D-00DD010662DA") ?? UUID())
        ),
    ])
    func defaultsAreReadInEverySpellingThatXcodeLeaves(type: String, text: String, value: Value) throws {
        let (_, attribute) = try attribute(
            "attributeType=\"\(type)\" defaultValueString=\"\(text.replacing("\n", with: "&#10;"))\"")
        #expect(attribute.defaultValue == value)
        #expect(attribute.defaultValueText == text)
    }

    @Test(arguments: [
        ("defaultDateTimeInterval=\" 86400.5 \"", 86400.5), ("defaultDateTimeInterval=\"2001-01-02\"", 86400),
        ("defaultDateTimeInterval=\"2001-01-01 02:00:01 +0200\"", 1),
        ("defaultValueString=\"2001-01-01T00:00:00-01:30\"", 5400),
        ("defaultValueString=\"2001-01-01T00:00:01Z\" defaultDateTimeInterval=\"7\"", 7),
    ])
    func datesAreReadAsSecondsOrAsText(_ xml: String, seconds: Double) throws {
        #expect(try attribute("attributeType=\"Date\" " + xml).1.defaultValue == .date(seconds))
    }

    @Test(arguments: ["2001-02-30", "01-01-2001", "2001-01-01 25:00:00 Z", "2001-01-01 00:00:00 CET", "1/1/01"])
    func datesThatAreNoneAreRefused(_ text: String) {
        #expect(DefaultValue.value(text, type: .date) == nil)
    }

    @Test func aFractionThatIsLostIsTold() throws {
        let document = read(
            "<entity name=\"Book\"><attribute name=\"x\" attributeType=\"Integer 16\" defaultValueString=\"2.5\"/></entity>"
        )
        guard case .attribute(let attribute)? = document.entities.first?.properties.first?.kind else {
            Issue.record("no attribute")
            return
        }
        #expect(attribute.defaultValue == .integer(2))
        let warning = try #require(document.diagnostics.first)
        #expect(warning.severity == .warning && warning.rule == "bad-default")
        #expect(warning.message == "the default '2.5' loses its fraction: the type is Integer 16")
        #expect(warning.location == SourceLocation(file: "contents", line: 1, column: 75))
        #expect(ModelCompiler.diagnose(document).filter { $0.severity == .error } == [])
    }

    // store-format §13.2
    @Test(arguments: [
        (
            "attributeType=\"Integer 16\" minValueString=\"1\" maxValueString=\"9\"",
            ["SELF >= 1|1620", "SELF <= 9|1610"]
        ),
        ("attributeType=\"Double\" minValueString=\"0.5\"", ["SELF >= 0.5|1620"]),
        (
            "attributeType=\"String\" minValueString=\"2\" maxValueString=\"5\"",
            ["length >= 2|1670", "length <= 5|1660"]
        ),
        (
            "attributeType=\"String\" regularExpressionString=\"[a-z]\\d&quot;\"",
            ["SELF MATCHES \"[a-z]\\\\d\\\"\"|1680"]
        ),
        (
            "attributeType=\"Date\" minDateTimeInterval=\"0\" maxDateTimeInterval=\"60.5\"",
            ["timeIntervalSinceReferenceDate >= 0|1640", "timeIntervalSinceReferenceDate <= 60.5|1630"]
        ),
        ("attributeType=\"Boolean\" minValueString=\"1\"", []),
    ])
    func boundsBecomePredicatesWithApplesCodes(_ xml: String, _ expected: [String]) throws {
        let (_, attribute) = try attribute(xml)
        #expect(attribute.validations.map { "\($0.predicate)|\($0.warning)" } == expected)
    }

    @Test func everyFlagOfAnAttributeIsRead() throws {
        let (property, attribute) = try attribute(
            """
            attributeType="Transformable" optional="YES" transient="YES" indexed="YES" spotlightIndexingEnabled="YES" \
            storedInTruthFile="YES" syncable="YES" versionHashModifier="m" elementID="old" usesScalarValueType="NO" \
            valueTransformerName="T" customClassName="C" allowsExternalBinaryDataStorage="YES" \
            preserveAfterDeletion="YES" allowsCloudEncryption="YES" minValueString="kept"
            """)
        #expect(property.isOptional && property.isTransient && property.isIndexed)
        #expect(property.isIndexedBySpotlight && property.isStoredInTruthFile && property.isSyncable == true)
        #expect(property.versionHashModifier == "m")
        #expect(property.renamingIdentifier == "old")
        #expect(property.toolAttributes == ["minValueString": "kept"])
        #expect(attribute.usesScalarValueType == false)
        #expect(attribute.valueTransformerName == "T")
        #expect(attribute.customClassName == "C")
        #expect(attribute.allowsExternalBinaryDataStorage && attribute.preservesValueInHistoryOnDeletion)
        #expect(attribute.allowsCloudEncryption)
    }

    @Test(arguments: [
        ("maxCount=\"1\"", 0, 1, DeleteRule.nullify, false),
        ("toMany=\"YES\" deletionRule=\"Cascade\" ordered=\"YES\"", 0, 0, .cascade, true),
        ("toMany=\"YES\" minCount=\"2\" maxCount=\"5\" deletionRule=\"Deny\"", 2, 5, .deny, false),
        ("maxCount=\"1\" minCount=\"1\" deletionRule=\"No Action\"", 1, 1, .noAction, false),
        ("", 0, 1, .nullify, false),
    ])
    func relationshipsAreRead(_ xml: String, min: Int, max: Int, rule: DeleteRule, ordered: Bool) throws {
        let document = read(
            """
            <entity name="A"><relationship name="r" \(xml) destinationEntity="B" inverseName="a" inverseEntity="B"/></entity>
            """)
        #expect(document.diagnostics.isEmpty)
        guard case .relationship(let relationship)? = document.entities.first?.properties.first?.kind else {
            Issue.record("no relationship")
            return
        }
        #expect(relationship.destinationName == "B")
        #expect(relationship.inverseName == "a")
        #expect(relationship.inverseEntityName == "B")
        #expect(relationship.minCount == min)
        #expect(relationship.maxCount == max)
        #expect(relationship.deleteRule == rule)
        #expect(relationship.isOrdered == ordered)
    }

    @Test func requestsConfigurationsAndCompositesAreRead() throws {
        let document = read(
            """
            <fetchRequest name="all" entity="Book" predicateString="title != nil" fetchLimit="5" fetchBatchSize="10"
                resultType="2" includeSubentities="NO" includePropertyValues="NO" includesPendingChanges="NO"
                returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
            <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="Book"/><memberEntity name="Loan"/></configuration>
            <composite name="Point"><attribute name="x" attributeType="Double"/></composite>
            """)
        let request = try #require(document.fetchRequests.first)
        #expect(request.name == "all" && request.entityName == "Book" && request.predicate == "title != nil")
        #expect(request.fetchLimit == 5 && request.fetchBatchSize == 10 && request.resultType == 2)
        #expect(!request.includesSubentities && !request.includesPropertyValues && !request.includesPendingChanges)
        #expect(!request.returnsObjectsAsFaults && request.returnsDistinctResults)
        let configuration = try #require(document.configurations.first)
        #expect(configuration.name == "Cloud" && configuration.usedWithCloudKit)
        #expect(configuration.entityNames == ["Book", "Loan"])
        #expect(document.composites.first?.properties.map(\.name) == ["x"])
    }

    @Test func requestsWithoutFlagsHaveApplesDefaults() throws {
        let request = try #require(read("<fetchRequest name=\"all\" entity=\"Book\"/>").fetchRequests.first)
        #expect(request.includesSubentities && request.includesPropertyValues && request.includesPendingChanges)
        #expect(request.returnsObjectsAsFaults && !request.returnsDistinctResults)
    }

    @Test(arguments: [
        (
            "<entity name=\"Book\" isAbstract=\"MAYBE\"/>",
            "contents:1:28: error: isAbstract is 'MAYBE', which is neither YES nor NO"
        ),
        (
            "<entity name=\"B\"><attribute name=\"x\" attributeType=\"Strng\"/></entity>",
            "contents:1:45: error: attributeType is 'Strng', which is not known"
        ),
        (
            "<entity name=\"B\"><relationship name=\"x\" maxCount=\"one\"/></entity>",
            "contents:1:48: error: maxCount is 'one', which is not a whole number"
        ),
        (
            "<entity name=\"B\"><relationship name=\"x\" deletionRule=\"Destroy\"/></entity>",
            "contents:1:48: error: deletionRule is 'Destroy', which is not known"
        ),
        (
            "<entity name=\"B\"><attribute name=\"x\" attributeType=\"Float\" minValueString=\"low\"/></entity>",
            "contents:1:67: error: minValueString is 'low', which is not a number"
        ),
        (
            "<entity name=\"B\"><widget/></entity>",
            "contents:1:25: warning: element <widget> in <entity> is not known and ignored"
        ),
        ("<widget/>", "contents:1:8: warning: element <widget> in <model> is not known and ignored"),
    ])
    func unknownValuesAreReportedWhereTheyStand(_ xml: String, _ expected: String) {
        let lines = read(xml).diagnostics.map { $0.rendered.split(separator: "\n").first.map(String.init) ?? "" }
        #expect(lines == [expected])
    }

    @Test func theReadersFindingsStopTheCompiler() {
        let document = read("<entity name=\"B\"><attribute name=\"x\" attributeType=\"Strng\"/></entity>")
        do {
            _ = try ModelCompiler.compile(document)
            Issue.record("compiled")
        } catch {
            #expect(
                error.description == """
                    contents:1:45: error: attributeType is 'Strng', which is not known
                        <model><entity name="B"><attribute name="x" attributeType="Strng"/></entity></model>
                                                                    ^
                    hint: use one of: Undefined, Integer 16, Integer 32, Integer 64, Decimal, Double, Float, String, \
                    Boolean, Date, Binary, UUID, URI, Transformable, Composite
                    """)
        }
    }

    @Test func aFileThatIsNoModelIsReported() {
        let document = ContentsReader.document(from: Data("<plist/>".utf8), file: "contents")
        #expect(document.diagnostics.map(\.message) == ["the root element is <plist>, not <model>"])
    }
}
