import CoreData
import Foundation

/// A store that is a folder with a JSON file for each object. Copy it to begin a store of your own.
///
///     NSPersistentStoreCoordinator.registerStoreClass(JSONFolderStore.self, forStoreType: JSONFolderStore.storeType)
///     try coordinator.addPersistentStore(ofType: JSONFolderStore.storeType, configurationName: nil, at: folder)
///
/// ```
///  Library/store.json       {"metadata": …, "next": 7}
///  Library/Book/3.json      {"version": 2, "title": "Emma", "pages": 480, "author": "Author/1", "tags": ["Tag/5", "Tag/6"]}
/// ```
/// A fetch with a predicate or an order reads every file of its entity, so this is for some thousands of objects. Each file is
/// replaced as a whole; a save of several objects is not, if the program ends in its midst.
public final class JSONFolderStore: NSIncrementalStore, @unchecked Sendable {
    // Safe because Core Data asks a store on one thread at a time.

    public static let storeType = "JSONFolder"

    private var folder: URL { url ?? URL(fileURLWithPath: "/nonexistent") }

    // MARK: Metadata

    /// Reads what the store knows of itself, or makes a folder for a new one.
    public override func loadMetadata() throws {
        if !FileManager.default.fileExists(atPath: Self.storeFile(folder).path) {
            guard options?[NSReadOnlyPersistentStoreOption] as? Bool != true else {
                throw CocoaError(.fileReadNoSuchFile, userInfo: [NSFilePathErrorKey: folder.path])
            }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let uuid = Self.identifierForNewStore(at: folder)
            metadata = [NSStoreTypeKey: Self.storeType, NSStoreUUIDKey: uuid]
            try writeStoreFile(next: 1)
        }
        metadata = try Self.metadataForPersistentStore(with: folder)
    }

