/// The page of a request that failed.
package enum ErrorPage {
    package static func response(_ status: Int, _ message: String) -> StudioResponse {
        let page = Page(
            title: "\(title(of: status))", section: nil,
            content: """
                <h1>\(title(of: status))</h1><p class=lines>\(message)</p>
                <p><a class=button href="/">To the start</a></p>
                """)
        return .html(page.html(), status: status)
    }

    private static func title(of status: Int) -> String {
        switch status {
        case 401: "Not open in this browser"
        case 403, 421: "Not allowed"
        case 404: "Not found"
        case 405: "Not possible"
        case 409: "Changed meanwhile"
        case 413: "Too large"
        case 400..<500: "That did not work"
        default: "Something went wrong"
        }
    }
}
