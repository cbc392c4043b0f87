import CoreDataToolkit
import Foundation

/// What a server that did not do what was asked for says, in words.
enum RemoteRefusal {
    /// - Parameter detail: what the server itself says; bounded, on one line.
    static func error(
        _ place: String, _ doing: String, _ answer: RemoteConnection.Answer, _ detail: String?
    ) -> ToolkitError {
        let said =
            detail.map { ": " + $0.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(300) } ?? ""
        return ToolkitError("\(place) does not \(doing): \(answer.status) \(reason(answer.status))\(said)")
    }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 300..<400: "it leads elsewhere, which is not followed; give the address that it leads to"
        case 401: "name or password are wrong"
        case 403: "not allowed; see to the keys and to what they may do"
        case 404: "there is no such thing"
        case 405, 501: "it cannot do that; is this the right address?"
        case 409: "the folder above is missing"
        case 411: "it wants to know the length first"
        case 413: "too large for it"
        case 423: "it is locked"
        case 429, 503: "it is too busy; try again later"
        case 507: "it has no room left"
        case 500...: "it has a problem of its own"
        default: "refused"
        }
    }

    static func notUnderstood(_ place: String) -> ToolkitError {
        ToolkitError("\(place) answers with a list that cannot be read; see to the address.")
    }

    static func missing(_ name: String, _ place: String) -> ToolkitError {
        ToolkitError("There is no backup '\(name)' in \(place).")
    }

    static func exists(_ name: String, _ place: String) -> ToolkitError {
        ToolkitError("There is a backup '\(name)' in \(place) already; delete it, or take another name.")
    }
}
