import Foundation

/// The Python that some tests have look at our files: a program that knows nothing of this package.
public enum Python {
    /// `python3` in PATH.
    public static let path: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    public static var isInstalled: Bool { path != nil }

    /// Why a test is skipped: `.enabled(if: Python.isInstalled, "\(Python.missing)")`.
    public static let missing = "no python3 in PATH (Debian: apt-get install python3)"
}
