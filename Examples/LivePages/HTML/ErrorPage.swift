import Foundation
import Hummingbird

/// What shows where something went wrong.
package enum ErrorPage {
    package static func page(_ site: Site, _ status: Int, _ text: String, badges: [String: Badge] = [:]) -> Page {
        let title: HTML
        switch status {
        case 403: title = "Not allowed"
        case 404: title = "Not found"
        case 405: title = "Not possible"
        case 408: title = "Too slow"
        case 413: title = "Too large"
        case 503: title = "One moment"
        case 400..<500: title = "That did not work"
        default: title = "Something went wrong"
        }
        let words = text.isEmpty && status == 404 ? "There is no such page." : text
        return Page(
            site: site, title: title.text, tab: "", badges: badges,
            content: """
                <div class=card><h1>\(title)</h1><p>\(words)</p>
                <p><a class="button main" href="\(site.home)">To the list</a></p></div>
                """)
    }

    package static func response(_ site: Site, _ status: Int, _ text: String) -> Response {
        let visit = Visit(
            path: "", query: Form(), number: 0, id: "", form: Form(), token: "", isNew: false, flash: nil,
            isPatch: false)
        return Response(
            status: .init(code: status), headers: [.contentType: "text/html; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: page(site, status, text).html(visit).text)))
    }
}
