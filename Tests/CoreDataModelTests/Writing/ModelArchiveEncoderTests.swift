import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

/// A model with one of everything.
private func library() -> ModelDocument {
    let xml = """
        <model userDefinedModelVersionIdentifier="7">
            <entity name="Book" representedClassName="CDBook" elementID="Volume" versionHashModifier="2" isAbstract="YES"
                coreSpotlightDisplayNameExpression="title">
                <attribute name="title" attributeType="String" minValueString="1" maxValueString="99" \
        regularExpressionString="[A-Z].*&quot;" defaultValueString="Größe" spotlightIndexingEnabled="YES">
                    <userInfo><entry key="hint" value="as printed"/></userInfo>
                </attribute>
                <attribute name="pages" optional="YES" attributeType="Integer 32" minValueString="1" defaultValueString="100"/>
                <attribute name="price" attributeType="Decimal" defaultValueString="-19.99" storedInTruthFile="YES"/>
                <attribute name="weight" attributeType="Double" defaultValueString="0.25" maxValueString="2.5"/>
                <attribute name="isLent" attributeType="Boolean" defaultValueString="YES" versionHashModifier="m"/>
                <attribute name="bought" attributeType="Date" defaultDateTimeInterval="86400.5" minDateTimeInterval="0"/>
                <attribute name="code" attributeType="UUID" defaultValueString="00000000-0000-0000-0000-00000000002A"/>
                <attribute name="site" attributeType="URI" defaultValueString="https://example.org/b"/>
                <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES" \
        preserveAfterDeletion="YES" allowsCloudEncryption="YES"/>
                <attribute name="colour" optional="YES" attributeType="Transformable" valueTransformerName="ColourTransformer" \
        customClassName="Colour"/>
                <attribute name="shelfMark" optional="YES" transient="YES" attributeType="String"/>
                <attribute name="chapterCount" optional="YES" attributeType="Integer 64" derived="YES" \
        derivationExpression="chapters.@count"/>
                <attribute name="key" optional="YES" attributeType="String" derived="YES" \
        derivationExpression="canonical:(title)"/>
                <attribute name="seen" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/>
                <attribute name="place" optional="YES" attributeType="Composite" composite="Place"/>
                <relationship name="chapters" optional="YES" toMany="YES" ordered="YES" minCount="1" maxCount="50" \
        deletionRule="Cascade" destinationEntity="Chapter" inverseName="book" inverseEntity="Chapter" elementID="parts"/>
                <fetchedProperty name="similar" optional="YES">
                    <fetchRequest name="fetchedPropertyFetchRequest" entity="Book" predicateString="title == $FETCH_SOURCE.title"/>
                </fetchedProperty>
                <fetchIndex name="byTitle"><fetchIndexElement property="title" type="Binary" order="ascending"/></fetchIndex>
                <fetchIndex name="byBoth" partialIndexPredicate="pages > 10">
                    <fetchIndexElement property="title" type="Binary" order="descending"/>
                    <fetchIndexElement property="pages" type="Binary" order="ascending"/>
                    <fetchIndexElement expression="length:(title)" type="Binary" order="ascending"/>
                </fetchIndex>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="code"/></uniquenessConstraint>
                    <uniquenessConstraint><constraint value="title"/><constraint value="pages"/></uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo><entry key="a" value="b"/></userInfo>
            </entity>
            <entity name="Novel" parentEntity="Book"><attribute name="genre" optional="YES" attributeType="String"/></entity>
            <entity name="Chapter">
                <relationship name="book" maxCount="1" deletionRule="Deny" destinationEntity="Book" inverseName="chapters" \
        inverseEntity="Book"/>
                <relationship name="next" optional="YES" maxCount="1" deletionRule="No Action" destinationEntity="Chapter"/>
            </entity>
            <fetchRequest name="long" entity="Book" fetchLimit="5" fetchBatchSize="3" returnObjectsAsFaults="NO" \
        predicateString="pages >= 500 AND title CONTAINS[cd] $text OR ANY chapters.book.pages IN $pages"/>
            <fetchRequest name="odd" entity="Book" predicateString="SUBQUERY(chapters, $c, $c.next != nil).@count > 1"/>
            <configuration name="Shelf"><memberEntity name="Book"/><memberEntity name="Novel"/></configuration>
            <composite name="Place"><attribute name="x" attributeType="Double" defaultValueString="0.5"/></composite>
        </model>
        """
    return ContentsReader.document(from: Data(xml.utf8), file: nil)
}

