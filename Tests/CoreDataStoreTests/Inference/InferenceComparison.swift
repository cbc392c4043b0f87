import CoreDataModel

/// What an inferred model has otherwise than the true one.
struct InferenceComparison {
    /// Stated, and not so.
    private(set) var wrong: [String] = []
    /// There, and not stated.
    private(set) var missed: [String] = []
    /// To-ones that are not stated, and of which only rows would tell where they lead.
    private(set) var missedToOnes: [String] = []
    private(set) var foundToOnes = 0
    private let inferred: [String: EntityElement]
    private let truth: [String: EntityElement]

    init(_ document: ModelDocument, truth: ModelDocument) {
        inferred = Self.byName(document)
        self.truth = Self.byName(truth)
        for entity in truth.entities {
            guard let own = inferred[entity.name] else {
                missed.append(entity.name)
                continue
            }
            if own.parentName != entity.parentName {
                wrong.append("\(entity.name): parent \(own.parentName ?? "none")")
            }
            for property in entity.properties where !property.isTransient { compare(property, of: entity.name) }
        }
        for name in inferred.keys where self.truth[name] == nil { wrong.append(name) }
    }

    private static func byName(_ document: ModelDocument) -> [String: EntityElement] {
        Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private mutating func compare(_ property: PropertyElement, of entity: String) {
        let subject = "\(entity).\(property.name)"
        // An attribute that only rows of a subentity have may be thought that subentity's.
        let found = tree(of: entity).lazy.compactMap { inferred in
            inferred.properties.first {
                $0.name.uppercased() == property.name.uppercased() && Self.isToMany($0) == Self.isToMany(property)
            }
        }.first
        switch (property.kind, found?.kind) {
        case (.attribute(let attribute), _) where attribute.type == .composite:
            for element in attribute.elements where !hasColumn(of: element.name, entity) {
                missed.append("\(subject).\(element.name)")
            }
        case (.attribute(let attribute), .attribute(let own)?):
            if !Self.isFit(own, for: attribute) { wrong.append("\(subject): \(own.type)") }
        case (.attribute(let attribute), let own?):
            wrong.append("\(subject): \(own) for \(attribute.type)")
        case (.attribute, nil): missed.append(subject)
        case (.relationship(let relationship), .relationship(let own)?):
            compare(relationship, own, subject)
            if relationship.maxCount == 1 { foundToOnes += 1 }
        case (.relationship(let relationship), _):
            // What is not stored: a to-many with a to-one that leads back; it has a name of its own in the inferred model.
            let inverse = truthProperty(relationship.inverseName ?? "", of: relationship.destinationName ?? "")
            var isStored = relationship.maxCount == 1
            if case .relationship(let inverse)? = inverse?.kind, inverse.maxCount != 1 { isStored = true }
            // A column beside it tells of which entity the destination is, where that has subentities.
            let isTold = truth.values.contains { $0.parentName == relationship.destinationName }
            if relationship.maxCount == 1, !isTold {
                missedToOnes.append(subject)
            } else if isStored {
                missed.append(subject)
            }
        case (.fetched, _): break
        }
    }

    /// Whether an attribute was inferred of the column of an element, whose name may have a number behind.
    private func hasColumn(of element: String, _ entity: String) -> Bool {
        tree(of: entity).contains { inferred in
            inferred.properties.contains { property in
                let name = property.name.uppercased()
                return name.hasPrefix(element.uppercased())
                    && name.dropFirst(element.count).allSatisfy { $0.isASCII && $0.isNumber }
            }
        }
    }

    /// A property that the entity has or inherits in the true model.
    private func truthProperty(_ name: String, of entity: String) -> PropertyElement? {
        var next = truth[entity]
        while let entity = next {
            if let property = entity.properties.first(where: { $0.name == name }) { return property }
            next = entity.parentName.flatMap { truth[$0] }
        }
        return nil
    }

    /// Of an entity's tree, one may have a to-many and another a to-one of a name.
    private static func isToMany(_ property: PropertyElement) -> Bool {
        if case .relationship(let relationship) = property.kind { return relationship.maxCount != 1 }
        return false
    }

    private mutating func compare(_ relationship: RelationshipElement, _ own: RelationshipElement, _ subject: String) {
        let destination = relationship.destinationName ?? ""
        if !tree(of: destination).contains(where: { $0.name == own.destinationName }) {
            wrong.append("\(subject): leads to \(own.destinationName ?? "nothing")")
        }
        if relationship.maxCount != 1, relationship.isOrdered != own.isOrdered { wrong.append("\(subject): order") }
    }

    /// The entity of the inferred model, what it inherits from and what inherits from it.
    private func tree(of name: String) -> [EntityElement] {
        guard let entity = inferred[name] else { return [] }
        var result = [entity]
        var next = entity.parentName.flatMap { inferred[$0] }
        while let ancestor = next, result.count <= inferred.count {
            result.append(ancestor)
            next = ancestor.parentName.flatMap { inferred[$0] }
        }
        var added = true
        while added {
            let names = Set(result.map(\.name))
            let children = inferred.values.filter { $0.parentName == name || names.contains($0.name) }
            let below = inferred.values.filter { child in
                !names.contains(child.name) && children.contains { $0.name == child.parentName }
                    || child.parentName == name && !names.contains(child.name)
            }
            result += below
            added = !below.isEmpty
        }
        return result
    }

    private static func isFit(_ own: AttributeElement, for attribute: AttributeElement) -> Bool {
        let candidates: [AttributeType] =
            switch attribute.type {
            case .integer16, .integer32, .integer64, .boolean: [.integer64, .boolean]
            case .double, .float: [.double]
            case .decimal: [.decimal]
            case .date: [.date]
            case .string, .uri: [.string]
            case .uuid: [.uuid, .binaryData]
            case .binaryData, .transformable, .undefined: [.binaryData]
            case .objectID, .composite: []
            }
        return candidates.contains(own.type)
    }
}
