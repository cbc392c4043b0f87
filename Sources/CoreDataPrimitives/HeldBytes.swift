import Foundation

/// A large value beside the row that has it: to copy a photograph into its row would have it in memory twice.
///
/// What the program gave stays where it lies; a file of its own is mapped, so that only what is looked at is in memory. Rows with such
/// values share them.
package final class HeldBytes: Sendable {
    /// The value as the program gets it. That this holds it too keeps it from being changed in place.
    package let data: Data

    /// Bytes from this number on are not copied into rows.
    package static let threshold = 1 << 20

    package init(_ data: Data) { self.data = data }

    /// The contents of a file; mapped where they are large.
    ///
    /// Whoever makes the file shorter while it is mapped stops the program with it, so this is for files that are written once.
    ///
    /// - Throws: what Foundation has to say of a file that cannot be read.
    package static func contents(ofFile path: String) throws -> Data {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return try Data(contentsOf: URL(fileURLWithPath: path)) }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size >= threshold,
            let count = Int(exactly: status.st_size),
            // Private: a program that changes its data in place changes no file.
            let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0), start != MAP_FAILED
        else { return try Data(contentsOf: URL(fileURLWithPath: path)) }
        return Data(bytesNoCopy: start, count: count, deallocator: .unmap)
    }
}

/// What stands in the row for a value beside it.
@usableFromInline
struct HeldPlace {
    let start: UnsafeRawPointer?
    let count: Int
    let holder: UnsafeMutableRawPointer

    init(_ bytes: HeldBytes) {
        (start, count) = bytes.data.withUnsafeBytes { ($0.baseAddress, $0.count) }
        holder = Unmanaged.passUnretained(bytes).toOpaque()
    }

    /// Set in a column's word where its bytes are such a place.
    @usableFromInline static var mark: UInt64 { 1 << 63 }
}

extension RowView {
    /// The value beside the row; `nil` for one that is in it.
    package func held(_ column: Int) -> HeldBytes? {
        guard word(column) & HeldPlace.mark != 0 else { return nil }
        let found = place(word(column)).loadUnaligned(as: HeldPlace.self)
        return Unmanaged<HeldBytes>.fromOpaque(found.holder).takeUnretainedValue()
    }

    /// The bytes of a blob column, copied only where they are in the row.
    package func data(_ column: Int) -> Data { held(column)?.data ?? Data(bytes(column)) }

    /// The bytes beside the row.
    @usableFromInline func heldBytes(_ word: UInt64) -> UnsafeRawBufferPointer {
        let found = place(word).loadUnaligned(as: HeldPlace.self)
        return UnsafeRawBufferPointer(start: found.start, count: found.count)
    }
}

extension RowSnapshot {
    /// The bytes of a blob column, copied only where they are in the row.
    package func data(_ column: Int) -> Data { withView { $0.data(column) } }
}

extension RowBuilder {
    /// Sets a blob column; what is large is not copied.
    package func setData(_ data: Data, at column: Int) {
        if data.count >= HeldBytes.threshold { return setHeld(HeldBytes(data), at: column) }
        data.withUnsafeBytes { setBytes($0, at: column) }
    }
}
