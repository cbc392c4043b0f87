import CoreDataModel

/// Adds elements, with the settings that Xcode gives to new ones.
extension VersionEditor {
    mutating func addEntity(_ name: String, parent: String?) throws(ModelFailure) {
        try checkIdentifier(name, "entity")
        if let parent { try checkEntity(parent) }
        var entity = EditableElement("entity", [("name", name), ("representedClassName", name)])
        entity.set("parentEntity", to: parent, order: ContentsWriter.entityOrder)
        entity.set("syncable", to: "YES", order: ContentsWriter.entityOrder)
        let language = markup.root["sourceLanguage"]
        if language != nil { entity.set("codeGenerationType", to: "class", order: ContentsWriter.entityOrder) }
        try addTop(entity)
        try addBox(name)
    }

    /// Adds an element below `model`; sorted by name like the others, if those are.
    mutating func addTop(_ element: EditableElement) throws(ModelFailure) {
        let name = element["name"] ?? ""
        let kind = element.name == "fetchRequest" ? "fetch request" : element.name
        if name.isEmpty { throw failure("the name of the \(kind) is empty", nil, hint: "give it a name") }
        if markup.root.place(of: element.name, is: name) != nil {
            throw failure(
                "there is already \(kind == "entity" ? "an" : "a") \(kind) '\(name)'", nil, hint: "choose another name")
        }
        let style = style
        try changeRoot { root throws(ModelFailure) in
            let place = root.placeForNew(element, kinds: Self.modelKinds, isSorted: true)
            root.insert(element, before: place, depth: 1, style: style)
        }
    }

    mutating func addProperty(_ kind: PropertyKind, _ name: String, to entity: String) throws(ModelFailure) {
        try checkIdentifier(name, kind.title)
        var property = EditableElement(kind.rawValue, [("name", name), ("optional", "YES")])
        switch kind {
        case .attribute: property.set("attributeType", to: "String", order: ContentsWriter.attributeOrder)
        case .relationship:
            property.set("maxCount", to: "1", order: ContentsWriter.relationshipOrder)
            property.set("deletionRule", to: "Nullify", order: ContentsWriter.relationshipOrder)
        case .fetched:
            property.content = [
                .element(
                    EditableElement("fetchRequest", [("name", "fetchedPropertyFetchRequest"), ("entity", entity)]))
            ]
        }
        // Xcode before version 10 writes this for each property.
        let siblings = try element(.entity(entity)).children().filter { Self.propertyNames.contains($0.name) }
        if !siblings.isEmpty, siblings.allSatisfy({ $0["syncable"] == "YES" }) {
            property.set("syncable", to: "YES", order: ContentsWriter.attributeOrder)
        }
        try insert(property, into: entity)
    }

    /// Inserts a property into an entity; the entity must not have a property with that name.
    mutating func insert(_ property: EditableElement, into entity: String) throws(ModelFailure) {
        let name = property["name"] ?? ""
        try checkIsFree(name, in: entity)
        let style = style
        try change(.entity(entity)) { entity throws(ModelFailure) in
            let place = entity.placeForNew(property, kinds: Self.entityKinds, isSorted: true)
            entity.insert(property, before: place, depth: 2, style: style)
        }
    }

    /// Throws if the entity has a property with the name already.
    func checkIsFree(_ name: String, in entity: String) throws(ModelFailure) {
        let owner = try element(.entity(entity))
        if Self.propertyNames.contains(where: { owner.place(of: $0, is: name) != nil }) {
            throw failure(
                "'\(entity)' already has a property '\(name)'", .property(entity: entity, name: name),
                hint: "choose another name")
        }
    }

    mutating func addFetchIndex(_ name: String, to entity: String) throws(ModelFailure) {
        if name.isEmpty { throw failure("the name of the index is empty", .entity(entity), hint: "give it a name") }
        let style = style
        let isTaken = try element(.entity(entity)).place(of: "fetchIndex", is: name) != nil
        if isTaken { throw failure("'\(entity)' already has an index '\(name)'", .entity(entity)) }
        try change(.entity(entity)) { entity throws(ModelFailure) in
            let index = EditableElement("fetchIndex", [("name", name)])
            // The order of indexes is the order of their statements in a store.
            let place = entity.placeForNew(index, kinds: Self.entityKinds, isSorted: false)
            entity.insert(index, before: place, depth: 2, style: style)
        }
    }

    mutating func addCompositeElement(_ name: String, to composite: String) throws(ModelFailure) {
        try checkIdentifier(name, "attribute")
        let style = style
        let isTaken = try element(.composite(composite)).place(of: "attribute", is: name) != nil
        if isTaken { throw failure("'\(composite)' already has an attribute '\(name)'", .composite(composite)) }
        try change(.composite(composite)) { composite throws(ModelFailure) in
            let attribute = EditableElement(
                "attribute", [("name", name), ("optional", "YES"), ("attributeType", "String")])
            composite.insert(attribute, before: nil, depth: 2, style: style)
        }
    }

    // MARK: Diagram

    /// Gives a new entity a box, if the file has boxes at all: Xcode 14 and later write none.
    private mutating func addBox(_ name: String) throws(ModelFailure) {
        guard let place = markup.root.places(named: "elements").first,
            case .element(let boxes) = markup.root.content[place]
        else { return }
        let bottom = boxes.children().compactMap { box -> Int? in
            guard let y = box["positionY"].flatMap(Double.init), let height = box["height"].flatMap(Double.init),
                y.magnitude < 1e6, height.magnitude < 1e6
            else { return nil }
            return Int(y + height)
        }.max()
        try setPosition(name, 0, (bottom ?? -40) + 40)
    }

    mutating func setPosition(_ entity: String, _ x: Int, _ y: Int) throws(ModelFailure) {
        try checkEntity(entity)
        let style = style
        let order = ContentsWriter.diagramOrder
        try changeRoot { root throws(ModelFailure) in
            if root.places(named: "elements").isEmpty {
                root.insert(EditableElement("elements"), before: nil, depth: 1, style: style)
            }
            guard let place = root.places(named: "elements").first else { return }
            _ = root.update(at: place) { boxes in
                let found = boxes.place(of: "element", is: entity)
                if found == nil {
                    let box = EditableElement(
                        "element",
                        [
                            ("name", entity), ("positionX", "\(x)"), ("positionY", "\(y)"), ("width", "128"),
                            ("height", "44"),
                        ])
                    let place = boxes.placeForNew(box, kinds: ["element"], isSorted: true)
                    boxes.insert(box, before: place, depth: 2, style: style)
                } else if let found {
                    _ = boxes.update(at: found) { box in
                        box.set("positionX", to: "\(x)", order: order)
                        box.set("positionY", to: "\(y)", order: order)
                    }
                }
            }
        }
    }
}
