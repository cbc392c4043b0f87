import CoreDataModel

/// Sets destinations and inverses, which are written on both sides.
extension VersionEditor {
    mutating func setDestination(_ path: ModelPath, _ destination: String?) throws(ModelFailure) {
        try removeInverse(path)
        try change(path) { relationship throws(ModelFailure) in
            relationship.set("destinationEntity", to: destination, order: ContentsWriter.relationshipOrder)
        }
    }

    mutating func setInverse(_ path: ModelPath, _ name: String?) throws(ModelFailure) {
        let relationship = try element(path)
        guard case .property(let entity, _) = path, relationship.name == "relationship" else {
            throw failure("\(path.text) is no relationship", path, hint: "only relationships have an inverse")
        }
        guard let name else { return try removeInverse(path) }
        guard let destination = relationship["destinationEntity"] else {
            throw failure("\(path.text) has no destination", path, hint: "choose the destination first")
        }
        let owner = ancestors(of: destination).first { ancestor in
            (try? places(.property(entity: ancestor, name: name))) != nil
        }
        guard let owner else {
            throw failure(
                "'\(destination)' has no relationship '\(name)'", path, hint: "add it, or choose another inverse")
        }
        let other = ModelPath.property(entity: owner, name: name)
        let inverse = try element(other)
        guard inverse.name == "relationship" else {
            throw failure("\(other.text) is no relationship", path, hint: "choose a relationship")
        }
        if let back = inverse["destinationEntity"], back != entity {
            throw failure(
                "\(other.text) refers to '\(back)', not to '\(entity)'", path,
                hint: "choose '\(entity)' as its destination first")
        }
        let isDone = relationship["inverseName"] == name && inverse["inverseName"] == path.name
        if isDone, inverse["inverseEntity"] == entity { return }
        try removeInverse(path)
        try removeInverse(other)
        try link(path, to: name, of: owner)
        try link(other, to: path.name, of: entity)
    }

    private mutating func link(_ path: ModelPath, to name: String, of entity: String) throws(ModelFailure) {
        try change(path) { relationship throws(ModelFailure) in
            let order = ContentsWriter.relationshipOrder
            if relationship["destinationEntity"] == nil {
                relationship.set("destinationEntity", to: entity, order: order)
            }
            relationship.set("inverseName", to: name, order: order)
            relationship.set("inverseEntity", to: entity, order: order)
        }
    }

    /// Removes the inverse from a relationship, and from the other side if that points back.
    private mutating func removeInverse(_ path: ModelPath) throws(ModelFailure) {
        let relationship = try element(path)
        guard case .property(let entity, let own) = path else { return }
        if let name = relationship["inverseName"],
            let destination = relationship["inverseEntity"] ?? relationship["destinationEntity"]
        {
            for owner in ancestors(of: destination) {
                let other = ModelPath.property(entity: owner, name: name)
                guard let inverse = try? element(other), inverse["inverseName"] == own,
                    (inverse["inverseEntity"] ?? entity) == entity
                else { continue }
                try clear(other)
                break
            }
        }
        try clear(path)
    }

    private mutating func clear(_ path: ModelPath) throws(ModelFailure) {
        try change(path) { relationship throws(ModelFailure) in
            for attribute in ["inverseName", "inverseEntity"] {
                relationship.set(attribute, to: nil, order: ContentsWriter.relationshipOrder)
            }
        }
    }
}
