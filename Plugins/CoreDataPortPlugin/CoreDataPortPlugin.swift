import Foundation
import PackagePlugin

/// Compiles sources written for Apple's platforms from rewritten copies.
///
/// `coredata-port.json` in the target's folder names them, relative to itself:
///
///     { "sources": ["../../AppleApp/Model"], "exclude": ["Views"] }
@main struct CoreDataPortPlugin: BuildToolPlugin {
    private struct Configuration: Decodable {
        /// Folders with sources, or single files.
        var sources: [String]
        /// Folders and files below them to do without.
        var exclude: [String]?
    }

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    func createBuildCommands(context: PluginContext, target: Target) throws -> [Command] {
        let folder = target.directoryURL
        let file = folder.appending(path: "coredata-port.json")
        guard let data = try? Data(contentsOf: file) else {
            throw Failure(
                description: "\(file.path): error: not found; it names the sources to port: "
                    + #"{ "sources": ["../../AppleApp/Model"] }"#)
        }
        let configuration: Configuration
        do {
            configuration = try JSONDecoder().decode(Configuration.self, from: data)
        } catch {
            throw Failure(
                description: "\(file.path): error: cannot be read; it needs a list 'sources', and may have a list "
                    + "'exclude': \(error)")
        }

        var pairs: [(source: URL, copy: URL)] = []
        for (number, path) in configuration.sources.enumerated() {
            let root = Self.url(path, in: folder)
            let files = Self.sources(in: root, without: configuration.exclude ?? [])
            guard !files.isEmpty else {
                throw Failure(description: "\(file.path): error: '\(path)' has no Swift sources")
            }
            let copies = context.pluginWorkDirectoryURL.appending(path: "\(number)")
            // The compiler identifies files by name: the copy's own must not be the one that it says it has.
            pairs += files.map { (source: $0.url, copy: copies.appending(path: $0.path.dropLast(6) + ".ported.swift")) }
        }
        // What the target's own sources declare is not missing.
        let own = (target as? any SourceModuleTarget)?.sourceFiles(withSuffix: ".swift").map(\.url) ?? []
        return [
            .buildCommand(
                displayName: "Porting \(pairs.count) sources for \(target.name)",
                executable: try context.tool(named: "coredata-port").url,
                arguments: ["copy"] + Self.modules(of: target) + pairs.flatMap { [$0.source.path, $0.copy.path] } + [
                    "--beside"
                ] + own.map(\.path),
                inputFiles: [file] + pairs.map(\.source) + own, outputFiles: pairs.map(\.copy))
        ]
    }

    /// The modules of Apple's that the target has here: Combine, of the product of that name.
    private static func modules(of target: Target) -> [String] {
        let hasCombine = target.dependencies.contains { dependency in
            switch dependency {
            case .product(let product): product.name == "Combine"
            case .target(let target): target.name == "Combine"
            @unknown default: false
            }
        }
        return hasCombine ? ["--module", "Combine"] : []
    }

    private static func url(_ path: String, in folder: URL) -> URL {
        (path.hasPrefix("/") ? URL(fileURLWithPath: path) : folder.appending(path: path)).standardizedFileURL
    }

    /// The Swift sources below a folder, or the one file, with their paths below it.
    private static func sources(in root: URL, without excluded: [String]) -> [(url: URL, path: String)] {
        if root.pathExtension == "swift" { return [(root, root.lastPathComponent)] }
        let paths = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return paths.sorted().filter { path in
            path.hasSuffix(".swift") && !path.split(separator: "/").contains { $0.hasPrefix(".") }
                && !excluded.contains { path == $0 || path.hasPrefix($0 + "/") }
        }.map { (root.appending(path: $0), $0) }
    }
}
