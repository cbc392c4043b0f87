import LivePages

/// Grocery Dude: what to buy, for a whole household at once.
@main struct Program {
    @MainActor static func main() async {
        await Launch<App>(program: "GroceryDude", site: .groceryDude, own: SyncOption.all, checks: checks) {
            App.opener($0.store, mayChoosePlace: $0.isForThisMachineOnly)
        } fill: {
            app, options in
            if options.isDemo || options.isCheck {
                try await app.groceries.makeDemo()
            } else if options.defaultData, app.groceries.count("Item") == 0 {
                _ = try await app.groceries.offerDefaultData()
            }
            if let store = options.copied { try await app.groceries.copyItems(from: store) }
            // What the list began with counts as older than every edit of any device.
            try await SyncOption.join(app, options.own)
        }.run()
    }

    private static let checks: [(path: String, content: String)] = [
        ("/prepare", "<h1>Prepare</h1>"), ("/prepare?q=milk", "Found"), ("/shop", "<h1>Shop</h1>"),
        ("/prepare/clear", "Clear the list?"), ("/items/new", "New item"), ("/items/1", "At home"),
        ("/units", "<h1>Units</h1>"), ("/home-locations", "<h1>Home locations</h1>"),
        ("/shop-locations", "<h1>Shop locations</h1>"), ("/units/1", "Rename"), ("/more", "<h1>More</h1>"),
        ("/settings", "<h1>Settings</h1>"), ("/sync", "<h1>Sync</h1>"), ("/app.css", "--accent"),
        ("/app.js", "EventSource"), ("/keep.js", "draft"),
        ("/stream.js", "EventSource"), ("/sw.js", "caches"), ("/manifest.webmanifest", "icons"),
        ("/offline", "No connection"),
        ("/favicon.svg", "<svg"),
    ]
}
