import Testing

@testable import CoreDataToolkit

@Suite struct XMLRecordReaderTests {
    @Test(arguments: [
        ("<items/>", []),
        ("<items><item/></items>", ["1#1 "]),
        (
            "<?xml version=\"1.0\"?>\n<!DOCTYPE items [<!ELEMENT item ANY>]>\n<items>\n<item name='A' unit=\" Tin\"/></items>",
            ["4#1 name='A' unit=' Tin'"]
        ),
        ("<a><b x='&lt;&amp;&quot;&apos;&gt;&#10;&#x1F600;'/></a>", ["1#1 x='<&\"'>\n😀'"]),
        ("<a><b x='1\n2\t3'/></a>", ["1#1 x='1 2 3'"]),
        ("<a><b><name>Milk</name><unit/></b></a>", ["1#1 name='Milk' unit=''"]),
        ("<a><b><name><![CDATA[<&>]]> x</name></b></a>", ["1#1 name='<&> x'"]),
        ("<a><!-- <b/> --><b/><?note b?></a><!-- end -->\n", ["1#1 "]),
        ("<a><Item x='1'/><Unit x='2'/><Item x='3'/></a>", ["1#1 x='1'", "1#2 x='3'"]),
        ("<a><item x='1'/><unit x='2'/></a>", ["1#1 x='1'"]),
        ("<a>\n<b x='é漢'/>\n</a>", ["2#1 x='é漢'"]),
    ])
    func childrenOfTheRootAreRecords(text: String, expected: [String]) {
        #expect(records(text, .xml) == expected)
    }

    @Test func anElementCanBeChosen() {
        let text = "<a><b x='1'/><c x='2'/></a>"
        #expect(records(text, .xml, element: "c") == ["1#1 x='2'"])
        #expect(records(text, .xml) == ["file has several kinds of records: b, c; choose the element."])
        #expect(records(text, .xml, element: "dd") == ["file has no <dd> in its root; there are: b, c."])
    }

    @Test(arguments: [
        ("", "file:1:1: there is no element in the file; is it XML?"),
        ("name,unit", "file:1:1: there is text outside the root element; is it XML?"),
        ("<a>", "file:1:1: <a> is never closed"),
        ("<a>\n<b></a>", "file:2:4: </a> ends <b>, which is still open"),
        ("</a>", "file:1:2: </a> has no start"),
        ("<a/><b/>", "file:1:5: there is a second root element"),
        ("<a><b x=1/></a>", "file:1:9: the value of the attribute 'x' of <b> must stand in quotes"),
        ("<a><b x/></a>", "file:1:8: the attribute 'x' of <b> has no value"),
        ("<a><b x='1' x='2'/></a>", "file:1:13: <b> has the attribute 'x' more than once"),
        ("<a>\n\n<b x='1</a>", "file:3:6: the value of the attribute 'x' of <b> has no end"),
        ("<a><b x='A & B'/></a>", "file:1:12: '&' must be written as '&amp;'"),
        ("<a><b x='&eacute;'/></a>", "file:1:10: '&eacute;' is not known; '&' must be written as '&amp;'"),
        ("<a><b x='&#0x;'/></a>", "file:1:10: '&#0x;' is not known; '&' must be written as '&amp;'"),
        ("<a><!-- ", "file:1:4: a comment that starts here has no end"),
        ("<a><1/></a>", "file:1:5: the name of an element should be here instead of '1'"),
        (
            "<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><a/>",
            "file:1:31: the encoding 'Shift_JIS' is not supported\nhint: convert the file to UTF-8 first, e.g. with iconv"
        ),
    ])
    func whatIsNoXMLIsToldWithItsPlace(text: String, message: String) {
        #expect(records(text, .xml) == [message])
    }

    @Test(arguments: [
        ("<a><b><unit><name>kg</name></unit></b></a>", "unit={name='kg'}"),
        ("<a><b><unit name='kg'/></b></a>", "unit={name='kg'}"),
        ("<a><b>\n <c x='1'>\n  <d><e>2</e></d>\n  <f/>\n </c>\n</b></a>", "c={x='1' d={e='2'} f=''}"),
    ])
    func elementsInElementsAreObjects(text: String, fields: String) {
        #expect(records(text, .xml) == ["1#1 " + fields])
    }

    @Test func textBesideElementsIsRefused() {
        #expect(
            records("<a><b/>\n<b><c>x<d/></c></b></a>", .xml)
                == ["1#1 ", "file:2:4: record 2: <c> in <b> has text beside what is in it, which is not a value"])
    }
}
