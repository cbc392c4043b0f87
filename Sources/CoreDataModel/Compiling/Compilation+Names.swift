import CoreDataPrimitives

extension Compilation {
    mutating func checkNames() {
        for (index, entity) in entities.enumerated() {
            if entity.name.isEmpty {
                report("an entity has no name", at: entity.location, fatal: true)
                continue
            }
            checkIdentifier(entity.name, what: "entity name", at: entity.location)
            if indexByName[entity.name] != nil {
                report(
                    "two entities are named '\(entity.name)'", at: entity.location, hint: "rename one of them",
                    fatal: true, rule: .duplicateName, subject: entity.name)
            } else {
                indexByName[entity.name] = index
            }
        }
        for index in entities.indices { checkPropertyNames(of: index) }
        for composite in document.composites {
            if composite.name.isEmpty {
                report("a composite has no name", at: composite.location, fatal: true)
                continue
            }
            checkIdentifier(composite.name, what: "composite name", at: composite.location)
            if composites[composite.name] != nil {
                report("two composites are named '\(composite.name)'", at: composite.location, fatal: true)
            } else {
                composites[composite.name] = composite
            }
        }
    }

    private mutating func checkPropertyNames(of index: Int) {
        let properties = entities[index].properties
        var seen = Set<String>(minimumCapacity: properties.count)
        // By index: the element is copied only if there is a problem to report.
        for position in properties.indices {
            let name = properties[position].name
            let isNew = seen.insert(name).inserted
            if !name.isEmpty, isNew, Self.isIdentifier(name), !ReservedNames.contains(name) { continue }
            reportName(of: properties[position], in: index, isNew: isNew)
        }
    }

    private mutating func reportName(of property: PropertyElement, in index: Int, isNew: Bool) {
        let entity = entities[index].name
        let place = location(property, in: index)
        if property.name.isEmpty {
            report("a property of entity '\(entity)' has no name", at: place)
            return
        }
        checkIdentifier(property.name, what: "property name", of: entity, at: place)
        if ReservedNames.contains(property.name) {
            report(
                "property '\(path(property, in: index))' has the name of a method of NSManagedObject", at: place,
                hint: "rename it, for example to '\(ReservedNames.alternative(to: property.name, in: entity))'",
                rule: .reservedName, subject: path(property, in: index))
        }
        if !isNew {
            report(
                "entity '\(entity)' has two properties named '\(property.name)'", at: place,
                rule: .duplicateName, subject: path(property, in: index))
        }
    }

    private mutating func checkIdentifier(
        _ name: String, what: String, of entity: String? = nil, at location: SourceLocation?
    ) {
        if Self.isIdentifier(name) { return }
        let owner = entity.map { " of entity '\($0)'" } ?? ""
        report(
            "\(what) '\(name)'\(owner) is not an identifier", at: location,
            hint: "use letters, digits and underscores, and start with a letter")
    }

    package static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first else { return false }
        // Nearly all names are ASCII, which needs no Unicode tables.
        if name.utf8.allSatisfy({ $0 < 0x80 }) {
            return !isDigit(first) && name.utf8.allSatisfy { isLetter($0) || isDigit($0) }
        }
        guard let first = name.first, first.isLetter || first == "_" else { return false }
        return name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

/// Names that a property cannot have, because NSObject or NSManagedObject has a method of that name without arguments:
/// the property's accessor would override it.
package enum ReservedNames {
    private static let managedObject: Set<String> = [
        "entity", "objectID", "managedObjectContext", "isInserted", "isUpdated", "isDeleted", "hasChanges",
        "hasPersistentChangedValues", "isFault", "faultingState", "awakeFromFetch", "awakeFromInsert",
        "changedValues", "changedValuesForCurrentEvent", "prepareForDeletion", "willSave", "didSave",
        "willTurnIntoFault", "didTurnIntoFault", "observationInfo",
    ]
    private static let object: Set<String> = [
        "description", "debugDescription", "hash", "superclass", "class", "self", "zone", "copy", "mutableCopy",
        "init", "dealloc", "finalize", "retain", "release", "autorelease", "retainCount", "isProxy",
        "classForCoder", "classForKeyedArchiver",
    ]

    private static let all = managedObject.union(object)

    package static func contains(_ name: String) -> Bool { all.contains(name) }

    /// Returns a name to suggest instead: `description` of Book → `bookDescription`.
    static func alternative(to name: String, in entity: String) -> String {
        entity.prefix(1).lowercased() + entity.dropFirst() + name.prefix(1).uppercased() + name.dropFirst()
    }
}
