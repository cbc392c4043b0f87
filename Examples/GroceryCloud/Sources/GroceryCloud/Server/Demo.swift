import CoreDataAccounts
import CoreDataPermissions
import Foundation
import LivePages

/// A household to look at and to try things out in, with three accounts and one password.
enum Demo {
    static let password = "three friends share a list"
    static let names: [(name: String, role: Role)] = [("ann", .owner), ("bob", .editor), ("eve", .viewer)]

    private static let items: [(name: String, unit: String, home: String, shop: String, quantity: Float)] = [
        ("Milk", "L", "Fridge", "Dairy", 2), ("Butter", "", "Fridge", "Dairy", 1),
        ("Yoghurt", "jar", "Fridge", "Dairy", 4),
        ("Apples", "kg", "Fruit bowl", "Fruit", 1.5), ("Bananas", "", "Fruit bowl", "Fruit", 6),
        ("Bread", "", "Bread bin", "Bakery", 1), ("Flour", "kg", "Pantry", "Baking", 1),
        ("Sugar", "kg", "Pantry", "Baking", 1), ("Rice", "kg", "Pantry", "Aisle 2", 1),
        ("Tomatoes", "tin", "Pantry", "Aisle 3", 3), ("Peas", "bag", "Freezer", "Cold", 2),
        ("Coffee", "bag", "Cupboard", "Aisle 10", 1),
    ]

    /// How to sign in.
    static var invitation: String {
        "Sign in as \(names.map(\.name).joined(separator: ", ")) with the password “\(password)”."
    }

    /// Makes the accounts, the household and its lists.
    @MainActor static func fill(_ app: App) async throws {
        let client = Client(address: nil, device: "Demo")
        var accounts: [SignedIn] = []
        for (name, _) in names {
            accounts.append(try await app.accounts.signUp(name: name, password: password, from: client))
        }
        let owner = accounts[0].account
        let home = try await app.accounts.createGroup(named: "Home", by: owner.id)
        for (account, (_, role)) in zip(accounts, names).dropFirst() {
            let invitation = try await app.accounts.invite(to: home.groupID, as: role, by: owner.id)
            _ = try await app.accounts.join(token: invitation.token, account: account.account.id, from: client)
        }
        for account in accounts { try await app.accounts.signOut(token: account.token, from: client) }
        let view = try AccountView(app.store, Accessor(account: owner, [home]))
        defer { view.close() }
        let list = try view.makeList(named: "Groceries", in: home.groupID)
        _ = try view.makeList(named: "Garden", in: home.groupID)
        for (index, item) in items.enumerated() {
            var form = ItemForm.blank(named: item.name)
            form.fields.values[.quantity] = Quantity.text(item.quantity)
            form.fields.values[.listed] = index % 3 == 2 ? "" : "1"
            for (kind, name) in [(PlaceKind.unit, item.unit), (.home, item.home), (.shop, item.shop)] where name != "" {
                form.fields.values[kind.field] = ItemForm.new
                form.newNames[kind] = name
            }
            let made = try view.add(form, to: list).item
            if index == 3 { _ = try view.setCollected(true, made) }
        }
    }
}
