import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The page of an entity's objects: the predicate, the grid, and links to the pages before and behind it.
struct RowsPage: Sendable {
    let browser: StoreBrowser
    let query: RowQuery
    var editor: StoreEditor?

    /// The number up to which objects are counted at once; a greater number is counted by a second request.
    static let countLimit = 10_001

    struct Content: Sendable {
        var grid: Grid
        var previous: Address?
        var next: Address?
        var count: Int
    }

    func response(_ visit: Visit) async throws -> StudioResponse {
        let content: Content?
        var problem: String?
        do { content = try await read() } catch let failure as PageFailure { throw failure } catch
            where !query.predicate.isEmpty
        {
            problem = PredicateMessage.text(of: error)
            content = nil
        }
        let page = Page(
            title: query.entity, section: .store, crumbs: [.init("Store", Address("store"))],
            side: await browser.side(current: query.entity), isWide: true,
            content: (editor.map { UndoButtons.html($0.names, visit) } ?? "") + html(content, problem))
        return .html(page.html(for: visit), status: problem == nil ? 200 : 422)
    }

    func read() async throws -> Content {
        let (browser, query) = (browser, query)
        return try await browser.read { context in
            let entity = try browser.entity(query.entity)
            let fetch = try browser.fetch(query, of: entity, in: context)
            let page = try fetch.page(query.position)
            let objects = try Grid.objects(page.ids, of: entity, in: context)
            var content = Content(
                grid: Grid(objects, of: entity, in: context), count: try fetch.count(limit: Self.countLimit))
            func cursor(_ object: NSManagedObject?) -> RowCursor? {
                object.flatMap { RowCursor(of: $0, sortedBy: fetch.sort) }
            }
            if page.hasPrevious, let first = cursor(objects.first) {
                content.previous = query.at(.before(first)).address()
            }
            if page.hasNext, let last = cursor(objects.last) { content.next = query.at(.after(last)).address() }
            return content
        }
    }

    // MARK: Markup

    private func html(_ content: Content?, _ problem: String?) -> HTML {
        """
        <div class=row><h1>\(query.entity)</h1>\(content.map(count))\(actions)</div>
        \(EntityTabs.html(query.entity, current: .rows))
        \(PredicateForm(query: query, problem: problem).html)
        \(content.map(list))
        """
    }

    private func count(_ content: Content) -> HTML {
        guard content.count >= Self.countLimit else {
            return "<span class=hint>\(GroupedNumber.text(content.count, "object"))</span>"
        }
        return """
            <span class=hint data-fill="\(query.at(.first).address("count"))">more than \
            \(GroupedNumber.text(Self.countLimit - 1)) objects</span>
            """
    }

    private var actions: HTML {
        let all = query.at(.first)
        let formats: [HTML] = ExportFormat.allCases.map { format in
            "<a class=button href=\"\(all.address("export").with("format", format.rawValue))\" download>\(format.title)</a>"
        }
        let new: HTML =
            browser.isWritable ? "<a class=button href=\"\(Address("store", "new", query.entity))\">New object</a>" : ""
        return """
            \(new)<label class=check data-watch="\(Address("store", "changes"))" hidden><input type=checkbox> Watch</label>
            <details class=menu><summary class=button>Export</summary>
            <div class="row card">\(formats)</div></details>
            """
    }

    private func list(_ content: Content) -> HTML {
        guard !content.grid.rows.isEmpty else {
            let hint: HTML =
                query.predicate.isEmpty
                ? "<p>There are no objects of \(query.entity).</p>"
                : "<p>No object satisfies the predicate. <a href=\"\(Address("store", "rows", query.entity))\">Show all</a></p>"
            return "<div class=card>\(hint)</div>"
        }
        let plan = query.address("plan")
        return """
            \(GridMarkup(grid: content.grid, query: query).html)
            <nav class=pages aria-label=Pages>\(pager(content))</nav>
            <details data-load="\(plan)"><summary>SQL and plan</summary>
            <p><a href="\(plan)">Show the statement and how the database runs it</a></p></details>
            """
    }

    private func pager(_ content: Content) -> HTML {
        var links: [HTML] = []
        if let previous = content.previous {
            links.append("<a class=button href=\"\(query.at(.first).address())\">First</a>")
            links.append("<a class=button rel=prev href=\"\(previous)\">Previous</a>")
        }
        if let next = content.next {
            links.append("<a class=button rel=next href=\"\(next)\">Next</a>")
            links.append("<a class=button href=\"\(query.at(.last).address())\">Last</a>")
        }
        return "\(links)<span class=hint>\(GroupedNumber.text(content.grid.rows.count, "row")) on this page</span>"
    }
}

extension StoreBrowser {
    /// Returns the fetch of a query's objects.
    ///
    /// - Throws: an error about the predicate or the sorted attribute.
    func fetch(
        _ query: RowQuery, of entity: NSEntityDescription, in context: NSManagedObjectContext
    ) throws -> RowPageFetch {
        var sort: NSAttributeDescription?
        if let name = query.sort {
            guard let attribute = entity.attributesByName[name], SortedValue.isSortable(attribute) else {
                throw PageFailure(400, "\(query.entity) cannot be sorted by “\(name)”.")
            }
            sort = attribute
        }
        return RowPageFetch(
            context: context, entity: entity, predicate: try predicate(query.predicate, of: entity), sort: sort,
            isDescending: query.isDescending, size: query.size)
    }
}

/// The tabs above the pages of an entity.
enum EntityTabs: String, CaseIterable {
    case rows, statistics

    static func html(_ entity: String, current: EntityTabs) -> HTML {
        let links = allCases.map { tab -> HTML in
            let mark: HTML = tab == current ? " aria-current=page" : ""
            return "<li><a href=\"\(Address("store", tab.rawValue, entity))\"\(mark)>\(tab.rawValue.capitalized)</a>"
        }
        return "<ul class=tabs>\(links)</ul>"
    }
}
