import CoreData
import Foundation

/// A file of records, and whose they are where its name tells.
struct ImportSource {
    let records: RecordSource
    /// The entity that the file's name tells, of the files of a folder.
    var entity: String?
    var name: String { records.name }
    /// Whether an empty field is no value, as the format has no other way to write that.
    var emptyIsNil: Bool { !records.format.hasTypes && !records.keepsEmpty }

    func makeReader() throws -> any RecordReader { try records.makeReader() }

    /// The files of a folder that are named like entities, those first whose objects others lead to.
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
