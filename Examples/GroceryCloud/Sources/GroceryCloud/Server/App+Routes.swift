import Foundation
import Hummingbird
import LivePages

// Which page answers what.
extension App {
    func addPages(to router: Router<BasicRequestContext>) {
        addSigningIn(to: router)
        addAccount(to: router)
        addHouseholds(to: router)
        addLists(to: router)
        addItems(to: router)
        for kind in PlaceKind.allCases { addPlaces(kind, to: router) }
        get(router, "/events") { try self.events($0) }
        post(router, "/undo") { try self.desk.undo($0.visit, in: $0.view.live) }
        post(router, "/redo") { try self.desk.redo($0.visit, in: $0.view.live) }
    }

    /// For everybody.
    private func addSigningIn(to router: Router<BasicRequestContext>) {
        desk.get(router, "/sign-in") { try await self.signInPage($0) }
        desk.post(router, "/sign-in") { try await self.signIn($0) }
        desk.get(router, "/sign-up") { try await self.signUpPage($0) }
        desk.post(router, "/sign-up") { try await self.signUp($0) }
        desk.get(router, "/join") { try await self.joinPage($0) }
        desk.post(router, "/join") { try await self.previewInvitation($0) }
        desk.get(router, "/reset") { self.resetPage($0) }
        desk.post(router, "/reset") { try await self.reset($0) }
    }

    private func addAccount(to router: Router<BasicRequestContext>) {
        post(router, "/sign-out", changesAccounts: true) { try await self.signOut($0) }
        get(router, "/account") { try await self.accountPage($0) }
        post(router, "/account/password", changesAccounts: true) { try await self.changePassword($0) }
        post(router, "/account/sessions", changesAccounts: true) { try await self.endSession($0) }
        get(router, "/account/export") { try await self.export($0) }
        get(router, "/administration") { try await self.administrationPage($0) }
        post(router, "/administration", changesAccounts: true) { try await self.administrate($0) }
        get(router, "/account/deletion") { self.deletionPage($0) }
        post(router, "/account/deletion", changesAccounts: true) { try await self.deleteAccount($0) }
    }

    private func addHouseholds(to router: Router<BasicRequestContext>) {
        get(router, "/") { try self.start($0) }
        get(router, "/households") { try self.householdsPage($0) }
        post(router, "/households", once: true, changesAccounts: true) { try await self.makeHousehold($0) }
        post(router, "/join/accept", changesAccounts: true) { try await self.join($0) }
        get(router, "/households/:id") { try await self.householdPage($0) }
        post(router, "/households/:id/name", changesAccounts: true) { try await self.renameHousehold($0) }
        post(router, "/households/:id/lists", once: true) { try self.addList($0) }
        post(router, "/households/:id/invitations") { try await self.invite($0) }
        post(router, "/households/:id/invitations/end") { try await self.endInvitation($0) }
        post(router, "/households/:id/members", changesAccounts: true) { try await self.changeMember($0) }
        post(router, "/households/:id/leave", changesAccounts: true) { try await self.leaveHousehold($0) }
        get(router, "/households/:id/deletion") { self.householdDeletionPage($0) }
        post(router, "/households/:id/deletion", changesAccounts: true) { try await self.deleteHousehold($0) }
        get(router, "/households/:id/history") { try await self.historyPage($0) }
    }

    private func addLists(to router: Router<BasicRequestContext>) {
        get(router, "/lists/:id/prepare") { try self.preparePage($0) }
        post(router, "/lists/:id/prepare") { try self.tapListed($0) }
        get(router, "/lists/:id/shop") { try self.shopPage($0) }
        post(router, "/lists/:id/shop") { try self.tapCollected($0) }
        post(router, "/lists/:id/shop/off") { try self.takeOff($0) }
        post(router, "/lists/:id/shop/clear") { try self.clearCollected($0) }
        get(router, "/lists/:id/clear") { try self.clearPage($0) }
        post(router, "/lists/:id/clear") { try self.clearList($0) }
        get(router, "/lists/:id/more") { try self.morePage($0) }
        post(router, "/lists/:id/name") { try self.renameList($0) }
        get(router, "/lists/:id/deletion") { try self.listDeletionPage($0) }
        post(router, "/lists/:id/deletion") { try self.deleteList($0) }
        post(router, "/ticks") { try self.setTick($0) }
    }

    private func addItems(to router: Router<BasicRequestContext>) {
        get(router, "/lists/:id/items/new") { try self.newItemPage($0) }
        post(router, "/lists/:id/items", once: true) { try self.addItem($0) }
        post(router, "/lists/:id/items/quick", once: true) { try self.addQuickly($0) }
        get(router, "/items/:id") { try self.itemPage($0) }
        post(router, "/items/:id") { try self.saveItem($0) }
        post(router, "/items/:id/delete") { try self.deleteItem($0) }
    }

    private func addPlaces(_ kind: PlaceKind, to router: Router<BasicRequestContext>) {
        let path = kind.rawValue
        get(router, RouterPath("/households/:id/\(path)")) { try self.placesPage(kind, $0) }
        post(router, RouterPath("/households/:id/\(path)"), once: true) { try self.addPlace(kind, $0) }
        get(router, RouterPath("/\(path)/:id")) { try self.placePage(kind, $0) }
        post(router, RouterPath("/\(path)/:id")) { try self.renamePlace(kind, $0) }
        post(router, RouterPath("/\(path)/:id/delete")) { try self.deletePlace(kind, $0) }
    }

    /// The stream of changes of the lists that a browser shows, as far as the account sees them.
    private func events(_ visit: AccountVisit) throws -> Reply {
        var names: Set<String> = []
        for name in (visit.visit.query["list"] ?? "").split(separator: ",").prefix(50) {
            guard let id = UUID(uuidString: String(name.prefix(36))), try visit.view.list(id) != nil else { continue }
            names.insert(String(name))
        }
        let seen = visit.visit.lastEvent ?? visit.visit.query["after"]
        guard let stream = visit.view.feed.subscribe(to: names, after: seen) else {
            throw HTTPError(.serviceUnavailable, message: "Too many pages are open. Close some of them.")
        }
        visit.view.streamingSessions.insert(visit.person.session.id)
        return .events(stream)
    }
}
