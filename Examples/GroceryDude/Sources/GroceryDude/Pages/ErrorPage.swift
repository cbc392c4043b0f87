import Foundation
import Hummingbird

/// What shows where something went wrong.
enum ErrorPage {
    static func page(_ status: Int, _ text: String, _ counts: OpenCounts = OpenCounts()) -> Page {
        let title: HTML
        switch status {
        case 403: title = "Not allowed"
        case 404: title = "Not found"
        case 405: title = "Not possible"
        case 413: title = "Too large"
        case 400..<500: title = "That did not work"
        default: title = "Something went wrong"
        }
        let words = text.isEmpty && status == 404 ? "There is no such page." : text
        return Page(
            title: title.text, tab: .more, counts: counts,
            content: """
                <div class=card><h1>\(title)</h1><p>\(words)</p>
                <p><a class="button main" href=/prepare>To the list</a></p></div>
                """)
    }

    static func response(_ status: Int, _ text: String) -> Response {
        let visit = Visit(
            path: "", query: Form(), number: 0, form: Form(), token: "", isNew: false, flash: nil, isPatch: false)
        return Response(
            status: .init(code: status), headers: [.contentType: "text/html; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: page(status, text).html(visit).text)))
    }
}
