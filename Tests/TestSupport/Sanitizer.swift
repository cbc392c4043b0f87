import Foundation

/// The sanitizer that the tests run under, if any: `make sanitize` says which.
package enum Sanitizer {
    /// `address` or `thread`.
    package static let name = ProcessInfo.processInfo.environment["COREDATA_SANITIZER"]
    /// Whether what is freed stays in memory for a while, so that how much is used tells nothing.
    package static let keepsWhatIsFreed = name == "address"
    /// How many minutes a test may take that waits for others: a limit for what hangs. A test that waits goes on when the pool of threads
    /// comes round to it, after every test that has begun in between, so that the limit is that of the whole run, which `make test` ends
    /// after 30 minutes.
    package static let patience = name == nil ? 25 : 60
}
