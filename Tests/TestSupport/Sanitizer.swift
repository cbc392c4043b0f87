import Foundation

/// The sanitizer that the tests run under, if any: `make sanitize` says which.
package enum Sanitizer {
    /// `address` or `thread`.
    package static let name = ProcessInfo.processInfo.environment["COREDATA_SANITIZER"]
    /// Whether what is freed stays in memory for a while, so that how much is used tells nothing.
    package static let keepsWhatIsFreed = name == "address"
    /// The minutes that a test may take which hangs where something is wrong: more under a sanitizer.
    ///
    /// - Parameter usual: ten times what the test takes, and at least one.
    package static func minutes(_ usual: Int) -> Int { name == nil ? usual : usual * 5 }
}
