import Foundation
import Testing

@testable import CoreDataXML

/// The events of a document, `<name key='value'>line:column` for a tag; what is wrong ends them.
private func events(_ data: Data, isUTF8: Bool = false) -> [String] {
    var result: [String] = []
    var text: String?
    func endText() {
        if let part = text { result.append("'\(part)'") }
        text = nil
    }
    do {
        let reader = try XMLReader(data, isUTF8: isUTF8)
        while let event = try reader.next() {
            if case .text(let part) = event {
                text = (text ?? "") + part
                continue
            }
            endText()
            switch event {
            case .start(let tag):
                let attributes = tag.attributes.map { " \($0.name)='\($0.value)'" }.joined()
                result.append("<\(tag.name)\(attributes)>\(tag.line):\(tag.column)")
            case .end(let name): result.append("</\(name)>")
            case .comment(let offset): result.append("comment at \(offset)")
            case .text: break
            }
        }
        endText()
    } catch {
        endText()
        result.append("\(error.line):\(error.column): \(error.message)" + (error.hint.map { " (\($0))" } ?? ""))
    }
    return result
}

private func events(_ text: String) -> [String] { events(Data(text.utf8)) }

@Suite struct XMLReaderTests {
    @Test(arguments: [
        ("<a/>", ["<a>1:1", "</a>"]),
        (
            "<?xml version='1.0'?>\n<!-- x --><a b=\"1\" c='2'> <d/>\n</a><!-- y -->",
            ["comment at 22", "<a b='1' c='2'>2:11", "' '", "<d>2:27", "</d>", "'\n'", "</a>", "comment at 57"]
        ),
        ("<a><![CDATA[<b>&amp;]]> &lt;x&gt;&#x1F600;&#10;</a>", ["<a>1:1", "'<b>&amp; <x>😀\n'", "</a>"]),
        ("<a b='1\n2\t3&#10;4'/>", ["<a b='1 2 3\n4'>1:1", "</a>"]),
        ("<a>1\r\n2</a>", ["<a>1:1", "'1\n2'", "</a>"]),
        ("<p:a q:b='1' xmlns:p='u'><c:d/></p:a>", ["<p:a q:b='1' xmlns:p='u'>1:1", "<c:d>1:26", "</c:d>", "</p:a>"]),
        ("<?note x?><a><?note y?></a><?note z?>", ["<a>1:11", "</a>"]),
        ("<!DOCTYPE a [<!ELEMENT a ANY><!ATTLIST a b CDATA 'x'>]><a/>", ["<a b='x'>1:56", "</a>"]),
        ("<!DOCTYPE a [<!ENTITY x 'y &amp; &#122;'>]><a b='&x;'>&x;!</a>", ["<a b='y & z'>1:44", "'y & z!'", "</a>"]),
        (
            "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://nowhere.invalid/x.dtd\"><plist x='&amp;'/>",
            ["<plist x='&'>1:85", "</plist>"]
        ),
        ("<é ü='漢'>漢<x/></é>", ["<é ü='漢'>1:1", "'漢'", "<x>1:11", "</x>", "</é>"]),
    ])
    func documentsBecomeEvents(text: String, expected: [String]) {
        #expect(events(text) == expected)
    }

