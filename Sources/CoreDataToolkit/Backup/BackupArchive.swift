import CoreData
import CoreDataZip
import Foundation

/// The content of an archive's `manifest.json`.
struct BackupManifest: Codable {
    static let name = "manifest.json"
    static let currentFormat = 1
    static let folder = "store/"

    /// The format version: 1.
    var format: Int
    /// The time of creation, in ISO 8601.
    var created: String
    /// The store's type.
    var storeType: String
    var storeUUID: String
    /// The name of the store's file in the archive's folder `store`.
    var storeFile: String
    /// The model's checksum; see `NSManagedObjectModel.versionChecksum`.
    var modelChecksum: String
    /// The size of each file in bytes.
    var files: [String: Int]
}

/// The archive of a backup: written from a store, or extracted and checked.
struct BackupArchive {
    private let work: WorkFolder
    private let reader: ZipReader
    let manifest: BackupManifest

    /// The store's file, after extraction.
    var storeURL: URL { work.content.appendingPathComponent(manifest.storeFile) }
    private var type: NSPersistentStore.StoreType { NSPersistentStore.StoreType(rawValue: manifest.storeType) }

    // MARK: Writing

    /// - Returns: the size of the archive in bytes.
    static func write(
        _ stack: CoreDataStack, to work: WorkFolder, date: Date, progress: (Double, Int) throws -> Void
    ) throws -> Int {
        guard let store = stack.store else {
            throw ToolkitError("The stack has no store; reload() adds it again.")
        }
        guard stack.storeURL != nil else {
            throw ToolkitError("A store in memory has no backup: migratePersistentStore writes it to a file.")
        }
        try FileManager.default.createDirectory(at: work.content, withIntermediateDirectories: true)
        let file = "Store.\(stack.options.storeType == .sqlite ? "sqlite" : "store")"
        try stack.coordinator.copyPersistentStore(store, to: work.content.appendingPathComponent(file))
        let files = try files(in: work.content)
        let manifest = BackupManifest(
            format: BackupManifest.currentFormat, created: DateText.text(date), storeType: store.type,
            storeUUID: store.identifier ?? "", storeFile: file, modelChecksum: stack.model.versionChecksum, files: files
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        do {
            let writer = try ZipWriter(to: work.archive, date: date)
            try writer.add(try encoder.encode(manifest), as: BackupManifest.name)
            let total = max(1, files.values.reduce(0, +))
            var done = 0
            for name in files.keys.sorted() {
                try writer.add(work.content.appendingPathComponent(name), as: BackupManifest.folder + name) { count in
                    done += count
                    try progress(Double(done) / Double(total), done)
                }
            }
            try writer.finish()
        } catch let failure as ZipFailure { throw ToolkitError("The backup cannot be made: \(failure.message).") }
        let size = try FileManager.default.attributesOfItem(atPath: work.archive.path)[.size] as? NSNumber
        return size?.intValue ?? 0
    }

    /// Returns the paths of all files in the folder, with their sizes.
    private static func files(in folder: URL) throws -> [String: Int] {
        var files: [String: Int] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: folder.appendingPathComponent(path).path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else { continue }
            files[path] = (attributes[.size] as? NSNumber)?.intValue ?? 0
        }
        return files
    }

    // MARK: Reading

    /// Reads the manifest and refuses an inconsistent archive; writes no files.
    init(_ work: WorkFolder, limit: Int) throws {
        self.work = work
        do {
            reader = try ZipReader(work.archive, limits: .init(bytes: limit))
            guard let entry = reader.entries.first(where: { $0.name == BackupManifest.name }) else {
                throw ZipFailure(.damaged, "it has no \(BackupManifest.name)")
            }
            manifest = try Self.manifest(try reader.data(of: entry, limit: 32 << 20))
        } catch let failure as ZipFailure { throw Self.refused(failure) }
        try check()
    }

    private static func refused(_ failure: ZipFailure) -> ToolkitError {
        ToolkitError("The backup is refused, and nothing was changed: \(failure.message).")
    }

    private static func manifest(_ data: Data) throws -> BackupManifest {
        struct Format: Decodable { var format: Int }
        guard let format = try? JSONDecoder().decode(Format.self, from: data).format else {
            throw ZipFailure(.damaged, "its \(BackupManifest.name) is damaged")
        }
        guard format == BackupManifest.currentFormat else {
            throw ZipFailure(.unsupported, "it has format \(format), which a newer version of the program may read")
        }
        do { return try JSONDecoder().decode(BackupManifest.self, from: data) } catch {
            throw ZipFailure(.damaged, "its \(BackupManifest.name) is damaged")
        }
    }

    /// Checks that the archive contains exactly the files of the manifest, with their sizes.
    private func check() throws {
        let named = Dictionary(
            uniqueKeysWithValues: manifest.files.map { (BackupManifest.folder + $0.key, $0.value) })
        let found = Dictionary(
            reader.entries.filter { $0.name != BackupManifest.name }.map { ($0.name, $0.size) },
            uniquingKeysWith: { first, _ in first })
        guard named == found, manifest.files[manifest.storeFile] != nil, !manifest.storeFile.contains("/") else {
            throw Self.refused(ZipFailure(.damaged, "it has not the files that its \(BackupManifest.name) names"))
        }
    }

    /// Extracts the archive and verifies all checksums.
    func extract(_ progress: (Double, Int) throws -> Void) throws {
        let total = max(1, manifest.files.values.reduce(0, +))
        var done = 0
        do {
            for entry in reader.entries where entry.name != BackupManifest.name {
                let file = work.content.appendingPathComponent(
                    String(entry.name.dropFirst(BackupManifest.folder.count)))
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try reader.extract(entry, to: file) { count in
                    done += count
                    try progress(Double(done) / Double(total), done)
                }
            }
        } catch let failure as ZipFailure { throw Self.refused(failure) }
    }

    /// Checks the store's tables and rows; a store that is not a database is checked by opening it.
    func verification() throws -> [PersistentStoreVerification.Finding] {
        if type == .sqlite { return try NSPersistentStoreCoordinator.verifyPersistentStore(at: storeURL).findings }
        _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: storeURL)
        return []
    }

    /// Checks the store and migrates it with the stack's options, so that it can replace the stack's store.
    func makeReady(for stack: CoreDataStack) throws {
        guard manifest.storeType == stack.options.storeType.rawValue else {
            throw ToolkitError(
                "The backup is of a store of type \(manifest.storeType), not \(stack.options.storeType.rawValue).")
        }
        let findings: [PersistentStoreVerification.Finding]
        do { findings = try verification() } catch let error as CocoaError {
            throw ToolkitError("The backup's store is no store, and nothing was changed.", underlying: error)
        }
        if let error = findings.first(where: { $0.severity == .error }) {
            throw ToolkitError("The backup's store is damaged, and nothing was changed: \(error.message)")
        }
        var options = stack.options
        options.initialStore = nil
        let opening = StoreOpening(storeURL, options, stack.model)
        try opening.prepare(nil, nil)
        let coordinator = try NSPersistentStoreCoordinator(validating: stack.model)
        try opening.add(to: coordinator)
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }
}
