import CoreDataModel
import CoreDataPrimitives
import Foundation

extension GeneratedFile {
    /// The result of writing a file.
    package enum Outcome: String, Sendable {
        case written
        case unchanged
        /// A file with that name exists and belongs to its author.
        case kept
    }

    /// Writes the file completely or not at all. It does not write an identical file, and does not overwrite a file
    /// that was not generated.
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
