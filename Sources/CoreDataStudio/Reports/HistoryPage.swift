import CoreData
import Foundation

/// The page of the store's last transactions.
struct HistoryPage: Sendable {
    let browser: StoreBrowser

    private static let transactions = 100

    func response(_ visit: Visit) async throws -> StudioResponse {
        let browser = browser
        let lines = try await browser.read { context in
            try browser.history(transactions: Self.transactions, in: context)
        }
        let list: HTML
        if let lines {
            list = """
                <p class=hint>The changes of the last \(Self.transactions) transactions, the newest first.</p>
                <div class=scroll tabindex=0 role=region aria-label=History><table><thead><tr><th scope=col>When\
                <th scope=col>What<th scope=col>Object<th scope=col>Who<th scope=col>Properties</thead>
                <tbody>\(lines.map { $0.html(withObject: true) })</tbody></table></div>
                """
        } else {
            list = "<p>The store has no history: no program has opened it with history tracking.</p>"
        }
        let page = Page(
            title: "History", section: .store, crumbs: [.init("Store", Address("store"))],
            side: await browser.side(current: nil), content: "<h1>History</h1>\(list)")
        return .html(page.html(for: visit))
    }
}
