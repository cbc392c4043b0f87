import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

// Reads the values of key paths for the output.
extension PropertyPath {
    /// Returns the value of the path; a list if the path contains a to-many.
    ///
    /// - Parameter isExact: whether an import must reproduce the value exactly; see ``AttributeText``.
    package func cell(of object: NSManagedObject, showsMembers: Bool, isExact: Bool = false) -> CellValue {
        if let aggregate { return aggregate.cell(of: ends(of: object, steps[...])) }
        return cell(of: object, steps[...], showsMembers, isExact)
    }

    private func cell(
        of object: NSManagedObject, _ rest: ArraySlice<NSRelationshipDescription>, _ showsMembers: Bool,
        _ isExact: Bool
    ) -> CellValue {
        guard let step = rest.first else { return lastCell(of: object, showsMembers, isExact) }
        if step.isToMany {
            return .list(Self.members(of: object, step).map { cell(of: $0, rest.dropFirst(), showsMembers, isExact) })
        }
        guard let next = object.value(forKey: step.name) as? NSManagedObject else { return .null }
        return cell(of: next, rest.dropFirst(), showsMembers, isExact)
    }

    /// Returns all objects that the steps reach.
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

    private func lastCell(of object: NSManagedObject, _ showsMembers: Bool, _ isExact: Bool) -> CellValue {
        guard let property else { return Self.reference(to: object) }
        if let attribute {
            return AttributeText(attribute: attribute, isExact: isExact).cell(object.value(forKeyPath: key))
        }
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

    package static func reference(to object: NSManagedObject) -> CellValue {
        .reference(object.objectID.uriRepresentation().absoluteString)
    }
}

extension PathAggregate {
    /// Returns an aggregate: without values, `@sum` is 0 and the others are nil.
    package func cell(of objects: [NSManagedObject]) -> CellValue {
        guard let attribute else { return .count(objects.count) }
        let values = objects.compactMap { $0.value(forKey: attribute.name) }
        switch kind {
        case .count: return .count(objects.count)
        case .sum: return Self.number(sum(values), of: attribute)
        case .avg:
            guard !values.isEmpty else { return .null }
            let average = sum(values) / Decimal(values.count)
            return attribute.kind == .decimal
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
        switch attribute.kind {
        case .real, .single: .real(NSDecimalNumber(decimal: value).doubleValue)
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
