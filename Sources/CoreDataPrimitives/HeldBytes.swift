import Foundation

/// A large value that is kept outside its row: a copy of a photograph in the row would occupy memory twice.
///
/// A value that the program set stays in its own memory. A value that is stored in a file is mapped, so memory contains
/// only the pages that were read. Rows with the same large value share it.
package final class HeldBytes: Sendable {
    /// The value that the program receives. This reference to it prevents changes in place.
    package let data: Data

    /// The size from which values are kept outside the row: 1 MiB.
    package static let threshold = 1 << 20

    package init(_ data: Data) { self.data = data }

    /// Returns the contents of a file; a large file is mapped.
    ///
    /// If another process truncates a mapped file, this process crashes on access. So use it only for files that are
    /// written once.
    ///
    /// - Throws: Foundation's error if the file cannot be read.
    package static func contents(ofFile path: String) throws -> Data {
        // The folder of an untrusted store may contain a link to another file, or a pipe, which would block.
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw Self.failure(errno, path) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw Self.failure(errno, path) }
        guard status.st_mode & S_IFMT == S_IFREG, let count = Int(exactly: status.st_size) else {
            throw Self.failure(EINVAL, path)
        }
        guard count >= threshold,
            // A private mapping: changes to the data in memory do not change the file.
            let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0), start != MAP_FAILED
        else { return try bytes(of: file, count, path) }
        return Data(bytesNoCopy: start, count: count, deallocator: .unmap)
    }

    private static func bytes(of file: Int32, _ count: Int, _ path: String) throws -> Data {
        var data = Data(count: count)
        let size = try data.withUnsafeMutableBytes { buffer in
            var done = 0
            while done < count {
                let size = read(file, buffer.baseAddress?.advanced(by: done), count - done)
                if size < 0, errno == EINTR { continue }
                guard size >= 0 else { throw failure(errno, path) }
                if size == 0 { break }
                done += size
            }
            return done
        }
        return size < count ? data.prefix(size) : data
    }

    private static func failure(_ code: Int32, _ path: String) -> CocoaError {
        let reason =
            switch code {
            case ELOOP: "it is a symbolic link"
            case EINVAL: "it is no regular file"
            default: String(cString: strerror(code))
            }
        return CocoaError(
            code == ENOENT ? .fileReadNoSuchFile : .fileReadUnknown,
            userInfo: [NSFilePathErrorKey: path, NSLocalizedDescriptionKey: reason])
    }
}

/// The row's entry for a value that is kept outside the row.
@usableFromInline
struct HeldPlace {
    let start: UnsafeRawPointer?
    let count: Int
    let holder: UnsafeMutableRawPointer

    init(_ bytes: HeldBytes) {
        (start, count) = bytes.data.withUnsafeBytes { ($0.baseAddress, $0.count) }
        holder = Unmanaged.passUnretained(bytes).toOpaque()
    }

    /// The bit that is set in a column's word if its bytes are a ``HeldPlace``.
    @usableFromInline static var mark: UInt64 { 1 << 63 }
}

extension RowView {
    /// Returns the value that is kept outside the row; `nil` for a value inside the row.
    package func held(_ column: Int) -> HeldBytes? {
        guard word(column) & HeldPlace.mark != 0 else { return nil }
        let found = place(word(column)).loadUnaligned(as: HeldPlace.self)
        return Unmanaged<HeldBytes>.fromOpaque(found.holder).takeUnretainedValue()
    }

    /// Returns the bytes of a blob column; only bytes inside the row are copied.
    package func data(_ column: Int) -> Data { held(column)?.data ?? Data(bytes(column)) }

    /// Returns the bytes that are kept outside the row.
    @usableFromInline func heldBytes(_ word: UInt64) -> UnsafeRawBufferPointer {
        let found = place(word).loadUnaligned(as: HeldPlace.self)
        return UnsafeRawBufferPointer(start: found.start, count: found.count)
    }
}

extension RowSnapshot {
    /// Returns the bytes of a blob column; only bytes inside the row are copied.
    package func data(_ column: Int) -> Data { withView { $0.data(column) } }
}

extension RowBuilder {
    /// Sets a blob column; a large value is not copied.
    package func setData(_ data: Data, at column: Int) {
        if data.count >= HeldBytes.threshold { return setHeld(HeldBytes(data), at: column) }
        data.withUnsafeBytes { setBytes($0, at: column) }
    }
}
