import CoreData
import Foundation

/// The pages of the store.
struct StorePages: Sendable {
    let browser: StoreBrowser?
    let messages: Messages

    func addRoutes(to router: inout Router) {
        guard let browser else {
            router.get("/store") { visit in
                let page = Page(
                    title: "Store", section: .store,
                    content: """
                        <h1>Store</h1><p>No store is open. Start Studio with one: <code>coredata studio STORE</code></p>
                        """)
                return .html(page.html(for: visit))
            }
            return
        }
        let editor = browser.isWritable ? StoreEditor(browser) : nil
        if let editor {
            EditPages(browser: browser, editor: editor, messages: messages).addRoutes(to: &router)
        }
        router.get("/store") { visit in try await OverviewPage(browser: browser, editor: editor).response(visit) }
        router.get("/store/rows/:entity") { visit in
            try await RowsPage(browser: browser, query: RowQuery(visit), editor: editor).response(visit)
        }
        router.get("/store/count/:entity") { visit in
            try await CountText(browser: browser, query: RowQuery(visit)).response()
        }
        router.get("/store/facets/:entity") { visit in
            try await FacetsPage(browser: browser, query: RowQuery(visit)).response(visit)
        }
        router.get("/store/plan/:entity") { visit in
            try await PlanPage(browser: browser, query: RowQuery(visit)).response(visit)
        }
        router.get("/store/complete/:entity") { visit in
            try CompletionPage(browser: browser).response(visit)
        }
        router.get("/store/object/:entity/:key") { visit in
            try await ObjectPage(browser: browser, editor: editor).response(visit)
        }
        router.get("/store/value/:entity/:key/:attribute") { visit in
            try await ValuePage(browser: browser).response(visit)
        }
        router.get("/store/export/:entity") { visit in
            try await Export(browser: browser, query: RowQuery(visit)).response(visit)
        }
        router.get("/store/statistics/:entity") { visit in
            try await StatisticsPage(browser: browser).response(visit)
        }
        router.get("/store/verify") { visit in try await VerifyPage(browser: browser).response(visit) }
        router.get("/store/compare") { visit in try await ComparePage(browser: browser).response(visit) }
        router.get("/store/history") { visit in try await HistoryPage(browser: browser).response(visit) }
        router.get("/store/changes") { visit in try await ChangesAnswer(browser: browser).response(visit) }
    }
}
