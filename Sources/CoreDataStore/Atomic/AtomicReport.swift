import CoreDataModel
import CoreDataXML
import Foundation

extension StoreReport {
    /// Makes a report on a single-file store. It needs no model, because such a store has no cached model.
    ///
    /// The entities are those in the metadata, and others that have objects, by their names in the file.
    package static func make(_ format: any AtomicFormat.Type, path: String) throws -> StoreReport {
        let data = try AtomicFile(path: path).read().data
        let row = try format.metadata(in: data, path: path)
        let dictionary = row.metadata.dictionary
        let hashes = row.metadata.versionHashes ?? [:]
        let counts = try format.objectCounts(in: data, path: path)
        var names = Dictionary(hashes.keys.map { ($0, $0) }, uniquingKeysWith: { first, _ in first })
        // An XML store writes them in capitals.
        for name in hashes.keys where counts[name] == nil { names[name.uppercased()] = name }
        var objects: [String: Int] = Dictionary(hashes.keys.map { ($0, 0) }, uniquingKeysWith: { first, _ in first })
        for (name, count) in counts { objects[names[name] ?? name, default: 0] += count }
        return StoreReport(
            path: path, type: row.metadata.type ?? format.storeType, identifier: row.identifier,
            frameworkVersion: row.metadata.frameworkVersion,
            versionIdentifiers: dictionary[StoreMetadata.Key.versionIdentifiers] as? [String] ?? [],
            versionChecksum: dictionary[StoreMetadata.Key.versionChecksum] as? String,
            applicationMetadataKeys: row.metadata.applicationKeys, journalMode: nil, pageSize: nil, pragmas: [:],
            fileSize: data.count, logSize: nil, externalDataSize: nil, externalDataCount: nil,
            entities: objects.sorted { $0.key < $1.key }.map { name, count in
                EntityReport(
                    name: name, formerName: nil, number: 0, parent: nil, table: nil, rowCount: count, maximumKey: nil,
                    versionHash: hashes[name])
            }, hasHistory: false, transactionCount: nil, changeCount: nil, modelSource: .none, searchIndexes: [])
    }
}

extension XMLStoreFormat {
    package static func objectCounts(in data: Data, path: String) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        do {
            let reader = try XMLReader(Data(try XMLText.utf8(data)), isUTF8: true)
            var depth = 0
            while let event = try reader.next() {
                switch event {
                case .start(let tag):
                    depth += 1
                    if depth == 2, tag.name == "object", let entity = tag["type"] { counts[entity, default: 0] += 1 }
                case .end: depth -= 1
                case .text, .comment: break
                }
            }
        } catch { throw failure(error, path) }
        return counts
    }
}
