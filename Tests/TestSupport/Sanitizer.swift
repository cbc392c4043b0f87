import Foundation

/// The sanitizer that the tests run under, if any: `make sanitize` says which.
package enum Sanitizer {
    /// `address` or `thread`.
    package static let name = ProcessInfo.processInfo.environment["COREDATA_SANITIZER"]
    /// Whether what is freed stays in memory for a while, so that how much is used tells nothing.
    package static let keepsWhatIsFreed = name == "address"
    /// How many minutes a test may take that waits for others: a limit for what hangs. Beside all the other tests, on a machine that has
    /// more to do, what takes a second may take minutes.
    package static let patience = name == nil ? 5 : 60
}
