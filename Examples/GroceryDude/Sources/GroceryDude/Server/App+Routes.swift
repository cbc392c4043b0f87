import Foundation
import Hummingbird
import LivePages

// Which page answers what.
extension App {
    func addPages(to router: Router<BasicRequestContext>) {
        addLists(to: router)
        addItems(to: router)
        for kind in PlaceKind.allCases { addPlaces(kind, to: router) }
        addSync(to: router)
        addOthers(to: router)
        desk.addUndo(of: groceries.live, to: router)
        desk.addEvents(of: feed, to: router)
    }

    private func addLists(to router: Router<BasicRequestContext>) {
        desk.get(router, "/") { _ in .redirect("/prepare") }
        desk.get(router, "/prepare") { try self.preparePage($0) }
        desk.post(router, "/prepare") { try self.tapListed($0) }
        desk.get(router, "/prepare/clear") { self.clearPage($0) }
        desk.post(router, "/prepare/clear") { try self.clearList($0) }
        desk.get(router, "/shop") { try self.shopPage($0) }
        desk.post(router, "/shop") { try self.tapCollected($0) }
        desk.post(router, "/ticks") { try self.setTick($0) }
        desk.post(router, "/shop/off") { try self.takeOff($0) }
        desk.post(router, "/shop/clear") { try self.clearCollected($0) }
    }

    private func addItems(to router: Router<BasicRequestContext>) {
        desk.get(router, "/items/new") { try self.newItemPage($0) }
        desk.post(router, "/items", once: true) { try self.addItem($0) }
        desk.post(router, "/items/quick", once: true) { try self.addQuickly($0) }
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
        desk.post(router, RouterPath(path), once: true) { try self.addPlace(kind, $0) }
        desk.get(router, RouterPath("\(path)/:number")) { try self.placePage(kind, $0) }
        desk.post(router, RouterPath("\(path)/:number")) { try self.renamePlace(kind, $0) }
        desk.post(router, RouterPath("\(path)/:number/delete")) { try self.deletePlace(kind, $0) }
    }

    private func addSync(to router: Router<BasicRequestContext>) {
        desk.get(router, "/sync") { self.syncPage($0) }
        desk.post(router, "/sync") { try await self.choosePlace($0) }
        desk.get(router, "/sync/join") { self.askSeeding($0) }
        desk.post(router, "/sync/join") { try await self.joinAsAnswered($0) }
        desk.get(router, "/sync/unlock") { self.askCredentials($0) }
        desk.post(router, "/sync/unlock") { try await self.unlockSync($0) }
        desk.post(router, "/sync/exchange") { await self.exchangeNow($0) }
        desk.post(router, "/sync/restore") { try await self.bringBack($0) }
        desk.post(router, "/sync/dismiss") { try await self.dismissConflicts($0) }
        desk.get(router, "/sync/leave") { self.askLeaving($0) }
        desk.post(router, "/sync/leave") { try await self.leavePlace($0) }
    }

    private func addOthers(to router: Router<BasicRequestContext>) {
        desk.get(router, "/more") { self.morePage($0) }
        desk.get(router, "/settings") { try self.settingsPage($0) }
        desk.post(router, "/settings/default-data") { try await self.importDefaultData($0) }
        desk.post(router, "/settings/duplicates") { try await self.mergeDuplicates($0) }
        desk.get(router, "/settings/sql") { self.sqlPage($0) }
        desk.get(router, "/backups") { try await self.backupsPage($0) }
        desk.post(router, "/backups", once: true) { try await self.makeBackup($0) }
        desk.get(router, "/backups/restore") { try await self.askBackup($0, isRestoring: true) }
        desk.post(router, "/backups/restore") { try await self.restoreBackup($0) }
        desk.get(router, "/backups/delete") { try await self.askBackup($0, isRestoring: false) }
        desk.post(router, "/backups/delete") { try await self.deleteBackup($0) }
    }
}
