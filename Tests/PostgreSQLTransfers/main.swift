import Foundation
import PostgreSQLAccounts

// PostgreSQLTransfers <url> <times> <contexts> <seed>: moves money between accounts that others move, too.
let arguments = CommandLine.arguments
guard arguments.count == 5, let url = URL(string: arguments[1]), let times = Int(arguments[2]),
    let contexts = Int(arguments[3]), let seed = UInt64(arguments[4])
else {
    FileHandle.standardError.write(Data("usage: PostgreSQLTransfers <url> <times> <contexts> <seed>\n".utf8))
    exit(2)
}
do { try Accounts(url).move(times: times, contexts: contexts, seed: seed) } catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
