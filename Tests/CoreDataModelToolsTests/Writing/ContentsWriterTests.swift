import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

/// One of everything, in the order and spelling of the writer.
let contentsOfEverything = """
    <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
    <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" lastSavedToolsVersion="22522" \
    sourceLanguage="Swift" userDefinedModelVersionIdentifier="7" ours="kept">
        <entity name="Book" representedClassName=".Book" isAbstract="YES" versionHashModifier="2" elementID="Volume" \
    syncable="YES" codeGenerationType="class" colour="red">
            <attribute name="code" attributeType="String" minValueString="2" maxValueString="9" defaultValueString="" \
    regularExpressionString="\\w+ &quot;&lt;&gt;&amp;&quot;&#10;"/>
            <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" \
    allowsCloudEncryption="YES" preserveAfterDeletion="YES"/>
            <attribute name="due" optional="YES" attributeType="Date" minValueString="2001" \
    minDateTimeInterval="0" maxDateTimeInterval="1.5" defaultDateTimeInterval="631152000" usesScalarValueType="NO"/>
            <attribute name="id" attributeType="UUID" \
    defaultValueString="6B29FC40-CA47-1067-B31D-00DD010662DA" usesScalarValueType="NO"/>
            <attribute name="pages" optional="YES" attributeType="Integer 16" minValueString="1.0" \
    defaultValueString="0.0" usesScalarValueType="YES" spotlightIndexingEnabled="YES" storedInTruthFile="YES" \
    versionHashModifier="x" elementID="sheets" syncable="NO" shade="dark">
                <userInfo>
                    <entry key="a" value="b &amp; c"/>
                    <entry key="b" value=""/>
                </userInfo>
            </attribute>
            <attribute name="pagesCount" attributeType="Integer 64" derived="YES" derivationExpression="chapters.@count"/>
            <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
            <attribute name="scratch" optional="YES" transient="YES" attributeType="Transformable" \
    valueTransformerName="Secure" customClassName="[String]"/>
            <relationship name="chapters" optional="YES" toMany="YES" minCount="1" maxCount="9" \
    deletionRule="Cascade" ordered="YES" destinationEntity="Chapter" inverseName="book" inverseEntity="Chapter"/>
            <relationship name="first" optional="YES" toMany="YES" maxCount="1" deletionRule="No Action" \
    destinationEntity="Chapter"/>
            <fetchedProperty name="others" optional="YES">
                <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="pages &gt; 5"/>
            </fetchedProperty>
            <fetchIndex name="byBoth" partialIndexPredicate="pages &gt; 10">
                <fetchIndexElement property="id" type="Binary" order="descending"/>
                <fetchIndexElement expression="length:(code)" expressionType="String" type="RTree" order="ascending"/>
            </fetchIndex>
            <compoundIndexes>
                <compoundIndex>
                    <index value="id"/>
                    <index value="code"/>
                </compoundIndex>
            </compoundIndexes>
            <uniquenessConstraints>
                <uniquenessConstraint>
                    <constraint value="id"/>
                </uniquenessConstraint>
            </uniquenessConstraints>
        </entity>
        <entity name="Chapter">
            <relationship name="book" maxCount="1" deletionRule="Deny" destinationEntity="Book" \
    inverseName="chapters" inverseEntity="Book" indexed="YES"/>
        </entity>
        <composite name="Place">
            <attribute name="x" attributeType="Double" defaultValueString="0.5"/>
        </composite>
        <fetchRequest name="long" entity="Book" predicateString="pages &gt; $pages" fetchLimit="5" \
    fetchBatchSize="3" resultType="1" includeSubentities="NO" includePropertyValues="NO" includesPendingChanges="NO" \
    returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
        <configuration name="Shelf" usedWithCloudKit="YES">
            <memberEntity name="Book"/>
        </configuration>
        <elements>
            <element name="Book" positionX="-9" positionY="0" width="128" height="90" colour="1"/>
        </elements>
    </model>
    """

private func read(_ xml: String) -> ModelDocument { ContentsReader.document(from: Data(xml.utf8), file: "contents") }

