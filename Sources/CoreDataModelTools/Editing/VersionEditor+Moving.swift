import CoreDataModel

/// Deletes and moves elements.
extension VersionEditor {
    mutating func delete(_ path: ModelPath) throws(ModelFailure) {
        let old = try element(path)
        let places = try places(path)
        if places.isEmpty { throw failure("the model cannot be deleted here", path, hint: "delete its file") }
        try remove(places)
        switch path {
        case .entity(let name): try replaceEntity(name, by: nil, parent: old["parentEntity"])
        case .property(let entity, let name): try replaceProperty(name, of: entity, by: nil)
        default: break
        }
    }

    private mutating func remove(_ places: [Int]) throws(ModelFailure) {
        if places.count == 1 {
            markup.root.remove(at: places[0])
        } else {
            _ = markup.root.update(at: places[0]) { $0.remove(at: places[1]) }
        }
    }

    mutating func move(_ path: ModelPath, toEntity target: String) throws(ModelFailure) {
        guard case .property(let entity, let name) = path else {
            throw failure("\(path.text) cannot be moved to another entity", path, hint: "only properties can be moved")
        }
        if entity == target { return }
        try checkEntity(target)
        try checkIsFree(name, in: target)
        let property = try element(path)
        let isInherited = family(of: target).contains(entity)
        try remove(try places(path))
        // Indexes and constraints of subentities can still name an inherited property; those of others cannot.
        if isInherited {
            try redirectInverses(of: name, from: entity, to: target)
        } else if property.name == "relationship" {
            try redirectInverses(of: name, from: entity, to: target)
            try removeFromLists(name, of: entity)
        } else {
            try replaceProperty(name, of: entity, by: nil)
        }
        try insert(property, into: target)
    }

    /// Lets the inverse of a relationship that moved name its new entity.
    private mutating func redirectInverses(
        of name: String, from entity: String, to target: String
    ) throws(ModelFailure) {
        markup.root.updateAll(["entity"]) { other in
            other.updateAll(["relationship"]) { relationship in
                guard relationship["inverseName"] == name, relationship["inverseEntity"] == entity else { return }
                relationship.set("inverseEntity", to: target, order: ContentsWriter.relationshipOrder)
                relationship.set("destinationEntity", to: target, order: ContentsWriter.relationshipOrder)
            }
        }
    }

    mutating func reorder(_ path: ModelPath, to index: Int) throws(ModelFailure) {
        let places = try places(path)
        guard let place = places.last else { return }
        let style = style
        let move: (inout EditableElement) -> Void = { owner in
            guard case .element(let child) = owner.content[place] else { return }
            owner.remove(at: place)
            let siblings = owner.places(named: child.name)
            let kinds = places.count == 1 ? Self.modelKinds : Self.entityKinds
            let next =
                siblings.indices.contains(index)
                ? siblings[index] : owner.placeForNew(child, kinds: kinds, isSorted: false)
            owner.insert(child, before: next, depth: places.count, style: style)
        }
        if places.count == 1 {
            move(&markup.root)
        } else {
            _ = markup.root.update(at: places[0]) { move(&$0) }
        }
    }
}
