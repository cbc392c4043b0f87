import CoreDataModel
import CoreDataModelTools

/// The first page of a model: all its elements, and forms that add some.
struct OverviewSection {
    let view: EditorView

    var page: Page {
        view.page(
            view.version,
            """
            <h1>\(view.version)</h1>
            \(view.list(view.findings(of: .model)))
            \(entities)\(requests)\(configurations)\(composites)
            <details class=card><summary>Settings of the version</summary>\(SettingsForm(view, .model).html)</details>
            """)
    }

    private var document: ModelDocument { view.document }

    private func table(_ heads: [HTML], _ rows: [HTML], empty: HTML) -> HTML {
        if rows.isEmpty { return "<p class=null>\(empty)</p>" }
        return """
            <div class=scroll><table><thead><tr>\(heads.map { head -> HTML in "<th scope=col>\(head)" })</thead>\
            <tbody>\(rows)</tbody></table></div>
            """
    }

    // MARK: Entities

    private var entities: HTML {
        let rows = document.entities.map { entity -> HTML in
            let path = ModelPath.entity(entity.name)
            func count(_ kind: PropertyKind) -> Int { entity.properties.count { PropertyKind($0.kind) == kind } }
            let found = view.counts(view.findings(of: path).filter { $0.severity != .note })
            let parent = entity.parentName.map { name -> HTML in view.link(.entity(name), name) }
            let mark: HTML = entity.isAbstract ? " <span class=tag>abstract</span>" : ""
            return """
                <tr><th scope=row>\(view.link(path, entity.name))\(mark)<td>\(parent)\
                <td class=number>\(count(.attribute))<td class=number>\(count(.relationship))\
                <td>\(entity.className ?? "")<td>\(found ?? "")
                """
        }
        let list = table(
            ["Entity", "Parent", "Attributes", "Relationships", "Class", "Findings"], rows,
            empty: "No entities yet. An entity is a kind of object, such as Book.")
        let parents = [(value: "", title: "None")] + view.entityNames.map { (value: $0, title: $0) }
        let name = view.textField(
            "Name of the entity", "name", value: typed("add-entity", "name"), isRequired: true)
        let parent = view.select("Parent entity", "parent", parents, value: typed("add-entity", "parent"))
        return section("entities", "Entities", list, adding("add-entity", "Add entity", "\(name)\(parent)"))
    }

    private func typed(_ action: String, _ field: String) -> String? {
        view.refusal?.form["do"] == action ? view.refusal?.form[field] : nil
    }

    private func adding(_ action: String, _ title: HTML, _ fields: HTML) -> HTML {
        view.form(action, class: "adding", "\(fields)<button>\(title)</button>")
    }

    // MARK: Others

    private var requests: HTML {
        let rows = document.fetchRequests.map { request -> HTML in
            let entity = request.entityName.map { name -> HTML in view.link(.entity(name), name) }
            return """
                <tr><th scope=row>\(view.link(.fetchRequest(request.name), request.name))<td>\(entity)\
                <td><code>\(request.predicate ?? "")</code>
                """
        }
        let names = view.entityNames.map { (value: $0, title: $0) }
        let fields: HTML = """
            \(view.textField("Name of the request", "name", value: typed("add-request", "name"), isRequired: true))\
            \(view.select("Entity of the results", "entity", names, value: typed("add-request", "entity")))\
            \(view.textField("Predicate", "predicate", value: typed("add-request", "predicate")))
            """
        let add = names.isEmpty ? "" : adding("add-request", "Add fetch request", fields)
        let list = table(["Name", "Entity", "Predicate"], rows, empty: "No fetch requests.")
        return section("requests", "Fetch Requests", list, add)
    }

    private var configurations: HTML {
        let rows = document.configurations.map { configuration -> HTML in
            """
            <tr><th scope=row>\(view.link(.configuration(configuration.name), configuration.name))\
            <td>\(configuration.entityNames.joined(separator: ", "))
            """
        }
        return section(
            "configurations", "Configurations",
            table(["Name", "Entities"], rows, empty: "No configurations besides Default, which has all entities."),
            adding(
                "add-configuration", "Add configuration",
                view.textField(
                    "Name of the configuration", "name", value: typed("add-configuration", "name"), isRequired: true)))
    }

    private var composites: HTML {
        let rows = document.composites.map { composite -> HTML in
            """
            <tr><th scope=row>\(view.link(.composite(composite.name), composite.name))\
            <td>\(composite.properties.map(\.name).joined(separator: ", "))
            """
        }
        return section(
            "composites", "Composites", table(["Name", "Elements"], rows, empty: "No composites."),
            adding(
                "add-composite", "Add composite",
                view.textField(
                    "Name of the composite", "name", value: typed("add-composite", "name"), isRequired: true)))
    }

    private func section(_ id: HTML, _ title: HTML, _ table: HTML, _ add: HTML) -> HTML {
        "<section aria-labelledby=\(id)><h2 id=\(id)>\(title)</h2>\(table)\(add)</section>"
    }
}
