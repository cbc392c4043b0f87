import Foundation

/// The files of this repository, by path from its root.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().standardizedFileURL

    /// Every file, without what builds and version control leave behind.
    static func files() throws -> [String] {
        try files(in: "")
    }

    /// Where there is nothing to look at, a test that looks for mistakes would find none.
    struct NothingThere: Error, CustomStringConvertible {
        var description: String
    }

    /// The targets of `Sources`, by folder.
    static func targets() throws -> [String] {
        let targets = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
            .filter { !$0.hasPrefix(".") }.sorted()
        guard targets.count > 20 else { throw NothingThere(description: "few targets in Sources: \(targets)") }
        return targets
    }

    /// The Swift files of a target, as code; there are some, but where the target is of C alone.
    static func sources(of target: String) throws -> [(path: String, text: SourceText)] {
        guard let sources = try allSources.get()[target] else {
            throw NothingThere(description: "no target \(target) in Sources")
        }
        guard target.hasPrefix("C") && !target.hasPrefix("CoreData") && target != "Combine" || !sources.isEmpty else {
            throw NothingThere(description: "no Swift files in Sources/\(target)")
        }
        return sources
    }

    /// Read once: several tests look at every file.
    private static let allSources = Result {
        try Dictionary(
            uniqueKeysWithValues: targets().map { target in
                let paths = try files(in: "Sources/\(target)").filter { $0.hasSuffix(".swift") }
                return (
                    target,
                    try paths.map { path in
                        (path, SourceText(try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)))
                    } as [(path: String, text: SourceText)]
                )
            })
    }

    private static func files(in folder: String) throws -> [String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
        return try names.sorted().flatMap { name -> [String] in
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(
                atPath: root.appendingPathComponent(path).path, isDirectory: &isFolder)
            guard exists, !name.hasPrefix(".build"), name != ".git", name != ".swiftpm" else { return [] }
            return isFolder.boolValue ? try files(in: path) : [path]
        }
    }
}
