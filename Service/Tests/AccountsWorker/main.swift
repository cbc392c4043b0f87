import CoreDataAccounts
import Foundation

#if PostgreSQL
    import CoreDataPostgreSQL
#endif

// A second process on a store of accounts, for tests. It opens the store, says "ready", waits for a line, and works:
//
//     AccountsWorker STORE sign-up NAME COUNT          makes accounts NAME-1, NAME-2, … and prints each with its right
//     AccountsWorker STORE guess NAME COUNT            tries wrong passwords and prints the code of each error
//     AccountsWorker STORE leave GROUP ACCOUNT         leaves a group and prints "left" or the code of the error
//     AccountsWorker STORE join TOKEN ACCOUNT…         joins by an invitation and prints "joined" or the code for each
//     AccountsWorker STORE live NAME                   signs up, signs in and forms groups until it is killed;
//                                                      prints each token and group after it was acknowledged

/// Prints a line at once, so that a killed process has said everything that it did.
func say(_ line: String) { _ = write(1, line + "\n", line.utf8.count + 1) }

var settings = AccountSettings()
settings.passwordCost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
settings.limits.signUpsOfAddress.tries = 1_000_000
let password = "a lamp under the stairs"
let client = Client(address: "192.0.2.1", device: "worker")
let arguments = CommandLine.arguments.dropFirst().map { $0 }
guard arguments.count >= 3 else { fatalError("usage: AccountsWorker STORE COMMAND ARGUMENTS") }
/// The place of the store: a file, or a database.
func place(_ text: String) -> URL {
    #if PostgreSQL
        if text.hasPrefix("postgresql://"), let url = URL(string: text) {
            PostgreSQLStore.register()
            return url
        }
    #endif
    return URL(fileURLWithPath: text)
}

let accounts = try Accounts(at: place(arguments[0]), settings: settings)
say("ready")
_ = readLine()

switch arguments[1] {
case "sign-up":
    for number in 1...(Int(arguments[3]) ?? 1) {
        do throws(AccountError) {
            let account = try await accounts.signUp(
                name: "\(arguments[2])-\(number)", password: password, from: client
            ).account
            say("\(account.name) \(account.isAdministrator ? "administrator" : "member")")
        } catch { say(error.code) }
    }
case "guess":
    for _ in 1...(Int(arguments[3]) ?? 1) {
        do throws(AccountError) {
            _ = try await accounts.signIn(name: arguments[2], password: "wrong", from: Client(address: "198.51.100.7"))
            say("signed in")
        } catch { say(error.code) }
    }
case "leave":
    guard let group = UUID(uuidString: arguments[2]), let account = UUID(uuidString: arguments[3]) else { break }
    do throws(AccountError) {
        try await accounts.leaveGroup(group, account: account)
        say("left")
    } catch { say(error.code) }
case "join":
    for account in arguments[3...].compactMap({ UUID(uuidString: $0) }) {
        do throws(AccountError) {
            _ = try await accounts.join(token: arguments[2], account: account, from: client)
            say("joined")
        } catch { say(error.code) }
    }
case "live":
    for number in 1... {
        let one = try await accounts.signUp(name: "\(arguments[2])-\(number)", password: password, from: client)
        say("token \(one.token)")
        let two = try await accounts.signIn(name: one.account.name, password: password, from: client)
        say("token \(two.token)")
        let group = try await accounts.createGroup(named: "Home", by: one.account.id)
        say("group \(group.groupID) \(one.account.id)")
        try await accounts.signOut(token: one.token, from: client)
        say("ended \(one.token)")
    }
default: fatalError("unknown command '\(arguments[1])'")
}
