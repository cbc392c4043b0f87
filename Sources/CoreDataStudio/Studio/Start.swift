/// The first page.
struct Start: Sendable {
    let hasModel: Bool
    let hasStore: Bool

    func addRoutes(to router: inout Router) {
        router.get("/") { visit in
            if hasStore { return .redirect(to: Address("store")) }
            if hasModel { return .redirect(to: Address("model")) }
            let page = Page(
                title: "Studio", section: nil,
                content: """
                    <h1>Studio</h1>
                    <p>Studio shows a model and a store. Start it with one of them:</p>
                    <pre>coredata studio Shop.xcdatamodeld
                    coredata studio Shop.sqlite
                    coredata studio Shop.xcdatamodeld Shop.sqlite</pre>
                    """)
            return .html(page.html(for: visit))
        }
    }
}
