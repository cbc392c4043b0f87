import PostgreSQLServer
import TestSupport
import Testing

/// Tests on servers are skipped where there is none, but not unnoticed where nobody reads that.
@Suite(.enabled(if: ContinuousIntegration.isOn, "\(ContinuousIntegration.isOff)"))
struct InstalledToolsTests {
    @Test func aServerIsInstalled() { #expect(PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)") }
    @Test func aPoolerIsInstalled() { #expect(PgBouncer.isInstalled, "\(PgBouncer.missing)") }
    @Test func certificatesCanBeMade() { #expect(TestCertificates.isInstalled, "\(TestCertificates.missing)") }
}
