import CoreDataModel
import CoreDataPrimitives
import Foundation

extension GeneratedFile {
    /// What became of a file.
    package enum Outcome: String, Sendable {
        case written
        case unchanged
        /// There is a file of that name that is its author's.
        case kept
    }

    /// Writes the file, whole or not at all, unless it says that already or somebody else wrote what is there.
    package func write(into folder: URL) throws -> Outcome {
        let url = folder.appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: url.path) {
            if isWrittenOnce { return .kept }
            let existing = String(decoding: try Data(contentsOf: url), as: UTF8.self)
            if existing == text { return .unchanged }
            if !existing.hasPrefix(ClassGeneration.mark) { return .kept }
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url, options: .atomic)
        return .written
    }
}
