import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

@Suite(.timeLimit(.minutes(2))) struct HTMLTests {
    @Test(arguments: [
        ("plain", "plain"), ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("\"'&", "&quot;&#39;&amp;"), ("a\0b", "a\u{FFFD}b"), ("Käse 🧀", "Käse 🧀"), ("&amp;", "&amp;amp;"),
    ])
    func whatIsInterpolatedIsText(_ text: String, _ escaped: String) {
        let html: HTML = "<p title=\"\(text)\">\(text)</p>"
        #expect(html.text == "<p title=\"\(escaped)\">\(escaped)</p>")
    }

    @Test func markupStaysMarkup() {
        let rows = ["a", "<b>"].map { text -> HTML in "<li>\(text)" }
        let html: HTML = "<ul\(" hidden", if: false)\(" class=x", if: true)>\(rows)</ul>\(3)"
        #expect(html.text == "<ul class=x><li>a<li>&lt;b&gt;</ul>3")
        #expect(HTML.joined(rows, by: ", ").text == "<li>a, <li>&lt;b&gt;")
    }
}
