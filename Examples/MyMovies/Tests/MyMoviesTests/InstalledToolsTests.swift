import LivePagesTesting
import Testing

/// A test is skipped if a tool is missing; in continuous integration that is a failure.
@Suite(.enabled(if: ContinuousIntegration.isOn, "\(ContinuousIntegration.isOff)"))
struct InstalledToolsTests {
    @Test func noToolIsMissing() { #expect(InstalledTools.missing == []) }
}
