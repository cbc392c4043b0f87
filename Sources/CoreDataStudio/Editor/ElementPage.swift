import CoreDataModel
import CoreDataModelTools

/// The page of one element: its findings, its settings, the elements inside it, and what can be done with it.
struct ElementPage {
    let view: EditorView
    let path: ModelPath

    var page: Page {
        let content: HTML
        switch path {
        case .entity(let name):
            let entity = document.entities.first { $0.name == name }
            content = entity.map { EntityTables(view: view, entity: $0).html } ?? ""
        case .property(let entity, let name): content = property(entity, name)
        case .fetchIndex(let entity, let name): content = index(entity, name)
        case .configuration(let name): content = members(name)
        case .composite(let name): content = composite(name)
        case .fetchRequest: content = PredicateRows(view: view, path: path).html
        case .model, .compositeElement: content = ""
        }
        return view.page(
            path.name.isEmpty ? "Settings" : path.name,
            """
            <h1>\(title)</h1>\(view.list(view.findings(of: path), of: path))\
            \(inverse)\(SettingsForm(view, path).html)\(content)\(userInfo)\(actions)
            """)
    }

    private var document: ModelDocument { view.document }

    private var title: HTML {
        let name = path.name
        return switch path {
        case .model: "Settings of the version"
        case .entity: "\(name) <small>entity</small>"
        case .property(let entity, _): "\(entity).\(name) <small>\(kind?.title ?? "")</small>"
        case .fetchIndex(let entity, _): "\(entity).\(name) <small>index</small>"
        case .composite: "\(name) <small>composite</small>"
        case .compositeElement(let composite, _): "\(composite).\(name) <small>attribute</small>"
        case .fetchRequest: "\(name) <small>fetch request</small>"
        case .configuration: "\(name) <small>configuration</small>"
        }
    }

    private var element: PropertyElement? {
        guard case .property(let entity, let name) = path else { return nil }
        return document.entities.first { $0.name == entity }?.properties.first { $0.name == name }
    }

    private var kind: PropertyKind? { element.map { PropertyKind($0.kind) } }

    // MARK: Properties

    private func property(_ entity: String, _ name: String) -> HTML {
        guard let element else { return "" }
        let move: HTML = {
            let others = view.entityNames.filter { $0 != entity }.map { (value: $0, title: $0) }
            if others.isEmpty { return "" }
            return view.form(
                "move", class: "adding",
                "\(view.select("Move to the entity", "entity", others))<button>Move</button>")
        }()
        let rows: HTML = element.isFetched ? PredicateRows(view: view, path: path).html : ""
        return "\(rows)\(move)"
    }

    /// The inverse, which is not an attribute of the element alone: it is set on both sides.
    private var inverse: HTML {
        guard let element, case .relationship(let relationship) = element.kind,
            case .property(let entity, let name) = path
        else { return "" }
        guard let destination = relationship.destinationName else {
            return "<p class=hint>Choose a destination first; then the inverse can be chosen.</p>"
        }
        let family = inherited(by: destination)
        let candidates = family.flatMap(\.properties).filter { other in
            guard case .relationship(let back) = other.kind else { return false }
            return (back.destinationName ?? entity) == entity && !(destination == entity && other.name == name)
        }.map(\.name)
        let known = relationship.inverseName.map { candidates.contains($0) } ?? true
        var choices = [(value: "", title: "No inverse")] + candidates.map { (value: $0, title: "\(destination).\($0)") }
        if !known, let name = relationship.inverseName { choices.append((name, "\(destination).\(name)")) }
        return view.form(
            "inverse", class: "card adding",
            """
            \(view.select("Inverse", "inverse", choices, value: relationship.inverseName ?? ""))\
            <button>Set on both sides</button>
            """)
    }

    private func inherited(by name: String) -> [EntityElement] {
        var result: [EntityElement] = []
        var next: String? = name
        while let current = next, !result.contains(where: { $0.name == current }),
            let entity = document.entities.first(where: { $0.name == current })
        {
            result.append(entity)
            next = entity.parentName
        }
        return result
    }

    // MARK: Other elements

    private func index(_ entity: String, _ name: String) -> HTML {
        let index = document.entities.first { $0.name == entity }?.fetchIndexes.first { $0.name == name }
        let elements = (index?.elements ?? []).map { $0.propertyName ?? "=" + ($0.expression ?? "") }
        let names = inherited(by: entity).flatMap(\.properties).filter { !$0.isFetched }.map(\.name)
        let rows = (0..<(elements.count + 2)).map { row -> HTML in
            let value = elements.indices.contains(row) ? elements[row] : ""
            var choices = [("", "None")] + names.map { ($0, $0) }
            if !choices.contains(where: { $0.0 == value }) { choices.append((value, value)) }
            let part = index.flatMap { $0.elements.indices.contains(row) ? $0.elements[row] : nil }
            let order = part?.isAscending == false ? "descending" : "ascending"
            let type = part?.isRTree == true ? "RTree" : "Binary"
            return """
                <tr><td class=number>\(row + 1)<td><select name=property aria-label="Property \(row + 1)">\
                \(view.options(choices.map { (value: $0.0, title: $0.1) }, value))</select>\
                <td><select name=order aria-label="Order \(row + 1)">\
                \(view.options([("ascending", "Ascending"), ("descending", "Descending")], order))</select>\
                <td><select name=type aria-label="Type \(row + 1)">\
                \(view.options([("Binary", "Binary"), ("RTree", "R-Tree")], type))</select>
                """
        }
        return """
            <h2>Elements</h2>\(view.form("index-elements", """
                <div class=scroll><table><thead><tr><th>No.<th>Property<th>Order<th>Type</thead>\
                <tbody>\(rows)</tbody></table></div><button class=main>Save elements</button>
                """))
            """
    }

