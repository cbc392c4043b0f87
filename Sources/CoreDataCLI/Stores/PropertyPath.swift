import CoreData
import Foundation

/// A key path of an entity, checked: to-one or to-many steps, then a property, an object's ID, or what its members come to.
///
///     name, unit.name, locationAtShop.items, unit.objectID, tasks.@count, tasks.@sum.hours
struct PropertyPath {
    let text: String
    /// The relationships before the last part.
    let steps: [NSRelationshipDescription]
    /// `nil` for `objectID`, and for ``aggregate``.
    let property: NSPropertyDescription?
    let aggregate: PathAggregate?

    /// Names are found in any case where none has the very spelling.
    ///
    /// - Throws: ``ToolFailure`` that names the part that does not exist, and what does.
    init(_ text: String, of entity: NSEntityDescription) throws {
        let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let end = names.firstIndex { $0.hasPrefix("@") } ?? names.count - 1
        var steps: [NSRelationshipDescription] = []
        var current = entity
        for name in names[..<end] {
            let property = try Self.property(name, of: current, in: text)
            guard let relationship = property as? NSRelationshipDescription,
                let destination = relationship.destinationEntity
            else {
                throw ToolFailure(
                    "'\(text)': '\(property.name)' of \(current.name ?? "") is no relationship, so nothing can follow it."
                )
            }
            steps.append(relationship)
            current = destination
        }
        self.steps = steps
        let last = names[end]
        var aggregate: PathAggregate?
        var property: NSPropertyDescription?
        var spelling = last
        if last.hasPrefix("@") {
            guard steps.contains(where: \.isToMany) else {
                throw ToolFailure("'\(text)': \(last) needs a to-many relationship before it, as in items.\(last).")
            }
            let attribute = try names.dropFirst(end + 1).first.map { try Self.property($0, of: current, in: text) }
            guard names.count <= end + 2 else { throw ToolFailure("'\(text)': one attribute can follow \(last).") }
            aggregate = try PathAggregate(last, attribute, in: text)
            spelling += attribute.map { "." + $0.name } ?? ""
        } else if last != "objectID" || current.propertiesByName[last] != nil {
            property = try Self.property(last, of: current, in: text)
            spelling = property?.name ?? last
        }
        self.aggregate = aggregate
        self.property = property
        self.text = (steps.map(\.name) + [spelling]).joined(separator: ".")
    }

    var attribute: NSAttributeDescription? { property as? NSAttributeDescription }
    var relationship: NSRelationshipDescription? { property as? NSRelationshipDescription }

    /// Whether a store can sort by it: it leads to one value.
    var isSortable: Bool {
        aggregate == nil && !steps.contains(where: \.isToMany) && relationship.map { !$0.isToMany } ?? true
    }

    private static func property(
        _ name: String, of entity: NSEntityDescription, in path: String
    ) throws -> NSPropertyDescription {
        let properties = entity.propertiesByName
        if let property = properties[name] { return property }
        let matches = properties.values.filter { $0.name.lowercased() == name.lowercased() }
        if matches.count == 1 { return matches[0] }
        let what = path == name ? "" : "'\(path)': "
        throw ToolFailure(
            "\(what)\(entity.name ?? "") has no property '\(name)'\(Suggestion.text(for: name, among: Array(properties.keys)))"
        )
    }

    // MARK: Values

    /// The value at the end of the path; a list where the path goes through a to-many.
    func cell(of object: NSManagedObject, showsMembers: Bool) -> CellValue {
        if let aggregate { return aggregate.cell(of: ends(of: object, steps[...])) }
        return cell(of: object, steps[...], showsMembers)
    }

    private func cell(
        of object: NSManagedObject, _ rest: ArraySlice<NSRelationshipDescription>, _ showsMembers: Bool
    ) -> CellValue {
        guard let step = rest.first else { return lastCell(of: object, showsMembers) }
        if step.isToMany {
            return .list(Self.members(of: object, step).map { cell(of: $0, rest.dropFirst(), showsMembers) })
        }
        guard let next = object.value(forKey: step.name) as? NSManagedObject else { return .null }
        return cell(of: next, rest.dropFirst(), showsMembers)
    }

    /// All objects that the steps lead to.
    private func ends(
        of object: NSManagedObject, _ rest: ArraySlice<NSRelationshipDescription>
    ) -> [NSManagedObject] {
        guard let step = rest.first else { return [object] }
        let next =
            step.isToMany
            ? Self.members(of: object, step)
            : (object.value(forKey: step.name) as? NSManagedObject).map { [$0] } ?? []
        return next.flatMap { ends(of: $0, rest.dropFirst()) }
    }

