import Foundation

/// The Swift sources of a folder, or a single source.
package struct SourceFolder: Sendable {
    /// The sources, with paths relative to the user's current folder.
    package var sources: [PortSource]
    /// The paths of the sources below the folder, in the same order.
    package var relativePaths: [String]
    /// The paths of models and mapping models below the folder, in order: they are copied unchanged with the sources.
    package var modelPaths: [String] = []

    /// Reads every `.swift` file below a folder, except in hidden folders; or the single file.
    ///
    /// - Parameter excluded: a folder to ignore, such as the output folder.
    package init(at path: String, excluding excluded: String? = nil) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw CocoaError(
                .fileReadNoSuchFile, userInfo: [NSLocalizedDescriptionKey: "There is no file or folder \(path)."])
        }
        guard isFolder.boolValue else {
            sources = [try Self.source(at: path)]
            relativePaths = [URL(fileURLWithPath: path).lastPathComponent]
            return
        }
        let excluded = excluded.map { URL(fileURLWithPath: $0).standardizedFileURL.path }
        let root = path.hasSuffix("/") ? String(path.dropLast()) : path
        let paths = (FileManager.default.enumerator(atPath: root)?.compactMap { $0 as? String } ?? []).filter {
            relative in
            guard !relative.split(separator: "/").contains(where: { $0.hasPrefix(".") }) else { return false }
            guard let excluded else { return true }
            let full = URL(fileURLWithPath: "\(root)/\(relative)").standardizedFileURL.path
            return !full.hasPrefix(excluded + "/")
        }.sorted()
        relativePaths = paths.filter { $0.hasSuffix(".swift") }
        let models = paths.filter { path in Self.modelEndings.contains { path.hasSuffix($0) } }
        // A version is copied with the folder of all versions.
        modelPaths = models.filter { path in !models.contains { path.hasPrefix($0 + "/") } }
        sources = try relativePaths.map { try Self.source(at: "\(root)/\($0)") }
    }

    private static let modelEndings = [".xcdatamodeld", ".xcdatamodel", ".xcmappingmodel", ".momd", ".mom", ".cdm"]

    private static func source(at path: String) throws -> PortSource {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw CocoaError(.fileReadUnknown, userInfo: [NSLocalizedDescriptionKey: "Cannot read \(path)."])
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw CocoaError(
                .fileReadInapplicableStringEncoding,
                userInfo: [NSLocalizedDescriptionKey: "\(path) is not UTF-8 text."])
        }
        return PortSource(path: path, text: text)
    }
}
