import CoreData
import CoreDataAccounts
import Foundation
import LivePages

// Who did what: the history of the store, as far as the account sees its objects.
extension App {
    func historyPage(_ visit: AccountVisit) async throws -> Reply {
        guard let household = visit.household() else { return missing(Self.noHousehold) }
        let deeds = try Deed.newest(of: household.groupID, in: visit.view, limit: 100)
        let names = try await accounts.names(of: Set(deeds.compactMap(\.author)))
        let rows = deeds.map { deed -> HTML in
            let name = deed.author.map { names[$0] ?? "A deleted account" } ?? "The service"
            let text: HTML = """
                <span><b>\(name)</b> \(deed.verb) \(deed.subject)<br><small>\(Self.moment(deed.date)) UTC</small></span>
                """
            guard let item = deed.item else { return "<li><div class=name>\(text)</div>\n" }
            return "<li><a class=name href=\"/items/\(item.path)\">\(text)</a>\n"
        }
        let empty: HTML =
            deeds.isEmpty ? "<div class=empty><h2>Nothing yet</h2><p>What members change shows here.</p></div>" : ""
        return .page(
            page(
                "Who did what", "households/\(household.groupID.path)/history", in: Frame(household: household),
                view: visit.view,
                """
                <header class=top><a class=back href="/households/\(household.groupID.path)" aria-label="Back to the household">\(Icon.back)</a>\
                <h1>Who did what</h1></header>
                <p class=hint>The last \(Deed.days) days of \(household.groupName), the newest first.</p>
                \(empty)<section><ul>\(rows)</ul></section>
                """))
    }
}

/// A change of an object by an account.
struct Deed {
    let date: Date
    let author: UUID?
    /// "added", "ticked".
    let verb: String
    /// What was changed.
    let subject: String
    /// The item, if it still exists.
    let item: UUID?

    /// How far back the page goes.
    static let days = 7

    /// The changes of a household, the newest first.
    ///
    /// The context shows the history of objects that the account sees, and nothing of others.
    @MainActor static func newest(of household: UUID, in view: AccountView, limit: Int) throws -> [Deed] {
        let begin = Date(timeIntervalSinceNow: -Double(days) * 86_400)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: begin)
        let result = try view.context.execute(request) as? NSPersistentHistoryResult
        var deeds: [Deed] = []
        for transaction in (result?.result as? [NSPersistentHistoryTransaction] ?? []).reversed() {
            for change in transaction.changes ?? [] where change.changeType != .delete {
                guard let object = try? view.context.existingObject(with: change.changedObjectID),
                    let deed = Deed(change, object, transaction, in: household)
                else { continue }
                deeds.append(deed)
            }
            if deeds.count >= limit { break }
        }
        return Array(deeds.prefix(limit))
    }

    @MainActor private init?(
        _ change: NSPersistentHistoryChange, _ object: NSManagedObject, _ transaction: NSPersistentHistoryTransaction,
        in household: UUID
    ) {
        let isNew = change.changeType == .insert
        let changed = Set((change.updatedProperties ?? []).map(\.name))
        var (verb, item): (String, UUID?) = (isNew ? "added" : "changed", nil)
        switch object {
        case let found as Item:
            guard found.list?.household == household else { return nil }
            (subject, item) = (found.title, found.id)
            if !isNew { verb = Self.verb(changed) }
        case let list as List:
            guard list.household == household else { return nil }
            subject = "the list \(list.title)"
            // Members come and go with the items.
            if !isNew, !changed.contains("name") { return nil }
            if !isNew { verb = "renamed" }
        case let deletion as Deletion:
            guard deletion.household == household, isNew else { return nil }
            subject = deletion.name ?? ""
            verb = "deleted"
        default:
            guard let kind = PlaceKind.allCases.first(where: { $0.entityName == object.entity.name }),
                object.value(forKey: "household") as? UUID == household
            else { return nil }
            if !isNew, !changed.contains(kind.key) { return nil }
            subject = "the \(kind.noun) \(object.value(forKey: kind.key) as? String ?? "")"
            if !isNew { verb = "renamed" }
        }
        (self.verb, self.item) = (verb, item)
        date = transaction.timestamp
        author = transaction.author.flatMap { UUID(uuidString: $0) }
    }

    /// What was done to an item, by the properties that changed.
    private static func verb(_ changed: Set<String>) -> String {
        if !changed.isEmpty, changed.isSubset(of: ["collected"]) { return "ticked" }
        if !changed.isEmpty, changed.isSubset(of: ["listed", "collected"]) { return "put on or off the list" }
        let names = [
            "name": "name", "quantity": "quantity", "unit": "unit", "locationAtHome": "place at home",
            "locationAtShop": "place in the shop", "listed": "list",
        ]
        let shown = changed.compactMap { names[$0] }.sorted()
        return shown.isEmpty ? "changed" : "changed \(shown.joined(separator: ", ")) of"
    }
}
