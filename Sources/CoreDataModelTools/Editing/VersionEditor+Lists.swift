import CoreDataModel

/// Changes user info, indexes, constraints and configurations.
extension VersionEditor {
    mutating func setUserInfo(_ path: ModelPath, _ key: String, _ value: String?) throws(ModelFailure) {
        switch path {
        case .entity, .property, .compositeElement: break
        default: throw failure("\(path.text) has no user info", path, hint: "set it on an entity or a property")
        }
        if key.isEmpty { throw failure("a key of the user info is empty", path, hint: "name the key") }
        let depth = try places(path).count + 1
        let style = style
        try change(path) { element throws(ModelFailure) in
            if element.places(named: "userInfo").isEmpty {
                if value == nil { return }
                element.insert(EditableElement("userInfo"), before: nil, depth: depth, style: style)
            }
            guard let place = element.places(named: "userInfo").first else { return }
            let isEmpty = element.update(at: place) { info in
                info.setEntry(key, value, depth: depth + 1, style: style)
                return info.children().isEmpty
            }
            if isEmpty == true { element.remove(at: place) }
        }
    }

    // MARK: Indexes

    mutating func setIndexElements(
        _ path: ModelPath, _ elements: [FetchIndexElement.Element]
    ) throws(ModelFailure) {
        guard case .fetchIndex(let entity, _) = path else {
            throw failure("\(path.text) is no index", path, hint: "choose a fetch index")
        }
        for element in elements {
            guard let name = element.propertyName else { continue }
            try checkProperty(name, of: entity, in: path)
        }
        let style = style
        try change(path) { index throws(ModelFailure) in
            let new = elements.map(Self.markup)
            index.setList("fetchIndexElement", new, depth: 3, style: style)
        }
    }

    private static func markup(_ element: FetchIndexElement.Element) -> EditableElement {
        var attributes: [(name: String, value: String)] = []
        if let name = element.propertyName { attributes.append(("property", name)) }
        if let expression = element.expression { attributes.append(("expression", expression)) }
        if let type = element.expressionType { attributes.append(("expressionType", type)) }
        attributes.append(("type", element.isRTree ? "RTree" : "Binary"))
        attributes.append(("order", element.isAscending ? "ascending" : "descending"))
        return EditableElement("fetchIndexElement", attributes)
    }

    /// Throws if the entity neither has nor inherits a property with the name.
    private func checkProperty(_ name: String, of entity: String, in path: ModelPath) throws(ModelFailure) {
        let owners = ancestors(of: entity)
        let isThere = entities.contains { owner in
            owners.contains(owner["name"] ?? "")
                && Self.propertyNames.contains { owner.place(of: $0, is: name) != nil }
        }
        if !isThere {
            throw failure(
                "'\(entity)' has no property '\(name)'", path, hint: "choose a property of the entity or its parents")
        }
    }

    // MARK: Constraints

    mutating func setConstraint(_ entity: String, _ index: Int?, _ names: [String]) throws(ModelFailure) {
        let path = ModelPath.entity(entity)
        for name in names { try checkProperty(name, of: entity, in: path) }
        if Set(names).count < names.count {
            throw failure("the constraint names a property twice", path, hint: "name each property once")
        }
        var lists = try constraints(of: entity)
        if let index {
            guard lists.indices.contains(index) else {
                throw failure("'\(entity)' has no constraint \(index + 1)", path, hint: "it was deleted")
            }
            if names.isEmpty { lists.remove(at: index) } else { lists[index] = names }
        } else if !names.isEmpty {
            if lists.contains(names) {
                throw failure("'\(entity)' already has that constraint", path, hint: "choose other properties")
            }
            lists.append(names)
        } else {
            throw failure("the constraint names no property", path, hint: "choose at least one")
        }
        try setLists(lists, entity, ("uniquenessConstraints", "uniquenessConstraint", "constraint"))
    }

    private func constraints(of entity: String) throws(ModelFailure) -> [[String]] {
        try element(.entity(entity)).children(named: "uniquenessConstraints").flatMap { all in
            all.children(named: "uniquenessConstraint").map { one in
                one.children(named: "constraint").compactMap { $0["value"] }
            }
        }
    }

