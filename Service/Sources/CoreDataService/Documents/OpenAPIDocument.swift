import CoreDataJSON

/// The OpenAPI 3.1 document of a served model: `GET /openapi.json`.
enum OpenAPIDocument {
    /// - Parameter hasAccounts: whether the service has the routes of accounts and files.
    static func json(
        _ model: ServedModel, name: String, limits: ServiceLimits, hasAccounts: Bool = false
    ) -> JSONValue {
        var paths: [JSONValue.Member] = []
        var schemas: [JSONValue.Member] = [.init("Problem", problem)]
        for entity in model.names.compactMap({ model.entities[$0] }) {
            schemas.append(.init(entity.name, object(entity, model)))
            if !entity.isAbstract { schemas.append(.init(entity.name + ".new", input(entity, isNew: true))) }
            schemas.append(.init(entity.name + ".changes", input(entity, isNew: false)))
            paths += self.paths(entity, model, limits)
        }
        if hasAccounts {
            schemas += accountSchemas
            paths += accountPaths + filePaths
        }
        paths.append(.init("/api", ["post": changes]))
        paths.append(.init("/schema", ["get": plain("schema", "The served model and its rules")]))
        paths.append(.init("/openapi.json", ["get": plain("openapi", "This document")]))
        paths.append(.init("/health", ["get": plain("health", "Whether the service can read its store")]))
        return [
            "openapi": "3.1.0",
            "info": [
                "title": .string(name), "version": "1",
                "description": "Objects of a Core Data model. See /schema for the model, / for a page with examples.",
            ],
            "servers": [["url": "/"]], "security": [["token": []], .object([])],
            "paths": .object(paths),
            "components": [
                "schemas": .object(schemas),
                "securitySchemes": ["token": ["type": "http", "scheme": "bearer"]],
            ],
        ]
    }

    // MARK: Requests

    private static func paths(
        _ entity: ServedEntity, _ model: ServedModel, _ limits: ServiceLimits
    ) -> [JSONValue.Member] {
        let name = entity.name
        let list: JSONValue = [
            "operationId": .string("list" + name), "tags": [.string(name)],
            "summary": .string("A page of objects of \(name)"),
            "parameters": [
                query(
                    "where", "A predicate, see /. Its arguments $name are sent as arg.name.",
                    ["type": "string", "maxLength": .integer(WhereRules.maximumLength)]),
                query(
                    "sort", "Attributes with commas between them; - before one sorts downwards.",
                    ["type": "string", "maxLength": 300]),
                query("fields", "The properties of the answer.", ["type": "string", "maxLength": 300]),
                query(
                    "include", "Relationships whose objects are answered in the place of their IDs.",
                    ["type": "string", "maxLength": 300]
                ),
                arguments,
                query("after", "The next of the page before.", ["type": "string", "maxLength": 2000]),
                query(
                    "limit", "The number of objects.",
                    [
                        "type": "integer", "minimum": 0, "maximum": .integer(limits.maximumPageSize),
                        "default": .integer(limits.pageSize),
                    ]),
                query("count", "Whether the answer has the number of all objects.", ["type": "boolean"]),
                query(
                    "aggregate", "count, sum(…), min(…), max(…), average(…), with commas between them.",
                    ["type": "string", "maxLength": 300]),
                query(
                    "group", "Attributes or to-one relationships by which aggregate groups.",
                    ["type": "string", "maxLength": 300]),
            ],
            "responses": responses([
                (
                    "200", "A page, or the groups of aggregate.",
                    [
                        "anyOf": [
                            [
                                "type": "object", "required": ["items", "next"],
                                "properties": [
                                    "items": ["type": "array", "items": reference(name)],
                                    "next": ["type": ["string", "null"]],
                                    "count": ["type": "integer"],
                                ],
                            ],
                            [
                                "type": "object", "required": ["groups"],
                                "properties": ["groups": ["type": "array", "items": ["type": "object"]]],
                            ],
                        ]
                    ]
                )
            ]),
        ]
        var collection: [JSONValue.Member] = [.init("get", list)]
        if !entity.isAbstract {
            collection.append(
                .init(
                    "post",
                    [
                        "operationId": .string("create" + name), "tags": [.string(name)],
                        "summary": .string("Makes an object of \(name)"),
                        "parameters": [key], "requestBody": body(reference(name + ".new")),
                        "responses": responses([("201", "The object.", reference(name))]),
                    ]))
        }
        let one: [JSONValue.Member] = [
            .init("parameters", [idParameter]),
            .init(
                "get",
                [
                    "operationId": .string("read" + name), "tags": [.string(name)],
                    "summary": .string("An object of \(name)"),
                    "parameters": [
                        query("fields", "The properties of the answer.", ["type": "string", "maxLength": 300]),
                        query(
                            "include", "Relationships whose objects are answered in the place of their IDs.",
                            ["type": "string", "maxLength": 300]),
                        header("If-None-Match", "304 if the object still has this ETag."),
                    ],
                    "responses": responses([
                        ("200", "The object.", reference(name)), ("304", "The object has not changed.", nil),
                    ]),
                ]),
            .init(
                "patch",
                [
                    "operationId": .string("update" + name), "tags": [.string(name)],
                    "summary": .string("Changes an object of \(name)"),
                    "parameters": [ifMatch, key], "requestBody": body(reference(name + ".changes")),
                    "responses": responses([
                        ("200", "The object.", reference(name)),
                        ("204", "The object was changed; it is not asked for, or may not be read.", nil),
                    ]),
                ]),
            .init(
                "delete",
                [
                    "operationId": .string("delete" + name), "tags": [.string(name)],
                    "summary": .string("Deletes an object of \(name)"),
                    "parameters": [ifMatch, key], "responses": responses([("204", "The object was deleted.", nil)]),
                ]),
        ]
        var paths: [JSONValue.Member] = [
            .init("/api/\(name)", .object(collection)), .init("/api/\(name)/{id}", .object(one)),
        ]
        for attribute in entity.attributes {
            guard case .largeBytes = attribute.form else { continue }
            paths.append(.init("/api/\(name)/{id}/\(attribute.name)", value(entity, attribute)))
        }
        return paths
    }

