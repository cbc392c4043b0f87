import Foundation
import Testing

/// Where the test program begins. All tests are Swift Testing's; with this file SwiftPM does not look for those of XCTest, for which it
/// would need an index of every module.
@main struct TestProgram {
    static func main() async {
        let arguments = CommandLine.arguments
        let library = arguments.firstIndex(of: "--testing-library").map { arguments[($0 + 1)...].first ?? "" }
        // `swift test` asks for XCTest's tests first.
        if library == "xctest" { exit(0) }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
