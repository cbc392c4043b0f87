import Foundation

/// Whether the tests run where nobody reads which of them were skipped.
///
/// A test of each family of tools fails there where the tools are missing, for which the others are skipped:
///
///     @Test(.enabled(if: ContinuousIntegration.isOn, "\(ContinuousIntegration.isOff)"))
///     func pythonIsInstalled() { #expect(Python.isInstalled, "\(Python.missing)") }
public enum ContinuousIntegration {
    /// Whether the environment variable `CI` is set, as services for it do.
    public static let isOn: Bool = {
        guard let value = ProcessInfo.processInfo.environment["CI"] else { return false }
        return !["", "0", "false"].contains(value.lowercased())
    }()

    /// Why a test is skipped.
    public static let isOff = "only where the environment variable CI is set must all tools be installed"
}
