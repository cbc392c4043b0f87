import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
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
    /// Whether all statements have run: a later failure is one of the commit.
    var isCommitting = false

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
    ///
    /// In the default mode, a commit survives a power failure only after the log is synchronised. Until then, rows that
    /// name the replaced files may come back.
    ///
    /// - Parameter synchronize: writes all commits to the disk. If it fails, the files remain.
    func finish(synchronize: () throws -> Void) {
        guard !replaced.isEmpty, !store.isShared, (try? synchronize()) != nil else { return }
        FormerFiles.remove(replaced, of: store)
    }

    /// Deletes the new files. They remain if the error leaves open whether the rows that name them were committed: the
    /// database may find the transaction in its log later.
    func cancel(after error: any Error) {
        let kind = (error as? SQLFailure)?.kind
        if kind == .unknownOutcome || isCommitting && kind == .other { return }
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
        do { try DurableFiles.makeFolder(folder) } catch { throw ExternalDataFailure(writing: folder, error) }
    }

    /// Writes a new file so that it survives a power failure after the commit of its row.
    private func write(_ bytes: UnsafeRawBufferPointer, to path: String, in folder: String) throws {
        func make() -> Int32 {
            while true {
                let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
                if file >= 0 || errno != EINTR { return file }
            }
        }
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
        try check(DurableFiles.synchronize(file), path)
        try check(DurableFiles.synchronize(folder: folder), folder)
    }

    private func check(_ code: Int32, _ path: String) throws {
        guard code == 0 else { throw ExternalDataFailure(path, code) }
    }
}

extension ExternalDataFailure {
    /// The failure for Foundation's error in writing a file or folder.
    init(writing file: String, _ error: any Error) {
        if let error = error as? POSIXError {
            self.init(file, error.code.rawValue)
            return
        }
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
