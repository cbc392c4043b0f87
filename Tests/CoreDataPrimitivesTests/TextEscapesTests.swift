import Testing

@testable import CoreDataPrimitives

@Suite struct TextEscapesTests {
    @Test(arguments: [
        ("", "", ""), ("milk", "milk", "milk"),
        ("<a href=\"x\">&amp;</a>", "&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/a&gt;", nil),
        ("a\nb\r\tc", "a\nb\r\tc", "a&#10;b&#13;&#9;c"), ("Käse 🧀 'x'", "Käse 🧀 'x'", "Käse 🧀 'x'"),
    ])
    func markup(_ text: String, _ escaped: String, _ inAttribute: String?) {
        #expect(TextEscapes.replacing(in: text, TextEscapes.markup) == escaped)
        #expect(TextEscapes.replacing(in: text, TextEscapes.attribute) == inAttribute ?? escaped)
    }

    @Test(arguments: [
        ("", "\"\"", "\"\""), ("milk", "\"milk\"", "\"milk\""),
        ("say \"a\\b\"", #""say \"a\\b\"""#, #""say \"a\\b\"""#),
        ("a\nb\r\tc", #""a\nb\r\tc""#, #""a\nb\r\tc""#), ("\u{1}\u{7F}ä", "\"\u{1}\u{7F}ä\"", "\"<1><7f>ä\""),
    ])
    func quoted(_ text: String, _ plain: String, _ controlled: String) {
        #expect(TextEscapes.quoted(text) == plain)
        #expect(TextEscapes.quoted(text) { "<\(String($0.value, radix: 16))>" } == controlled)
    }
}
