/// The page for people: entities, who may do what, and requests to copy. It has no script.
enum ModelPage {
    static func html(_ model: ServedModel, name: String, rules: (String) -> [EntityRule]) -> String {
        let entities = model.names.compactMap { model.entities[$0] }
        let page: Markup = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(name)</title>
            <link rel="stylesheet" href="/style.css">
            </head>
            <body>
            <header><h1>\(name)</h1>
            <p>A Core Data model over HTTP. Programs read <a href="/openapi.json">/openapi.json</a> and <a href="/schema">/schema</a>.</p></header>
            <nav aria-label="Entities"><ul>\(.joined(entities.map { "<li><a href=\"#\($0.name)\">\($0.name)</a></li>" }))</ul></nav>
            <main>
            \(.joined(entities.map { entity($0, rules($0.name)) }))
            \(requests(entities.first { !$0.isAbstract } ?? entities.first))
            \(omissions(model))
            </main>
            </body>
            </html>

            """
        return page.text
    }

    private static func entity(_ entity: ServedEntity, _ rules: [EntityRule]) -> Markup {
        """
        <section id="\(entity.name)" aria-labelledby="h-\(entity.name)">
        <h2 id="h-\(entity.name)">\(entity.name)</h2>
        <p>\(about(entity))</p>
        <h3>Who may do what</h3>
        \(table(rules))
        <h3>Properties</h3>
        <table>
        <thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col"></th></tr></thead>
        <tbody>\(.joined(entity.properties.map(row)))</tbody>
        </table>
        </section>

        """
    }

    private static func about(_ entity: ServedEntity) -> Markup {
        let above: Markup = entity.superentity.map { "Inherits from \($0). " } ?? ""
        let kind: Markup = entity.isAbstract ? "Abstract. " : ""
        return
            "\(kind)\(above)Objects are at <code>/api/\(entity.name)</code>; their ID is <code>\(entity.identity)</code>."
    }

    private static func table(_ rules: [EntityRule]) -> Markup {
        if rules.isEmpty { return "<p>Nobody may do anything.</p>" }
        let rows = rules.map { rule -> Markup in
            "<tr><th scope=\"row\">\(rule.verb)\(rule.property.map { " " + $0 } ?? "")</th><td>\(rule.who)</td></tr>"
        }
        return "<table><tbody>\(.joined(rows))</tbody></table>"
    }

    private static func row(_ property: ServedProperty) -> Markup {
        switch property {
        case .attribute(let attribute):
            var notes: [String] = []
            if attribute.isOptional { notes.append("optional") }
            if attribute.isDerived { notes.append("computed") }
            if attribute.isTransient { notes.append("not stored") }
            if case .largeBytes = attribute.form { notes.append("at an address of its own") }
            return
                "<tr><th scope=\"row\">\(attribute.name)</th><td>\(attribute.form.typeName)</td><td>\(notes.joined(separator: ", "))</td></tr>"
        case .relationship(let relationship):
            let kind = relationship.isToMany ? (relationship.isOrdered ? "a list of " : "any number of ") : "one "
            return
                "<tr><th scope=\"row\">\(relationship.name)</th><td>\(kind)<a href=\"#\(relationship.destination)\">\(relationship.destination)</a></td><td>\(relationship.isOptional ? "optional" : "")</td></tr>"
        }
    }

    private static func requests(_ entity: ServedEntity?) -> Markup {
        guard let entity else { return "" }
        let name = entity.name
        let attribute =
            entity.attributes.first { if case .string = $0.form { true } else { false } }?.name ?? entity.identity
        return """
            <section id="requests" aria-labelledby="h-requests">
            <h2 id="h-requests">Requests</h2>
            <p>Send <code>Authorization: Bearer …</code> with each request of an account.</p>
            <dl>
            <dt>A page, in order, and the next one</dt>
            <dd><pre>GET /api/\(name)?sort=\(attribute)&amp;limit=20
            GET /api/\(name)?sort=\(attribute)&amp;limit=20&amp;after=…</pre></dd>
            <dt>Some objects: a predicate with arguments</dt>
            <dd><pre>GET /api/\(name)?where=\(attribute)+BEGINSWITH[c]+$text&amp;arg.text=m</pre></dd>
            <dt>Numbers</dt>
            <dd><pre>GET /api/\(name)?aggregate=count</pre></dd>
            <dt>A new object, and a change of one that no other request has changed</dt>
            <dd><pre>POST /api/\(name)
            PATCH /api/\(name)/…      If-Match: "…"</pre></dd>
            <dt>Several changes, all or none</dt>
            <dd><pre>POST /api
            {"changes": [{"create": "\(name)", "values": {}}, {"delete": "\(name)", "id": "…"}]}</pre></dd>
            </dl>
            <p>Operators of <code>where</code>: \(WhereRules.operators.values.sorted().joined(separator: " ")), AND, OR, NOT, ANY, ALL, SUBQUERY.
            Functions: \(WhereRules.functionWords).</p>
            </section>

            """
    }

    private static func omissions(_ model: ServedModel) -> Markup {
        if model.omissions.isEmpty { return "" }
        let rows = model.omissions.map { omission -> Markup in
            "<tr><th scope=\"row\">\([omission.entity, omission.property].compactMap { $0 }.joined(separator: "."))</th><td>\(omission.reason)</td></tr>"
        }
        return """
            <section id="omitted" aria-labelledby="h-omitted"><h2 id="h-omitted">Not served</h2>
            <table><tbody>\(.joined(rows))</tbody></table></section>

            """
    }

    static let style = """
        :root { color-scheme: light dark; --accent: light-dark(oklch(0.5 0.15 255), oklch(0.75 0.12 255));
          --line: light-dark(oklch(0.88 0 0), oklch(0.35 0 0)); --quiet: light-dark(oklch(0.45 0 0), oklch(0.75 0 0)); }
        body { font: 16px/1.5 system-ui, sans-serif; max-width: 680px; margin: 0 auto; padding: 16px;
          background: light-dark(oklch(1 0 0), oklch(0.2 0 0)); color: light-dark(oklch(0.2 0 0), oklch(0.94 0 0)); }
        h1 { font-size: 28px; } h2 { font-size: 20px; margin-top: 40px; } h3 { font-size: 16px; }
        a { color: var(--accent); } a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        nav ul { display: flex; flex-wrap: wrap; gap: 0 16px; list-style: none; padding: 0; }
        nav a { display: inline-block; min-height: 44px; line-height: 44px; }
        table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: 4px 8px 4px 0;
          border-bottom: 1px solid var(--line); overflow-wrap: anywhere; font-weight: normal; } th[scope=row] { font-weight: 600; }
        td:last-child { color: var(--quiet); }
        pre { overflow-x: auto; padding: 8px; border: 1px solid var(--line); } code, pre { font-size: 14px; }

        """
}