    private func members(_ name: String) -> HTML {
        let members = document.configurations.first { $0.name == name }?.entityNames ?? []
        let boxes = view.entityNames.map { entity -> HTML in
            let check: HTML = members.contains(entity) ? " checked" : ""
            return """
                <label class=check><input type=checkbox name=member value="\(entity)"\(check)> \(entity)</label>
                """
        }
        let form = view.form("members", class: "card", "\(boxes)<button class=main>Save entities</button>")
        return "<h2>Entities</h2>\(form)"
    }

    private func composite(_ name: String) -> HTML {
        let elements = document.composites.first { $0.name == name }?.properties ?? []
        let rows = elements.map { element -> HTML in
            let place = ModelPath.compositeElement(composite: name, name: element.name)
            let type = if case .attribute(let attribute) = element.kind { attribute.type.displayName } else { "" }
            return "<tr><th scope=row>\(view.link(place, element.name))<td>\(type)<td>\(delete(place))"
        }
        return """
            <h2>Elements</h2><div class=scroll><table>\
            <thead><tr><th>Element<th>Type<th><span class=sr>Actions</span></thead>\
            <tbody>\(rows)</tbody></table></div>\(EntityTables.attributeForm(view, action: "add-part"))
            """
    }

    private func delete(_ path: ModelPath) -> HTML {
        view.button(
            "delete", [("target", EditorPlace.element(path).address.text)], "Delete", label: "Delete \(path.subject)")
    }

    // MARK: User info

    private var userInfo: HTML {
        switch path {
        case .entity, .property, .compositeElement: break
        default: return ""
        }
        let entries = view.bundle.userInfo(of: path, in: view.version)
        let rows = entries.map { entry -> HTML in
            let label = "Value of \(entry.key)"
            let field: HTML = "<input name=value value=\"\(entry.value)\" aria-label=\"\(label)\"><button>Save</button>"
            let edited = view.form("user-info", fields: [("key", entry.key)], class: "inline", field)
            let value: HTML = view.isEditable ? edited : "\(entry.value)"
            let delete = view.button("delete-user-info", [("key", entry.key)], "Delete", label: "Delete \(entry.key)")
            return "<tr><th scope=row>\(entry.key)<td>\(value)<td>\(delete)"
        }
        let table: HTML =
            rows.isEmpty
            ? ""
            : """
            <div class=scroll><table><thead><tr><th>Key<th>Value<th><span class=sr>Actions</span></thead>\
            <tbody>\(rows)</tbody></table></div>
            """
        let isOpen: HTML = rows.isEmpty ? "" : " open"
        let fields = [view.textField("Key", "key", isRequired: true), view.textField("Value", "value")]
        let add = view.form("user-info", class: "adding", "\(fields)<button>Add key</button>")
        return "<details\(isOpen)><summary>User info</summary>\(table)\(add)</details>"
    }

    // MARK: Actions

    private var actions: HTML {
        guard view.isEditable, path != .model else { return "" }
        let canKeep: Bool
        switch path {
        case .entity, .property: canKeep = true
        default: canKeep = false
        }
        // A rename matters for stores if the previous version has the name.
        let isOld = view.bundle.previous(to: view.version)?.document.contains(path) ?? false
        let check: HTML = isOld ? " checked" : ""
        let keep: HTML =
            canKeep
            ? """
            <label class=check><input type=checkbox name=keep value=YES\(check)> \
            Set \(path.name) as renaming ID, so that a migration keeps the values</label>
            """ : ""
        let typed = view.refusal?.form["do"] == "rename" ? view.typed("name") : path.name
        let name = view.textField("New name", "name", value: typed, isRequired: true)
        let rename = view.form("rename", class: "adding", "\(name)\(keep)<button>Rename</button>")
        let delete = view.form(
            "delete", "<button class=danger>Delete \(path.name)</button> <small>can be undone</small>")
        return "<h2>Rename or delete</h2>\(rename)\(delete)"
    }
}

extension ModelDocument {
    /// Whether the model has an entity or property at the path.
    fileprivate func contains(_ path: ModelPath) -> Bool {
        switch path {
        case .entity(let name): entities.contains { $0.name == name }
        case .property(let entity, let name):
            entities.first { $0.name == entity }?.properties.contains { $0.name == name } ?? false
        default: false
        }
    }
}