@Suite struct ContentsWriterTests {
    @Test func everythingThatIsReadIsWritten() throws {
        let document = read(contentsOfEverything)
        #expect(document.unkept.isEmpty)
        let written = try ContentsWriter.text(of: document).split(separator: "\n")
        for (ours, original) in zip(written, contentsOfEverything.split(separator: "\n")) { #expect(ours == original) }
        #expect(written.count == contentsOfEverything.split(separator: "\n").count)
    }

    @Test(
        arguments: [
            ("<model>\n<!-- mine --></model>", 2, "a comment"),
            ("<model>\n<entity name='A'>\n<widget/></entity></model>", 3, "element <widget> in <entity>"),
            ("<model><entity name='A'>\nwords</entity></model>", 1, "the text in <entity>"),
            ("<model>\n<fetchRequest name='a'\n colour='red'/></model>", 3, "attribute 'colour' of <fetchRequest>"),
            (
                "<model><entity name='A'><userInfo/>\n<userInfo/></entity></model>", 2,
                "a second <userInfo> in <entity>"
            ),
            (
                "<model><entity name='A'><userInfo><entry key='k'/>\n<entry key='k'/></userInfo></entity></model>", 2,
                "a second entry for key 'k'"
            ),
        ])
    func whatHasNoPlaceIsRefusedAtItsLine(xml: String, line: Int, what: String) throws {
        let failure = try #require(throws: ModelFailure.self) { try ContentsWriter.text(of: read(xml)) }
        #expect(failure.diagnostics.map(\.location?.line) == [line])
        #expect(failure.diagnostics.map(\.message) == ["\(what) would be lost in writing the model"])
    }

    @Test func valuesThatCouldNotBeReadAreNotDropped() throws {
        let document = read("<model><entity name='A' isAbstract='maybe'/></model>")
        #expect(throws: ModelFailure.self) { try ContentsWriter.text(of: document) }
    }

    @Test func whatTheFormatHasNoPlaceForIsRefused() throws {
        var attribute = AttributeElement(type: .binaryData)
        attribute.defaultValue = .data(Data([1]))
        var pages = AttributeElement(type: .integer16)
        pages.validations = [ValidationElement(predicate: "SELF != 3", warning: "1550")]
        var request = FetchRequestElement(name: "all")
        request.sorts = [.init(key: "title", isAscending: true)]
        request.fetchOffset = 2
        var document = model(
            entity(
                "Book", PropertyElement(name: "cover", kind: .attribute(attribute)),
                PropertyElement(name: "pages", kind: .attribute(pages))))
        document.fetchRequests = [request]
        document.versionIdentifiers = ["1", "2"]
        let failure = try #require(throws: ModelFailure.self) { try ContentsWriter.text(of: document) }
        let messages = failure.diagnostics.map { $0.message.replacing(", which a .xcdatamodel cannot say", with: "") }
        #expect(
            messages == [
                "attribute 'Book.cover' has a default of type Binary",
                "attribute 'Book.pages' has the validation 'SELF != 3' with warning '1550'",
                "fetch request 'all' has sort descriptors", "fetch request 'all' has an offset",
                "the model has 2 version identifiers",
            ])
    }

    @Test func theFolderNamesItsCurrentVersion() throws {
        let document = read("<model/>")
        var versions = ModelVersions(
            name: "A & B",
            versions: [.init(name: "A & B", document: document), .init(name: "A & B 2", document: document)],
            currentName: "A & B 2")
        let url = try Fixtures.temporaryFolder().appendingPathComponent("A & B.xcdatamodeld")
        #expect(try ModelSource(versions: versions).files.write(to: url))
        #expect(try !ModelSource(versions: versions).files.write(to: url), "the same is not written again")
        #expect(try ModelReader.read(contentsOf: url).currentName == "A & B 2")
        versions.versions.removeLast()
        versions.currentName = "A & B"
        #expect(try ModelSource(versions: versions).files.write(to: url))
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.path) == ["A & B.xcdatamodel"])
    }
}

@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct ContentsFixtureTests {
    /// Two were made by hand: Xcode ends no file with a line break, and since Xcode 14 writes no `elements`.
    private static let notByXcode = ["GeneratedFlowModel", "CoreDataEvolutionIntegrationModel"]

    @Test(arguments: Fixtures.modelContents)
    func contentsAreWrittenBackByteForByte(path: String) throws {
        let data = try Data(contentsOf: Fixtures.url(path))
        let written = try ContentsWriter.text(of: ContentsReader.document(from: data, file: path))
        var original = String(decoding: data, as: UTF8.self)
        if Self.notByXcode.contains(where: path.contains) { original.removeLast() }
        #expect(written == original)
    }

    @Test(arguments: Fixtures.models.filter { $0.hasSuffix("xcdatamodeld") })
    func foldersAreWrittenBackFileByFile(path: String) throws {
        let url = Fixtures.url(path)
        let versions = try ModelReader.read(contentsOf: url)
        let files = try ModelSource(versions: versions).files.files
        let marker = try? Data(contentsOf: url.appendingPathComponent(".xccurrentversion"))
        // Of several versions the writer always names the current one.
        if let marker { #expect(files[".xccurrentversion"] == marker) }
        #expect(
            files.keys.filter { $0.hasSuffix("contents") }.sorted()
                == versions.versions.map { "\($0.name).xcdatamodel/contents" }.sorted())
    }
}
