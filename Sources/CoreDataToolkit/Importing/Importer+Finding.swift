import CoreData
import Foundation

extension Importer {
    /// The number of values in one statement.
    static let portion = 500

    /// Returns the objects with these values of their entity's unique attribute, found or created, in the order of the
    /// values.
    ///
    ///     let units = try importer.objects(of: "Unit", for: rows.map(\.unit), in: context)
    ///     // SELECT … FROM ZUNIT t0 WHERE t0.ZNAME IN (…)       one statement for up to 500 values
    ///
    /// Equal values give the same object. Created objects are saved with the context.
    ///
    /// - Throws: a ``ToolkitError`` unless exactly one attribute identifies the entity's objects; the errors of the
    ///   fetch.
    public func objects(
        of entity: String, for values: [any Sendable], in context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        let (description, attribute) = try uniqueAttribute(of: entity)
        guard !description.isAbstract else {
            throw ToolkitError("\(entity) is abstract: objects of it can be found, but not made.")
        }
        var known = try existing(attribute, of: entity, values, in: context)
        return try values.map { value in
            let part = ObjectKey.Part(value)
            if let object = known[part] { return object }
            guard description.attributesByName[attribute]?.accepts(value) != false else {
                throw ToolkitError("\(entity).\(attribute) cannot be \(value), which is a \(type(of: value)).")
            }
            let object = NSManagedObject(entity: description, insertInto: context)
            object.setValue(value, forKey: attribute)
            known[part] = object
            return object
        }
    }

    /// Returns the object with the value of its entity's unique attribute, found or created.
    ///
    /// For several objects, use ``objects(of:for:in:)``, which looks them up together.
    public func object(
        of entity: String, for value: any Sendable, in context: NSManagedObjectContext
    ) throws -> NSManagedObject {
        try objects(of: entity, for: [value], in: context)[0]
    }

    /// Returns the object with the value of its entity's unique attribute, if it exists.
    public func existingObject(
        of entity: String, for value: any Sendable, in context: NSManagedObjectContext
    ) throws -> NSManagedObject? {
        let (_, attribute) = try uniqueAttribute(of: entity)
        return try existing(attribute, of: entity, [value], in: context)[ObjectKey.Part(value)]
    }

    private func uniqueAttribute(of entity: String) throws -> (NSEntityDescription, String) {
        let description = try coordinator.managedObjectModel.entity(called: entity)
        let names = uniques.of(description)
        guard names.count == 1, let name = names.first else {
            throw ToolkitError(
                """
                Not one attribute tells the objects of \(entity) apart; name it: \
                unique: ["\(entity)": "\(UniqueAttributes.example(of: description)?.split(separator: ".").last ?? "name")"].
                """)
        }
        return (description, name)
    }

    private func existing(
        _ attribute: String, of entity: String, _ values: [any Sendable], in context: NSManagedObjectContext
    ) throws -> [ObjectKey.Part: NSManagedObject] {
        var found: [ObjectKey.Part: NSManagedObject] = [:]
        for start in stride(from: 0, to: values.count, by: Self.portion) {
            let part = values[start..<min(start + Self.portion, values.count)]
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [attribute, Array(part) as [Any]])
            // If several objects have the value, the oldest is used.
            request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            request.returnsObjectsAsFaults = false
            for object in try context.fetch(request) {
                guard let value = object.value(forKey: attribute) else { continue }
                let key = ObjectKey.Part(value)
                if found[key] == nil { found[key] = object }
            }
        }
        return found
    }
}
