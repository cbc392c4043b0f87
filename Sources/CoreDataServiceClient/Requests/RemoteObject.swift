import CoreDataJSON
import Foundation

/// An object as the service answers it.
struct RemoteObject: Sendable {
    let entity: String
    let id: UUID
    /// The version of the object's row: `_version`.
    var tag: String
    /// The properties by name.
    var members: [String: JSONValue]
    /// The version of the row that a context saved, if it lacks values that the service computed.
    var rowTag: String?
    /// The bytes of large values that were loaded; nil in the dictionary for an attribute without a value.
    var bytes: [String: Data?] = [:]

    init(entity: String, id: UUID, tag: String, members: [String: JSONValue]) {
        self.entity = entity
        self.id = id
        self.tag = tag
        self.members = members
    }

    /// Reads an object of an answer.
    ///
    /// - Throws: an error if it has no identity, is of an entity that the model does not have, or has a value of
    ///   another type than the model's: an object that cannot be read later would be worse than none.
    init(_ json: JSONValue, in model: ServiceModel) throws(ServiceFailure) {
        guard case .object(let list) = json, let entity = json["_entity"]?.string, model.entities[entity] != nil,
            let id = json["_id"]?.string.flatMap(UUID.init(uuidString:)), let tag = json["_version"]?.string
        else { throw .answer("\(JSONWriter.text(json).prefix(80)) is not an object of the model") }
        self.init(
            entity: entity, id: id, tag: tag,
            members: Dictionary(list.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }))
        try check(model)
    }

    private func check(_ model: ServiceModel) throws(ServiceFailure) {
        guard let served = model.entities[entity] else { return }
        for attribute in served.attributes.values {
            guard let json = members[attribute.name] else { continue }
            do throws(ServiceFailure) { _ = try attribute.form.value(json) } catch {
                throw .answer("\(entity).\(attribute.name): \(error.message)")
            }
        }
        for relationship in served.relationships.values {
            if relationship.isToMany {
                _ = try destinations(of: relationship.name)
            } else {
                _ = try destination(of: relationship.name)
            }
        }
    }

    /// The ID of a to-one relationship's object, also of an included one; `nil` for null.
    func destination(of name: String) throws(ServiceFailure) -> UUID? {
        switch members[name] {
        case nil, .null?: return nil
        case let json?:
            guard let id = Self.id(json) else { throw .answer("\(entity).\(name) is not an ID") }
            return id
        }
    }

    /// The IDs of a to-many relationship's objects; `nil` if the answer does not have them.
    func destinations(of name: String) throws(ServiceFailure) -> [UUID]? {
        guard let json = members[name] else { return nil }
        guard let list = json.array else { throw .answer("\(entity).\(name) is not a list") }
        var ids: [UUID] = []
        for json in list {
            guard let id = Self.id(json) else { throw .answer("\(entity).\(name) contains something else than IDs") }
            ids.append(id)
        }
        return ids
    }

    private static func id(_ json: JSONValue) -> UUID? {
        (json.string ?? json["_id"]?.string).flatMap(UUID.init(uuidString:))
    }

    /// The objects that are whole in the places of IDs.
    func included(in model: ServiceModel) throws(ServiceFailure) -> [RemoteObject] {
        var found: [RemoteObject] = []
        for name in model.entities[entity]?.relationships.keys.sorted() ?? [] {
            for json in members[name]?.array ?? members[name].map({ [$0] }) ?? [] {
                guard case .object = json else { continue }
                found.append(try RemoteObject(json, in: model))
            }
        }
        return found
    }

    /// The address of a property.
    func path(of property: String) -> String { "/api/\(entity)/\(id.uuidString)/\(property)" }
}

/// The number of a version, as nodes have it.
enum VersionNumber {
    /// Returns the number that the 16 hexadecimal digits of the service are, and another number for other texts.
    static func number(of tag: String) -> UInt64 {
        if tag.utf8.count == 16, let number = UInt64(tag, radix: 16) { return number }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in tag.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