    @Test(arguments: [
        ("", ["1:1: there is no element in the file; is it XML?"]),
        (" \n ", ["2:2: there is no element in the file; is it XML?"]),
        ("name,unit", ["1:1: there is text outside the root element; is it XML?"]),
        ("bplist00\u{1}", ["1:9: there is text outside the root element; is it XML?"]),
        ("<a>\n <b>", ["<a>1:1", "'\n '", "<b>2:2", "2:2: <b> is never closed"]),
        ("<a>\n <b></a>", ["<a>1:1", "'\n '", "<b>2:2", "2:5: </a> ends <b>, which is still open"]),
        ("</a>", ["1:2: </a> has no start"]),
        ("<a/><b/>", ["<a>1:1", "</a>", "1:5: there is a second root element"]),
        ("<a/>\nx", ["<a>1:1", "</a>", "2:1: something follows the end of the root element"]),
        ("<a b=1/>", ["1:6: the value of the attribute 'b' of <a> must stand in quotes"]),
        ("<a b/>", ["1:5: the attribute 'b' of <a> has no value"]),
        ("<a b='1' b='2'/>", ["1:10: <a> has the attribute 'b' more than once"]),
        ("<a b='1'c='2'/>", ["1:9: a space is missing after the value of the attribute 'b' of <a>"]),
        ("<a>\n<b c='1</a>", ["<a>1:1", "'\n'", "2:6: the value of the attribute 'c' of <b> has no end"]),
        ("<a>\n<b c='1", ["<a>1:1", "'\n'", "2:6: the value of the attribute 'c' of <b> has no end"]),
        ("<a b='x & y'/>", ["1:9: '&' must be written as '&amp;'"]),
        ("<a>x & y</a>", ["<a>1:1", "'x '", "1:6: '&' must be written as '&amp;'"]),
        ("<a>x&", ["<a>1:1", "'x'", "1:5: '&' must be written as '&amp;'"]),
        ("<a b='&c;'/>", ["1:7: '&c;' is not known; '&' must be written as '&amp;'"]),
        ("<a>&#0;</a>", ["<a>1:1", "1:4: '&#0;' is not known; '&' must be written as '&amp;'"]),
        ("<a>&#0x;</a>", ["<a>1:1", "1:4: '&#0x;' is not known; '&' must be written as '&amp;'"]),
        ("<a><1/></a>", ["<a>1:1", "1:5: the name of an element should be here instead of '1'"]),
        ("<a 1='x'/>", ["1:4: the name of an attribute of <a> should be here instead of '1='x''"]),
        ("<a><!-- x", ["<a>1:1", "1:4: a comment that starts here has no end"]),
        ("<a><!-- x -- y --></a>", ["<a>1:1", "1:13: '--' may not be inside a comment"]),
        ("<a><!-- x <!-- y --></a>", ["<a>1:1", "1:15: '--' may not be inside a comment"]),
        ("<a><!----x", ["<a>1:1", "1:10: '--' may not be inside a comment"]),
        ("<a>\u{FFFE}</a>", ["<a>1:1", "1:4: the character U+FFFE is not allowed in XML"]),
        ("<a><![CDATA[ x", ["<a>1:1", "' x'", "1:4: a CDATA section that starts here has no end"]),
        ("<a>]]></a>", ["<a>1:1", "1:6: ']]>' must be written as ']]&gt;'"]),
        ("<a><b", ["<a>1:1", "1:4: a tag that starts here has no '>'"]),
        ("<a>\u{1}</a>", ["<a>1:1", "1:4: the character U+0001 is not allowed in XML"]),
        (
            " <?xml version='1.0'?><a/>",
            ["1:2: '<?xml' may only be at the very start of the file (remove what stands before it)"]
        ),
        (
            "<?xml version='1.0' encoding='Shift_JIS'?><a/>",
            ["1:31: the encoding 'Shift_JIS' is not supported (convert the file to UTF-8 first, e.g. with iconv)"]
        ),
        (
            "<?xml version='1.0' encoding='UTF-16'?><a/>",
            ["1:31: the file is not in the encoding that it names (convert the file to UTF-8 first, e.g. with iconv)"]
        ),
    ])
    func mistakesAreToldWithTheirPlace(text: String, expected: [String]) {
        #expect(events(text) == expected)
    }

