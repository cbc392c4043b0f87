import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

extension ImportSource {
    /// Returns the files of a folder that are named after entities; destinations of relationships come first.
    static func files(
        in folder: String, of opened: OpenStore, format: RecordFormat?, only entity: NSEntityDescription?,
        make: (_ path: String, _ format: RecordFormat) throws -> RecordSource
    ) throws -> [ImportSource] {
        var found: [String: [ImportSource]] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            guard let own = RecordFormat(fileName: file), format.map({ $0 == own }) ?? true else { continue }
            let stem = String(file[..<(file.lastIndex(of: ".") ?? file.endIndex)])
            let path = ModelOutput.path(file, in: folder)
            guard let owner = try? opened.entity(named: stem), let name = owner.name else {
                Terminal.note("note: left out \(path): the model has no entity of its name")
                continue
            }
            guard entity.map({ owner.isKindOf(entity: $0) }) ?? true else { continue }
            found[name, default: []].append(ImportSource(records: try make(path, own), entity: name))
        }
        guard !found.isEmpty else {
            throw ToolFailure("There is no file in \(folder) that is named like an entity, such as Item.csv.")
        }
        return EntityOrder.byDependency(opened.entities).flatMap { found[$0.name ?? ""] ?? [] }
    }
}
