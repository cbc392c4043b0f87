import Foundation
import TestSupport

@testable import CoreData

/// The objects of a store as plain values, and what an inferred migration has to make of them, told by nothing but names and
/// renaming identifiers: the reference of the tests that go through versions of models.
struct StoreSketch: Equatable {
    struct Object: Equatable {
        var entity: String
        var values: [String: String] = [:]
        /// By relationship, the keys of others.
        var members: [String: Set<String>] = [:]
    }

    /// By key, which no migration in a store's place changes: the entity's root and the number.
    var objects: [String: Object] = [:]

    // MARK: Reading

    /// - Parameter roots: what the roots of hierarchies are called, where their names have changed since.
    init(_ context: NSManagedObjectContext, _ model: NSManagedObjectModel, roots: [String: String] = [:]) throws {
        func key(_ object: NSManagedObject) -> String {
            let root = Self.root(object.entity)
            return (roots[root] ?? root) + "/" + object.objectID.uriRepresentation().lastPathComponent
        }
        for entity in model.entities where entity.superentity == nil {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            for object in try context.fetch(request) {
                var sketch = Object(entity: object.entity.name ?? "")
                for (name, attribute) in object.entity.attributesByName where Self.isCompared(attribute) {
                    sketch.values[name] = object.value(forKey: name).map(Self.text)
                }
                for (name, relationship) in object.entity.relationshipsByName where !relationship.isTransient {
                    let value = object.value(forKey: name)
                    let members = (value as? NSManagedObject).map { [$0] } ?? MigrationExpressions.objects(value)
                    sketch.members[name] = Set(members.map(key))
                }
                objects[key(object)] = sketch
            }
            context.reset()
        }
    }

    static func isCompared(_ attribute: NSAttributeDescription) -> Bool {
        !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
            && ![.transformableAttributeType, .compositeAttributeType, .objectIDAttributeType, .undefinedAttributeType]
                .contains(attribute.attributeType)
    }

    private static func text(_ value: Any) -> String {
        switch value {
        case let data as Data: "\(data.count) bytes, \(data.hashValue)"
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let number as NSNumber: number.stringValue
        default: "\(value)"
        }
    }

    static func root(_ entity: NSEntityDescription) -> String {
        entity.superentity.map(root) ?? entity.name ?? ""
    }

    // MARK: What becomes of them

    /// The older entity of each newer one, by name.
    static func sources(_ old: NSManagedObjectModel, _ new: NSManagedObjectModel) -> [String: String] {
        var result: [String: String] = [:]
        for entity in new.entities {
            let found = old.entities.first { $0.renamingIdentifier == entity.renamingIdentifier }
            result[entity.name ?? ""] = found?.name
        }
        return result
    }

    /// What the roots of the newer model are called in the older one, for ``init(_:_:roots:)``.
    static func roots(_ old: NSManagedObjectModel, _ new: NSManagedObjectModel) -> [String: String] {
        let sources = sources(old, new)
        var result: [String: String] = [:]
        for entity in new.entities {
            guard let source = old.entitiesByName[sources[entity.name ?? ""] ?? ""] else { continue }
            result[root(entity)] = root(source)
        }
        return result
    }

    /// The objects after an inferred migration.
    func migrated(_ old: NSManagedObjectModel, _ new: NSManagedObjectModel) -> StoreSketch {
        let sources = Self.sources(old, new)
        let heirs = Dictionary(sources.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        var result = self
        result.objects = [:]
        for (key, object) in objects {
            guard let name = heirs[object.entity], let heir = new.entitiesByName[name],
                let source = old.entitiesByName[object.entity]
            else { continue }
            var made = Object(entity: name)
            for (name, attribute) in heir.attributesByName where Self.isCompared(attribute) {
                let before = source.attributesByName.values.first {
                    $0.renamingIdentifier == attribute.renamingIdentifier && Self.isCompared($0)
                }
                let fallback = attribute.defaultValue.map(Self.text)
                if let before {
                    let value = object.values[before.name]
                    made.values[name] = value ?? (!attribute.isOptional && before.isOptional ? fallback : nil)
                } else {
                    made.values[name] = fallback
                }
            }
            for (name, relationship) in heir.relationshipsByName where !relationship.isTransient {
                let before = source.relationshipsByName.values.first {
                    $0.renamingIdentifier == relationship.renamingIdentifier
                }
                let kept = (before.flatMap { object.members[$0.name] } ?? []).filter { member in
                    heirs[objects[member]?.entity ?? ""] != nil
                }
                made.members[name] = kept
            }
            result.objects[key] = made
        }
        return result
    }

    /// The first few differences.
    func differences(from other: StoreSketch) -> [String] {
        var found: [String] = []
        for key in Set(objects.keys).union(other.objects.keys).sorted() where objects[key] != other.objects[key] {
            found.append(
                "\(key) is \(objects[key].map { "\($0)" } ?? "gone"), not \(other.objects[key].map { "\($0)" } ?? "there")"
            )
        }
        return Array(found.prefix(3))
    }
}

/// Objects of any model, the same for the same seed.
struct SketchedObjects {
    var numbers: SeededNumbers
    var count = 6

    mutating func insert(into context: NSManagedObjectContext, _ model: NSManagedObjectModel) throws {
        var made: [NSManagedObject] = []
        for entity in model.entities.sorted(by: { $0.name ?? "" < $1.name ?? "" }) where !entity.isAbstract {
            for _ in 0..<count {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
                for (name, attribute) in entity.attributesByName.sorted(by: { $0.key < $1.key })
                where StoreSketch.isCompared(attribute) {
                    if attribute.isOptional, numbers.chance(5) {
                        object.setValue(nil, forKey: name)
                    } else if let value = value(attribute.attributeType) {
                        object.setValue(value, forKey: name)
                    }
                }
                made.append(object)
            }
        }
        for object in made {
            for (name, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key })
            where !relationship.isTransient {
                let candidates = made.filter { target in
                    guard let destination = relationship.destinationEntity else { return false }
                    return target.entity.isKindOf(entity: destination)
                }
                guard !candidates.isEmpty, !numbers.chance(4) else { continue }
                if !relationship.isToMany {
                    object.setValue(numbers.pick(candidates), forKey: name)
                } else {
                    let some = (0..<numbers.below(4)).map { _ in numbers.pick(candidates) }
                    object.setValue(
                        relationship.isOrdered ? NSOrderedSet(array: some) : NSSet(array: some), forKey: name)
                }
            }
        }
    }

    private mutating func value(_ type: NSAttributeType) -> Any? {
        let number = numbers.below(1_000_000)
        switch type {
        case .integer16AttributeType: return number % 30_000
        case .integer32AttributeType, .integer64AttributeType: return number
        case .doubleAttributeType: return Double(number) + 0.5
        case .floatAttributeType: return Float(number % 1000) + 0.5
        case .decimalAttributeType: return NSDecimalNumber(value: number)
        case .booleanAttributeType: return number % 2 == 0
        case .stringAttributeType: return "text \(number) ü"
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(number))
        case .binaryDataAttributeType:
            // Every other one is for a file, where the model allows it.
            return Data(repeating: UInt8(number % 256), count: number % 2 == 0 ? 5 : 110 << 10)
        case .UUIDAttributeType: return UUID()
        case .URIAttributeType: return URL(string: "https://example.org/\(number)")
        default: return nil
        }
    }
}
