import Foundation

/// Whether the tests run in continuous integration, where skipped tests go unnoticed: there, a test fails if a tool is missing.
package enum ContinuousIntegration {
    /// Whether the environment variable `CI` is set, as services for it do.
    package static let isOn: Bool = {
        guard let value = ProcessInfo.processInfo.environment["CI"] else { return false }
        return !["", "0", "false"].contains(value.lowercased())
    }()

    /// Why a test is skipped.
    package static let isOff = "only where the environment variable CI is set must all tools be installed"
}
