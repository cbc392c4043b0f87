import CoreData
import CoreDataAccounts
import CoreDataPermissions
import Foundation
import LivePages

/// The views of all accounts that have pages open.
///
/// A view is of one account with certain rights. When these change, the view ends with its streams, and the next request makes another
/// one: see ``check()``.
@MainActor final class AccountViews {
    private let store: CloudStore
    private let accounts: Accounts
    private var views: [UUID: AccountView] = [:]
    /// The observers of what this process and others write to the store.
    private var observers: [any NSObjectProtocol] = []
    private var isChecking = false
    private var isCheckDue = false

    /// How long a view without open pages lives.
    private static let idleTime = Duration.seconds(900)

    init(_ store: CloudStore, _ accounts: Accounts) {
        (self.store, self.accounts) = (store, accounts)
        let others = OtherProcesses(store) { [weak self] in
            Task { @MainActor in await self?.readAgain() }
        }
        let center = NotificationCenter.default
        observers = [
            center.addObserver(
                forName: NSManagedObjectContext.didSaveObjectIDsNotification, object: nil, queue: nil
            ) { others.noteSave($0) },
            center.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: store.coordinator, queue: nil
            ) { _ in others.noteRemoteChange() },
        ]
    }

    /// The view of the account, with the rights that it has now.
    func view(for person: Person) throws -> AccountView {
        let accessor = person.accessor
        if let view = views[person.account.id] {
            if view.accessor == accessor {
                view.lastUse = .now
                return view
            }
            end(view)
        }
        let view = try AccountView(store, accessor)
        views[person.account.id] = view
        return view
    }

    private func end(_ view: AccountView) {
        view.close()
        if let account = view.accessor.account, views[account] === view { views[account] = nil }
    }

    /// Ends the views whose accounts have other rights by now, or one of whose sessions has ended.
    ///
    /// It runs after each request that may have changed an account or a household, and before changes by other processes are shown.
    func check() async {
        isCheckDue = true
        // A check that runs already may have passed the view in question: it runs once more.
        guard !isChecking else { return }
        isChecking = true
        defer { isChecking = false }
        while isCheckDue {
            isCheckDue = false
            for view in views.values {
                guard let account = view.accessor.account else { continue }
                let isValid = await isValid(view, of: account)
                if !isValid { end(view) }
            }
        }
    }

    private func isValid(_ view: AccountView, of account: UUID) async -> Bool {
        do {
            let sessions = Set(try await accounts.sessions(of: account).map(\.id))
            guard view.streamingSessions.isSubset(of: sessions) else { return false }
            let memberships = try await accounts.groups(of: account)
            let now = Accessor(account: account, memberships, isAdministrator: view.accessor.isAdministrator)
            return now == view.accessor
        } catch {
            // An account that cannot be read shows nothing.
            return false
        }
    }

    /// Shows what another process has written.
    private func readAgain() async {
        await check()
        for view in views.values { view.readAgain() }
    }

    /// Keeps the streams open, and ends the views that nobody has looked at for a while.
    func beat() {
        for view in views.values {
            view.feed.beat()
            if view.feed.subscriberCount > 0 { view.lastUse = .now }
            if view.lastUse < ContinuousClock.now - Self.idleTime { end(view) }
        }
        Task { await check() }
    }

    /// Ends all views, of one account or of all.
    func endAll(of account: UUID? = nil) {
        for view in views.values where account == nil || view.accessor.account == account { end(view) }
    }

    func close() {
        for observer in observers { NotificationCenter.default.removeObserver(observer) }
        observers = []
        endAll()
    }

    /// The number of open streams of all accounts.
    var streamCount: Int { views.values.reduce(0) { $0 + $1.feed.subscriberCount } }
}
