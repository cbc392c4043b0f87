import Foundation

/// Finds model files in bundles.
package enum ModelFiles {
    /// Forms of a model file, the best first: of several with one name in a folder the first counts.
    private static let extensions = ["momd", "mom", "xcdatamodeld", "xcdatamodel"]

    /// Every model in the bundles, `nil` meaning the main bundle and the resource bundles beside it, where Swift
    /// packages keep theirs; sorted by path.
    package static func models(in bundles: [Bundle]?) -> [URL] {
        var byName: [String: URL] = [:]
        for folder in folders(of: bundles) {
            for url in files(in: folder, of: extensions) {
                guard let rank = extensions.firstIndex(of: url.pathExtension) else { continue }
                let key = url.deletingPathExtension().path
                if let other = byName[key], let otherRank = extensions.firstIndex(of: other.pathExtension),
                    otherRank <= rank
                {
                    continue
                }
                byName[key] = url
            }
        }
        return byName.values.sorted { $0.path < $1.path }
    }

    /// Returns every mapping model in the bundles, compiled ones first; sorted by path.
    package static func mappingModels(in bundles: [Bundle]?) -> [URL] {
        let kinds = ["cdm", "xcmappingmodel"]
        let found = folders(of: bundles).flatMap { files(in: $0, of: kinds) }
        return kinds.flatMap { kind in
            found.filter { $0.pathExtension == kind }.sorted { $0.path < $1.path }
        }
    }

    /// The model with that file name in the bundles, without regard to its form.
    package static func model(named name: String, in bundles: [Bundle]?) -> URL? {
        models(in: bundles).first { $0.deletingPathExtension().lastPathComponent == name }
    }

    /// The module that has the model among its resources: `Shop` of `…/App_Shop.resources/Shop.momd`, as Swift
    /// packages name the resource folder of a target.
    package static func module(ofModelAt url: URL) -> String? {
        let folders = url.deletingLastPathComponent().pathComponents
        guard let bundle = folders.last(where: { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }) else {
            return nil
        }
        let stem = (bundle as NSString).deletingPathExtension
        guard let target = stem.split(separator: "_", maxSplits: 1).dropFirst().first else { return nil }
        // As module names are made of target names.
        return String(target.map { $0.isLetter || $0.isNumber || $0 == "_" ? $0 : "_" })
    }

    /// Returns the files of some kinds in a folder, sorted. A program may be in a folder with thousands of other files,
    /// for which no URLs are made.
    private static func files(in folder: URL, of kinds: [String]) -> [URL] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { name in kinds.contains { name.hasSuffix(".\($0)") } }.sorted()
            .map(folder.appendingPathComponent)
    }

    private static func folders(of bundles: [Bundle]?) -> [URL] {
        var seen: Set<String> = []
        var result: [URL] = []
        func add(_ url: URL?) {
            guard let url = url?.standardizedFileURL, seen.insert(url.path).inserted else { return }
            result.append(url)
        }
        for bundle in bundles ?? [.main] {
            add(bundle.resourceURL)
            add(bundle.bundleURL)
        }
        guard bundles == nil else { return result }
        let main = Bundle.main.bundleURL
        let siblings = (try? FileManager.default.contentsOfDirectory(atPath: main.path)) ?? []
        for name in siblings.sorted() where name.hasSuffix(".resources") || name.hasSuffix(".bundle") {
            add(Bundle(url: main.appendingPathComponent(name))?.resourceURL)
            add(main.appendingPathComponent(name))
        }
        return result
    }
}