    mutating func setCompoundIndexes(_ entity: String, _ lists: [[String]]) throws(ModelFailure) {
        try setLists(lists.filter { !$0.isEmpty }, entity, ("compoundIndexes", "compoundIndex", "index"))
    }

    private mutating func setLists(
        _ lists: [[String]], _ entity: String, _ names: (all: String, one: String, item: String)
    ) throws(ModelFailure) {
        let style = style
        try change(.entity(entity)) { entity throws(ModelFailure) in
            if entity.places(named: names.all).isEmpty {
                if lists.isEmpty { return }
                let all = EditableElement(names.all)
                let place = entity.placeForNew(all, kinds: Self.entityKinds, isSorted: false)
                entity.insert(all, before: place, depth: 2, style: style)
            }
            guard let place = entity.places(named: names.all).first else { return }
            if lists.isEmpty {
                entity.remove(at: place)
                return
            }
            _ = entity.update(at: place) { all in
                let new = lists.map { list in
                    EditableElement(
                        names.one, children: list.map { EditableElement(names.item, [("value", $0)]) })
                }
                all.setList(names.one, new, depth: 3, style: style)
            }
        }
    }

    /// Removes a property from the indexes and constraints of an entity and its subentities.
    mutating func removeFromLists(_ name: String, of entity: String) throws(ModelFailure) {
        let family = family(of: entity)
        markup.root.updateAll(["entity"]) { other in
            guard family.contains(other["name"] ?? "") else { return }
            other.updateAll(["fetchIndex"]) { $0.removeAll("fetchIndexElement") { $0["property"] == name } }
            other.removeAll("fetchIndex") { $0.children().isEmpty }
            other.updateAll(["uniquenessConstraints"]) { all in
                all.updateAll(["uniquenessConstraint"]) { $0.removeAll("constraint") { $0["value"] == name } }
                all.removeAll("uniquenessConstraint") { $0.children().isEmpty }
            }
            other.removeAll("uniquenessConstraints") { $0.children().isEmpty }
        }
    }

    // MARK: Configurations

    mutating func setMembers(_ configuration: String, _ names: [String]) throws(ModelFailure) {
        for name in names { try checkEntity(name) }
        let style = style
        try change(.configuration(configuration)) { element throws(ModelFailure) in
            let kept = element.children(named: "memberEntity").compactMap { $0["name"] }
            element.removeAll("memberEntity") { !names.contains($0["name"] ?? "") }
            for name in names where !kept.contains(name) {
                let member = EditableElement("memberEntity", [("name", name)])
                let place = element.placeForNew(member, kinds: ["memberEntity"], isSorted: true)
                element.insert(member, before: place, depth: 2, style: style)
            }
        }
    }
}

extension EditableElement {
    /// Sets the entry of a `userInfo`; `nil` removes it.
    fileprivate mutating func setEntry(_ key: String, _ value: String?, depth: Int, style: MarkupStyle) {
        guard let value else { return removeAll("entry") { $0["key"] == key } }
        if let place = place(of: "entry", where: "key", is: key) {
            _ = update(at: place) { $0.set("value", to: value, order: ["key", "value"]) }
            return
        }
        let entry = EditableElement("entry", [("key", key), ("value", value)])
        insert(entry, before: placeForNew(entry, kinds: ["entry"], isSorted: true), depth: depth, style: style)
    }

    /// Replaces the children with a name by a list. A child that stays equal keeps its lines.
    fileprivate mutating func setList(_ name: String, _ list: [EditableElement], depth: Int, style: MarkupStyle) {
        let old = children(named: name)
        let shared = zip(old, list).prefix { $0.means($1) }.count
        for place in places(named: name).dropFirst(shared).reversed() { remove(at: place) }
        for child in list.dropFirst(shared) { insert(child, before: nil, depth: depth, style: style) }
    }

    /// Returns whether two elements have the same content, apart from white space and spelling.
    private func means(_ other: EditableElement) -> Bool {
        let (own, others) = (children(), other.children())
        return name == other.name
            && Dictionary(attributes.map { ($0.name, self[$0.name]) }, uniquingKeysWith: { $1 })
                == Dictionary(other.attributes.map { ($0.name, other[$0.name]) }, uniquingKeysWith: { $1 })
            && own.count == others.count && zip(own, others).allSatisfy { $0.means($1) }
    }
}
