import Foundation

/// Programs of the package beside the test program, where SwiftPM puts all of them.
public enum BuiltProgram {
    /// The program; `nil` if it has not been built.
    public static func url(_ name: String) -> URL? {
        let folders = [
            TypeChecker.products, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent(),
            Fixtures.packageRoot.appendingPathComponent(".build/debug"),
        ]
        return folders.map { $0.appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
