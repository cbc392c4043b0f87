import CoreData
import CoreDataJSON
import Foundation

/// Applies JSON to an object, on the queue of its context, and collects all mistakes.
struct ObjectWriter {
    let model: ServedModel
    let lookup: ReferenceLookup
    private(set) var mistakes: [Problem.Part] = []

    init(model: ServedModel, lookup: ReferenceLookup) {
        self.model = model
        self.lookup = lookup
    }

    /// Sets the members of a JSON object; a property that it does not name keeps its value.
    ///
    /// - Parameters:
    ///   - pointer: the place of the JSON object in the request.
    ///   - isNew: whether the object may get its ID.
    mutating func apply(
        _ json: JSONValue, to object: NSManagedObject, _ entity: ServedEntity, at pointer: String, isNew: Bool
    ) throws {
        guard case .object(let members) = json else {
            note(pointer, entity, nil, "expected an object, found \(json.kind)")
            return
        }
        for member in members {
            let place = "\(pointer)/\(Self.escaped(member.name))"
            if member.name.hasPrefix("_") {
                // What an answer contains may be sent back.
                if member.name == "_version" { continue }
                if member.name == "_entity" {
                    if member.value.string != entity.name {
                        note(
                            place, entity, "_entity",
                            "the object is of the entity \(entity.name), and that does not change")
                    }
                    continue
                }
                if member.name == "_id" {
                    let given = member.value.string.flatMap(UUID.init(uuidString:))
                    if given == nil || given != object.value(forKey: entity.identity) as? UUID {
                        note(place, entity, "_id", "the ID of an object does not change")
                    }
                    continue
                }
            }
            switch entity[property: member.name] {
            case .attribute(let attribute): set(attribute, member.value, object, entity, place, isNew: isNew)
            case .relationship(let relationship):
                try set(relationship, member.value, object, entity, place)
            case nil:
                note(
                    place, entity, String(member.name.prefix(80)),
                    "there is no such property; there are: \(entity.properties.map(\.name).joined(separator: ", "))")
            }
        }
    }

    private mutating func note(_ pointer: String, _ entity: ServedEntity, _ property: String?, _ words: String) {
        let subject = [entity.name, property].compactMap { $0 }.joined(separator: ".")
        mistakes.append(
            Problem.Part(pointer: pointer, entity: entity.name, property: property, detail: "\(subject): \(words)"))
    }

    private static func escaped(_ name: String) -> String {
        String(name.prefix(80)).replacing("~", with: "~0").replacing("/", with: "~1")
    }

    // MARK: Attributes

    private mutating func set(
        _ attribute: ServedAttribute, _ json: JSONValue, _ object: NSManagedObject, _ entity: ServedEntity,
        _ place: String, isNew: Bool
    ) {
        if attribute.isDerived || attribute.isTransient {
            // The value of an answer may be sent back.
            if !isNew, json == attribute.form.json(object.value(forKey: attribute.name)) { return }
            return note(
                place, entity, attribute.name,
                attribute.isDerived ? "the store computes it: leave it out" : "it is not stored: leave it out")
        }
        if case .largeBytes = attribute.form {
            if json == .null {
                object.setValue(nil, forKey: attribute.name)
                return
            }
            // The address of an answer may be sent back.
            let id = (object.value(forKey: entity.identity) as? UUID)?.uuidString ?? ""
            if !isNew, json.string == "/api/\(entity.name)/\(id)/\(attribute.name)" { return }
            return note(
                place, entity, attribute.name, "send the bytes by PUT to the object's address, /\(attribute.name)")
        }
        do throws(ValueMistake) {
            let value = try attribute.form.value(json)
            if attribute.name == entity.identity {
                // The ID of a new object was set before.
                let same = (value as? UUID).map { $0 == object.value(forKey: attribute.name) as? UUID } ?? isNew
                if !same { note(place, entity, attribute.name, "the ID of an object does not change") }
                return
            }
            object.setValue(value, forKey: attribute.name)
        } catch {
            let path = error.path.map { "/" + Self.escaped($0) }.joined()
            note(place + path, entity, ([attribute.name] + error.path).joined(separator: "."), error.words)
        }
    }

    // MARK: Relationships

    private mutating func set(
        _ relationship: ServedRelationship, _ json: JSONValue, _ object: NSManagedObject, _ entity: ServedEntity,
        _ place: String
    ) throws {
        guard let destination = model.entities[relationship.destination] else { return }
        guard relationship.isToMany else {
            if json == .null {
                object.setValue(nil, forKey: relationship.name)
                return
            }
            guard let other = try reference(json, destination, entity, relationship.name, place) else { return }
            object.setValue(other, forKey: relationship.name)
            return
        }
        switch json {
        case .array(let elements):
            guard let others = try references(elements, destination, entity, relationship.name, place) else { return }
            if relationship.isOrdered {
                object.setValue(NSOrderedSet(array: others), forKey: relationship.name)
            } else {
                object.setValue(NSSet(array: others), forKey: relationship.name)
            }
        case .object(let members):
            for member in members where !["add", "remove"].contains(member.name) || member.value.array == nil {
                return note(
                    place, entity, relationship.name, "expected a list of IDs, or an object with add and remove")
            }
            guard
                let added = try references(
                    json["add"]?.array ?? [], destination, entity, relationship.name, place + "/add"),
                let removed = try references(
                    json["remove"]?.array ?? [], destination, entity, relationship.name, place + "/remove",
                    skipsMissing: true)
            else { return }
            if relationship.isOrdered {
                let members = object.mutableOrderedSetValue(forKey: relationship.name)
                for other in removed { members.remove(other) }
                for other in added { members.add(other) }
            } else {
                let members = object.mutableSetValue(forKey: relationship.name)
                for other in removed { members.remove(other) }
                for other in added { members.add(other) }
            }
        default:
            note(
                place, entity, relationship.name,
                "expected a list of IDs, or an object with add and remove, found \(json.kind)")
        }
    }

    private mutating func references(
        _ elements: [JSONValue], _ destination: ServedEntity, _ entity: ServedEntity, _ property: String,
        _ place: String, skipsMissing: Bool = false
    ) throws -> [NSManagedObject]? {
        guard elements.count <= ObjectReader.maximumMembers else {
            note(
                place, entity, property,
                "more than \(ObjectReader.maximumMembers) objects: send them in several requests")
            return nil
        }
        try lookup.prepare(elements.compactMap { $0.string.flatMap(UUID.init(uuidString:)) }, of: destination)
        var others: [NSManagedObject] = []
        let before = mistakes.count
        for (index, element) in elements.enumerated() {
            let found = try reference(
                element, destination, entity, property, "\(place)/\(index)", skipsMissing: skipsMissing)
            if let found { others.append(found) }
        }
        return mistakes.count == before ? others : nil
    }

    private mutating func reference(
        _ json: JSONValue, _ destination: ServedEntity, _ entity: ServedEntity, _ property: String, _ place: String,
        skipsMissing: Bool = false
    ) throws -> NSManagedObject? {
        // An included object may be sent back: its ID counts.
        let text = json.string ?? json["_id"]?.string
        guard let text, let id = UUID(uuidString: text) else {
            note(place, entity, property, "expected the ID of an object of \(destination.name)")
            return nil
        }
        guard let object = try lookup.object(id, of: destination), !object.isDeleted else {
            if !skipsMissing {
                note(place, entity, property, "there is no such object of \(destination.name), or you may not read it")
            }
            return nil
        }
        return object
    }
}
