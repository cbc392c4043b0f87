import Foundation

/// The sanitizer that the tests run under, if any: `make sanitize` says which.
package enum Sanitizer {
    /// `address` or `thread`.
    package static let name = ProcessInfo.processInfo.environment["COREDATA_SANITIZER"]
    /// Whether what is freed stays in memory for a while, so that how much is used tells nothing.
    package static let keepsWhatIsFreed = name == "address"
    /// How many times longer a test may take that has a limit.
    package static let patience = name == nil ? 1 : 60
}
