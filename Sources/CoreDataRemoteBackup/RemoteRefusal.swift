import CoreDataRemote
import CoreDataToolkit
import Foundation

/// Makes the toolkit's errors from a server's error responses, and from failures of the connection.
enum RemoteRefusal {
    /// Runs a body, and makes its failures errors of the toolkit with the same message.
    static func converting<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch let failure as RemoteFailure { throw ToolkitError(failure.message) }
    }

    /// The same for what does not wait.
    static func converted<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let failure as RemoteFailure { throw ToolkitError(failure.message) }
    }

    /// - Parameter detail: the server's own message, truncated, on one line.
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

    static func missing(_ name: String, _ place: String) -> ToolkitError {
        ToolkitError("There is no backup '\(name)' in \(place).")
    }

    static func exists(_ name: String, _ place: String) -> ToolkitError {
        ToolkitError("There is a backup '\(name)' in \(place) already; delete it, or take another name.")
    }
}
