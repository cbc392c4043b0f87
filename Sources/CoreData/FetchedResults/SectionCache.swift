import CoreDataModel
import CoreDataPredicate
import CoreDataStore
import Foundation

/// The sections of a list, kept in a file between launches.
///
/// ```
/// ~/.cache/<program>/.CoreDataCaches/SectionInfoCaches/<name>
/// ```
/// A file is valid for the same request, the same model and the same stores, as long as the stores' files are
/// unchanged: size, modification time and inode of the file and its log. In all other cases the file counts as missing.
/// If it cannot be written, nothing is kept. Nothing is kept either if a store's file was changed a moment ago, since
/// the next change might have the same modification time.
struct SectionCache {
    private struct Content: Codable {
        var key: String
        var stamp: String
        var names: [String]
        var counts: [Int]
    }

    private let file: URL
    private let key: String
    private let stores: [AttachedStore]
    /// The state of the stores' files before the rows were read.
    private let stamp: String

    /// `nil` if the dependencies of the sections are not known.
    init?(named name: String, _ translation: FetchTranslation, _ order: FetchedOrder, _ stores: [AttachedStore]) {
        guard let file = Self.file(named: name), let key = Self.key(of: translation, order),
            let stamp = Self.stamp(of: stores)
        else { return nil }
        self.file = file
        self.key = key
        self.stores = stores
        self.stamp = stamp
    }

    /// Returns the sections of this number of rows, if the file has them and is valid.
    func sections(ofRows count: Int) -> [(name: String, count: Int)]? {
        guard let data = try? Data(contentsOf: file), let content = try? JSONDecoder().decode(Content.self, from: data),
            content.key == key, content.stamp == stamp, content.names.count == content.counts.count,
            content.counts.allSatisfy({ $0 > 0 && $0 <= count }), content.counts.reduce(0, +) == count,
            Set(content.names).count == content.names.count, Self.stamp(of: stores) == stamp
        else { return nil }
        return zip(content.names, content.counts).map { ($0, $1) }
    }

    func keep(_ sections: [(name: String, count: Int)]) {
        guard Self.stamp(of: stores) == stamp else { return }
        let content = Content(key: key, stamp: stamp, names: sections.map(\.name), counts: sections.map(\.count))
        do {
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try JSONEncoder().encode(content).write(to: file, options: .atomic)
        } catch { CoreDataLog.general.debug("The sections '\(file.path)' are not kept: \(error.localizedDescription)") }
    }

    /// Removes the file of that name; of every name for `nil`.
    static func delete(named name: String?) {
        guard let file = name.map({ Self.file(named: $0) }) ?? folder else { return }
        try? FileManager.default.removeItem(at: file)
    }

    // MARK: Files

    private static var folder: URL? {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName
        return caches?.appendingPathComponent(program).appendingPathComponent(".CoreDataCaches").appendingPathComponent(
            "SectionInfoCaches")
    }

    static func file(named name: String) -> URL? {
        // A name is no path.
        guard let plain = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics), !plain.isEmpty,
            plain.utf8.count < 250
        else { return nil }
        return folder?.appendingPathComponent(plain)
    }

    // MARK: What the sections depend on

    /// Returns `nil` if the same request may find other sections in the same rows.
    private static func key(of translation: FetchTranslation, _ order: FetchedOrder) -> String? {
        guard let path = order.sectionPath, order.isSectionStored else { return nil }
        let request = translation.request
        let predicate = request.predicate?.node.predicateFormat ?? ""
        let varying = ["BLOCK", "FUNCTION(", "now(", "random", "CAST("]
        guard !varying.contains(where: { predicate.range(of: $0, options: .caseInsensitive) != nil }) else {
            return nil
        }
        let hashes = translation.entity.model.entities.map {
            "\($0.name ?? "") \($0.versionHash.base64EncodedString())"
        }.sorted()
        let sorts = translation.sorts.map { "\($0.keyPath.joined(separator: ".")) \($0.isAscending) \($0.comparison)" }
        let parts = [
            "1", translation.entity.name, predicate, path, sorts.joined(separator: ","),
            "\(request.includesSubentities) \(request.fetchLimit) \(request.fetchOffset)",
            hashes.joined(separator: " "),
        ]
        return parts.joined(separator: "\n")
    }

    private static let restMilliseconds = 50.0

    /// Returns the state of the stores' files; `nil` for a store without a file, and for one that was changed a moment
    /// ago.
    private static func stamp(of stores: [AttachedStore]) -> String? {
        var parts: [String] = []
        for store in stores {
            guard let url = store.url, url.isStoreFile, let file = look(at: url.path) else {
                return nil
            }
            parts.append("\(store.identifier) \(file.text)")
            var newest = file.time
            // An empty log is none.
            if let log = look(at: FileLink.followed(url.path) + "-wal"), log.size > 0 {
                parts.append(log.text)
                newest = max(newest, log.time)
            }
            if Date().timeIntervalSince1970 - newest < restMilliseconds / 1000 { return nil }
        }
        return parts.isEmpty ? nil : parts.joined(separator: "\n")
    }

    private static func look(at path: String) -> (text: String, size: Int, time: Double)? {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        let time = found.st_mtim
        return (
            "\(found.st_ino) \(found.st_size) \(time.tv_sec).\(time.tv_nsec)", Int(found.st_size),
            Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        )
    }
}
