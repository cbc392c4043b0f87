import CoreData
import CoreDataStoreTools
import Foundation

// Opens stores with the model that a command's options name.
extension OpenStore {
    init(reading path: String, model options: ReadingModelOptions) throws {
        try StoreFile.checkExists(path)
        try self.init(
            reading: path, model: options.resolved(for: path), isNamed: options.options.model != nil)
        notesUnreadableValues()
    }

    init(changing path: String, model options: ModelOptions) throws {
        try StoreFile.checkExists(path)
        try self.init(changing: path, model: options.resolved(for: path), isNamed: options.model != nil)
        notesUnreadableValues()
    }

    init(withHistory path: String, model options: ModelOptions) throws {
        try StoreFile.checkExists(path)
        try Self.checkHasHistory(path)
        try self.init(withHistory: path, model: options.resolved(for: path), isNamed: options.model != nil)
        notesUnreadableValues()
    }

    /// Skips unreadable values with a warning.
    private mutating func notesUnreadableValues() {
        unreadableValueListener = { Terminal.note("warning: \($0)") }
    }
}
