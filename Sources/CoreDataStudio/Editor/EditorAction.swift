import CoreDataModel
import CoreDataModelTools

/// The command of a form, and the page that shows its result.
struct EditorAction: Sendable {
    var command: ModelCommand
    var next: EditorPlace
    /// The setting of each edit, for messages beside its field.
    var settings: [ModelSetting] = []

    /// Reads a form.
    ///
    /// - Throws: an error for a form that no page of the editor has.
    init(_ view: EditorView) throws(PageFailure) {
        let form = view.visit.form
        let version = view.version
        switch form["do"] ?? "" {
        case "add-version":
            command = .addVersion(form["name"] ?? "", copyOf: version)
            next = .overview
        case "current":
            command = .setCurrentVersion(version)
            next = view.place
        case "fix":
            guard let fix = Self.fix(view) else {
                throw PageFailure(409, "The finding does not exist any more. Nothing was changed.")
            }
            command = fix.command
            next = view.place
        default:
            let reader = EditReader(form: form, view: view)
            let edits = try reader.edits()
            command = .edit(version: version, edits)
            next = reader.next(after: edits)
            if form["do"] == "set" {
                settings = edits.map { edit in
                    if case .set(_, let setting, _) = edit { setting } else { .isOptional }
                }
            }
        }
    }

    private static func fix(_ view: EditorView) -> LintFix? {
        let form = view.visit.form
        return view.findings.filter { $0.rule == form["rule"] && $0.subject == form.text("subject") }
            .flatMap { LintFix.fixes(for: $0, in: view.bundle, version: view.version) }
            .first { $0.title == form["fix"] }
    }
}

/// Reads the edits of a form.
private struct EditReader {
    let form: FormFields
    let view: EditorView

    private func text(_ name: String) -> String { form[name]?.trimmedBlanks ?? "" }

    /// The element that the form is about: a row of a list, or the element of the page.
    private func target() throws(PageFailure) -> ModelPath {
        let place = form["target"].map { EditorPlace(address: $0) } ?? view.place
        if case .element(let path)? = place { return path }
        throw PageFailure(400, "The form names no element.")
    }

    private func entity() throws(PageFailure) -> String {
        if let name = form.text("owner") { return name }
        if case .element(.entity(let name)) = view.place { return name }
        throw PageFailure(400, "The form names no entity.")
    }

    func edits() throws(PageFailure) -> [ModelEdit] {
        switch form["do"] ?? "" {
        case "set":
            return SettingText.edits(form, try target(), in: view.bundle, view.version).map(\.edit)
        case "rename":
            return [.rename(try target(), to: text("name"), keepsIdentity: form["keep"] != nil)]
        case "delete": return [.delete(try target())]
        case "move": return [.move(try target(), toEntity: text("entity"))]
        case "reorder": return [.reorder(try target(), to: form.number("index") ?? 0)]
        case "inverse": return [.setInverse(try target(), form.text("inverse"))]
        case "user-info":
            return [.setUserInfo(try target(), key: text("key"), value: form["value"] ?? "")]
        case "delete-user-info": return [.setUserInfo(try target(), key: form["key"] ?? "", value: nil)]
        case "constraint":
            return [.setConstraint(entity: try entity(), at: form.number("index"), form.all("property"))]
        case "delete-compound", "convert-compound": return try compoundIndex()
        case "members":
            guard case .configuration(let name) = try target() else { break }
            return [.setMembers(configuration: name, form.all("member"))]
        case "index-elements": return [.setIndexElements(try target(), indexElements())]
        case "predicate-rows":
            let path = try target()
            return [.set(path, .predicate, PredicateRows(view: view, path: path).text(of: form))]
        case "position": return positions()
        case let action where action.hasPrefix("add-"): return try additions(action)
        default: break
        }
        throw PageFailure(400, "The form is none of Studio's. Reload the page and try again.")
    }

    private func additions(_ action: String) throws(PageFailure) -> [ModelEdit] {
        let name = text("name")
        switch action {
        case "add-entity": return [.addEntity(name, parent: form.text("parent"))]
        case "add-composite": return [.addComposite(name)]
        case "add-configuration": return [.addConfiguration(name)]
        case "add-request":
            let path = ModelPath.fetchRequest(name)
            return [.addFetchRequest(name, entity: text("entity"))] + predicate(path)
        case "add-attribute":
            let entity = try entity()
            return [.addProperty(.attribute, name: name, entity: entity)]
                + type(of: .property(entity: entity, name: name))
        case "add-part":
            guard case .element(.composite(let composite)) = view.place else { break }
            return [.addCompositeElement(name, composite: composite)]
                + type(of: .compositeElement(composite: composite, name: name))
        case "add-relationship": return relationship(name, of: try entity())
        case "add-fetched":
            let path = ModelPath.property(entity: try entity(), name: name)
            return [
                .addProperty(.fetched, name: name, entity: try entity()), .set(path, .requestEntity, text("entity")),
            ] + predicate(path)
        case "add-index":
            let entity = try entity()
            let elements = form.all("property").filter { !$0.isEmpty }
            return [
                .addFetchIndex(name, entity: entity),
                .setIndexElements(
                    .fetchIndex(entity: entity, name: name), elements.map { .init(propertyName: $0) }),
            ]
        default: break
        }
        throw PageFailure(400, "The form is none of Studio's. Reload the page and try again.")
    }