@Suite struct ModelArchiveEncoderTests {
    @Test func whatIsWrittenIsReadBack() throws {
        let source = library()
        #expect(source.diagnostics.isEmpty)
        let first = try ModelArchive.document(fromArchive: ModelArchive.archive(source))
        let second = try ModelArchive.document(fromArchive: ModelArchive.archive(first))
        #expect(first.diagnostics.isEmpty)
        #expect(first == second)
        #expect(describe(try ModelCompiler.compile(source)) == describe(try ModelCompiler.compile(first)))
        let cached = try ModelArchive.document(fromModelCache: ModelArchive.modelCache(for: source))
        #expect(
            describe(try ModelCompiler.compile(source), indexes: false)
                == describe(try ModelCompiler.compile(cached), indexes: false))
    }

    @Test func everythingThatAnArchiveHoldsSurvives() throws {
        let source = library()
        let read = try ModelArchive.document(fromArchive: ModelArchive.archive(source))
        #expect(read.versionIdentifiers == ["7"])
        #expect(read.entities.map(\.name) == ["Book", "Chapter", "Novel"])
        let book = source.entities[0]
        let archived = read.entities[0]
        #expect(archived.className == "CDBook" && archived.renamingIdentifier == "Volume" && archived.isAbstract)
        #expect(archived.versionHashModifier == "2" && archived.userInfo == ["a": "b"])
        #expect(archived.coreSpotlightDisplayNameExpression == "title")
        #expect(archived.uniquenessConstraints == book.uniquenessConstraints)
        #expect(archived.compoundIndexes.isEmpty)
        #expect(archived.fetchIndexes.map(\.name) == ["byTitle", "byBoth"])
        #expect(archived.fetchIndexes[1].predicate == "pages > 10")
        #expect(archived.fetchIndexes[1].elements.map(\.propertyName) == ["title", "pages", nil])
        #expect(archived.fetchIndexes[1].elements.map(\.isAscending) == [false, true, true])
        #expect(archived.fetchIndexes[1].elements[2].expression == "length:(title)")
        for property in book.properties {
            let other = try #require(archived.properties.first { $0.name == property.name })
            #expect(other.isOptional == property.isOptional && other.isTransient == property.isTransient)
            #expect(other.userInfo == property.userInfo && other.versionHashModifier == property.versionHashModifier)
            #expect(other.renamingIdentifier == property.renamingIdentifier)
            #expect(other.isIndexedBySpotlight == property.isIndexedBySpotlight)
            #expect(other.isStoredInTruthFile == property.isStoredInTruthFile)
            #expect(other.validations == property.validations)
            // What is the only, ascending element of an index is marked, as Apple's compiler does.
            #expect(other.isIndexed == (property.name == "title"))
            switch (property.kind, other.kind) {
            case (.attribute(let a), .attribute(let b)):
                #expect(a.type == b.type && a.defaultValue == b.defaultValue)
                #expect(a.valueTransformerName == b.valueTransformerName && a.customClassName == b.customClassName)
                #expect(a.allowsExternalBinaryDataStorage == b.allowsExternalBinaryDataStorage)
                #expect(a.preservesValueInHistoryOnDeletion == b.preservesValueInHistoryOnDeletion)
                #expect(a.allowsCloudEncryption == b.allowsCloudEncryption)
                #expect(a.derivationExpression == b.derivationExpression)
            case (.relationship(let a), .relationship(let b)): #expect(a == b)
            case (.fetched(let a), .fetched(let b)):
                #expect(a.entityName == b.entityName && a.predicate == b.predicate)
            default: Issue.record("\(property.name) became something else")
            }
        }
        #expect(read.configurations.map(\.name) == ["Shelf"])
        #expect(read.configurations[0].entityNames == ["Book", "Novel"])
        #expect(read.fetchRequests.map(\.name) == ["long", "odd"])
        #expect(
            read.fetchRequests.map(\.predicate) == [
                "(pages >= 500 AND title CONTAINS[cd] $text) OR ANY chapters.book.pages IN $pages",
                "SUBQUERY(chapters, $c, $c.next != nil).@count > 1",
            ])
        #expect(read.fetchRequests[0].fetchLimit == 5 && read.fetchRequests[0].fetchBatchSize == 3)
        #expect(read.fetchRequests[0].flags == 22)
    }

    /// As in the model of Photos: the row itself and its entity.
    @Test func indexElementsThatAreExpressionsAreWrittenAsApples() throws {
        // store-format §5
        var byKind = FetchIndexElement(name: "byKind")
        byKind.elements = [.init(propertyName: "kind"), .init(expression: "SELF"), .init(expression: "entity")]
        var byLength = FetchIndexElement(name: "byLength")
        byLength.elements = [.init(expression: "length:(title)")]
        byLength.elements[0].expressionType = "Integer 64"
        let document = model(
            entity("Shelf", attribute("kind", .integer16), attribute("title")).with {
                $0.fetchIndexes = [byKind, byLength]
            })
        let data = try ModelArchive.archive(document)

        let archive = try KeyedArchiveReader(data)
        func instances(of name: String) -> [ArchivedObject] { archive.instances.filter { $0.className == name } }
        let expressions = instances(of: "NSExpressionDescription")
        #expect(expressions.map { $0["NSPropertyName"].text } == ["expression1", "expression2", "expression3"])
        #expect(expressions.map { $0["NSExpressionType"].integer } == [2000, 0, 300])
        #expect(
            expressions.prefix(2).map { $0["NSExpression"].object?.className } == [
                "NSSelfExpression", "NSKeyPathExpression",
            ])
        let elements = instances(of: "NSFetchIndexElementDescription")
        #expect(
            elements.map { $0["NSPropertyName"].text } == ["kind", "expression1", "expression2", "expression3"])
        #expect(elements.compactMap { $0["NSIndexedProperty"].object } == expressions)
        let compound = instances(of: "NSEntityDescription")[0]["NSCompoundIndexes"].object?.elements
        #expect(compound?.map(\.texts) == [["kind", "self", "entity"]])

        let read = try ModelArchive.document(fromArchive: data)
        byLength.elements[0].expressionType = "300"
        #expect(read.entities[0].fetchIndexes == [byKind, byLength])
        #expect(read.entities[0].compoundIndexes.isEmpty)
        #expect(try ModelArchive.document(fromArchive: ModelArchive.archive(read)) == read)
        // Each in a store's copy of the model, once.
        let cached = try ModelArchive.document(fromModelCache: ModelArchive.modelCache(for: document))
        #expect(cached.entities[0].fetchIndexes == [byKind, byLength])
        #expect(cached.entities[0].compoundIndexes.isEmpty)
    }

    @Test func theSameModelGivesTheSameBytes() throws {
        #expect(try ModelArchive.archive(library()) == ModelArchive.archive(library()))
    }

    @Test func aModelWithErrorsIsNotWritten() {
        let broken = model(entity("Book", parent: "Paper"))
        #expect(throws: ModelFailure.self) { try ModelArchive.archive(broken) }
        #expect(throws: ModelFailure.self) { try ModelArchive.modelCache(for: broken) }
    }
}

