import CoreDataSQL
import Foundation

extension SQLiteDatabase {
    package func move(to path: String, check: (any SQLConnection) throws -> Void) throws {
        var options = options
        options.location = .file(path: path)
        options.createsFile = false
        let first = try SQLiteConnection(options, role: options.usesOneConnection ? .both : .writer)
        do {
            try check(first)
            if !options.usesOneConnection {
                try first.becomeReader()
                first.watchSchema(schemaWatch, isNew: true)
            }
            try replaceConnections(with: first, options)
        } catch {
            first.close()
            throw error
        }
    }
}
