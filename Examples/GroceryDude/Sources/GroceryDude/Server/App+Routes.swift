import Foundation
import HTTPTypes
import Hummingbird

// Which page answers what.
extension App {
    func router(hosts: Set<String>) -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: Guard(hosts: hosts))
        addLists(to: router)
        addItems(to: router)
        for kind in PlaceKind.allCases { addPlaces(kind, to: router) }
        addOthers(to: router)
        desk.addFiles(to: router)
        return router
    }

    private func addLists(to router: Router<BasicRequestContext>) {
        desk.get(router, "/") { _ in .redirect("/prepare") }
        desk.get(router, "/prepare") { try self.preparePage($0) }
        desk.post(router, "/prepare") { try self.toggleListed($0) }
        desk.get(router, "/prepare/clear") { self.clearPage($0) }
        desk.post(router, "/prepare/clear") { try self.clearList($0) }
        desk.get(router, "/shop") { try self.shopPage($0) }
        desk.post(router, "/shop") { try self.toggleCollected($0) }
        desk.post(router, "/shop/clear") { try self.clearCollected($0) }
    }

    private func addItems(to router: Router<BasicRequestContext>) {
        desk.get(router, "/items/new") { try self.newItemPage($0) }
        desk.post(router, "/items") { try self.addItem($0) }
        desk.post(router, "/items/quick") { try self.addQuickly($0) }
        desk.get(router, "/items/:number") { try self.itemPage($0) }
        desk.post(router, "/items/:number") { try self.saveItem($0) }
        desk.post(router, "/items/:number/delete") { try self.deleteItem($0) }
        desk.get(router, "/items/:number/photo") { try self.photo($0) }
        desk.get(router, "/items/:number/thumbnail") { try self.thumbnail($0) }
        desk.post(router, "/items/:number/photo", takesFile: true) { try await self.changePhoto($0) }
    }

    private func addPlaces(_ kind: PlaceKind, to router: Router<BasicRequestContext>) {
        let path = "/\(kind.rawValue)"
        desk.get(router, RouterPath(path)) { try self.placesPage(kind, $0) }
        desk.post(router, RouterPath(path)) { try self.addPlace(kind, $0) }
        desk.get(router, RouterPath("\(path)/:number")) { try self.placePage(kind, $0) }
        desk.post(router, RouterPath("\(path)/:number")) { try self.renamePlace(kind, $0) }
        desk.post(router, RouterPath("\(path)/:number/delete")) { try self.deletePlace(kind, $0) }
    }

    private func addOthers(to router: Router<BasicRequestContext>) {
        desk.get(router, "/more") { self.morePage($0) }
        desk.get(router, "/settings") { try self.settingsPage($0) }
        desk.post(router, "/settings/default-data") { try await self.importDefaultData($0) }
        desk.get(router, "/settings/sql") { self.sqlPage($0) }
        desk.get(router, "/backups") { self.backupsPage($0) }
        desk.post(router, "/backups") { try await self.makeBackup($0) }
        desk.get(router, "/backups/restore") { self.askBackup($0, isRestoring: true) }
        desk.post(router, "/backups/restore") { try await self.restoreBackup($0) }
        desk.get(router, "/backups/delete") { self.askBackup($0, isRestoring: false) }
        desk.post(router, "/backups/delete") { try self.deleteBackup($0) }
        desk.post(router, "/undo") { try self.undo($0) }
        desk.post(router, "/redo") { try self.redo($0) }
        // By hand, since a page that comes back says in a header what it has seen.
        router.get("/events") { [feed, desk] request, context in
            let query = Form(query: request.uri.query ?? "")
            let seen = request.headers[.lastEvent] ?? query["after"]
            let stream = await feed.subscribe(to: query["list"] ?? "none", after: seen)
            return desk.events(stream, request)
        }
    }
}
