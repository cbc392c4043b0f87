import CoreDataPorting
import Foundation

/// Prints what a Swift file declares of models, as JSON for `coredata`.
struct DeclarationListing {
    private let path: String

    init(arguments: ArraySlice<String>) throws(UsageFailure) {
        guard let path = arguments.first, arguments.count == 1 else { throw UsageFailure() }
        self.path = path
    }

    func run() throws {
        let folder = try SourceFolder(at: path)
        guard let source = folder.sources.first, folder.sources.count == 1 else {
            throw PortFailure("\(path) is a folder, not a Swift file.")
        }
        FileHandle.standardOutput.write(try JSONEncoder().encode(ModelDeclarationReader.read(source)))
    }
}
