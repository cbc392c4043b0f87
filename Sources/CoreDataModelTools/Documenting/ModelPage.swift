import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Writes a model as one self-contained HTML page: drawing, entities with all their properties, and an index.
///
///     let page = ModelPage(document, model: model, names: names).html
package struct ModelPage {
    let document: ModelDocument
    let model: CompiledModel
    let names: ModelStoreNames
    let defaults: [String: String]
    let title: String
    private let scene: DiagramScene

    /// - Parameters:
    ///   - names: the tables and columns of a store; without them the page has no SQL names.
    ///   - defaults: by `Book.cover`, the text of a default whose stored form is unreadable: bytes, an archive, the
    ///     elements of a composite.
    ///   - usesPositions: whether the drawing uses the positions of the entities in Xcode.
    package init(
        _ document: ModelDocument, model: CompiledModel, names: ModelStoreNames = .init(),
        defaults: [String: String] = [:], usesPositions: Bool = true
    ) {
        self.document = document
        self.model = model
        self.names = names
        self.defaults = defaults
        title = document.name ?? "Model"
        scene = DiagramScene(ModelDiagram(document), usesPositions: usesPositions)
    }

    package var html: String {
        let entities = document.entities.sorted { NameOrder.ignoringCase($0.name, $1.name) }
        let drawing = SVGDrawing.text(scene, title: "Model \(title)")
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(Markup.escaped(title)) — data model</title>
            <style>\(ModelPageStyle.css)</style>
            </head>
            <body>
            <a class="skip" href="#entities">Skip to the entities</a>
            <header>
            <h1>\(Markup.escaped(title))</h1>
            <p class="lead">\(summary(entities))</p>
            </header>
            <nav aria-label="Contents">\(contents(entities))</nav>
            <main>
            <section id="drawing" aria-labelledby="drawing-title">
            <h2 id="drawing-title">Drawing</h2>
            <div class="drawing" tabindex="0" role="group" aria-label="Drawing of the model, scrolls sideways">
            \(drawing)</div>
            <p class="note">One arrow head means to-one, two mean to-many; an open triangle points to the parent.</p>
            </section>
            <section id="entities" aria-labelledby="entities-title">
            <h2 id="entities-title">Entities</h2>
            \(entities.map { EntitySection(page: self, entity: $0).html }.joined(separator: "\n"))
            </section>
            \(requests())\(configurations())\(composites())\(index(entities))
            </main>
            </body>
            </html>

            """
    }

    // MARK: Top

    private func summary(_ entities: [EntityElement]) -> String {
        func counted(_ count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }
        let properties = entities.flatMap(\.properties)
        let relationships = properties.count(where: \.isRelationship)
        let attributes = properties.count { if case .attribute = $0.kind { true } else { false } }
        var parts = [
            counted(entities.count, "entity", "entities"), counted(attributes, "attribute", "attributes"),
            counted(relationships, "relationship", "relationships"),
        ]
        let identifiers = document.versionIdentifiers.filter { !$0.isEmpty }
        if !identifiers.isEmpty { parts.append("version " + identifiers.map(Markup.escaped).joined(separator: ", ")) }
        let checksum = CompiledModel.versionChecksum(entities: model.entities)
        return parts.joined(separator: " · ") + "<br><span class=\"hash\">version checksum \(checksum)</span>"
    }

    private func contents(_ entities: [EntityElement]) -> String {
        var links = ["<a href=\"#drawing\">Drawing</a>"]
        links += entities.map { Markup.link(to: Markup.anchor($0.name), $0.name) }
        if !document.fetchRequests.isEmpty { links.append("<a href=\"#requests\">Fetch requests</a>") }
        if !document.configurations.isEmpty { links.append("<a href=\"#configurations\">Configurations</a>") }
        if !document.composites.isEmpty { links.append("<a href=\"#composites\">Composites</a>") }
        links.append("<a href=\"#index\">Index</a>")
        return "<ul>" + links.map { "<li>\($0)</li>" }.joined() + "</ul>"
    }

    // MARK: Bottom

    private func requests() -> String {
        let rows = document.fetchRequests.map { request -> [String] in
            var options: [String] = []
            if request.fetchLimit > 0 { options.append("limit \(request.fetchLimit)") }
            if request.fetchBatchSize > 0 { options.append("batches of \(request.fetchBatchSize)") }
            if !request.includesSubentities { options.append("without subentities") }
            if request.returnsDistinctResults { options.append("distinct") }
            return [
                Markup.code(request.name), entityLink(request.entityName), Markup.code(request.predicate ?? ""),
                Markup.escaped(
                    request.sorts.map { $0.key + ($0.isAscending ? "" : " descending") }.joined(separator: ", ")),
                options.joined(separator: ", "),
            ]
        }
        return Markup.section(
            "requests", "Fetch requests",
            Markup.table("Fetch requests", ["Name", "Entity", "Predicate", "Sorted by", "Options"], rows))
    }

    private func configurations() -> String {
        let rows = document.configurations.map { configuration in
            [
                Markup.code(configuration.name), configuration.entityNames.map(entityLink).joined(separator: ", "),
                configuration.usedWithCloudKit ? "yes" : "no",
            ]
        }
        return Markup.section(
            "configurations", "Configurations",
            Markup.table("Configurations", ["Name", "Entities", "CloudKit"], rows))
    }

    private func composites() -> String {
        let rows = document.composites.map { composite in
            [
                Markup.code(composite.name),
                composite.properties.map { property in
                    guard case .attribute(let attribute) = property.kind else { return Markup.code(property.name) }
                    let type = attribute.compositeName ?? attribute.type.displayName
                    return Markup.code(property.name) + " " + Markup.escaped(type)
                        + (property.isOptional ? ", optional" : "")
                }.joined(separator: "<br>"),
            ]
        }
        return Markup.section(
            "composites", "Composites", Markup.table("Composites", ["Name", "Elements"], rows))
    }

    private func index(_ entities: [EntityElement]) -> String {
        var entries = entities.map {
            (name: $0.name, text: Markup.link(to: Markup.anchor($0.name), $0.name) + " entity")
        }
        for entity in entities {
            for property in entity.properties {
                let link = Markup.link(to: Markup.anchor(entity.name, property.name), property.name)
                entries.append((property.name, "\(link) of \(Markup.escaped(entity.name))"))
            }
        }
        let items = entries.sorted { NameOrder.ignoringCase($0.name, $1.name) }.map { "<li>\($0.text)</li>" }
        return Markup.section("index", "Index of names", "<ul class=\"index\">\(items.joined())</ul>")
    }

    func entityLink(_ name: String?) -> String {
        guard let name else { return "" }
        return model.ordinalByName[name] == nil ? Markup.escaped(name) : Markup.link(to: Markup.anchor(name), name)
    }
}

/// Pieces of HTML; every text from a model is escaped with ``escaped(_:)``.
enum Markup {
    static func escaped(_ text: String) -> String { SVGDrawing.escaped(text) }

    static func code(_ text: String) -> String { text.isEmpty ? "" : "<code>\(escaped(text))</code>" }

    static func link(to anchor: String, _ text: String) -> String {
        "<a href=\"#\(anchor)\"><code>\(escaped(text))</code></a>"
    }

    /// Returns a unique identifier of an entity or property, in characters that need no escaping.
    static func anchor(_ entity: String, _ property: String? = nil) -> String {
        func safe(_ text: String) -> String {
            text.unicodeScalars.map { scalar in
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                    ? String(scalar) : "_\(scalar.value)_"
            }.joined()
        }
        return "entity-" + safe(entity) + (property.map { "-" + safe($0) } ?? "")
    }

    static func section(_ id: String, _ title: String, _ body: String) -> String {
        if body.isEmpty { return "" }
        return """
            <section id="\(id)" aria-labelledby="\(id)-title">
            <h2 id="\(id)-title">\(escaped(title))</h2>
            \(body)
            </section>

            """
    }

    /// Returns a table with a caption for screen readers; empty without rows. The first cell of a row is its header.
    static func table(_ caption: String, _ columns: [String], _ rows: [[String]], ids: [String] = []) -> String {
        guard !rows.isEmpty else { return "" }
        // Omit a column that is empty in every row.
        let used = columns.indices.filter { column in column == 0 || rows.contains { !$0[column].isEmpty } }
        let head = used.map { "<th scope=\"col\">\(escaped(columns[$0]))</th>" }.joined()
        let body = rows.enumerated().map { index, row in
            let cells = used.map { $0 == 0 ? "<th scope=\"row\">\(row[0])</th>" : "<td>\(row[$0])</td>" }.joined()
            return "<tr\(index < ids.count ? " id=\"\(ids[index])\"" : "")>\(cells)</tr>"
        }
        return """
            <div class="table"><table><caption>\(escaped(caption))</caption>
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(body.joined(separator: "\n"))
            </tbody></table></div>
            """
    }
}
