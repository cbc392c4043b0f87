import CoreDataJSON
import Foundation

/// A change that a client asks for.
package struct Change: Sendable {
    package enum Kind: Sendable {
        /// The values of a new object, and the ID that the client chose for it.
        case create(JSONValue)
        case update(JSONValue)
        case delete
        /// The bytes of a large value; `nil` removes them.
        case bytes(property: String, Data?)
    }

    package var kind: Kind
    package var entity: ServedEntity
    package var id: UUID
    /// The tags of which the object must have one.
    package var condition: TagList?
    /// The tags of which the object must have none.
    package var exclusion: TagList?
    /// The place of the change in the request.
    package var pointer = ""
}

/// The result of one change.
package struct ChangeResult: Sendable {
    package var status: Int
    package var entity: String
    package var id: UUID
    /// The tag of the object's row; `nil` for a deleted object.
    package var tag: String?
    /// The object, where the client wants it.
    package var json: JSONValue?

    /// The result in the answer to a list of changes.
    package var listed: JSONValue {
        if let json { return .members([("status", .integer(status)), ("object", json)]) }
        return .members([
            ("status", .integer(status)), ("_entity", .string(entity)), ("_id", .string(id.uuidString)),
            ("_version", tag.map { .string($0) }),
        ])
    }
}

extension Change {
    package static let maximumCount = 500

    /// Reads the creation of an object: its ID is `_id`, or the identity attribute, or a new one.
    ///
    /// - Parameter newID: the ID if the client chose none.
    package static func creation(
        _ json: JSONValue, of entity: ServedEntity, at pointer: String = "", newID: UUID
    ) throws(Problem) -> Change {
        guard case .object = json else {
            throw .body("Expected an object with the values of a new \(entity.name), found \(json.kind).")
        }
        guard !entity.isAbstract else {
            throw .invalid([
                .init(
                    pointer: pointer, entity: entity.name,
                    detail: "\(entity.name) is abstract; make one of: \(entity.descendants.joined(separator: ", "))")
            ])
        }
        var id = newID
        for name in ["_id", entity.identity] {
            guard let value = json[name], value != .null else { continue }
            guard let text = value.string, let given = UUID(uuidString: text) else {
                throw .invalid([
                    .init(
                        pointer: "\(pointer)/\(name)", entity: entity.name, property: name,
                        detail: "\(entity.name).\(name): expected a UUID, found \(value.kind)")
                ])
            }
            if id != newID, id != given {
                throw .invalid([
                    .init(
                        pointer: "\(pointer)/\(name)", entity: entity.name, property: name,
                        detail: "\(entity.name).\(name): differs from _id")
                ])
            }
            id = given
        }
        return Change(kind: .create(json), entity: entity, id: id, pointer: pointer)
    }

    /// Reads a list of changes: `{"changes": [{"create": "Item", "values": {…}}, {"update": "Item", "id": …, "values": …,
    /// "if": …}, {"delete": "Item", "id": …}]}`.
    package static func list(
        _ json: JSONValue, in model: ServedModel, newID: (Int) -> UUID
    ) throws(Problem) -> [Change] {
        guard let elements = json["changes"]?.array else { throw .body("Expected an object with a list 'changes'.") }
        guard elements.count <= maximumCount else { throw .body("A request has at most \(maximumCount) changes.") }
        var changes: [Change] = []
        for (index, element) in elements.enumerated() {
            changes.append(try one(element, "/changes/\(index)", in: model, newID: newID(index)))
        }
        return changes
    }

    private static func one(
        _ json: JSONValue, _ pointer: String, in model: ServedModel, newID: UUID
    ) throws(Problem) -> Change {
        func mistake(_ words: String) -> Problem { .invalid([.init(pointer: pointer, detail: words)]) }
        guard case .object(let members) = json else { throw mistake("expected an object, found \(json.kind)") }
        let known = ["create", "update", "delete", "id", "values", "if"]
        if let other = members.first(where: { !known.contains($0.name) }) {
            throw mistake("there is no member '\(other.name.prefix(80))'; there are: \(known.joined(separator: ", "))")
        }
        let verbs = ["create", "update", "delete"].filter { json[$0] != nil }
        guard verbs.count == 1, let name = json[verbs[0]]?.string else {
            throw mistake("expected one of create, update and delete, with the name of an entity")
        }
        guard let entity = model.entities[name] else { throw mistake("there is no entity '\(name.prefix(80))'") }
        let values = json["values"] ?? .object([])
        if verbs[0] == "create" {
            if json["id"] != nil || json["if"] != nil { throw mistake("a new object has its ID in values, and no if") }
            var change = try creation(values, of: entity, at: pointer + "/values", newID: newID)
            change.pointer = pointer + "/values"
            return change
        }
        guard let id = json["id"]?.string.flatMap(UUID.init(uuidString:)) else {
            throw mistake("expected the ID of an object as id")
        }
        var condition: TagList?
        if let tag = json["if"], tag != .null {
            guard let text = tag.string, let list = TagList("\"" + text + "\"") else {
                throw mistake("if is the _version of an object")
            }
            condition = list
        }
        if verbs[0] == "delete" {
            return Change(kind: .delete, entity: entity, id: id, condition: condition, pointer: pointer)
        }
        return Change(kind: .update(values), entity: entity, id: id, condition: condition, pointer: pointer + "/values")
    }
}
