import CoreData
import CoreDataStoreTools
import Foundation
import Testing

@testable import CoreDataCLI

/// Two stores beside each other, object by object: the first of an entity in one is the first of it in the other.
struct StoreComparison {
    /// What they have differently.
    private(set) var differences: [String] = []
    private(set) var objectCount = 0

    /// - Parameter model: of the first store, where that keeps none.
    init(_ first: String, model: [String] = [], _ second: String) throws {
        let old = try Content(first, model: model)
        let new = try Content(second, model: [])
        #expect(old.entities.map(\.name) == new.entities.map(\.name))
        for entity in old.entities {
            let name = entity.name ?? ""
            let pair = (old.objects[name] ?? [], new.objects[name] ?? [])
            objectCount += pair.0.count
            guard pair.0.count == pair.1.count else {
                differences.append("\(name): \(pair.0.count) objects, \(pair.1.count) objects")
                continue
            }
            for (index, (a, b)) in zip(pair.0, pair.1).enumerated() {
                for property in Array(entity.attributesByName.keys) + entity.relationshipsByName.keys {
                    let values = (old.text(property, of: a), new.text(property, of: b))
                    if values.0 != values.1 {
                        differences.append("\(name)#\(index).\(property): \(values.0), \(values.1)")
                    }
                }
            }
        }
    }

    /// The objects of a store by entity, in the order of their keys.
    private struct Content {
        let entities: [NSEntityDescription]
        private(set) var objects: [String: [NSManagedObject]] = [:]
        private var places: [NSManagedObjectID: String] = [:]
        private let context: NSManagedObjectContext

        init(_ path: String, model: [String]) throws {
            let opened = try OpenStore(reading: path, model: ReadingModelOptions.parse(model))
            entities = opened.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
            context = opened.makeContext()
            for entity in entities {
                let name = entity.name ?? ""
                let request = NSFetchRequest<NSManagedObject>(entityName: name)
                request.includesSubentities = false
                request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
                let found = try context.performAndWait { try context.fetch(request) }
                objects[name] = found
                for (index, object) in found.enumerated() { places[object.objectID] = "\(name)#\(index)" }
            }
        }

        /// The value, to the last bit; of an archive its content, since the order of entries depends on the process.
        func text(_ property: String, of object: NSManagedObject) -> String {
            context.performAndWait {
                guard let value = object.value(forKey: property) else { return "nil" }
                switch value {
                case let value as NSManagedObject: return place(value)
                case let value as [String: Any]:
                    return Self.text(value)
                case let value as NSOrderedSet:
                    return value.array.map { ($0 as? NSManagedObject).map(place) ?? "?" }.joined(separator: ", ")
                case let value as NSSet:
                    return value.allObjects.map { ($0 as? NSManagedObject).map(place) ?? "?" }.sorted()
                        .joined(separator: ", ")
                case let value as Date: return "date \(value.timeIntervalSinceReferenceDate.bitPattern)"
                case let value as Data:
                    return PlainArchive.content(of: value) ?? "data \(value.base64EncodedString())"
                case let value as String: return "text \(Array(value.utf8))"
                case let value as NSDecimalNumber: return "decimal \(value)"
                case let value as NSNumber:
                    return "number \(value) \(value.doubleValue.bitPattern)"
                default: return "\(type(of: value)) \(value)"
                }
            }
        }

        /// The elements of a composite attribute, by name.
        private static func text(_ elements: [String: Any]) -> String {
            let texts = elements.map { name, value in
                "\(name): " + ((value as? [String: Any]).map(text) ?? "\(type(of: value)) \(value)")
            }
            return "{" + texts.sorted().joined(separator: ", ") + "}"
        }

        private func place(_ object: NSManagedObject) -> String { places[object.objectID] ?? "somewhere else" }
    }
}
