import CoreDataJSON

// The JSON Schemas of entities and other parts of an OpenAPI document.
extension OpenAPIDocument {
    static let uuid: JSONValue = ["type": "string", "format": "uuid"]

    /// The schema of an attribute's values, without null.
    static func schema(_ form: AttributeForm) -> JSONValue {
        switch form {
        case .integer(let range):
            range == .integers
                ? [
                    "type": "integer", "format": "int64", "minimum": .integer(range.lowerBound),
                    "maximum": .integer(range.upperBound),
                ]
                : ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
        case .decimal:
            [
                "type": "number",
                "description":
                    "A decimal of up to 38 digits. Write it as a string where a program would round a number.",
                "minimum": .number("-1e15"), "maximum": .number("1e15"),
            ]
        case .double: ["type": "number", "format": "double", "minimum": .number("-1e300"), "maximum": .number("1e300")]
        case .float: ["type": "number", "format": "float", "minimum": .number("-1e38"), "maximum": .number("1e38")]
        case .string: ["type": "string", "pattern": "^[^\\u0000]*$"]
        case .boolean: ["type": "boolean"]
        case .date: ["type": "string", "format": "date-time"]
        case .bytes: ["type": "string", "contentEncoding": "base64", "pattern": "^([A-Za-z0-9+/]{4})*$"]
        case .largeBytes:
            ["type": "string", "description": "The address of the bytes, which are read by GET and written by PUT."]
        case .uuid: uuid
        case .uri: ["type": "string", "pattern": "^https://[a-z0-9]{1,20}/[a-z0-9]{0,20}$"]
        case .composite(let elements):
            [
                "type": "object", "additionalProperties": false,
                "properties": .object(elements.map { .init($0.name, nullable(schema($0.form), isInput: false)) }),
            ]
        }
    }

    static func nullable(_ schema: JSONValue, isInput: Bool) -> JSONValue { ["anyOf": [schema, ["type": "null"]]] }

    static func reference(_ name: String) -> JSONValue { ["$ref": .string("#/components/schemas/" + name)] }

    /// The schema of objects in answers.
    static func object(_ entity: ServedEntity, _ model: ServedModel) -> JSONValue {
        var properties: [JSONValue.Member] = [
            .init("_entity", ["type": "string", "enum": .array(entity.concreteNames.map { .string($0) })]),
            .init("_id", uuid),
            .init("_version", ["type": "string", "description": "The ETag of the object, for If-Match."]),
        ]
        for property in entity.properties {
            switch property {
            case .attribute(let attribute):
                properties.append(.init(attribute.name, answer(attribute.form)))
            case .relationship(let relationship):
                let one: JSONValue = ["anyOf": [uuid, reference(relationship.destination)]]
                properties.append(
                    .init(
                        relationship.name,
                        relationship.isToMany
                            ? ["type": "array", "items": one]
                            : ["anyOf": [uuid, reference(relationship.destination), ["type": "null"]]]))
            }
        }
        return ["type": "object", "required": ["_entity", "_id"], "properties": .object(properties)]
    }

    /// Values in answers are described by their type: the limits of input do not hold for values of other programs.
    private static func answer(_ form: AttributeForm) -> JSONValue {
        switch form {
        case .integer: ["type": ["integer", "null"]]
        case .decimal: ["type": ["number", "null"]]
        case .double, .float: ["type": ["number", "string", "null"]]
        case .string, .bytes, .largeBytes, .uri: ["type": ["string", "null"]]
        case .boolean: ["type": ["boolean", "null"]]
        case .date: ["type": ["string", "number", "null"]]
        case .uuid: ["anyOf": [uuid, ["type": "null"]]]
        case .composite(let elements):
            [
                "type": ["object", "null"],
                "properties": .object(elements.map { .init($0.name, answer($0.form)) }),
            ]
        }
    }

    /// The schema of the values that a client sends.
    static func input(_ entity: ServedEntity, isNew: Bool) -> JSONValue {
        var properties: [JSONValue.Member] = []
        var required: [JSONValue] = []
        for property in entity.properties {
            switch property {
            case .attribute(let attribute):
                if attribute.isDerived || attribute.isTransient { continue }
                if case .largeBytes = attribute.form { continue }
                if attribute.name == entity.identity {
                    if isNew { properties.append(.init(attribute.name, uuid)) }
                    continue
                }
                let schema = schema(attribute.form)
                properties.append(
                    .init(attribute.name, attribute.isOptional ? nullable(schema, isInput: true) : schema))
                if isNew, !attribute.isOptional, !attribute.hasDefault { required.append(.string(attribute.name)) }
            case .relationship(let relationship):
                let ids: JSONValue = [
                    "type": "array", "items": uuid, "maxItems": .integer(ObjectReader.maximumMembers),
                ]
                let changes: JSONValue = [
                    "type": "object", "additionalProperties": false, "properties": ["add": ids, "remove": ids],
                ]
                properties.append(
                    .init(
                        relationship.name,
                        relationship.isToMany ? ["anyOf": [ids, changes]] : ["anyOf": [uuid, ["type": "null"]]]))
                if isNew, !relationship.isOptional, !relationship.isToMany {
                    required.append(.string(relationship.name))
                }
            }
        }
        return .members([
            ("type", "object"), ("additionalProperties", false), ("properties", .object(properties)),
            ("required", required.isEmpty ? nil : .array(required)),
        ])
    }

    static let problem: JSONValue = [
        "type": "object", "required": ["type", "title", "status", "detail"],
        "properties": [
            "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
            "detail": ["type": "string"], "instance": ["type": "string"],
            "entity": ["type": "string"], "property": ["type": "string"],
            "code": ["type": "integer", "description": "The code of Core Data's error."],
            "position": ["type": "integer", "description": "The place of a mistake in a query, from 1."],
            "errors": [
                "type": "array",
                "items": [
                    "type": "object",
                    "properties": [
                        "pointer": ["type": "string"], "entity": ["type": "string"], "property": ["type": "string"],
                        "code": ["type": "integer"], "detail": ["type": "string"],
                    ],
                ],
            ],
        ],
    ]
}
