import CoreData
import CoreDataToolkit
import Foundation

/// The statement of what a page shows, the database's plan, and hints that would make it faster.
struct PlanPage: Sendable {
    let browser: StoreBrowser
    let query: RowQuery

    func response(_ visit: Visit) async throws -> StudioResponse {
        let (browser, query) = (browser, query)
        let explanations = try await browser.read { context in
            let fetch = try browser.fetch(query, of: try browser.entity(query.entity), in: context)
            let request = fetch.request()
            request.fetchLimit = query.size
            return try context.explain(request)
        }
        let parts = explanations.map { explanation -> HTML in
            let values: HTML =
                explanation.bindings.isEmpty
                ? "" : "<p>with <code>\(explanation.bindings.joined(separator: ", "))</code></p>"
            let steps = explanation.plan.map { step -> HTML in "<li><code>\(step)</code>" }
            let hints = explanation.hints.map { hint -> HTML in "<p class=notice>\(hint)</p>" }
            return """
                <pre class=wrap>\(explanation.sql)</pre>\(values)<h2>Plan</h2><ol>\(steps)</ol>\(hints)
                """
        }
        let content: HTML =
            parts.isEmpty
            ? "<p>This store has no SQL: its objects are in memory, and fetches compare them there.</p>" : "\(parts)"
        let page = Page(
            title: "SQL of \(query.entity)", section: .store,
            crumbs: [.init("Store", Address("store")), .init(query.entity, query.address())],
            content: visit.isFragment ? content : "<h1>SQL of \(query.entity)</h1>\(content)")
        return .html(page.html(for: visit))
    }
}
