/// A key path in the words of the service's model.
struct ServiceKeyPath: Sendable {
    enum End: Sendable {
        case attribute(AttributeForm)
        case object
        /// Several objects of the entity.
        case objects(ServiceEntity)
        /// A computed number.
        case number
    }

    /// A key path that the service does not serve.
    struct Mistake: Error {
        let words: String
    }

    let keys: [String]
    let end: End
    /// The number of relationships to many objects on the way.
    let collections: Int
    /// The entity that the path ends at, where it ends at one object.
    let entity: ServiceEntity?

    private static let maximumKeys = 4
    private static let operators: Set<String> = ["@count", "@sum", "@min", "@max", "@avg"]

    init(_ keys: [String], of entity: ServiceEntity, in model: ServiceModel) throws(Mistake) {
        guard !keys.isEmpty, keys.count <= Self.maximumKeys else {
            throw Mistake(words: "a key path has at most \(Self.maximumKeys) keys")
        }
        var place = Place(entity: entity)
        for key in keys { try place.step(key, model) }
        if place.isReducing {
            guard case .attribute(let form) = place.end, form.isNumber else {
                throw Mistake(words: "an operator of collections is followed by an attribute with numbers")
            }
            place.end = .number
        }
        self.keys = keys
        end = place.end
        collections = place.collections
        if case .object = place.end { self.entity = place.entity } else { self.entity = nil }
    }

    private struct Place {
        var entity: ServiceEntity
        var end = End.object
        var isMany = false
        var isReducing = false
        var collections = 0

        init(entity: ServiceEntity) { self.entity = entity }

        mutating func step(_ key: String, _ model: ServiceModel) throws(Mistake) {
            if ServiceKeyPath.operators.contains(key) {
                guard case .objects = end, !isReducing else {
                    throw Mistake(words: "\(key) follows a relationship to many objects")
                }
                if key == "@count" { end = .number } else { isReducing = true }
                return
            }
            switch end {
            case .number: throw Mistake(words: "a number has no '\(key)'")
            case .attribute(.composite(let elements)):
                guard let element = elements.first(where: { $0.name == key }) else {
                    throw Mistake(words: "there is no element '\(key)'")
                }
                end = .attribute(element.form)
                return
            case .attribute: throw Mistake(words: "an attribute has no '\(key)'")
            case .object, .objects: break
            }
            if let attribute = entity.attributes[key] {
                guard !attribute.isTransient else { throw Mistake(words: "\(entity.name).\(key) is not stored") }
                end = .attribute(attribute.form)
            } else if let relationship = entity.relationships[key],
                let destination = model.entities[relationship.destination]
            {
                entity = destination
                if relationship.isToMany { collections += 1 }
                isMany = isMany || relationship.isToMany
                end = isMany ? .objects(destination) : .object
            } else {
                throw Mistake(words: "the service does not serve \(entity.name).\(key)")
            }
        }
    }
}
