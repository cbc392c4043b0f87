import CoreData
import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Objects with made-up values, the same at every run.
struct MadeUpObjects {
    let context: NSManagedObjectContext
    /// Of each entity.
    let count: Int

    func insert(_ entities: [NSEntityDescription]) {
        var made: [(object: NSManagedObject, entity: NSEntityDescription)] = []
        for entity in entities where !entity.isAbstract {
            for index in 0..<count {
                let object = NSManagedObject(entity: entity, insertInto: context)
                for (name, attribute) in entity.attributesByName where !attribute.isTransient {
                    guard !(attribute is NSDerivedAttributeDescription), index % 5 != 4 || !attribute.isOptional,
                        let value = value(of: attribute, index)
                    else { continue }
                    object.setValue(value, forKey: name)
                }
                made.append((object, entity))
            }
        }
        for (index, (object, entity)) in made.enumerated() {
            for (name, relationship) in entity.relationshipsByName where !relationship.isTransient {
                guard let destination = relationship.destinationEntity else { continue }
                let candidates = made.filter { $0.entity.isKindOf(entity: destination) }.map(\.object)
                guard !candidates.isEmpty else { continue }
                let target = candidates[index % candidates.count]
                if !relationship.isToMany {
                    object.setValue(target, forKey: name)
                } else if relationship.isOrdered {
                    object.mutableOrderedSetValue(forKey: name).add(target)
                } else {
                    object.mutableSetValue(forKey: name).add(target)
                }
            }
        }
    }

    private func elements(of attribute: NSAttributeDescription, _ index: Int) -> [String: Any]? {
        guard let composite = attribute as? NSCompositeAttributeDescription else { return nil }
        var values: [String: Any] = [:]
        for element in composite.elements { values[element.name] = value(of: element, index) }
        return values
    }

    /// Differs from object to object, for the sake of constraints.
    private func value(of attribute: NSAttributeDescription, _ index: Int) -> Any? {
        switch attribute.kind {
        case .integer: index + 1
        case .real, .single: Double(index) + 0.5
        case .decimal: NSDecimalNumber(value: index)
        case .text: "\(attribute.name) \(index)"
        case .boolean: index.isMultiple(of: 2)
        case .date: Date(timeIntervalSinceReferenceDate: Double(index) * 86_400)
        case .bytes: Data([UInt8(index % 256), 1, 2])
        case .identifier: UUID(uuidString: String(format: "00000000-0000-4000-8000-%012d", index))
        case .link: URL(string: "https://example.org/\(index)")
        case .object where attribute.attributeType == .transformableAttributeType: Data([UInt8(index % 256), 1, 2])
        case .composite: elements(of: attribute, index)
        case .object, .reference: nil
        }
    }
}