/// Our archives beside Apple's of the same model.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct AppleModelArchiveTests {
    @Test(arguments: ["SampleModel", "SampleModel2", "SampleModel3"])
    func archivesOfASourceModelEqualApples(version: String) throws {
        let source = try ModelReader.read(contentsOf: Fixtures.url("sample-model/SampleModel.xcdatamodeld"))
        var document = try #require(source[version])
        for entity in document.entities.indices {
            for index in document.entities[entity].properties.indices {
                // Apple's compiler does not copy the class of a transformable attribute.
                guard case .attribute(var attribute) = document.entities[entity].properties[index].kind else {
                    continue
                }
                attribute.customClassName = nil
                document.entities[entity].properties[index].kind = .attribute(attribute)
            }
        }
        let apple = try Data(contentsOf: Fixtures.url("sample-model/SampleModel.momd/\(version).mom"))
        #expect(try ArchiveComparison.differences(apple, ModelArchive.archive(document)) == [])
    }

    @Test(arguments: [
        "sample-model/SampleModel.momd/SampleModel.mom", "sample-model/SampleModel.momd/SampleModel2.mom",
        "sample-model/SampleModel.momd/SampleModel3.mom", "twitter-seed/RestKitCoreData.momd/RestKitCoreData.mom",
    ])
    func archivesThatAreReadAndWrittenEqualThemselves(path: String) throws {
        let apple = try Data(contentsOf: Fixtures.url(path))
        let ours = try ModelArchive.archive(ModelArchive.document(fromArchive: apple))
        #expect(try ArchiveComparison.differences(apple, ours) == [])
    }

    @Test(arguments: [
        "bookmarks/Bookmarks_V1.sqlite", "bookmarks/Bookmarks_V2.sqlite", "bookmarks/Bookmarks_V4.sqlite",
        "sample-model-2/SampleModel2_V2.sqlite", "grocery-dude/DefaultData-5-entities.sqlite",
        "sample-model/SampleModel_V1.sqlite", "sample-model/SampleModel_V2.sqlite",
    ])
    func cachedModelsThatAreReadAndWrittenEqualThemselves(path: String) throws {
        let store = try StoreContent(store: path)
        let document = try ModelArchive.document(fromModelCache: #require(store.modelCache))
        let cache = try ModelArchive.modelCache(for: document)
        let again = try ModelArchive.document(fromModelCache: cache)
        #expect(
            describe(try ModelCompiler.compile(document), indexes: false)
                == describe(try ModelCompiler.compile(again), indexes: false))
        // Before there were fetch indexes, a cache did not list those of marked attributes; we do.
        if !path.hasPrefix("grocery-dude") { #expect(again.entities == document.entities) }
        #expect(again.fetchRequests == document.fetchRequests)
        #expect(again.configurations == document.configurations)
    }

    /// The cache that Apple's framework made of the model that is the current version's predecessor.
    @Test(arguments: [
        ("bookmarks/Bookmarks_V1.sqlite", "BookmarksModel"), ("bookmarks/Bookmarks_V2.sqlite", "BookmarksModel 2"),
        ("bookmarks/Bookmarks_V4.sqlite", "BookmarksModel 4"),
    ])
    func cachesOfASourceModelEqualApples(path: String, version: String) throws {
        let source = try ModelReader.read(contentsOf: Fixtures.url("bookmarks/BookmarksModel.xcdatamodeld"))
        let apple = try RawDeflate.decompress(#require(try StoreContent(store: path).modelCache))
        let ours = try RawDeflate.decompress(ModelArchive.modelCache(for: #require(source[version])))
        let differences = try ArchiveComparison.differences(apple, ours)
        #expect(differences == [])
    }
}
