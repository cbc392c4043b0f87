import CoreData
import Foundation

/// The words of `userInfo` that synchronisation cannot use.
struct RuleMistakes {
    private(set) var lines: [String] = []

    /// - Parameter property: `nil` for a word of the entity itself.
    mutating func add(_ entity: NSEntityDescription, _ property: String?, _ key: String, _ message: String) {
        let place =
            property.map { "property \"\($0)\" of entity \"\(entity.name ?? "")\"" }
            ?? "entity \"\(entity.name ?? "")\""
        lines.append("\(key) of \(place): \(message).")
    }

    /// Throws 134060 with all of them.
    func throwIfAny() throws {
        guard !lines.isEmpty else { return }
        throw SyncErrors.make(134060, "The model cannot be synchronised:\n" + lines.joined(separator: "\n"))
    }
}

/// Makes the errors of synchronisation that users see.
enum SyncErrors {
    static func make(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> CocoaError {
        var userInfo = userInfo
        userInfo[NSLocalizedDescriptionKey] = message
        return CocoaError(CocoaError.Code(rawValue: code), userInfo: userInfo)
    }
}
