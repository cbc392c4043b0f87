import CoreData

/// What of an entity's objects is written, so that an import makes them again.
///
/// Attributes that are stored and not derived; of a to-one relationship what tells its object apart
/// (`unit.name`); of a to-many whose other side does not tell the same already, a list of that.
struct ExportPlan {
    let entity: NSEntityDescription
    private(set) var columns: [Column] = []
    /// What is left out, with the reason.
    private(set) var omissions: [String] = []

    private static let textless: [NSAttributeType] = [
        .compositeAttributeType, .undefinedAttributeType, .objectIDAttributeType,
    ]

    struct Column {
        var path: PropertyPath
        /// The field's name; a list is named by its relationship and the unique attribute.
        var name: String { path.text }
    }

    init(entity: NSEntityDescription, unique plan: ImportPlan, format: RecordFormat) throws {
        self.entity = entity
        let name = entity.name ?? ""
        for attribute in entity.attributesByName.values.sorted(by: { $0.name < $1.name }) {
            if attribute.isTransient || attribute is NSDerivedAttributeDescription { continue }
            if Self.textless.contains(attribute.attributeType) {
                omissions.append("\(name).\(attribute.name): values of its type have no text form")
                continue
            }
            columns.append(Column(path: try PropertyPath(attribute.name, of: entity)))
        }
        for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
            guard let destination = relationship.destinationEntity else { continue }
            let isToldByOtherSide =
                relationship.inverseRelationship.map { !$0.isToMany && !relationship.isOrdered } ?? false
            if relationship.isToMany, isToldByOtherSide { continue }
            let unique = plan.uniqueAttributes(of: destination)
            guard !unique.isEmpty else {
                let example = destination.attributesByName.keys.sorted().first ?? "attribute"
                omissions.append(
                    "\(name).\(relationship.name): nothing tells the objects of \(destination.name ?? "") apart; "
                        + "name it with --unique \(destination.name ?? "").\(example)")
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
