import Foundation

/// A program that predicts the schema of a store from the model cached in it, by the rules found in stores that
/// Apple's Core Data made. It knows nothing of this package.
public enum SchemaOracle {
    /// `check-schema.py` in the folder `oracle/v2` beside the fixtures.
    private static let script: URL? = {
        guard let folder = Fixtures.folder else { return nil }
        let url = folder.deletingLastPathComponent().appendingPathComponent("oracle/v2/check-schema.py")
        return FileManager.default.fileExists(atPath: url.path) ? url : nil
    }()

    public static var isAvailable: Bool { script != nil && Python.isInstalled }

    /// Why a test is skipped.
    public static let missing =
        "no oracle: it takes python3, and check-schema.py in a folder 'oracle/v2' beside the fixtures"

    /// The lines about every store whose schema is not the one predicted, statement for statement and in order.
    ///
    /// One process looks at all stores, which must have been made afresh.
    public static func complaints(about stores: [URL]) throws -> [String] {
        guard let script, let python = Python.path else { return [missing] }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = ["-B", script.path] + stores.map(\.path)
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // What no store of Apple's has shown is predicted all the same.
        let lines = text.split(separator: "\n").map(String.init)
            .filter { !$0.hasPrefix("    prediction uncertain: ") }
        let verdicts = lines.filter { $0.hasSuffix(": same statements, same order") }
        var complaints = lines.filter { !$0.hasSuffix(": same statements, same order") }
        if complaints.isEmpty, verdicts.count != stores.count || process.terminationStatus != 0 {
            complaints = [
                "the oracle told of \(verdicts.count) of \(stores.count) stores, then ended with \(process.terminationStatus)"
            ]
        }
        return complaints
    }
}
