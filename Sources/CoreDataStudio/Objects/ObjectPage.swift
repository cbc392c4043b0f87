import CoreData
import CoreDataToolkit
import Foundation

/// The page of an object.
struct ObjectPage: Sendable {
    let browser: StoreBrowser
    var editor: StoreEditor?

    func response(_ visit: Visit) async throws -> StudioResponse {
        let (browser, entity, key) = (browser, visit.parameter("entity"), visit.parameter("key"))
        let (shown, history) = try await browser.read { context in
            let object = try browser.object(entity, key, in: context)
            return (
                try browser.shownObject(object, in: context), try browser.history(of: object.objectID, in: context)
            )
        }
        let undo = editor.map { UndoButtons.html($0.names, visit) } ?? ""
        let content = undo + html(shown, history)
        let page = Page(
            title: shown.link.label ?? shown.link.reference, section: .store,
            crumbs: [
                .init("Store", Address("store")),
                .init(shown.link.entity, RowQuery(entity: shown.link.entity).address()),
            ], side: await browser.side(current: shown.link.entity), content: content)
        return .html(page.html(for: visit))
    }

    private func html(_ object: ShownObject, _ history: [HistoryLine]?) -> HTML {
        let edit: HTML =
            browser.isWritable
            ? """
            <a class=button href="\(Address("store", "edit", object.link.entity, "p\(object.link.key)"))">Edit</a>
            <a class=button href="\(Address("store", "delete", object.link.entity, "p\(object.link.key)"))">Delete…</a>
            """ : ""
        let referrers: HTML = object.referrers.isEmpty ? "" : "<h2>Referred to by</h2>\(links(object.referrers))"
        return """
            <div class=row><h1>\(object.link.label ?? object.link.reference)</h1>\(edit)</div>
            <p class=hint><span class=tag>\(object.link.entity)</span> <code>\(object.link.reference)</code></p>
            <h2>Attributes</h2>
            <dl class=facts>\(object.values.map { value(($0), of: object.link) })</dl>
            <h2>Relationships</h2>\(links(object.relationships))
            \(referrers)
            \(history.map(html))
            """
    }

    private func value(_ value: ShownObject.Value, of link: ObjectLink) -> HTML {
        let alike: HTML =
            value.condition.map { condition -> HTML in
                let address = RowQuery(entity: link.entity, predicate: condition).address()
                return " <a href=\"\(address)\" class=hint aria-label=\"Objects with this \(value.name)\">alike</a>"
            } ?? ""
        return """
            <dt>\(value.name)<br><small>\(value.type)</small>
            <dd>\(value.value.html(at: ValueAddress.of(link, value.name), content: value.content))\(alike)

            """
    }

    private func links(_ groups: [ShownObject.Links]) -> HTML {
        guard !groups.isEmpty else { return "<p class=hint>None</p>" }
        let terms = groups.map { group -> HTML in
            let type: HTML = group.type.isEmpty ? "" : "<br><small>\(group.type)</small>"
            let chips: HTML =
                group.links.isEmpty
                ? "<span class=null>\(group.type.hasPrefix("to many") ? "none" : "nil")</span>"
                : "<span class=chips>\(group.links.map(\.chip))</span>"
            let more: HTML
            switch (group.count, group.address) {
            case (let count?, let address?) where count > 0:
                more = "<a class=hint href=\"\(address)\">List \(GroupedNumber.text(count, "object"))</a>"
            case (nil, let address?): more = "<a class=hint href=\"\(address)\">List all</a>"
            case (let count?, nil) where count > group.links.count:
                more = "<span class=hint>and \(GroupedNumber.text(count - group.links.count)) more</span>"
            default: more = ""
            }
            return "<dt id=\"\(group.name)\">\(group.name)\(type)<dd>\(chips) \(more)\n"
        }
        return "<dl class=facts>\(terms)</dl>"
    }

    private func html(_ lines: [HistoryLine]) -> HTML {
        guard !lines.isEmpty else { return "<h2>History</h2><p class=hint>No recorded change of this object.</p>" }
        return """
            <h2>History</h2><div class=scroll tabindex=0 role=region aria-label="History"><table>
            <thead><tr><th scope=col>When<th scope=col>What<th scope=col>Who<th scope=col>Properties</thead>
            <tbody>\(lines.map { $0.html(withObject: false) })</tbody></table></div>
            """
    }
}

/// The stored bytes of an attribute.
struct ValuePage: Sendable {
    let browser: StoreBrowser

    func response(_ visit: Visit) async throws -> StudioResponse {
        let (browser, entity, key) = (browser, visit.parameter("entity"), visit.parameter("key"))
        let name = visit.parameter("attribute")
        let data = try await browser.read { context -> Data in
            let object = try browser.object(entity, key, in: context)
            guard let attribute = object.entity.attributesByName[name] else {
                throw PageFailure.missing("\(entity) has no attribute “\(name)”.")
            }
            switch object.value(forKey: attribute.name) {
            case let data as Data: return data
            case let text as String: return Data(text.utf8)
            default: throw PageFailure.missing("\(entity)/\(key) has no bytes in “\(name)”.")
            }
        }
        let kind = BytesKind(data)
        if visit.query["inline"] != nil, case .picture(let type, _) = kind {
            return StudioResponse(200, type: type, data)
        }
        return .download(
            .bytes(data), type: "application/octet-stream", name: "\(entity)-\(key)-\(name).\(kind.fileExtension)")
    }
}