    private func type(of path: ModelPath) -> [ModelEdit] {
        form.text("type").map { $0 == "String" ? [] : [.set(path, .attributeType, $0)] } ?? []
    }

    private func predicate(_ path: ModelPath) -> [ModelEdit] {
        form.text("predicate").map { [.set(path, .predicate, $0)] } ?? []
    }

    /// A new relationship, with its destination and, if the form names one, the inverse that exists there or is new.
    private func relationship(_ name: String, of entity: String) -> [ModelEdit] {
        let path = ModelPath.property(entity: entity, name: name)
        let destination = text("destination")
        var edits: [ModelEdit] = [
            .addProperty(.relationship, name: name, entity: entity), .set(path, .destination, destination),
        ]
        if form["many"] == "YES" { edits.append(.set(path, .isToMany, "YES")) }
        if let rule = form.text("rule"), rule != "Nullify" { edits.append(.set(path, .deleteRule, rule)) }
        let inverse = text("inverse")
        if inverse.isEmpty { return edits }
        let other = view.document.entities.first { $0.name == destination }
        if other?.properties.contains(where: { $0.name == inverse }) != true {
            let back = ModelPath.property(entity: destination, name: inverse)
            edits += [
                .addProperty(.relationship, name: inverse, entity: destination), .set(back, .destination, entity),
            ]
            if form["inverse-many"] == "YES" { edits.append(.set(back, .isToMany, "YES")) }
        }
        return edits + [.setInverse(path, inverse)]
    }

    /// Deletes a compound index, or makes it a fetch index: the name of both in a store is that of the properties.
    private func compoundIndex() throws(PageFailure) -> [ModelEdit] {
        let name = try entity()
        let lists = view.document.entities.first { $0.name == name }?.compoundIndexes ?? []
        guard let index = form.number("index"), lists.indices.contains(index) else {
            throw PageFailure(409, "The index does not exist any more. Nothing was changed.")
        }
        var left = lists
        let names = left.remove(at: index)
        let delete = ModelEdit.setCompoundIndexes(entity: name, left)
        if form["do"] == "delete-compound" { return [delete] }
        let fresh = names.joined(separator: "_")
        let elements = names.map { name -> FetchIndexElement.Element in
            ["self", "entity"].contains(name) ? .init(expression: name) : .init(propertyName: name)
        }
        return [
            delete, .addFetchIndex(fresh, entity: name),
            .setIndexElements(.fetchIndex(entity: name, name: fresh), elements),
        ]
    }

    private func indexElements() -> [FetchIndexElement.Element] {
        let orders = form.all("order")
        let types = form.all("type")
        return form.all("property").enumerated().compactMap { row, text in
            if text.isEmpty { return nil }
            // `=length(name)` is an expression.
            var element: FetchIndexElement.Element =
                text.hasPrefix("=") ? .init(expression: String(text.dropFirst())) : .init(propertyName: text)
            element.isAscending = !orders.indices.contains(row) || orders[row] != "descending"
            element.isRTree = types.indices.contains(row) && types[row] == "RTree"
            return element
        }
    }

    /// The place of one box; boxes that have no place yet get the one that they are shown at.
    private func positions() -> [ModelEdit] {
        guard let name = form.text("entity"), let x = form.number("x"), let y = form.number("y"),
            x.magnitude < 100_000, y.magnitude < 100_000
        else { return [] }
        return GraphPositions(view.document).edits(moving: name, toX: x, y: y)
    }

    /// The page after the edits: that of the new element, or the list that had a deleted one.
    func next(after edits: [ModelEdit]) -> EditorPlace {
        switch form["do"] ?? "" {
        case "rename":
            guard case .rename(let path, let name, _)? = edits.first, view.place == .element(path) else { break }
            return EditorPlace(renaming: path, to: name)
        case "delete":
            if case .delete(let path)? = edits.first, view.place == .element(path) { return view.place.parent }
        case "move":
            if case .move(let path, let entity)? = edits.first {
                return .element(.property(entity: entity, name: path.name))
            }
        case "add-entity", "add-composite", "add-configuration", "add-request":
            switch edits.first {
            case .addEntity(let name, _): return .element(.entity(name))
            case .addComposite(let name): return .element(.composite(name))
            case .addConfiguration(let name): return .element(.configuration(name))
            case .addFetchRequest(let name, _): return .element(.fetchRequest(name))
            default: break
            }
        default: break
        }
        return view.place
    }
}

extension EditorPlace {
    fileprivate init(renaming path: ModelPath, to name: String) { self = .element(path.renamed(name)) }
}

extension String {
    /// The text without white space around it.
    var trimmedBlanks: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
