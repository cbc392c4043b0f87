import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

@Suite struct ModelSettingTests {
    /// Every attribute of the format's elements has a setting, is a name, or is set by another setting.
    @Test func everySettingOfTheFormatIsThere() {
        let others: Set<String> = [
            "name", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "macOSVersion", "iOSVersion",
            "derived", "inverseName", "inverseEntity", "minDateTimeInterval", "maxDateTimeInterval",
            "defaultDateTimeInterval",
        ]
        let orders = [
            ContentsWriter.modelOrder, ContentsWriter.entityOrder, ContentsWriter.attributeOrder,
            ContentsWriter.relationshipOrder, VersionEditor.order(of: "fetchRequest"),
        ]
        for name in orders.joined() where !others.contains(name) {
            #expect(ModelSetting(rawValue: name) != nil, "\(name)")
        }
        for setting in ModelSetting.allCases {
            #expect(!setting.traits.targets.isEmpty && !setting.traits.hint.isEmpty, "\(setting)")
        }
    }

    static let attribute = ModelPath.property(entity: "A", name: "a")
    static let relationship = ModelPath.property(entity: "A", name: "r")

    /// Settings of a new attribute of type String in turn, and its line then.
    static let attributes: [([(ModelSetting, String?)], String)] = [
        (
            [(.attributeType, "Integer 32")],
            #"optional="YES" attributeType="Integer 32" defaultValueString="0" usesScalarValueType="YES""#
        ),
        ([(.attributeType, "Boolean")], #"optional="YES" attributeType="Boolean" usesScalarValueType="YES""#),
        (
            [(.attributeType, "Boolean"), (.defaultValue, "true")],
            #"optional="YES" attributeType="Boolean" defaultValueString="YES" usesScalarValueType="YES""#
        ),
        ([(.attributeType, "Decimal")], #"optional="YES" attributeType="Decimal" defaultValueString="0.0""#),
        ([(.attributeType, "UUID")], #"optional="YES" attributeType="UUID" usesScalarValueType="NO""#),
        (
            [(.attributeType, "Date"), (.defaultValue, "2001-01-02"), (.minimum, "2001-01-01")],
            #"""
            optional="YES" attributeType="Date" minDateTimeInterval="0" defaultDateTimeInterval="86400" \#
            usesScalarValueType="NO"
            """#
        ),
        (
            [(.isOptional, "NO"), (.minimum, "1"), (.maximum, "9"), (.pattern, "[a-z]+")],
            #"attributeType="String" minValueString="1" maxValueString="9" regularExpressionString="[a-z]+""#
        ),
        (
            [(.minimum, "1"), (.pattern, "a"), (.attributeType, "Integer 16")],
            #"optional="YES" attributeType="Integer 16" defaultValueString="0" usesScalarValueType="YES""#
        ),
        (
            [(.attributeType, "Integer 16"), (.maximum, "5"), (.attributeType, "Double")],
            #"""
            optional="YES" attributeType="Double" maxValueString="5" defaultValueString="0" \#
            usesScalarValueType="YES"
            """#
        ),
        (
            [(.defaultValue, ""), (.hashModifier, "2"), (.renamingIdentifier, "b")],
            #"optional="YES" attributeType="String" defaultValueString="" versionHashModifier="2" elementID="b""#
        ),
        (
            [
                (.attributeType, "Transformable"), (.valueTransformer, "NSSecureUnarchiveFromData"),
                (.customClass, "[String]"),
            ],
            #"""
            optional="YES" attributeType="Transformable" valueTransformerName="NSSecureUnarchiveFromData" \#
            customClassName="[String]"
            """#
        ),
        (
            [
                (.attributeType, "Binary"), (.allowsExternalStorage, "YES"), (.allowsCloudEncryption, "YES"),
                (.preservesAfterDeletion, "YES"),
            ],
            #"""
            optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" allowsCloudEncryption="YES" \#
            preserveAfterDeletion="YES"
            """#
        ),
        (
            [(.attributeType, "Binary"), (.allowsExternalStorage, "YES"), (.attributeType, "String")],
            #"optional="YES" attributeType="String""#
        ),
        (
            [(.derivation, "r.@count")],
            #"optional="YES" attributeType="String" derived="YES" derivationExpression="r.@count""#
        ),
        (
            [
                (.derivation, "r.@count"), (.derivation, nil), (.isTransient, "YES"), (.isIndexedBySpotlight, "YES"),
                (.isStoredInTruthFile, "YES"), (.isIndexed, "YES"), (.isSynchronized, "YES"),
            ],
            #"""
            optional="YES" transient="YES" attributeType="String" indexed="YES" spotlightIndexingEnabled="YES" \#
            storedInTruthFile="YES" syncable="YES"
            """#
        ),
        ([(.attributeType, "Undefined")], #"optional="YES" attributeType="Undefined""#),
    ]

    @Test(arguments: attributes.indices) func attributesAreWrittenAsXcodeWritesThem(row: Int) throws {
        let (settings, line) = Self.attributes[row]
        let text = try VersionEditorTests.edited(
            [.addProperty(.attribute, name: "a", entity: "A")] + settings.map { .set(Self.attribute, $0.0, $0.1) },
            modelText(#"    <entity name="A"/>"#))
        #expect(text.contains("        <attribute name=\"a\" \(line)/>\n"), "\(text)")
        let document = ModelReader.document(fromContents: Data(text.utf8), file: nil)
        #expect(document.diagnostics == [])
        #expect(try ContentsWriter.text(of: document) == text)
    }

    static let relationships: [([(ModelSetting, String?)], String)] = [
        (
            [
                (.destination, "A"), (.isToMany, "YES"), (.isOrdered, "YES"), (.minimumCount, "1"),
                (.maximumCount, "4"), (.deleteRule, "Cascade"),
            ],
            #"""
            optional="YES" toMany="YES" minCount="1" maxCount="4" deletionRule="Cascade" ordered="YES" \#
            destinationEntity="A"
            """#
        ),
        (
            [(.isToMany, "YES"), (.isOrdered, "YES"), (.minimumCount, "3"), (.isToMany, nil)],
            #"optional="YES" minCount="1" maxCount="1" deletionRule="Nullify""#
        ),
        (
            [(.isToMany, "YES"), (.maximumCount, "4"), (.maximumCount, "0"), (.isOptional, "NO")],
            #"toMany="YES" deletionRule="Nullify""#
        ),
    ]

    @Test(arguments: relationships.indices) func relationshipsAreWrittenAsXcodeWritesThem(row: Int) throws {
        let (settings, line) = Self.relationships[row]
        let text = try VersionEditorTests.edited(
            [.addProperty(.relationship, name: "r", entity: "A")]
                + settings.map { .set(Self.relationship, $0.0, $0.1) },
            modelText(#"    <entity name="A"/>"#))
        #expect(text.contains("        <relationship name=\"r\" \(line)/>\n"), "\(text)")
    }

    @Test func otherElementsHaveTheirSettings() throws {
        let request = ModelPath.fetchRequest("q")
        let text = try VersionEditorTests.edited(
            [
                .addFetchRequest("q", entity: "A"), .set(request, .predicate, "a == $X"),
                .set(request, .fetchLimit, "5"),
                .set(request, .resultType, "2"), .set(request, .includesSubentities, "NO"),
                .set(request, .returnsDistinctResults, "YES"), .set(request, .includesPendingChanges, "YES"),
                .set(.model, .versionIdentifier, "2"), .set(.entity("A"), .className, ".A"),
                .set(.entity("A"), .codeGeneration, "category"), .set(.entity("A"), .isAbstract, "YES"),
                .addConfiguration("C"), .set(.configuration("C"), .usedWithCloudKit, "YES"),
            ], modelText(#"    <entity name="A"/>"#))
        #expect(
            text.contains(
                #"<fetchRequest name="q" entity="A" predicateString="a == $X" fetchLimit="5" resultType="2" "#
                    + #"includeSubentities="NO" returnDistinctResults="YES"/>"#))
        #expect(text.contains(#"documentVersion="1.0" userDefinedModelVersionIdentifier="2">"#))
        #expect(
            text.contains(
                #"<entity name="A" representedClassName=".A" isAbstract="YES" codeGenerationType="category"/>"#))
        #expect(text.contains(#"<configuration name="C" usedWithCloudKit="YES"/>"#))
    }
}
