import CoreDataPrimitives
import Foundation

/// Copies the external data files of a store, which may be in use, before its database is copied.
///
/// ```
///  keep files ──▶ copy ──▶ pin the source's state: copy newer files ──▶ copy the database
/// ```
/// While files are kept, a save that releases a file moves it to `_FORMER` (``FormerFiles``), where this finds it.
/// Files are immutable after they are written. They are copied under a temporary name first, so that a file with its
/// final name is complete.
struct ExternalDataCopy {
    private let source: ExternalData
    private let target: ExternalData
    /// Prevents the deletion of the source's files; `nil` if there are none, or the folder is not writable.
    private var kept: FormerFiles?
    /// The files that were released before.
    private var former: Set<String> = []
    /// The existing files of the source.
    private(set) var names: Set<String> = []
    /// The files that this copy created.
    private var made: Set<String> = []

    init(from source: ExternalData, to target: ExternalData) {
        self.source = source
        self.target = target
    }

    private var isSameFolder: Bool { source.folder == target.folder }

    /// Copies the files that exist now.
    mutating func run() throws {
        keep()
        try copy(source.files().map { Set($0.keys) } ?? [])
    }

    /// Copies further files of the source's state, which the caller has pinned by now.
    ///
    /// - Throws: ``SourceChanged`` if files may have been missed: then repeat the whole copy.
    mutating func runHoldingSource() throws {
        if kept == nil {
            keep()
            // Another process has created the first file since this began, and may have deleted it again.
            if kept != nil { throw SourceChanged() }
        }
        let files = source.files().map { Set($0.keys) } ?? []
        try copy(files.union(formerNames().subtracting(former)))
    }

    struct SourceChanged: EngineFailure {}

    /// Deletes the copied files.
    func undo() {
        guard let folder = target.folder else { return }
        for name in made { unlink("\(folder)/\(name)") }
    }

    private mutating func keep() {
        guard kept == nil, !isSameFolder else { return }
        kept = FormerFiles(keepingFilesOf: source)
        former = formerNames()
    }

    private func formerNames() -> Set<String> {
        guard let folder = source.formerFolder else { return [] }
        return Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }

    // MARK: Files

    private mutating func copy(_ files: Set<String>) throws {
        let wanted = files.filter { UUID(uuidString: $0) != nil }
        guard !isSameFolder, !wanted.isEmpty, let from = source.folder, let former = source.formerFolder,
            let to = target.folder
        else { return }
        names.formUnion(wanted)
        do {
            try DurableFiles.makeFolder(to)
            PartialFile.removeLeavings(in: to)
            for name in wanted {
                // A file with the same name and size is identical; one with another size is an incomplete copy of a
                // terminated process.
                let size = FileSize.of("\(to)/\(name)")
                if let size, size == FileSize.of("\(from)/\(name)") ?? FileSize.of("\(former)/\(name)") { continue }
                // A file that a save releases at this moment is in one of the two folders. One that is in neither was
                // missing before.
                let isCopied = try [from, former, from].contains { folder in
                    try PartialFile.copy("\(folder)/\(name)", to: "\(to)/\(name)")
                }
                if isCopied, size == nil { made.insert(name) }
            }
            // Before the database names the files.
            let code = DurableFiles.synchronize(folder: to)
            guard code == 0 else { throw PartialFile.failure(code) }
        } catch {
            throw ExternalDataFailure(writing: to, error)
        }
    }
}

/// A file that is being copied, `.copying-UUID`, with a lock: one without a lock was left by a terminated process.
enum PartialFile {
    private static let prefix = ".copying-"

    /// - Returns: whether the source file exists.
    static func copy(_ source: String, to destination: String) throws -> Bool {
        // An untrusted store may have a link to another file, or a pipe, which would block.
        let from = open(source, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard from >= 0 else {
            if errno == ENOENT { return false }
            throw failure(errno)
        }
        defer { close(from) }
        var status = stat()
        guard fstat(from, &status) == 0 else { throw failure(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure(EINVAL) }
        let folder = (destination as NSString).deletingLastPathComponent
        let (partial, to) = try make(in: folder)
        defer { close(to) }
        do {
            try copy(from, to)
            let code = DurableFiles.synchronize(to)
            guard code == 0 else { throw failure(code) }
            guard rename(partial, destination) == 0 else { throw failure(errno) }
        } catch {
            unlink(partial)
            throw error
        }
        return true
    }

    /// Creates a file with a lock.
    private static func make(in folder: String) throws -> (path: String, number: Int32) {
        while true {
            let path = "\(folder)/\(prefix)\(UUID().uuidString)"
            let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            guard number >= 0 else { throw failure(errno) }
            var code: Int32 = 0
            while code == 0, flock(number, LOCK_EX) != 0 { if errno != EINTR { code = errno } }
            var status = stat()
            // Another process may have deleted it before it was locked.
            if code == 0, fstat(number, &status) == 0, status.st_nlink > 0 { return (path, number) }
            close(number)
            if code != 0 {
                unlink(path)
                throw failure(code)
            }
        }
    }

    static func removeLeavings(in folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(prefix) {
            // Opening a pipe would block until a process writes to it.
            let file = open("\(folder)/\(name)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard file >= 0 else { continue }
            if flock(file, LOCK_EX | LOCK_NB) == 0 { unlink("\(folder)/\(name)") }
            close(file)
        }
    }

    private static func copy(_ from: Int32, _ to: Int32) throws {
        try withUnsafeTemporaryAllocation(byteCount: 1 << 20, alignment: 16) { buffer in
            while true {
                let count = read(from, buffer.baseAddress, buffer.count)
                if count == 0 { return }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw failure(errno) }
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                while !rest.isEmpty {
                    let written = write(to, rest.baseAddress, rest.count)
                    if written < 0, errno == EINTR { continue }
                    guard written > 0 else { throw failure(errno) }
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
                }
            }
        }
    }

    static func failure(_ code: Int32) -> POSIXError { POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
}
