import CoreDataModel
import CoreDataModelTools

/// The tables of an entity: attributes, relationships, fetched properties, indexes and constraints.
struct EntityTables {
    let view: EditorView
    let entity: EntityElement

    var html: HTML { "\(attributes)\(relationships)\(fetched)\(indexes)\(compoundIndexes)\(constraints)" }

    private func path(_ name: String) -> ModelPath { .property(entity: entity.name, name: name) }

    private func typed(_ action: String, _ field: String) -> String? {
        view.refusal?.form["do"] == action ? view.refusal?.form[field] : nil
    }

    private func section(_ id: HTML, _ title: HTML, _ heads: [HTML], _ rows: [HTML], _ add: HTML) -> HTML {
        let table: HTML =
            rows.isEmpty
            ? "<p class=null>None.</p>"
            : """
            <div class=scroll><table><thead><tr>\(heads.map { head -> HTML in "<th scope=col>\(head)" })\
            <th><span class=sr>Actions</span></thead><tbody>\(rows)</tbody></table></div>
            """
        return "<section aria-labelledby=\(id)><h2 id=\(id)>\(title)</h2>\(table)\(add)</section>"
    }

    private func delete(_ path: ModelPath) -> HTML {
        view.button(
            "delete", [("target", EditorPlace.element(path).address.text)], "Delete", label: "Delete \(path.subject)")
    }

    private func mark(_ path: ModelPath) -> HTML {
        view.counts(view.findings(of: path).filter { $0.severity != .note }).map { counts -> HTML in
            " <span class=\"tag bad\">\(counts)</span>"
        } ?? ""
    }

    // MARK: Properties

    private var attributes: HTML {
        let rows = entity.properties.compactMap { property -> HTML? in
            guard case .attribute(let attribute) = property.kind else { return nil }
            let path = path(property.name)
            let type = attribute.compositeName ?? attribute.type.displayName
            let marks = [
                property.isOptional ? "optional" : nil, property.isTransient ? "transient" : nil,
                attribute.derivationExpression == nil ? nil : "derived",
            ].compactMap { $0 }.joined(separator: ", ")
            let bounds = ValidationBounds(attribute.validations, type: attribute.type)
            let range = [
                bounds.minimum.map { "≥ \(shown($0, .minimum, attribute))" },
                bounds.maximum.map { "≤ \(shown($0, .maximum, attribute))" }, bounds.pattern,
            ].compactMap { $0 }.joined(separator: ", ")
            return """
                <tr><th scope=row>\(view.link(path, property.name))\(mark(path))<td>\(type)<td>\(marks)\
                <td>\(attribute.defaultValueText.map { shown($0, .defaultValue, attribute) } ?? "")<td>\(range)\
                <td>\(delete(path))
                """
        }
        return section(
            "attributes", "Attributes", ["Attribute", "Type", "Marks", "Default", "Validation"], rows,
            Self.attributeForm(view, action: "add-attribute"))
    }

    private func shown(_ value: String, _ setting: ModelSetting, _ attribute: AttributeElement) -> String {
        SettingText.shown(value, setting, attribute.type) ?? value
    }

    static func attributeForm(_ view: EditorView, action: String) -> HTML {
        let types = AttributeType.allCases.compactMap(\.fileName).map { (value: $0, title: $0) }
        let refused = view.refusal?.form["do"] == action ? view.refusal?.form : nil
        return view.form(
            action, class: "adding",
            """
            \(view.textField("Name of the attribute", "name", value: refused?["name"], isRequired: true))\
            \(view.select("Type", "type", types, value: refused?["type"] ?? "String"))<button>Add attribute</button>
            """)
    }

    private var relationships: HTML {
        let rows = entity.properties.compactMap { property -> HTML? in
            guard case .relationship(let relationship) = property.kind else { return nil }
            let path = path(property.name)
            let destination = relationship.destinationName.map { name -> HTML in
                view.document.entities.contains { $0.name == name } ? view.link(.entity(name), name) : "\(name)"
            }
            let count = relationship.maxCount == 1 ? "To One" : relationship.isOrdered ? "To Many, ordered" : "To Many"
            return """
                <tr><th scope=row>\(view.link(path, property.name))\(mark(path))<td>\(destination ?? "None")\
                <td>\(relationship.inverseName ?? "None")<td>\(count)<td>\(relationship.deleteRule.fileName)\
                <td>\(property.isOptional ? "optional" : "")<td>\(delete(path))
                """
        }
        let names = view.entityNames.map { (value: $0, title: $0) }
        let rules = ["Nullify", "Cascade", "Deny", "No Action"].map { (value: $0, title: $0) }
        let counts = [(value: "NO", title: "To One"), (value: "YES", title: "To Many")]
        func typed(_ field: String) -> String? { self.typed("add-relationship", field) }
        let add = view.form(
            "add-relationship", class: "adding",
            """
            \(view.textField("Name of the relationship", "name", value: typed("name"), isRequired: true))\
            \(view.select("Destination", "destination", names, value: typed("destination")))\
            \(view.select("Count", "many", counts, value: typed("many")))\
            \(view.select("Delete rule", "rule", rules, value: typed("rule")))\
            \(view.textField("Inverse, added if missing", "inverse", value: typed("inverse")))\
            \(view.select("Count of a new inverse", "inverse-many", counts, value: typed("inverse-many")))\
            <button>Add relationship</button>
            """)
        let heads: [HTML] = ["Relationship", "Destination", "Inverse", "Type", "Delete Rule", "Marks"]
        return section("relationships", "Relationships", heads, rows, add)
    }

