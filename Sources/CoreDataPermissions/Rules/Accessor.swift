import Foundation

/// The person or program for whom a context reads and writes.
///
///     let ann = Accessor(account: annID, groups: [household: "editor"])
///     try context.restrict(to: rules, as: ann)
///
/// It is a value: if an account joins a group, make a new accessor and a new context.
public struct Accessor: Sendable, Hashable {
    /// The account; `nil` for a visitor who is not signed in.
    public var account: UUID?
    /// The groups to which the account belongs, with its role in each. Ignored without an account.
    public var groups: [UUID: String]
    /// Whether rules with the word `administrator` apply. It has no other effect: an administrator reads nothing that
    /// no rule allows. Ignored without an account.
    public var isAdministrator: Bool

    /// Makes an accessor; see ``anonymous`` for a visitor.
    ///
    ///     Accessor(account: annID, groups: [home: "owner", office: "viewer"])
    public init(account: UUID?, groups: [UUID: String] = [:], isAdministrator: Bool = false) {
        self.account = account
        self.groups = groups
        self.isAdministrator = isAdministrator
    }

    /// A visitor who is not signed in.
    ///
    ///     try context.restrict(to: rules, as: .anonymous)
    public static let anonymous = Accessor(account: nil)

    /// The groups with that role, or all groups, in an order that does not change.
    func groups(role: String? = nil) -> [UUID] {
        guard account != nil else { return [] }
        return groups.filter { role == nil || $0.value == role }.keys.sorted { $0.uuidString < $1.uuidString }
    }

    /// The roles that it has in any group.
    var roles: [String] { account == nil ? [] : Set(groups.values).sorted() }
}
