import CoreDataAccounts
import Foundation
import LivePages

/// What an operator sets of the app.
struct CloudSettings: Sendable {
    /// The store of accounts.
    var accountsStore: URL
    /// The rules of accounts.
    var accounts = AccountSettings()
    /// The address under which browsers reach the app through a proxy with TLS.
    var publicAddress: URL?

    private static let accountsOption = "--accounts", addressOption = "--address", signUpOption = "--sign-up"

    static let options = [
        LaunchOptions.Own(
            accountsOption, "STORE",
            "the store of accounts and households: a file or a postgresql:// URL. Default: beside the store, or in the",
            "schema of the store with _accounts at its end"),
        LaunchOptions.Own(
            addressOption, "URL",
            "the address under which browsers reach the app through a proxy with TLS, such as https://groceries.example.com.",
            "Cookies are Secure then, and the address that the proxy adds to X-Forwarded-For is the client's"),
        LaunchOptions.Own(
            signUpOption, "WHO",
            "who may make an account: open (default), invited (with an invitation to a household), closed"),
    ]

    /// Settings for a store, with its accounts beside it.
    init(store: URL) { accountsStore = Self.accountsPlace(of: store) }

    /// - Throws: ``LaunchOptions/Problem`` for values that make no sense.
    init(_ options: LaunchOptions) throws {
        self.init(store: options.store)
        if let text = options.own[Self.accountsOption] { accountsStore = try StorePlace.url(text) }
        if accountsStore == options.store {
            throw LaunchOptions.Problem(
                description: "\(Self.accountsOption) and --store name the same store: each needs its own")
        }
        if let text = options.own[Self.signUpOption] {
            guard let signUp = AccountSettings.SignUp(rawValue: text) else {
                throw LaunchOptions.Problem(
                    description: "\(Self.signUpOption): '\(text)' is none of open, invited and closed")
            }
            accounts.signUp = signUp
        }
        if let text = options.own[Self.addressOption] {
            guard let url = URL(string: text), url.scheme == "https", url.host != nil, url.path.count <= 1 else {
                throw LaunchOptions.Problem(
                    description:
                        "\(Self.addressOption): '\(text)' is no address such as https://groceries.example.com")
            }
            publicAddress = url
        }
        accounts.serviceWords = ["grocery", "groceries", "cloud", "shopping", "household"]
        if options.isCheck { accounts.passwordCost = PasswordCost(costBits: 10, blockSize: 8, parallelism: 1) }
    }

    /// Groceries.sqlite → Groceries-accounts.sqlite; ?schema=shop → ?schema=shop_accounts.
    private static func accountsPlace(of store: URL) -> URL {
        if store.isFileURL {
            let name = store.deletingPathExtension().lastPathComponent
            return store.deletingLastPathComponent().appendingPathComponent("\(name)-accounts.sqlite")
        }
        guard var parts = URLComponents(url: store, resolvingAgainstBaseURL: false) else { return store }
        var items = parts.queryItems ?? []
        let schema = items.first { $0.name == "schema" }?.value ?? "public"
        items.removeAll { $0.name == "schema" }
        parts.queryItems = items + [URLQueryItem(name: "schema", value: "\(schema)_accounts")]
        return parts.url ?? store
    }
}
