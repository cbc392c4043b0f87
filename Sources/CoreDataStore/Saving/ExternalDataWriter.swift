import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The external data files that one save writes and replaces.
///
/// ```
///  save begins ──▶ rows encoded: new files written and synced ──▶ commit  ──▶ finish: replaced files removed
///                                                           └──▶ failure ──▶ cancel: new files removed
/// ```
/// A crash may leave files that no row names, but never a row without its file.
final class ExternalDataWriter {
    private let store: ExternalData
    private var written: [String] = []
    private var replaced: [String] = []

    init(_ store: ExternalData) { self.store = store }

    /// Returns the row for its table: with the values of `columns` in envelopes, the others unchanged.
    func encoded(_ row: RowSnapshot, _ columns: [Int], kinds: [ColumnKind]) throws -> RowSnapshot {
        guard columns.contains(where: { !row.isNull($0) }) else { return row }
        let builder = RowBuilder(columnCount: row.columnCount)
        for (column, kind) in kinds.enumerated() {
            if columns.contains(column), !row.isNull(column) {
                try row.withBytes(column) { bytes in
                    try envelope(bytes).withUnsafeBytes { builder.setBytes($0, at: column) }
                }
            } else {
                builder.copy(column, kind: kind, from: row)
            }
        }
        return builder.finish(primaryKey: row.primaryKey, version: row.version, entity: row.entity)
    }

    /// Records the file, if any, of a stored value that the save overwrites or deletes.
    func replace(_ stored: UnsafeRawBufferPointer) {
        guard let name = ExternalData.fileName(stored), let path = store.path(of: name) else { return }
        replaced.append(path)
    }

    /// Deletes the replaced files; a remaining file does no harm. If another store shares the folder, files are kept:
    /// that store may be a copy of this one, whose rows still name them.
    func finish() {
        guard !replaced.isEmpty, !store.isShared else { return }
        FormerFiles.remove(replaced, of: store)
    }

    func cancel() {
        for path in written { unlink(path) }
    }

    // MARK: Files

    private func envelope(_ bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
        guard bytes.count >= ExternalData.fileThreshold, let folder = store.folder else {
            return [ExternalData.Mark.inline] + bytes
        }
        let name = UUID().uuidString
        try makeFolder(folder)
        try write(bytes, to: "\(folder)/\(name)", in: folder)
        return [ExternalData.Mark.file] + name.utf8 + [0]
    }

    private func makeFolder(_ folder: String) throws {
        guard !FileManager.default.fileExists(atPath: folder) else { return }
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch { throw ExternalDataFailure(writing: folder, error) }
        // The parent folders contain the entries of the new folders.
        let support = URL(fileURLWithPath: folder).deletingLastPathComponent()
        try synchronize(support.path)
        try synchronize(support.deletingLastPathComponent().path)
    }

    /// Writes a new file so that it survives a power failure after the commit of its row.
    private func write(_ bytes: UnsafeRawBufferPointer, to path: String, in folder: String) throws {
        func make() -> Int32 { open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644) }
        var file = make()
        if file < 0, errno == ENOENT {
            // Another process that failed to create a store here has just deleted the empty folder.
            try makeFolder(folder)
            file = make()
        }
        guard file >= 0 else { throw ExternalDataFailure(path, errno) }
        written.append(path)
        defer { close(file) }
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(file, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw ExternalDataFailure(path, errno)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        guard fsync(file) == 0 else { throw ExternalDataFailure(path, errno) }
        try synchronize(folder)
    }

    private func synchronize(_ folder: String) throws {
        let file = open(folder, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw ExternalDataFailure(folder, errno) }
        defer { close(file) }
        // Some file systems cannot sync a folder and report that; ignore it.
        guard fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP else { throw ExternalDataFailure(folder, errno) }
    }
}

extension ExternalDataFailure {
    /// The failure for Foundation's error in writing a file or folder.
    init(writing file: String, _ error: any Error) {
        let kind: Kind =
            switch CocoaError.Code(rawValue: (error as NSError).code) {
            case .fileWriteNoPermission, .fileWriteVolumeReadOnly: .readOnly
            case .fileWriteOutOfSpace: .full
            default: .unwritable
            }
        self.init(kind, file: file, reason: error.localizedDescription)
    }

    fileprivate init(_ file: String, _ code: Int32) {
        let kind: Kind =
            switch code {
            case EACCES, EPERM, EROFS: .readOnly
            case ENOSPC, EDQUOT: .full
            default: .unwritable
            }
        self.init(kind, file: file, reason: String(cString: strerror(code)))
    }
}
