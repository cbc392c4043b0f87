import Foundation

@testable import CoreDataCLI
@testable import CoreDataModel

/// Files that fuzzing begins with: our own examples, and what Apple's tools wrote, where there are such files.
struct Seeds {
    let folder: URL

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// As in the tests: `COREDATA_FIXTURES`, else `../shared/fixtures`.
    private static let fixtures = URL(
        fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_FIXTURES"]
            ?? root.appendingPathComponent("../shared/fixtures").path
    ).standardizedFileURL

    private static let folders = [
        root.appendingPathComponent("Examples"), fixtures,
    ]

    /// Larger ones cost more time than they find.
    private static let largest = 300_000

    func write(for reader: Reader) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let own = Self.root.appendingPathComponent("Fuzzing/Seeds/\(reader.rawValue)")
        for name in (try? FileManager.default.contentsOfDirectory(atPath: own.path)) ?? [] {
            try add(Data(contentsOf: own.appendingPathComponent(name)))
        }
        for line in lines(of: reader) { try add(Data(line.utf8)) }
        for url in Self.folders.flatMap(files) where isSeed(url, for: reader) { try add(Data(contentsOf: url)) }
        switch reader {
        case .store:
            let path = folder.appendingPathComponent("seed-new").path
            try? FileManager.default.removeItem(atPath: path)
            try Shelf.make(at: path).database.close()
        case .modelJSON:
            let contents = Self.folders.flatMap(files).filter { $0.lastPathComponent == "contents" }
            for model in contents.map({ $0.deletingLastPathComponent() }) {
                let versions = try ModelReader.read(contentsOf: model)
                if let text = try? ModelJSONWriter.text(of: versions) { try add(Data(text.utf8)) }
            }
        case .syncSegment, .syncSnapshot, .syncState: for seed in try SyncFiles.seeds(for: reader) { try add(seed) }
        default: break
        }
    }

    private func add(_ data: Data) throws {
        guard data.count <= Self.largest else { return }
        // Equal seeds have one name.
        let name = data.reduce(UInt64(14_695_981_039_346_656_037)) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
        try data.write(to: folder.appendingPathComponent("seed-" + String(name, radix: 16)))
    }

    /// Seeds of which a file has one a line.
    private func lines(of reader: Reader) -> [Substring] {
        let file = Self.root.appendingPathComponent("Fuzzing/Seeds/\(reader.rawValue).txt")
        guard let text = try? String(contentsOf: file, encoding: .utf8) else { return [] }
        return text.split(separator: "\n")
    }

    private func isSeed(_ url: URL, for reader: Reader) -> Bool {
        switch reader {
        case .modelXML: url.lastPathComponent == "contents"
        case .modelArchive: url.pathExtension == "mom"
        case .modelElements: url.lastPathComponent == "elements"
        case .propertyList: ["mom", "plist", "cdm"].contains(url.pathExtension)
        case .propertyListXML: url.lastPathComponent == ".xccurrentversion"
        case .store: ["sqlite", "CDBStore"].contains(url.pathExtension)
        case .xml, .recordsXML: url.pathExtension == "xml" || url.lastPathComponent == "contents"
        case .recordsCSV: url.pathExtension == "csv"
        case .recordsJSON: url.pathExtension == "json"
        case .recordsNDJSON, .modelJSON, .predicate, .syncSegment, .syncSnapshot, .syncState: false
        }
    }

    private func files(in folder: URL) -> [URL] {
        (FileManager.default.subpaths(atPath: folder.path) ?? []).sorted().map { folder.appendingPathComponent($0) }
            .filter { url in
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && !isFolder.boolValue
            }
    }
}