    public override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let encoded = try readStoreFile(url)["metadata"] as? String ?? ""
        let list = try PropertyListSerialization.propertyList(
            from: Data(base64Encoded: encoded) ?? Data(), options: [], format: nil)
        return list as? [String: Any] ?? [:]
    }

    public override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        var content = try readStoreFile(url)
        let kept = try metadataForPersistentStore(with: url).merging(metadata ?? [:]) { _, new in new }
        content["metadata"] = try encoded(kept)
        try write(content, to: storeFile(url))
    }

    /// Property lists have dates and data, which JSON has not.
    private static func encoded(_ metadata: [String: Any]) throws -> String {
        try PropertyListSerialization.data(fromPropertyList: metadata, format: .xml, options: 0).base64EncodedString()
    }

    private static func storeFile(_ folder: URL) -> URL { folder.appendingPathComponent("store.json") }

    private static func readStoreFile(_ folder: URL) throws -> [String: Any] { try read(storeFile(folder)) }

    private func writeStoreFile(next: Int64) throws {
        try Self.write(["metadata": Self.encoded(metadata), "next": next], to: Self.storeFile(folder))
    }

    // MARK: Requests

    public override func execute(
        _ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?
    ) throws -> Any {
        switch request {
        case let request as NSSaveChangesRequest:
            try save(request)
            return [Any]()
        case let request as AnyFetchRequest:
            guard let context else { return [Any]() }
            return try fetch(request, context)
        default:
            throw CocoaError(
                CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError),
                userInfo: [NSLocalizedDescriptionKey: "A folder of JSON cannot follow \(request)."])
        }
    }

    /// Looks at every object of the entity, by the predicate and the sort descriptors as they are.
    private func fetch(_ request: AnyFetchRequest, _ context: NSManagedObjectContext) throws -> Any {
        guard let entity = request.entity else { return [Any]() }
        var objects: [NSManagedObject] = []
        for entity in request.includesSubentities ? Self.tree(entity) : [entity] {
            for id in try ids(of: entity) { objects.append(context.object(with: id)) }
        }
        if let predicate = request.predicate { objects = objects.filter { predicate.evaluate(with: $0) } }
        if let sorts = request.sortDescriptors { objects = Self.sorted(objects, by: sorts) }
        objects = Array(objects.dropFirst(request.fetchOffset))
        if request.fetchLimit > 0 { objects = Array(objects.prefix(request.fetchLimit)) }
        switch request.resultType {
        case .countResultType: return [NSNumber(value: objects.count)]
        case .managedObjectIDResultType: return objects.map(\.objectID)
        case .dictionaryResultType: return try dictionaries(objects, request)
        default: return objects
        }
    }

    private func dictionaries(_ objects: [NSManagedObject], _ request: AnyFetchRequest) throws -> [NSDictionary] {
        let names = (request.propertiesToFetch ?? []).compactMap {
            ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name
        }
        guard request.propertiesToGroupBy == nil,
            request.propertiesToFetch?.contains(where: { $0 is NSExpressionDescription }) != true
        else {
            throw CocoaError(
                .featureUnsupported,
                userInfo: [NSLocalizedDescriptionKey: "A folder of JSON has no groups and no expressions."])
        }
        var found: [NSDictionary] = []
        for object in objects {
            let values = NSMutableDictionary()
            for name in names {
                let value = object.value(forKey: name)
                if let value = (value as? NSManagedObject)?.objectID ?? value { values[name] = value }
            }
            if !request.returnsDistinctResults || !found.contains(values) { found.append(values) }
        }
        return found
    }

    private static func tree(_ entity: NSEntityDescription) -> [NSEntityDescription] {
        [entity] + entity.subentities.flatMap(tree)
    }

    private static func sorted(
        _ objects: [NSManagedObject], by sorts: [NSSortDescriptor]
    ) -> [NSManagedObject] {
        objects.enumerated().sorted { a, b in
            for sort in sorts {
                switch sort.compare(a.element, to: b.element) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return a.offset < b.offset
        }.map(\.element)
    }

    // MARK: Objects

    public override func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        let content = try content(of: objectID)
        var values: [String: Any] = [:]
        for (name, property) in objectID.entity.propertiesByName where !property.isTransient {
            guard let value = content[name] else { continue }
            switch property {
            case let attribute as NSAttributeDescription: values[name] = try Self.decoded(value, attribute)
            case let relationship as NSRelationshipDescription where !relationship.isToMany:
                values[name] = id(value, relationship.destinationEntity)
            default: break
            }
        }
        for (name, relationship) in objectID.entity.relationshipsByName where !relationship.isToMany {
            if values[name] == nil { values[name] = NSNull() }
        }
        return NSIncrementalStoreNode(
            objectID: objectID, withValues: values, version: (content["version"] as? NSNumber)?.uint64Value ?? 1)
    }

    public override func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        let value = try content(of: objectID)[relationship.name]
        guard relationship.isToMany else { return value.flatMap { id($0, relationship.destinationEntity) } ?? NSNull() }
        // A member's values are asked for later: one without a file would be an object that is gone.
        return (value as? [Any] ?? []).compactMap { id($0, relationship.destinationEntity) }
            .filter { FileManager.default.fileExists(atPath: file(of: $0).path) }
    }

    public override func obtainPermanentIDs(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
        let first = (try Self.readStoreFile(folder)["next"] as? NSNumber)?.int64Value ?? 1
        try writeStoreFile(next: first + Int64(objects.count))
        return objects.enumerated().map { newObjectID(for: $1.entity, referenceObject: first + Int64($0)) }
    }

    // MARK: Saving

    private func save(_ request: NSSaveChangesRequest) throws {
        for object in request.insertedObjects ?? [] { try write(object, version: 1) }
        for object in request.updatedObjects ?? [] {
            let known = try content(of: object.objectID)["version"] as? NSNumber
            try write(object, version: (known?.uint64Value ?? 0) + 1)
        }
        for object in request.deletedObjects ?? [] {
            try? FileManager.default.removeItem(at: file(of: object.objectID))
        }
        let next = (try Self.readStoreFile(folder)["next"] as? NSNumber)?.int64Value ?? 1
        try writeStoreFile(next: next)
    }

    private func write(_ object: NSManagedObject, version: UInt64) throws {
        var content: [String: Any] = ["version": version]
        for (name, property) in object.entity.propertiesByName where !property.isTransient {
            switch (property, object.value(forKey: name)) {
            case (let attribute as NSAttributeDescription, let value?):
                content[name] = try Self.encoded(value, attribute)
            case (_, let one as NSManagedObject): content[name] = self.name(of: one.objectID)
            case (_, let many as NSOrderedSet):
                content[name] = many.compactMap { ($0 as? NSManagedObject).map { self.name(of: $0.objectID) } }
            case (_, let many as Set<NSManagedObject>): content[name] = many.map { self.name(of: $0.objectID) }.sorted()
            default: break
            }
        }
        let file = file(of: object.objectID)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Self.write(content, to: file)
    }

    private static func encoded(_ value: Any, _ attribute: NSAttributeDescription) throws -> Any {
        if let composite = attribute as? NSCompositeAttributeDescription, let values = value as? [String: Any] {
            return try elements(values, composite, encoded)
        }
        switch value {
        case let date as Date: return number(date.timeIntervalSinceReferenceDate)
        case let data as Data: return data.base64EncodedString()
        case let uuid as UUID: return uuid.uuidString
        case let url as URL: return url.absoluteString
        case let decimal as NSDecimalNumber: return decimal.stringValue
        case let text as String: return text
        case let value as NSNumber where attribute.type == .double || attribute.type == .float:
            return number(value.doubleValue)
        case let number as NSNumber: return number
        default:
            throw CocoaError(
                .featureUnsupported,
                userInfo: [
                    NSLocalizedDescriptionKey: "'\(attribute.name)' is a \(Swift.type(of: value)), which JSON has not."
                ])
        }
    }

    /// As a text, which has every digit, and what is no number.
    private static func number(_ value: Double) -> String { "\(value)" }

    /// The elements of a composite attribute, which has a dictionary of them.
    private static func elements(
        _ values: [String: Any], _ composite: NSCompositeAttributeDescription,
        _ convert: (Any, NSAttributeDescription) throws -> Any
    ) rethrows -> [String: Any] {
        var result: [String: Any] = [:]
        for element in composite.elements {
            if let value = values[element.name] { result[element.name] = try convert(value, element) }
        }
        return result
    }

    private static func decoded(_ value: Any, _ attribute: NSAttributeDescription) throws -> Any {
        if let composite = attribute as? NSCompositeAttributeDescription, let values = value as? [String: Any] {
            return try elements(values, composite, decoded)
        }
        let text = value as? String ?? ""
        let found: Any? =
            switch attribute.type {
            case .date: Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
            case .double, .float: Double(text).map { NSNumber(value: $0) }
            case .binaryData: Data(base64Encoded: text)
            case .uuid: UUID(uuidString: text)
            case .uri: URL(string: text)
            case .decimal: NSDecimalNumber(string: text)
            default: value
            }
        guard let found else { throw CocoaError(.fileReadCorruptFile) }
        return found
    }

    // MARK: Files

    private func ids(of entity: NSEntityDescription) throws -> [NSManagedObjectID] {
        guard let name = entity.name, !entity.isAbstract else { return [] }
        let files =
            (try? FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent(name).path)) ?? []
        return files.compactMap { Int64($0.dropLast(".json".count)) }.sorted()
            .map { newObjectID(for: entity, referenceObject: $0) }
    }

    /// `Book/3`.
    private func name(of id: NSManagedObjectID) -> String { "\(id.entity.name ?? "")/\(referenceObject(for: id))" }

    private func id(_ name: Any, _ destination: NSEntityDescription?) -> NSManagedObjectID? {
        let parts = (name as? String ?? "").split(separator: "/")
        guard parts.count == 2, let number = Int64(parts[1]), let destination,
            let entity = Self.tree(destination).first(where: { $0.name == String(parts[0]) })
        else { return nil }
        return newObjectID(for: entity, referenceObject: number)
    }

    private func file(of id: NSManagedObjectID) -> URL { folder.appendingPathComponent(name(of: id) + ".json") }

    private func content(of id: NSManagedObjectID) throws -> [String: Any] {
        let file = file(of: id)
        guard FileManager.default.fileExists(atPath: file.path) else {
            throw CocoaError(
                CocoaError.Code(rawValue: NSManagedObjectReferentialIntegrityError),
                userInfo: [NSLocalizedDescriptionKey: "There is no \(name(of: id)) (any more)."])
        }
        return try Self.read(file)
    }

    private static func read(_ file: URL) throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
    }

    private static func write(_ content: [String: Any], to file: URL) throws {
        try JSONSerialization.data(withJSONObject: content, options: [.sortedKeys, .prettyPrinted])
            .write(to: file, options: .atomic)
    }
}
