import CoreDataPrimitives
import Foundation
import TestSupport
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
        ("", "contents:1:1: error: there is no element in the file; is it XML?\n    \n    ^"),
        (
            "garbage",
            "contents:1:1: error: there is text outside the root element; is it XML?\n    garbage\n    ^"
        ),
        ("<a>\n <b>", "contents:2:2: error: <b> is never closed\n     <b>\n     ^"),
        ("<a>\n <b></a>", "contents:2:5: error: </a> ends <b>, which is still open\n     <b></a>\n        ^"),
        ("<a/><b/>", "contents:1:5: error: there is a second root element\n    <a/><b/>\n        ^"),
        (
            "<a b=1/>",
            "contents:1:6: error: the value of the attribute 'b' of <a> must stand in quotes\n    <a b=1/>\n         ^"
        ),
        (
            "<a b='&c;'/>",
            """
            contents:1:7: error: '&c;' is not known; '&' must be written as '&amp;'
                <a b='&c;'/>
                      ^
            """
        ),
    ])
    func malformedTextIsReportedWithItsPlace(_ text: String, _ expected: String) {
        #expect(throws: ModelFailure.self) { try parse(text) }
        do {
            _ = try parse(text)
        } catch {
            #expect(error.description == expected)
        }
    }

    @Test func externalEntitiesAreNotRead() {
        #expect(throws: ModelFailure.self) {
            try parse("<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>\n<a>&x;</a>")
        }
    }

    @Test func attributesAreFoundInEveryEncoding() throws {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>\n<model>\n  <entity ä=\"ö\" name=\"Größe\"/></model>"
        let root = try MarkupParser.parse(try #require(text.data(using: .utf16)), file: "contents")
        let entity = try #require(root.children.first)
        #expect(entity.attributes["name"] == "Größe")
        #expect(entity.location(of: "name") == SourceLocation(file: "contents", line: 3, column: 17))
    }
}
