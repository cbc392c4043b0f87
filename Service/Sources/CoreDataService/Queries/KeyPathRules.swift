/// The end of a key path.
package enum KeyPathEnd {
    case attribute(ServedAttribute)
    /// An object of the entity.
    case object(ServedEntity)
    /// Several objects of the entity.
    case objects(ServedEntity)
    /// A computed number.
    case number
}

/// A key path that a client sent, in the words of the model.
package struct ServedKeyPath {
    package var keys: [String]
    package var end: KeyPathEnd
    /// The number of relationships to many objects on the way.
    package var collections: Int

    package var text: String { keys.joined(separator: ".") }
}

extension ServedModel {
    /// A key path that is not served, in words.
    package struct KeyPathMistake: Error {
        package let words: String
        /// The key that is wrong, to find its place.
        package let key: String
    }

    /// Returns the key path in the words of the model: `_id` becomes the identity, a path may end in an operator of
    /// collections.
    package func keyPath(_ keys: [String], of entity: ServedEntity) throws(KeyPathMistake) -> ServedKeyPath {
        guard keys.count <= WhereRules.maximumKeys else {
            throw KeyPathMistake(
                words: "a key path may have at most \(WhereRules.maximumKeys) keys", key: keys.first ?? "")
        }
        var result: [String] = []
        var end = KeyPathEnd.object(entity)
        var collections = 0
        var reducing: String?
        for key in keys {
            if WhereRules.collectionOperators.contains(key) {
                guard case .objects = end, reducing == nil else {
                    throw KeyPathMistake(words: "\(key) follows a relationship to many objects", key: key)
                }
                result.append(key)
                if key == "@count" { end = .number } else { reducing = key }
                continue
            }
            let next = try step(key, end)
            result.append(next.key)
            end = next.end
            if case .objects = end { collections += 1 }
        }
        if let reducing {
            guard case .attribute(let attribute) = end, attribute.form.isNumber else {
                throw KeyPathMistake(words: "\(reducing) is followed by an attribute with numbers", key: reducing)
            }
            end = .number
        }
        return ServedKeyPath(keys: result, end: end, collections: collections)
    }

    private func step(_ key: String, _ from: KeyPathEnd) throws(KeyPathMistake) -> (key: String, end: KeyPathEnd) {
        let entity: ServedEntity
        var isMany = false
        switch from {
        case .object(let object): entity = object
        case .objects(let object): (entity, isMany) = (object, true)
        case .attribute(let attribute):
            guard case .composite(let elements) = attribute.form else {
                throw KeyPathMistake(
                    words: "'\(attribute.name)' is an attribute: it has no '\(key.prefix(80))'", key: key)
            }
            guard let element = elements.first(where: { $0.name == key }) else {
                throw KeyPathMistake(
                    words: "'\(attribute.name)' has no '\(key.prefix(80))'; it has: "
                        + elements.map(\.name).joined(separator: ", "), key: key)
            }
            return (key, .attribute(element))
        case .number: throw KeyPathMistake(words: "a number has no '\(key.prefix(80))'", key: key)
        }
        if key == "_id" {
            guard let identity = entity[property: entity.identity]?.attribute else {
                throw KeyPathMistake(words: "\(entity.name) has no ID", key: key)
            }
            return (entity.identity, .attribute(identity))
        }
        switch entity[property: key] {
        case .attribute(let attribute):
            if attribute.isTransient {
                throw KeyPathMistake(words: "\(entity.name).\(key) is not stored: no query can use it", key: key)
            }
            return (key, .attribute(attribute))
        case .relationship(let relationship):
            guard let destination = entities[relationship.destination] else {
                throw KeyPathMistake(words: "\(entity.name).\(key) is not served", key: key)
            }
            return (key, isMany || relationship.isToMany ? .objects(destination) : .object(destination))
        case nil:
            throw KeyPathMistake(
                words: "\(entity.name) has no property '\(key.prefix(80))'; it has: "
                    + entity.properties.map(\.name).joined(separator: ", "), key: key)
        }
    }
}
