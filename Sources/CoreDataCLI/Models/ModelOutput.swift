import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Where a command writes a model.
struct ModelOutput {
    let path: String
    var url: URL { URL(fileURLWithPath: path) }

    /// - Parameter isReplacing: whether something that is there may be replaced.
    init(_ path: String, isReplacing: Bool) throws {
        self.path = path
        if !isReplacing, FileManager.default.fileExists(atPath: path) {
            throw ToolFailure("There is something at \(path) already; --force replaces it.")
        }
    }

    /// A path in a folder as a user would write it.
    static func path(_ name: String, in folder: String) -> String {
        if folder == "." { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }
}

extension ModelVersions {
    /// Tells what the reader found suspicious, on standard error.
    func noteWarnings() {
        for diagnostic in diagnostics + versions.flatMap(\.document.diagnostics) where diagnostic.severity == .warning {
            Terminal.note(diagnostic.rendered)
        }
    }

    /// How many versions there are, in words.
    var countText: String { "\(versions.count) version\(versions.count == 1 ? "" : "s")" }
}
