import Foundation

/// The files of this repository, by path from its root.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().standardizedFileURL

    /// Every file, without what builds and version control leave behind.
    static func files() throws -> [String] {
        try files(in: "")
    }

    /// The targets of `Sources`, by folder.
    static func targets() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path)
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    /// The Swift files of a target, as code.
    static func sources(of target: String) throws -> [(path: String, text: SourceText)] {
        try allSources.get()[target] ?? []
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
