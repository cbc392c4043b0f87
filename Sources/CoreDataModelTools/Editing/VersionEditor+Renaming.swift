import CoreDataModel

/// Renames elements together with the references to them.
extension VersionEditor {
    mutating func rename(_ path: ModelPath, to name: String, _ keepsIdentity: Bool) throws(ModelFailure) {
        let old = try element(path)
        if path.name == name { return }
        switch path {
        case .model: throw failure("the model is named by its file", path, hint: "rename the file")
        case .entity: try checkIdentifier(name, "entity")
        case .property, .compositeElement: try checkIdentifier(name, "property")
        case .composite: try checkIdentifier(name, "composite")
        case .fetchIndex, .fetchRequest, .configuration:
            if name.isEmpty { throw failure("the new name of \(path.text) is empty", path, hint: "give it a name") }
        }
        let isTaken: Bool
        if case .property(let entity, _) = path {
            try checkIsFree(name, in: entity)
            isTaken = false
        } else {
            isTaken = (try? places(path.renamed(name))) != nil
        }
        if isTaken { throw failure("there is already an element named '\(name)'", path, hint: "choose another name") }

        try setName(path, name, keepsIdentity: keepsIdentity && old["elementID"] == nil)
        switch path {
        case .entity(let former): try replaceEntity(former, by: name, parent: name)
        case .property(let entity, let former): try replaceProperty(former, of: entity, by: name)
        case .composite(let former):
            updateAttributes { attribute in
                if attribute["composite"] == former {
                    attribute.set("composite", to: name, order: ContentsWriter.attributeOrder)
                }
            }
        default: break
        }
        try sortAgain(path.renamed(name))
    }

    private mutating func setName(_ path: ModelPath, _ name: String, keepsIdentity: Bool) throws(ModelFailure) {
        try change(path) { element throws(ModelFailure) in
            let former = element["name"]
            element.set("name", to: name, order: ["name"])
            let order = VersionEditor.order(of: element.name)
            if keepsIdentity { element.set("elementID", to: former, order: order) }
            // The name is the identifier again.
            if element["elementID"] == name { element.set("elementID", to: nil, order: order) }
            guard element.name == "entity", let className = element["representedClassName"] else { return }
            if className == former { element.set("representedClassName", to: name, order: order) }
            if let former, className == "." + former {
                element.set("representedClassName", to: "." + name, order: order)
            }
        }
    }

    /// The order of attributes of an element in Xcode's files.
    static func order(of element: String) -> [String] {
        switch element {
        case "model": ContentsWriter.modelOrder
        case "entity": ContentsWriter.entityOrder
        case "relationship": ContentsWriter.relationshipOrder
        case "fetchRequest":
            [
                "name", "entity", "predicateString", "fetchLimit", "fetchBatchSize", "resultType", "includeSubentities",
                "includePropertyValues", "includesPendingChanges", "returnObjectsAsFaults", "returnDistinctResults",
            ]
        default: ContentsWriter.attributeOrder
        }
    }

    /// Changes every attribute of entities and composites.
    mutating func updateAttributes(_ change: (inout EditableElement) -> Void) {
        markup.root.updateAll(["entity", "composite"]) { owner in owner.updateAll(["attribute"], change) }
    }

    // MARK: References to entities

    /// Replaces the references to an entity; `nil` removes them.
    ///
    /// - Parameter parent: the parent of its subentities from now on.
    mutating func replaceEntity(_ former: String, by name: String?, parent: String?) throws(ModelFailure) {
        try changeRoot { root throws(ModelFailure) in
            root.updateAll(["entity"]) { entity in
                if entity["parentEntity"] == former {
                    entity.set("parentEntity", to: parent, order: ContentsWriter.entityOrder)
                }
                entity.updateAll(["relationship"]) { relationship in
                    let order = ContentsWriter.relationshipOrder
                    if relationship["inverseEntity"] == former {
                        relationship.set("inverseEntity", to: name, order: order)
                        if name == nil { relationship.set("inverseName", to: nil, order: order) }
                    }
                    if relationship["destinationEntity"] == former {
                        relationship.set("destinationEntity", to: name, order: order)
                        if name == nil {
                            for attribute in ["inverseName", "inverseEntity"] {
                                relationship.set(attribute, to: nil, order: order)
                            }
                        }
                    }
                }
                guard let name else { return }
                entity.updateAll(["fetchedProperty"]) { fetched in
                    fetched.updateAll(["fetchRequest"]) { request in
                        if request["entity"] == former { request.set("entity", to: name, order: ["name", "entity"]) }
                    }
                }
            }
            root.updateAll(["configuration"]) { configuration in
                guard let name else {
                    configuration.removeAll("memberEntity") { $0["name"] == former }
                    return
                }
                configuration.updateAll(["memberEntity"]) { member in
                    if member["name"] == former { member.set("name", to: name, order: ["name"]) }
                }
            }
            root.updateAll(["elements"]) { boxes in
                guard let name else { return boxes.removeAll("element") { $0["name"] == former } }
                boxes.updateAll(["element"]) { box in
                    if box["name"] == former { box.set("name", to: name, order: ["name"]) }
                }
            }
            root.removeAll("elements") { $0.children().isEmpty }
            // A request of a deleted entity stays: the linter reports it.
            guard let name else { return }
            root.updateAll(["fetchRequest"]) { request in
                if request["entity"] == former { request.set("entity", to: name, order: ["name", "entity"]) }
            }
        }
    }

