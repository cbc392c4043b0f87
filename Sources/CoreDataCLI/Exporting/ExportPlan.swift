import CoreData

/// What of an entity's objects is written, so that an import makes them again.
///
/// Attributes that are stored and not derived; of a to-one relationship what tells its object apart
/// (`unit.name`), or all that it holds where it is its owner's alone (`photo.data`); of a to-many whose other side does not tell the same already, a list of that.
struct ExportPlan {
    let entity: NSEntityDescription
    private(set) var columns: [Column] = []
    /// What is left out, with the reason.
    private(set) var omissions: [String] = []

    private static let textless: [NSAttributeType] = [
        .compositeAttributeType, .undefinedAttributeType, .objectIDAttributeType,
    ]

    /// Whether an attribute is stored, is not the store's own doing, and has a text form.
    private static func isWritten(_ attribute: NSAttributeDescription) -> Bool {
        !attribute.isTransient && !(attribute is NSDerivedAttributeDescription)
            && !textless.contains(attribute.attributeType)
    }

    struct Column {
        var path: PropertyPath
        /// The field's name; a list is named by its relationship and the unique attribute.
        var name: String { path.text }
    }

    init(entity: NSEntityDescription, unique plan: ImportPlan, format: RecordFormat) throws {
        self.entity = entity
        let name = entity.name ?? ""
        for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name }) {
            if Self.textless.contains(attribute.attributeType), !attribute.isTransient {
                omissions.append("\(name).\(attribute.name): values of its type have no text form")
                continue
            }
            if Self.isWritten(attribute) { columns.append(Column(path: try PropertyPath(attribute.name, of: entity))) }
        }
        for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
            guard let destination = relationship.destinationEntity else { continue }
            let isToldByOtherSide =
                relationship.inverseRelationship.map { !$0.isToMany && !relationship.isOrdered } ?? false
            if relationship.isToMany, isToldByOtherSide { continue }
            var unique = plan.uniqueAttributes(of: destination)
            if unique.isEmpty, relationship.isOwning {
                unique = destination.attributesByName.values.filter(Self.isWritten).map(\.name).sorted()
            }
            guard !unique.isEmpty else {
                let hint = ImportPlan.example(of: destination).map { "; name what does with --unique \($0)" } ?? ""
                omissions.append(
                    "\(name).\(relationship.name): nothing tells the objects of \(destination.name ?? "") apart\(hint)")
                continue
            }
            if relationship.isToMany, !format.hasTypes || unique.count > 1 {
                omissions.append(
                    "\(name).\(relationship.name): "
                        + (format.hasTypes ? "several attributes tell its objects apart" : "only JSON has lists"))
                continue
            }
            columns += try unique.map { Column(path: try PropertyPath("\(relationship.name).\($0)", of: entity)) }
        }
    }
}

extension NSRelationshipDescription {
    /// Whether the object at the other end is this one's alone and goes with it.
    fileprivate var isOwning: Bool {
        !isToMany && deleteRule == .cascadeDeleteRule && inverseRelationship.map { !$0.isToMany } ?? false
    }
}
