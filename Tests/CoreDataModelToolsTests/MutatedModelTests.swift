import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

/// Models with something broken, the same on every machine. A failure here is the end of the test program.
@Suite struct MutatedModelTests {
    private static let source = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" userDefinedModelVersionIdentifier="ä">
            <!-- A shelf -->
            <entity name="Author" representedClassName=".Author" syncable="YES" codeGenerationType="class">
                <attribute name="name" attributeType="String" minValueString="1" regularExpressionString="[A-Z]&quot;.*"/>
                <attribute name="count" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="books.@count"/>
                <attribute name="home" optional="YES" attributeType="Composite" composite="Place"/>
                <relationship name="books" optional="YES" toMany="YES" deletionRule="Cascade" ordered="YES" \
        destinationEntity="Book" inverseName="author" inverseEntity="Book"/>
                <fetchIndex name="byName"><fetchIndexElement property="name" type="Binary" order="ascending"/></fetchIndex>
                <uniquenessConstraints><uniquenessConstraint><constraint value="name"/></uniquenessConstraint></uniquenessConstraints>
                <userInfo><entry key="k" value="v &amp; w"/></userInfo>
            </entity>
            <entity name="Book" isAbstract="YES" elementID="Volume" versionHashModifier="2">
                <attribute name="price" optional="YES" attributeType="Decimal" defaultValueString="9.99" usesScalarValueType="NO"/>
                <attribute name="date" optional="YES" attributeType="Date" defaultDateTimeInterval="631152000"/>
                <attribute name="id" optional="YES" attributeType="UUID" defaultValueString="6B29FC40-CA47-1067-B31D-00DD010662DA"/>
                <relationship name="author" maxCount="1" deletionRule="Nullify" destinationEntity="Author" inverseName="books" inverseEntity="Author"/>
                <fetchedProperty name="like" optional="YES"><fetchRequest name="f" entity="Book" predicateString="price &gt; $FETCH_SOURCE.price"/></fetchedProperty>
            </entity>
            <entity name="Novel" parentEntity="Book"/>
            <composite name="Place"><attribute name="x" attributeType="Double" defaultValueString="0.0"/></composite>
            <fetchRequest name="all" entity="Book" predicateString="TRUEPREDICATE" fetchLimit="5"/>
            <configuration name="Cloud" usedWithCloudKit="YES"><memberEntity name="Book"/></configuration>
            <elements><element name="Book" positionX="-9" positionY="1" width="128" height="59"/></elements>
        </model>
        """

    /// What is put in the place of something, or between.
    private static let texts: [String] = [
        "<", ">", "/>", "</", "</entity>", "<x:entity", "x:", ":", "&", "&x;", "&#0;", "&#xD800;", "\"", "'", "=",
        "<![CDATA[",
        "]]>", "<!--", "-->", "--", "<!-->", "<!DOCTYPE model [", "<!ENTITY a '&b;'>", "<?xml version='1.0'?>",
        "<?", "\u{0}",
        " xmlns:x=''", " xmlns=\"u\"", "name=\"\"", "\n", "ä", "\u{FFFE}", "-1", "99999999999999999999", "1e999",
        "NaN", "YES",
        "Book", "Author", "{", "(", "%",
    ]

    private static let brokenCharacters: [[UInt8]] = [
        [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xFE, 0xFF], [0x80],
    ]

    private static let fragments: [[UInt8]] = texts.map { Array($0.utf8) } + brokenCharacters

    private static func mutated(_ original: [UInt8], _ numbers: inout SeededNumbers) -> [UInt8] {
        var bytes = original
        for _ in 0...numbers.below(3) where !bytes.isEmpty {
            let place = numbers.below(bytes.count)
            let end = min(bytes.count, place + 1 + numbers.below(40))
            switch numbers.below(8) {
            case 0: bytes.removeSubrange(place...)
            case 1: bytes[place] ^= 1 << UInt8(numbers.below(8))
            case 2: bytes[place] = UInt8(numbers.below(256))
            case 3: bytes.removeSubrange(place..<end)
            case 4: bytes.insert(contentsOf: bytes[place..<end], at: numbers.below(bytes.count))
            case 5: bytes.replaceSubrange(place..<end, with: numbers.pick(fragments))
            default: bytes.insert(contentsOf: numbers.pick(fragments), at: place)
            }
        }
        return bytes
    }

    /// Everything that a tool does with a model.
    private func use(_ document: ModelDocument) -> Bool {
        _ = ModelLinter.findings(in: document).rendered
        _ = ModelDiagram(document)
        if let text = try? ContentsWriter.text(of: document) {
            _ = ModelReader.document(fromContents: Data(text.utf8), file: nil)
        }
        guard (try? ModelCompiler.compile(document)) != nil else { return false }
        if let archive = try? ModelArchive.archive(document) { _ = try? ModelArchive.document(fromArchive: archive) }
        return true
    }

    @Test(arguments: Trials.some(of: Array(0..<10), atLeast: 4)) func sourcesNeverStopTheProgram(seed: Int) {
        var numbers = SeededNumbers(seed: UInt64(seed))
        let original = Array(Self.source.utf8)
        #expect(use(ModelReader.document(fromContents: Data(original), file: "contents")))
        var refused = 0
        for _ in 0..<100 {
            let document = ModelReader.document(
                fromContents: Data(Self.mutated(original, &numbers)), file: "contents")
            let problems = document.diagnostics.filter { $0.severity == .error }
            #expect(problems.allSatisfy { ($0.location?.line ?? 0) > 0 && !$0.message.isEmpty })
            if !use(document) { refused += 1 }
        }
        #expect(refused > 10, "many changes are mistakes")
    }

    @Test func everyBeginningOfASourceIsRefused() {
        let original = Array(Self.source.utf8)
        for end in stride(from: 0, to: original.count - 2, by: 7) {
            let document = ModelReader.document(fromContents: Data(original[..<end]), file: "contents")
            #expect(document.diagnostics.hasErrors, "\(end) of \(original.count) bytes")
        }
    }

    @Test(arguments: Trials.some(of: Array(0..<5), atLeast: 2)) func compiledModelsNeverStopTheProgram(seed: Int) throws
    {
        var numbers = SeededNumbers(seed: UInt64(seed) + 100)
        let document = ModelReader.document(fromContents: Data(Self.source.utf8), file: nil)
        let archive = Array(try ModelArchive.archive(document))
        #expect(use(try ModelArchive.document(fromArchive: Data(archive))))
        var (refused, used) = (0, 0)
        for _ in 0..<100 {
            do {
                if use(try ModelArchive.document(fromArchive: Data(Self.mutated(archive, &numbers)))) { used += 1 }
            } catch {
                refused += 1
                #expect(!"\(error)".isEmpty)
            }
        }
        #expect(refused > 10, "many changes break the archive")
        #expect(used > 0, "some changes leave a model")
    }
}
