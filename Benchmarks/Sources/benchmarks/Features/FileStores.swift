import CoreData
import Foundation
import FoundationXML
import Measuring
import Sides

/// A store of one file, opened, changed in one place and saved, beside Foundation's parser and property lists with the same values.
struct FileStores {
    let isXML: Bool
    let rows: Int
    let stores: Stores

    func round(isFoundation: Bool) throws -> (seconds: Double, digest: Digest) {
        let original = try prepare()
        let store = stores.folder.appendingPathComponent("file-work.\(isXML ? "xml" : "binary")")
        try? FileManager.default.removeItem(at: store)
        try FileManager.default.copyItem(at: original, to: store)
        defer { try? FileManager.default.removeItem(at: store) }
        return try isFoundation ? foundation(store) : ours(store)
    }

    private var type: NSPersistentStore.StoreType { isXML ? .xml : .binary }

    /// The file, made once, and for Foundation's binary property list one more.
    private func prepare() throws -> URL {
        let url = stores.folder.appendingPathComponent("file-\(rows).\(isXML ? "xml" : "binary")")
        guard !FileManager.default.fileExists(atPath: url.path) else { return url }
        try stores.prepare(.full, rows: rows)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GroceryModel.make())
        let copy = try stores.copy(.full, rows: rows, for: "files")
        defer { try? stores.remove(copy) }
        let store = try coordinator.addPersistentStore(type: .sqlite, at: copy)
        let made = try coordinator.migratePersistentStore(store, to: url, type: type)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let objects: [[String: Any]] = try context.performAndWait {
            try ["Item", "LocationAtHome", "LocationAtShop", "Unit"].flatMap { name in
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: name)).map { object in
                    var values = object.dictionaryWithValues(forKeys: Array(object.entity.attributesByName.keys))
                        .filter { !($0.value is NSNull) }
                    for relationship in object.entity.relationshipsByName.values where !relationship.isToMany {
                        let target = object.value(forKey: relationship.name) as? NSManagedObject
                        values[relationship.name] = target?.objectID.uriRepresentation().lastPathComponent
                    }
                    values["id"] = object.objectID.uriRepresentation().lastPathComponent
                    values["entity"] = name
                    return values
                }
            }
        }
        if !isXML {
            try PropertyListSerialization.data(fromPropertyList: objects, format: .binary, options: 0).write(
                to: url.appendingPathExtension("plist"))
        }
        try coordinator.remove(made)
        return url
    }

    private func ours(_ store: URL) throws -> (seconds: Double, digest: Digest) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: GroceryModel.make())
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        let (seconds, _) = try Stopwatch.time {
            try coordinator.addPersistentStore(type: type, at: store)
            try context.performAndWait {
                let request = NSFetchRequest<Item>(entityName: "Item")
                request.fetchLimit = 1
                try context.fetch(request).first?.quantity += 1
                try context.save()
            }
        }
        var digest = Digest()
        digest.rows = try context.performAndWait {
            try ["Item", "LocationAtHome", "LocationAtShop", "Unit"].reduce(0) {
                try $0 + context.count(for: NSFetchRequest<NSManagedObject>(entityName: $1))
            }
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        return (seconds, digest)
    }

    private func foundation(_ store: URL) throws -> (seconds: Double, digest: Digest) {
        var digest = Digest()
        let plist = stores.folder.appendingPathComponent("file-\(rows).binary.plist")
        let made = stores.folder.appendingPathComponent("file-made.plist")
        defer { try? FileManager.default.removeItem(at: made) }
        let (seconds, _) = try Stopwatch.time {
            var objects: [[String: Any]]
            if isXML {
                let reader = Reader()
                guard let parser = XMLParser(contentsOf: store) else {
                    throw MeasuringFailure("No XML at \(store.path).")
                }
                parser.delegate = reader
                guard parser.parse() else { throw MeasuringFailure("\(String(describing: parser.parserError))") }
                objects = reader.objects
            } else {
                let found = try PropertyListSerialization.propertyList(from: Data(contentsOf: plist), format: nil)
                objects = found as? [[String: Any]] ?? []
            }
            objects[0]["name"] = "changed"
            digest.rows = objects.count
            try PropertyListSerialization.data(
                fromPropertyList: objects, format: isXML ? .xml : .binary, options: 0
            ).write(to: made)
        }
        return (seconds, digest)
    }

    /// Each object as a dictionary.
    private final class Reader: NSObject, XMLParserDelegate {
        var objects: [[String: Any]] = []
        private var object: [String: Any] = [:]
        private var name = ""
        private var text = ""

        func parser(
            _ parser: XMLParser, didStartElement element: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            switch element {
            case "object": object = ["entity": attributes["type"] ?? "", "id": attributes["id"] ?? ""]
            case "attribute":
                name = attributes["name"] ?? ""
                text = ""
            case "relationship": object[attributes["name"] ?? ""] = attributes["idrefs"] ?? ""
            default: break
            }
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

        func parser(
            _ parser: XMLParser, didEndElement element: String, namespaceURI: String?, qualifiedName: String?
        ) {
            switch element {
            case "attribute": object[name] = text
            case "object": objects.append(object)
            default: break
            }
        }
    }
}