    private func lastCell(of object: NSManagedObject, _ showsMembers: Bool) -> CellValue {
        guard let property else { return Self.reference(to: object) }
        if let attribute { return AttributeText(attribute: attribute).cell(object.value(forKey: attribute.name)) }
        if let relationship {
            if !relationship.isToMany {
                return (object.value(forKey: relationship.name) as? NSManagedObject).map(Self.reference) ?? .null
            }
            let members = Self.members(of: object, relationship)
            return showsMembers ? .list(members.map(Self.reference)) : .count(members.count)
        }
        // A fetched property.
        return object.value(forKey: property.name).map(AttributeText.other) ?? .null
    }

    /// The members of a to-many: as they are ordered, else by key, so that the output does not change from run to run.
    ///
    /// - Parameter sorted: whether their order matters to anybody.
    static func members(
        of object: NSManagedObject, _ relationship: NSRelationshipDescription, sorted: Bool = true
    ) -> [NSManagedObject] {
        let value = object.value(forKey: relationship.name)
        if let ordered = value as? NSOrderedSet { return ordered.array.compactMap { $0 as? NSManagedObject } }
        guard relationship.isToMany else { return (value as? NSManagedObject).map { [$0] } ?? [] }
        let members = (value as? NSSet)?.allObjects.compactMap { $0 as? NSManagedObject } ?? []
        guard sorted else { return members }
        return members.map { (object: $0, key: $0.objectID.uriRepresentation().absoluteString) }
            .sorted { ($0.key.count, $0.key) < ($1.key.count, $1.key) }.map(\.object)
    }

    static func reference(to object: NSManagedObject) -> CellValue {
        .text(object.objectID.uriRepresentation().absoluteString)
    }
}

/// What the objects behind a to-many come to: `@count`, `@sum.price`.
struct PathAggregate {
    private enum Kind: String, CaseIterable {
        case count = "@count"
        case sum = "@sum"
        case avg = "@avg"
        case min = "@min"
        case max = "@max"
    }

    private let kind: Kind
    private let attribute: NSAttributeDescription?

    init(_ name: String, _ property: NSPropertyDescription?, in path: String) throws {
        guard let kind = Kind(rawValue: name) else {
            let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ToolFailure("'\(path)': there is no \(name); there are: \(names).")
        }
        self.kind = kind
        attribute = property as? NSAttributeDescription
        if kind == .count {
            guard property == nil else { throw ToolFailure("'\(path)': nothing can follow @count.") }
        } else {
            guard let attribute else {
                throw ToolFailure("'\(path)': \(name) needs an attribute behind it, as in \(path).price.")
            }
            guard kind == .min || kind == .max || Self.isNumber(attribute) else {
                throw ToolFailure("'\(path)': \(attribute.name) is no number.")
            }
        }
    }

    private static func isNumber(_ attribute: NSAttributeDescription) -> Bool {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .decimalAttributeType, .booleanAttributeType:
            true
        default: false
        }
    }

    /// Of no values `@sum` is 0 and the others are nothing.
    func cell(of objects: [NSManagedObject]) -> CellValue {
        guard let attribute else { return .count(objects.count) }
        let values = objects.compactMap { $0.value(forKey: attribute.name) }
        switch kind {
        case .count: return .count(objects.count)
        case .sum: return Self.number(sum(values), of: attribute)
        case .avg:
            guard !values.isEmpty else { return .null }
            let average = sum(values) / Decimal(values.count)
            return attribute.attributeType == .decimalAttributeType
                ? .decimal(average) : .real(NSDecimalNumber(decimal: average).doubleValue)
        case .min, .max:
            let best = values.min { a, b in kind == .min ? Self.precedes(a, b) : Self.precedes(b, a) }
            return AttributeText(attribute: attribute).cell(best)
        }
    }

    private func sum(_ values: [Any]) -> Decimal {
        values.reduce(0) { $0 + (($1 as? NSNumber)?.decimalValue ?? 0) }
    }

    private static func number(_ value: Decimal, of attribute: NSAttributeDescription) -> CellValue {
        switch attribute.attributeType {
        case .doubleAttributeType, .floatAttributeType: .real(NSDecimalNumber(decimal: value).doubleValue)
        default: .decimal(value)
        }
    }

    private static func precedes(_ a: Any, _ b: Any) -> Bool {
        switch (a, b) {
        case (let a as NSNumber, let b as NSNumber): a.compare(b) == .orderedAscending
        case (let a as Date, let b as Date): a < b
        case (let a as String, let b as String): a < b
        default: "\(a)" < "\(b)"
        }
    }
}
