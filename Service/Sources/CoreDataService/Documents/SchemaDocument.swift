import CoreDataJSON

/// The model as clients see it, for programs: `GET /schema`.
enum SchemaDocument {
    static func json(_ model: ServedModel, rules: (String) -> [EntityRule]) -> JSONValue {
        .members([
            ("entities", .array(model.names.compactMap { model.entities[$0] }.map { entity($0, rules($0.name)) })),
            (
                "omitted",
                .array(
                    model.omissions.map { omission in
                        .members([
                            ("entity", .string(omission.entity)), ("property", omission.property.map { .string($0) }),
                            ("reason", .string(omission.reason)),
                        ])
                    })
            ),
        ])
    }

    private static func entity(_ entity: ServedEntity, _ rules: [EntityRule]) -> JSONValue {
        .members([
            ("name", .string(entity.name)), ("identity", .string(entity.identity)),
            ("abstract", entity.isAbstract ? true : nil), ("super", entity.superentity.map { .string($0) }),
            (
                "properties",
                .array(
                    entity.properties.map { property in
                        switch property {
                        case .attribute(let attribute): self.attribute(attribute)
                        case .relationship(let relationship):
                            .members([
                                ("name", .string(relationship.name)),
                                ("type", .string(relationship.isToMany ? "to-many" : "to-one")),
                                ("destination", .string(relationship.destination)),
                                ("ordered", relationship.isOrdered ? true : nil),
                                ("optional", .boolean(relationship.isOptional)),
                                ("inverse", relationship.inverse.map { .string($0) }),
                            ])
                        }
                    })
            ),
            (
                "rules",
                .array(
                    rules.map { rule in
                        .members([
                            ("verb", .string(rule.verb)), ("property", rule.property.map { .string($0) }),
                            ("who", .string(rule.who)),
                        ])
                    })
            ),
        ])
    }

    private static func attribute(_ attribute: ServedAttribute) -> JSONValue {
        var elements: JSONValue?
        if case .composite(let parts) = attribute.form { elements = .array(parts.map(self.attribute)) }
        return .members([
            ("name", .string(attribute.name)), ("type", .string(attribute.form.typeName)),
            ("optional", .boolean(attribute.isOptional)), ("default", attribute.hasDefault ? true : nil),
            ("derived", attribute.isDerived ? true : nil), ("transient", attribute.isTransient ? true : nil),
            ("elements", elements),
        ])
    }
}

extension AttributeForm {
    /// The type as Xcode names it.
    var typeName: String {
        switch self {
        case .integer(let range):
            range == .integers ? "Integer 64" : range.upperBound > Int64(Int16.max) ? "Integer 32" : "Integer 16"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Boolean"
        case .date: "Date"
        case .bytes, .largeBytes: "Binary Data"
        case .uuid: "UUID"
        case .uri: "URI"
        case .composite: "Composite"
        }
    }
}