    // MARK: References to properties

    /// Replaces the references to a property; `nil` removes them. Predicates and derivations are not changed: the
    /// linter reports those that read a key which does not exist.
    mutating func replaceProperty(_ former: String, of entity: String, by name: String?) throws(ModelFailure) {
        let family = family(of: entity)
        try changeRoot { root throws(ModelFailure) in
            root.updateAll(["entity"]) { other in
                other.updateAll(["relationship"]) { relationship in
                    guard relationship["inverseName"] == former,
                        family.contains(relationship["inverseEntity"] ?? relationship["destinationEntity"] ?? "")
                    else { return }
                    relationship.set("inverseName", to: name, order: ContentsWriter.relationshipOrder)
                    if name == nil {
                        relationship.set("inverseEntity", to: nil, order: ContentsWriter.relationshipOrder)
                    }
                }
                guard family.contains(other["name"] ?? "") else { return }
                other.updateAll(["fetchIndex"]) { index in
                    index.replaceNames("fetchIndexElement", "property", former, by: name)
                }
                other.removeAll("fetchIndex") { index in name == nil && index.children().isEmpty }
                for (list, one, item) in [
                    ("uniquenessConstraints", "uniquenessConstraint", "constraint"),
                    ("compoundIndexes", "compoundIndex", "index"),
                ] {
                    other.updateAll([list]) { all in
                        all.updateAll([one]) { $0.replaceNames(item, "value", former, by: name) }
                        if name == nil { all.removeAll(one) { $0.children().isEmpty } }
                    }
                    if name == nil { other.removeAll(list) { $0.children().isEmpty } }
                }
            }
        }
    }

    // MARK: Order

    /// Puts a renamed element where its name belongs, if its siblings are sorted, as Xcode does.
    private mutating func sortAgain(_ path: ModelPath) throws(ModelFailure) {
        switch path {
        case .model, .fetchIndex, .composite, .compositeElement: return
        case .entity, .property, .fetchRequest, .configuration: break
        }
        let places = try places(path)
        guard let place = places.last else { return }
        let style = style
        let kinds = places.count == 1 ? Self.modelKinds : Self.entityKinds
        let sort: (inout EditableElement) -> Void = { owner in
            guard case .element(let child) = owner.content[place] else { return }
            var rest = owner
            rest.remove(at: place)
            guard let new = rest.placeForSorted(child) else { return }
            let old = rest.places(named: child.name).count { $0 < place }
            if new.index == old { return }
            let next = new.place ?? rest.placeForNew(child, kinds: kinds, isSorted: true)
            rest.insert(child, before: next, depth: places.count, style: style)
            owner = rest
        }
        try changeRoot { root throws(ModelFailure) in
            if places.count == 1 {
                sort(&root)
            } else {
                _ = root.update(at: places[0]) { sort(&$0) }
            }
            if case .entity(let name) = path { root.updateAll(["elements"]) { $0.sortBox(name, style) } }
        }
    }
}

extension EditableElement {
    /// Replaces a name in the children of an index or constraint; `nil` removes those children.
    fileprivate mutating func replaceNames(_ element: String, _ attribute: String, _ former: String, by name: String?) {
        guard let name else { return removeAll(element) { $0[attribute] == former } }
        updateAll([element]) { child in
            if child[attribute] == former { child.set(attribute, to: name, order: [attribute]) }
        }
    }

    /// Returns the index and place of a child among sorted siblings; `nil` if the siblings are not sorted by name.
    fileprivate func placeForSorted(_ child: EditableElement) -> (index: Int, place: Int?)? {
        let siblings = places(named: child.name)
        let names = siblings.map { place -> String in
            if case .element(let sibling) = content[place] { sibling["name"] ?? "" } else { "" }
        }
        guard zip(names, names.dropFirst()).allSatisfy({ !NameOrder.ignoringCase($1, $0) }) else { return nil }
        let own = child["name"] ?? ""
        let index = names.firstIndex { NameOrder.ignoringCase(own, $0) } ?? names.count
        return (index, index < siblings.count ? siblings[index] : nil)
    }

    fileprivate mutating func sortBox(_ name: String, _ style: MarkupStyle) {
        guard let place = place(of: "element", is: name), case .element(let box) = content[place] else { return }
        var rest = self
        rest.remove(at: place)
        guard let new = rest.placeForSorted(box) else { return }
        let old = rest.places(named: "element").count { $0 < place }
        if new.index == old { return }
        rest.insert(box, before: new.place, depth: 2, style: style)
        self = rest
    }
}