    private var fetched: HTML {
        let rows = entity.properties.compactMap { property -> HTML? in
            guard case .fetched(let request) = property.kind else { return nil }
            let path = path(property.name)
            return """
                <tr><th scope=row>\(view.link(path, property.name))\(mark(path))<td>\(request.entityName ?? "")\
                <td><code>\(request.predicate ?? "")</code><td>\(delete(path))
                """
        }
        let names = view.entityNames.map { (value: $0, title: $0) }
        let name = view.textField(
            "Name of the fetched property", "name", value: typed("add-fetched", "name"), isRequired: true)
        let add = view.form(
            "add-fetched", class: "adding",
            """
            \(name)\(view.select("Entity of the results", "entity", names, value: typed("add-fetched", "entity")))\
            \(view.textField("Predicate", "predicate", value: typed("add-fetched", "predicate")))\
            <button>Add fetched property</button>
            """)
        return section("fetched", "Fetched Properties", ["Fetched property", "Entity", "Predicate"], rows, add)
    }

    // MARK: Indexes and constraints

    /// The names of the properties that the entity has or inherits and that are stored.
    private var names: [String] {
        var names: [String] = []
        var visited: Set<String> = []
        var next: EntityElement? = entity
        while let current = next, visited.insert(current.name).inserted {
            names += current.properties.filter { !$0.isFetched && !$0.isTransient }.map(\.name)
            next = view.document.entities.first { $0.name == current.parentName }
        }
        return names
    }

    private var indexes: HTML {
        let rows = entity.fetchIndexes.map { index -> HTML in
            let path = ModelPath.fetchIndex(entity: entity.name, name: index.name)
            let elements = index.elements.map {
                ($0.propertyName ?? $0.expression ?? "") + ($0.isAscending ? "" : " descending")
            }
            return """
                <tr><th scope=row>\(view.link(path, index.name))<td>\(elements.joined(separator: ", "))\
                <td><code>\(index.predicate ?? "")</code><td>\(delete(path))
                """
        }
        let choices = [(value: "", title: "None")] + names.map { (value: $0, title: $0) }
        let add = view.form(
            "add-index", class: "adding",
            """
            \(view.textField("Name of the index", "name", value: typed("add-index", "name"), isRequired: true))\
            \(view.select("First property", "property", choices))\(view.select("Second property", "property", choices))\
            <button>Add index</button>
            """)
        return section("indexes", "Indexes", ["Index", "Elements", "Predicate"], rows, add)
    }

    /// The indexes of models from before Xcode 9, if there are any: they can be deleted, or made fetch indexes.
    private var compoundIndexes: HTML {
        if entity.compoundIndexes.isEmpty { return "" }
        let rows = entity.compoundIndexes.enumerated().map { index, names -> HTML in
            let list = names.joined(separator: ", ")
            let fields = [("index", String(index))]
            let convert = view.button(
                "convert-compound", fields, "Make a fetch index", label: "Make a fetch index of \(list)")
            let delete = view.button("delete-compound", fields, "Delete", label: "Delete index \(list)")
            return "<tr><th scope=row>\(list)<td>\(convert) \(delete)"
        }
        return section("compound", "Compound Indexes", ["Properties"], rows, "")
    }

    private var constraints: HTML {
        let rows = entity.uniquenessConstraints.enumerated().map { index, names -> HTML in
            let list = names.joined(separator: ", ")
            let delete = view.button(
                "constraint", [("index", String(index))], "Delete", label: "Delete constraint \(list)")
            return "<tr><th scope=row>\(list)<td>\(delete)"
        }
        let boxes = names.map { name -> HTML in
            "<label class=check><input type=checkbox name=property value=\"\(name)\"> \(name)</label>"
        }
        let add: HTML =
            boxes.isEmpty
            ? ""
            : view.form(
                "constraint", class: "adding",
                """
                <fieldset><legend>Unique together</legend>\(boxes)</fieldset><button>Add constraint</button>
                """)
        return section("constraints", "Uniqueness Constraints", ["Properties"], rows, add)
    }
}
