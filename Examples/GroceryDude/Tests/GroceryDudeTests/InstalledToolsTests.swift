import LivePages
import LivePagesTesting
import Testing

/// Tests that miss a tool are skipped, but not unnoticed where nobody reads that.
@Suite(.enabled(if: ContinuousIntegration.isOn, "\(ContinuousIntegration.isOff)"))
struct InstalledToolsTests {
    @Test func aBrowserAndItsDriverAreInstalled() { #expect(Chrome.isAvailable, "\(Chrome.missing)") }

    @Test func aToolForPicturesIsInstalled() {
        #expect(Pictures.scaler != nil, "there is neither vipsthumbnail nor convert: apt-get install libvips-tools")
    }

    @Test func axeIsInstalled() { #expect(Chrome.axe != nil, "axe-core is not there: make test-web installs it") }
}