    private static func value(_ entity: ServedEntity, _ attribute: ServedAttribute) -> JSONValue {
        let name = entity.name + attribute.name.prefix(1).uppercased() + attribute.name.dropFirst()
        let bytes: JSONValue = .object([.init(attribute.mediaType, .object([]))])
        return [
            "parameters": [idParameter],
            "get": [
                "operationId": .string("read" + name), "tags": [.string(entity.name)],
                "parameters": [header("Range", "bytes=first-last")],
                "responses": responses(
                    [("304", "The bytes have not changed.", nil)],
                    extra: [
                        .init("200", ["description": "The bytes.", "content": bytes]),
                        .init("206", ["description": "A part of the bytes.", "content": bytes]),
                    ]),
            ],
            "put": [
                "operationId": .string("write" + name), "tags": [.string(entity.name)], "parameters": [ifMatch, key],
                "requestBody": ["required": true, "content": ["application/octet-stream": .object([])]],
                "responses": responses([("204", "The bytes were stored.", nil)]),
            ],
            "delete": [
                "operationId": .string("remove" + name), "tags": [.string(entity.name)], "parameters": [ifMatch, key],
                "responses": responses([("204", "The bytes were removed.", nil)]),
            ],
        ]
    }

    private static var changes: JSONValue {
        let name: JSONValue = ["type": "string"]
        return [
            "operationId": "change", "summary": "Applies a list of changes in one transaction: all of them, or none",
            "parameters": [key],
            "requestBody": body([
                "type": "object", "required": ["changes"],
                "properties": [
                    "changes": [
                        "type": "array", "maxItems": .integer(Change.maximumCount),
                        "items": [
                            "type": "object", "additionalProperties": false,
                            "properties": [
                                "create": name, "update": name, "delete": name, "id": uuid,
                                "values": ["type": "object"],
                                "if": ["type": "string"],
                            ],
                        ],
                    ]
                ],
            ]),
            "responses": responses([
                (
                    "200", "A result for each change.",
                    [
                        "type": "object", "required": ["results"],
                        "properties": [
                            "results": ["type": "array", "items": ["type": "object", "required": ["status"]]]
                        ],
                    ]
                )
            ]),
        ]
    }

    // MARK: Parts

    static func query(_ name: String, _ description: String, _ schema: JSONValue) -> JSONValue {
        ["name": .string(name), "in": "query", "description": .string(description), "schema": schema]
    }

    /// The arguments of `where`: each property of the object is a parameter of its own.
    private static let arguments: JSONValue = [
        "name": "arguments", "in": "query", "style": "form", "explode": true,
        "description": "The values of $name in where, as arg.name; several of one name are a list.",
        "schema": [
            "type": "object", "propertyNames": ["pattern": "^arg\\.[A-Za-z_][A-Za-z0-9_]{0,20}$"], "maxProperties": 5,
            "additionalProperties": ["type": "string", "maxLength": 100],
        ],
    ]

    private static func header(_ name: String, _ description: String) -> JSONValue {
        ["name": .string(name), "in": "header", "description": .string(description), "schema": ["type": "string"]]
    }

    private static let idParameter: JSONValue = ["name": "id", "in": "path", "required": true, "schema": uuid]
    private static let ifMatch = header("If-Match", "412 if the object no longer has this ETag.")
    private static let key = header(
        "Idempotency-Key", "A retry with the same key changes nothing, and gets the same answer.")

    static func body(_ schema: JSONValue) -> JSONValue {
        ["required": true, "content": ["application/json": ["schema": schema]]]
    }

    private static func plain(_ id: String, _ summary: String) -> JSONValue {
        [
            "operationId": .string(id), "summary": .string(summary),
            "responses": responses([("200", .init(summary), ["type": "object"])]),
        ]
    }

    /// Each request may fail with a problem.
    static func responses(
        _ answers: [(status: String, description: String, schema: JSONValue?)], extra: [JSONValue.Member] = []
    ) -> JSONValue {
        var members = extra
        for answer in answers {
            members.append(
                .init(
                    answer.status,
                    .members([
                        ("description", .string(answer.description)),
                        ("content", answer.schema.map { ["application/json": ["schema": $0]] }),
                    ])))
        }
        members.append(
            .init(
                "default",
                [
                    "description": "A problem as in RFC 9457.",
                    "content": ["application/problem+json": ["schema": reference("Problem")]],
                ]))
        return .object(members)
    }
}
