import CoreDataPrimitives
import Foundation
import Testing

@testable import CoreDataModel

private func parse(_ text: String) throws(ModelFailure) -> MarkupElement {
    try MarkupParser.parse(Data(text.utf8), file: "contents")
}

@Suite struct MarkupParserTests {
    @Test func elementsKnowWhereTheirTagsBegin() throws {
        let root = try parse(
            """
            <?xml version="1.0"?>
            <!-- <not an="element"> -->
            <!DOCTYPE model [<!ENTITY x "y">]>
            <model a="1 > 0">
              <é/><entity name="&lt;b&gt;"
                isAbstract = "YES"><![CDATA[<no>]]></entity>
            </model>
            """)
        #expect(root.location == SourceLocation(file: "contents", line: 4, column: 1))
        let entity = try #require(root.children(named: "entity").first)
        #expect(entity.attributes["name"] == "<b>")
        #expect(entity.location == SourceLocation(file: "contents", line: 5, column: 7))
        #expect(entity.location(of: "name") == SourceLocation(file: "contents", line: 5, column: 15))
        #expect(entity.location(of: "isAbstract") == SourceLocation(file: "contents", line: 6, column: 5))
        #expect(entity.location(of: "b") == entity.location)
        #expect(entity.text == "<no>")
    }

    @Test(arguments: [
        ("", "contents:1:1: error: no XML in the file"),
        ("garbage", "contents:1:1: error: no XML in the file\n    garbage\n    ^"),
        ("<a>\n <b>", "contents:2:2: error: <b> is never closed\n     <b>\n     ^"),
        ("<a>\n <b></a>", "contents:2:9: error: an end tag does not match <b>\n     <b></a>\n            ^"),
        ("<a/><b/>", "contents:1:5: error: something follows the end of the root element\n    <a/><b/>\n        ^"),
        ("<a b=1/>", "contents:1:6: error: an attribute's value is not in quotes\n    <a b=1/>\n         ^"),
        ("<a b='&c;'/>", "contents:1:10: error: an unknown entity\n    <a b='&c;'/>\n             ^"),
    ])
    func malformedTextIsReportedWithItsPlace(_ text: String, _ expected: String) {
        #expect(throws: ModelFailure.self) { try parse(text) }
        do {
            _ = try parse(text)
        } catch {
            #expect(error.description == expected)
        }
    }

    @Test func externalEntitiesAreNotRead() throws {
        let root = try parse("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>\n<a>&x;</a>")
        #expect(root.text == "")
    }
}