    @Test func aTextThatIsNotUTF8IsRefused() {
        #expect(
            events(Data("<a>Gr".utf8) + [0xF6, 0xDF] + Data("e</a>".utf8)) == [
                "<a>1:1", "'Gr'", "1:6: the text is not UTF-8 (convert the file to UTF-8 first, e.g. with iconv)",
            ])
    }

    // MARK: Encodings

    private static let umlauts = "<?xml version=\"1.0\" encoding=\"ENCODING\"?>\n<a b=\"ä\">ö</a>"

    @Test(arguments: [
        ("UTF-8", String.Encoding.utf8, [UInt8]()), ("UTF-8", .utf8, [0xEF, 0xBB, 0xBF]),
        ("ISO-8859-1", .isoLatin1, []), ("UTF-16", .utf16LittleEndian, [0xFF, 0xFE]),
        ("UTF-16", .utf16BigEndian, [0xFE, 0xFF]), ("UTF-16LE", .utf16LittleEndian, []),
        ("UTF-16BE", .utf16BigEndian, []),
    ])
    func everyEncodingGivesTheSameEvents(name: String, encoding: String.Encoding, mark: [UInt8]) throws {
        let text = Self.umlauts.replacing("ENCODING", with: name)
        let data = Data(mark) + (try #require(text.data(using: encoding)))
        #expect(events(data) == ["<a b='ä'>2:1", "'ö'", "</a>"])
        #expect(events(try XMLText.utf8(data), isUTF8: true) == ["<a b='ä'>2:1", "'ö'", "</a>"])
    }

    @Test func anEncodingThatIsNotKnownIsNamed() {
        let expected = XMLFailure(
            "the encoding 'windows-1251' is not supported", hint: "convert the file to UTF-8 first, e.g. with iconv")
        let text = Self.umlauts.replacing("ENCODING", with: "windows-1251")
        #expect(throws: expected) { try XMLText.utf8(Data(text.utf8)) }
        #expect(throws: XMLFailure.self) { try XMLText.utf8(Data([0xFF, 0xFE, 0x3C, 0x00, 0x61])) }
        #expect(throws: XMLFailure.self) { try XMLText.utf8(Data([0xFF, 0xFE, 0x00, 0xD8, 0x61, 0x00])) }
    }

    // MARK: Attacks

    @Test func elementsNestOnlySoDeep() {
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(events(deep).last == "1:769: the elements are nested more than 256 deep")
        #expect(events(deep).count == 257)
    }

    @Test func entitiesHoldNoOthers() {
        let laughs = "<!DOCTYPE a [<!ENTITY x 'ha'>\n<!ENTITY y '&x;&x;'>]><a>&y;</a>"
        #expect(events(laughs).last == "2:12: the entity 'y' contains another entity, which is not supported")
        var chain = "<!DOCTYPE a [<!ENTITY e0 'x'>"
        for number in 1..<20_000 { chain += "<!ENTITY e\(number) '&e\(number - 1);'>" }
        #expect(events(chain + "]><a>&e19999;</a>").last?.contains("contains another entity") == true)
    }

    @Test func entitiesMakeOnlySoMuchText() {
        let long = String(repeating: "x", count: 60_000)
        let many = String(repeating: "&x;", count: 50_000)
        for body in ["<a>\(many)</a>", "<a b='\(many)'/>"] {
            let result = events("<!DOCTYPE a [<!ENTITY x '\(long)'>]>\n" + body)
            #expect(result.last?.hasSuffix("the entities of the file make too much text of it") == true)
        }
    }

    /// Each tag costs what it holds, not what the document declares: in squares this would take minutes.
    @Test func manyTagsReferToManyEntities() {
        let names = (0..<20_000).map { "e\($0)" }
        let declarations = names.map { "<!ENTITY \($0) 'x'>" }.joined()
        let tags = names.map { "<b c='&\($0);'/>" }.joined()
        let read = events("<!DOCTYPE a [\(declarations)]>\n<a>\(tags)</a>")
        #expect(read.count == 2 + 2 * names.count)
        #expect(read[1].hasPrefix("<b c='x'>"))
    }

    @Test func nothingOutsideTheDocumentIsRead() {
        let file = "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>\n"
        #expect(
            events(file + "<a>&x;</a>")
                == ["<a>2:1", "2:4: the entity '&x;' is in another file, which is not read"])
        #expect(
            events(file + "<a b='&x;'/>") == ["2:7: the entity '&x;' is in another file, which is not read"])
        let type = "<!DOCTYPE a SYSTEM 'file:///etc/hostname'>\n"
        #expect(
            events(type + "<a>&x;</a>") == ["<a>2:1", "2:4: '&x;' is not known; '&' must be written as '&amp;'"])
        #expect(
            events(type + "<a b='&amp;&x;'/>") == ["2:12: '&x;' is not known; '&' must be written as '&amp;'"])
        #expect(
            events("<!DOCTYPE a [<!ENTITY % x SYSTEM 'file:///etc/hostname'> %x;]><a/>") == ["<a>1:63", "</a>"])
    }

    // MARK: Size

    @Test func aLargeDocumentIsReadInPieces() throws {
        let item = "<item name='Milk' unit='L'>from a cow</item>\n"
        let reader = try XMLReader(Data(("<items>" + String(repeating: item, count: 20_000) + "</items>").utf8))
        var count = 0
        var fractions: Set<Double> = []
        while let event = try reader.next() {
            if case .start(let tag) = event, tag.name == "item" {
                #expect(tag.line == count + 1)
                count += 1
            }
            fractions.insert(reader.fractionRead)
        }
        #expect(count == 20_000)
        #expect(fractions.count > 10, "the whole document was taken apart at once")
    }

    @Test func aTagLongerThanManyPiecesIsRead() throws {
        let value = String(repeating: "é", count: 1 << 20)
        #expect(events("<a b='\(value)'>\(value)</a>") == ["<a b='\(value)'>1:1", "'\(value)'", "</a>"])
    }
}
