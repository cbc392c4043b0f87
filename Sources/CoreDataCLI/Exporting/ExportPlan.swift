import CoreData
import CoreDataStoreTools
import CoreDataToolkit

/// The data of an entity's objects that an export contains, so that an import recreates them: their IDs, stored
/// attributes, and the destinations of relationships. Derived attributes are written for other programs; an import
/// ignores them.
///
/// | Relationship | Written as |
/// | --- | --- |
/// | to an entity that `--unique` names | `"unit.name": "kg"`; nested `"unit": {"name": "kg"}` |
/// | with IDs | `"unit": "x-coredata://…/Unit/p3"`, a to-many as a list of IDs |
/// | without IDs | the values of the model's constraints; for an object of this owner alone, its whole content |
/// | to-many whose other side contains the same links | not written |
struct ExportPlan {
    struct Options {
        var unique: UniqueAttributes
        /// Whether objects have their IDs, and relationships the IDs of their destinations.
        var hasIDs: Bool
        /// Whether the identifying values of related objects are nested objects.
        var isNested: Bool
        var format: RecordFormat
    }

    let entity: NSEntityDescription
    private(set) var columns: [ExportColumn] = []
    /// The properties that are not written, with the reasons.
    private(set) var omissions: [String] = []
    private let options: Options

    private static let textless: [NSAttributeType] = [
        .undefinedAttributeType, .objectIDAttributeType,
    ]

    init(entity: NSEntityDescription, options: Options) throws {
        self.entity = entity
        self.options = options
        if options.hasIDs {
            columns.append(ExportColumn("objectID") { PropertyPath.reference(to: $0) })
        }
        for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name }) {
            if Self.textless.contains(attribute.attributeType), !attribute.isTransient {
                omissions.append("\(name).\(attribute.name): values of its type have no text form")
            } else if Self.isWritten(attribute) || attribute is NSDerivedAttributeDescription, !attribute.isTransient {
                columns += try Self.paths(of: attribute, isNested: options.format.hasTypes).map {
                    try .path($0, of: entity)
                }
            }
        }
        addNothing()
        for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
        where !relationship.isTransient {
            try add(relationship)
        }
    }

    /// The relationships to prefetch for many objects.
    var prefetched: [String] { Array(Set(columns.compactMap(\.prefetched))).sorted() }

    private var name: String { entity.name ?? "" }

    /// Returns whether an attribute is stored, is not computed by the store, and has a text form, so that an import
    /// sets it.
    private static func isWritten(_ attribute: NSAttributeDescription) -> Bool {
        !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
            && !textless.contains(attribute.attributeType)
    }

    /// Returns an attribute's name. In formats without nested objects, these are the paths of a composite attribute's
    /// elements, unless they represent an enumeration.
    private static func paths(of attribute: NSAttributeDescription, isNested: Bool) -> [String] {
        guard !isNested, StoredEnumeration(attribute) == nil,
            let composite = attribute as? NSCompositeAttributeDescription
        else { return [attribute.name] }
        return composite.elements.sorted { $0.name < $1.name }.flatMap { paths(of: $0, isNested: false) }
            .map { "\(composite.name).\($0)" }
    }

    /// Adds the list of attributes without value: XML cannot express nil, and a new object might get a default instead.
    private mutating func addNothing() {
        guard options.format == .xml, options.hasIDs else { return }
        let attributes = entity.attributesByName.values.filter {
            Self.isWritten($0) && ($0.defaultValue != nil || $0 is NSCompositeAttributeDescription)
        }
        let names = attributes.flatMap { Self.paths(of: $0, isNested: false) }.sorted()
        guard !names.isEmpty else { return }
        columns.append(
            ExportColumn(Record.nothingField) { object in
                let missing = names.filter { object.value(forKeyPath: $0) == nil }
                return missing.isEmpty ? .null : .text(missing.joined(separator: " "))
            })
    }

    // MARK: Relationships

    private mutating func add(_ relationship: NSRelationshipDescription) throws {
        guard let destination = relationship.destinationEntity else { return }
        let isToldByOtherSide =
            relationship.inverseRelationship.map { !$0.isToMany && !relationship.isOrdered } ?? false
        if relationship.isToMany, isToldByOtherSide { return }
        let named = options.unique.named(destination)
        if options.hasIDs {
            if named.isEmpty || !canTell(relationship, by: named) {
                columns.append(.reference(relationship, isFlat: !options.format.hasTypes))
            } else {
                try add(relationship, by: named)
            }
            return
        }
        var unique = options.unique.of(destination)
        if unique.isEmpty, relationship.isOwning {
            unique = destination.attributesByName.values.filter(Self.isWritten)
                .flatMap { Self.paths(of: $0, isNested: options.format.hasTypes) }.sorted()
        }
        guard !unique.isEmpty else {
            let hint = UniqueAttributes.example(of: destination).map { "; name what does with --unique \($0)" } ?? ""
            omissions.append(
                "\(name).\(relationship.name): nothing tells the objects of \(destination.name ?? "") apart\(hint)")
            return
        }
        guard canTell(relationship, by: unique) else {
            omissions.append(
                "\(name).\(relationship.name): "
                    + (options.format.hasTypes
                        ? "several attributes tell its objects apart, which takes --nested" : "only JSON has lists"))
            return
        }
        try add(relationship, by: unique)
    }

    /// Returns whether the format can express the identifying values of the objects.
    private func canTell(_ relationship: NSRelationshipDescription, by unique: [String]) -> Bool {
        !relationship.isToMany || options.isNested || options.format.hasTypes && unique.count == 1
    }

    private mutating func add(_ relationship: NSRelationshipDescription, by unique: [String]) throws {
        guard !options.isNested else {
            columns.append(try .nested(relationship, unique))
            return
        }
        columns += try unique.map { try .path("\(relationship.name).\($0)", of: entity) }
    }
}

extension NSRelationshipDescription {
    /// Whether the object at the other end belongs only to this one and is deleted with it.
    fileprivate var isOwning: Bool {
        !isToMany && deleteRule == .cascadeDeleteRule && inverseRelationship.map { !$0.isToMany } ?? false
    }
}
