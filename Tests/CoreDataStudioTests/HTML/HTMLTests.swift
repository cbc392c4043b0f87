import CoreDataStudio
import Testing

@Suite struct HTMLTests {
    @Test(arguments: [
        ("plain", "plain"), ("<b>&\"'", "&lt;b&gt;&amp;&quot;&#39;"), ("a\0b\u{1B}c", "a\u{FFFD}b\u{FFFD}c"),
        ("line\nline\t", "line\nline\t"), ("\u{202E}abc", "\u{FFFD}abc"), ("Größe 🧀", "Größe 🧀"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"), ("</title>", "&lt;/title&gt;"),
    ])
    func textIsEscaped(text: String, markup: String) {
        let element: HTML = "<p title=\"\(text)\">\(text)</p>"
        #expect(element.text == "<p title=\"\(markup)\">\(markup)</p>")
    }

    @Test func markupIsNotEscapedAgain() {
        let ampersand = "&"
        let inner: HTML = "<b>\(ampersand)</b>"
        let none: HTML? = nil
        #expect(("<p>\(inner)\(none)\(3)\(inner, if: false)</p>" as HTML).text == "<p><b>&amp;</b>3</p>")
        let text: String? = "<i>"
        #expect(
            ("\(text == nil ? "" : "<b>\(text ?? "")</b>")\(text ?? "none")" as HTML).text
                == "<b>&lt;i&gt;</b>&lt;i&gt;")
        #expect(HTML.joined([inner, "<i>"], by: ", ").text == "<b>&amp;</b>, <i>")
    }

    @Test(
        arguments: [
            (["a/b", "?", "#", "é"], "/a%2Fb/%3F/%23/%C3%A9"), (["..", "."], "/%2E%2E/%2E"), (["a b+"], "/a%20b%2B"),
            ([], "/"),
        ] as [([String], String)])
    func addressesKeepTheirMeaning(path: [String], text: String) {
        #expect(Address(path: path).text == text)
    }

    @Test func itemsOfAQueryAreReplaced() {
        let address = Address("store").with("sort", "a&b=c").with("page", "1").with("page", nil).at("x y")
        #expect(address.text == "/store?sort=a%26b%3Dc#x%20y")
    }

    @Test(arguments: [
        ("a%20b", "a b"), ("%", nil), ("%4", nil), ("%zz", nil), ("%ff", nil), ("%C3%A9", "é"), ("a+b", "a+b"),
    ])
    func escapesAreDecoded(text: String, plain: String?) {
        #expect(Address.plain(text) == plain)
    }
}
