import Foundation

extension Fixtures {
    /// The paths of all models in the fixtures, sources and compiled ones; none where there are no fixtures.
    public static let models: [String] = paths { url in
        ["xcdatamodeld", "momd"].contains(url.pathExtension)
            || (url.pathExtension == "xcdatamodel" && url.deletingLastPathComponent().pathExtension != "xcdatamodeld")
    }

    /// The paths of all `contents` files of models.
    public static let modelContents: [String] = paths { $0.lastPathComponent == "contents" }

    private static func paths(where isMeant: (URL) -> Bool) -> [String] {
        guard let folder, let names = FileManager.default.subpaths(atPath: folder.path) else { return [] }
        return names.filter { isMeant(URL(fileURLWithPath: $0)) }.sorted()
    }
}
