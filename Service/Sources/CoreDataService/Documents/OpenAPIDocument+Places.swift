import CoreDataJSON

// The parts from which the paths of accounts and files are made, and the paths of files.
extension OpenAPIDocument {
    static let string: JSONValue = ["type": "string"]
    static let boolean: JSONValue = ["type": "boolean"]
    static let integer: JSONValue = ["type": "integer"]
    static let date: JSONValue = ["type": "string", "format": "date-time"]
    static let role: JSONValue = ["type": "string", "enum": ["owner", "editor", "viewer"]]
    static let password: JSONValue = ["type": "string", "format": "password"]

    static let after = query("after", "The next of the page before.", ["type": "string", "maxLength": 200])
    static let before = query("before", "Only what happened before, the latest first.", date)

    static func limit(_ most: Int) -> JSONValue {
        query("limit", "The number of entries.", ["type": "integer", "minimum": 1, "maximum": .integer(most)])
    }

    static func list(_ name: String) -> JSONValue { ["type": "array", "items": reference("accounts." + name)] }

    /// An object whose first properties are required; more may be added in later versions.
    static func object(_ required: [(String, JSONValue)], optional: [(String, JSONValue)]) -> JSONValue {
        .members([
            ("type", "object"), ("required", required.isEmpty ? nil : .array(required.map { .string($0.0) })),
            ("properties", .object((required + optional).map { .init($0.0, $0.1) })),
        ])
    }

    static func object(
        _ required: KeyValuePairs<String, JSONValue>, optional: KeyValuePairs<String, JSONValue> = [:]
    ) -> JSONValue {
        object(required.map { ($0.key, $0.value) }, optional: optional.map { ($0.key, $0.value) })
    }

    static func schema(
        _ name: String, _ required: KeyValuePairs<String, JSONValue>, optional: KeyValuePairs<String, JSONValue> = [:]
    ) -> JSONValue.Member {
        .init(name, object(required, optional: optional))
    }

    // MARK: Operations

    typealias Answers = [(status: String, description: String, schema: JSONValue?)]

    static func ok(
        _ required: KeyValuePairs<String, JSONValue>, optional: KeyValuePairs<String, JSONValue> = [:]
    ) -> Answers {
        [("200", "The answer.", object(required, optional: optional))]
    }

    static func created(_ schema: JSONValue) -> Answers { [("201", "It was made.", schema)] }

    static func empty(_ status: String = "204", _ description: String = "It was done.") -> Answers {
        [(status, description, nil)]
    }

    static func operation(
        _ id: String, _ summary: String, body: JSONValue? = nil, _ answers: Answers
    ) -> JSONValue {
        operation(id, summary, [], body: body, answers)
    }

    static func operation(
        _ id: String, _ summary: String, _ parameters: [JSONValue], body: JSONValue? = nil, _ answers: Answers
    ) -> JSONValue {
        .members([
            ("operationId", .string(id)), ("tags", ["accounts"]), ("summary", .string(summary)),
            ("parameters", parameters.isEmpty ? nil : .array(parameters)),
            ("requestBody", body.map { Self.body($0) }), ("responses", responses(answers)),
        ])
    }

    static func path(
        _ path: String, parameters: [String] = [], get: JSONValue? = nil, post: JSONValue? = nil,
        put: JSONValue? = nil, patch: JSONValue? = nil, delete: JSONValue? = nil
    ) -> JSONValue.Member {
        let named = parameters.map { name -> JSONValue in
            ["name": .string(name), "in": "path", "required": true, "schema": uuid]
        }
        return .init(
            path,
            .members([
                ("parameters", named.isEmpty ? nil : .array(named)), ("get", get), ("post", post), ("put", put),
                ("patch", patch), ("delete", delete),
            ]))
    }

    // MARK: Files of groups

    static let filePaths: [JSONValue.Member] = {
        let names: JSONValue = ["type": "array", "items": string]
        let group: JSONValue = ["name": "group", "in": "path", "required": true, "schema": uuid]
        func name(_ name: String) -> JSONValue {
            [
                "name": .string(name), "in": "path", "required": true,
                "schema": ["type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,40}$"],
            ]
        }
        let bytes: JSONValue = ["application/octet-stream": .object([])]
        return [
            .init(
                "/groups/{group}/files",
                [
                    "parameters": [group],
                    "get": operation(
                        "listFolders", "The folders of a group: one for each device", [("200", "Names.", names)]),
                ]),
            .init(
                "/groups/{group}/files/{folder}",
                [
                    "parameters": [group, name("folder")],
                    "get": operation("listFiles", "The files of a folder", [("200", "Names.", names)]),
                ]),
            .init(
                "/groups/{group}/files/{folder}/{file}",
                [
                    "parameters": [group, name("folder"), name("file")],
                    "get": [
                        "operationId": "readFile", "tags": ["accounts"], "summary": "The bytes of a file",
                        "responses": responses(
                            [], extra: [.init("200", ["description": "The bytes.", "content": bytes])]),
                    ],
                    "put": [
                        "operationId": "createFile", "tags": ["accounts"],
                        "summary": "Creates a file: 412 if it exists",
                        "requestBody": ["required": true, "content": bytes],
                        "responses": responses([("201", "It was created.", nil)]),
                    ],
                    "delete": operation("deleteFile", "Deletes a file, also if it does not exist", empty()),
                ]),
            .init(
                "/groups/{group}/changes",
                [
                    "parameters": [group],
                    "get": operation(
                        "awaitChange", "The revision of the files: after the next change, or after 25 seconds",
                        [query("after", "The revision that is known.", ["type": "integer", "format": "int64"])],
                        ok(["revision": integer])),
                ]),
        ]
    }()
}
