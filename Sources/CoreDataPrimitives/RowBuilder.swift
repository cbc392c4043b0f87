import Foundation

/// Collects the columns of one row after another and makes a ``RowSnapshot`` of each.
///
/// Use one builder for a whole result: it reuses its buffers. Columns that are not set are NULL.
///
///     let builder = RowBuilder(columnCount: layout.columns.count)
///     builder.setInteger(1, at: 0)
///     builder.setText("Milk", at: 1)
///     let row = builder.finish(primaryKey: 7, version: 1, entity: 3)   // the builder is empty again
@usableFromInline
package final class RowBuilder {
    @usableFromInline let columnCount: Int
    @usableFromInline let nullWords: Int
    /// The size in bytes of a row's header and words.
    private let fixedSize: Int

    // One thread uses the builder, and it makes no callbacks. Exclusivity checks would cost as much as setting a
    // column.

    // The current row is built in its slab if there is room, else in the scratch buffer.
    @exclusivity(unchecked) @usableFromInline var words: UnsafeMutablePointer<UInt64>
    @exclusivity(unchecked) @usableFromInline var bytes: UnsafeMutableRawPointer
    /// The number of bytes of text and blobs in the current row.
    @exclusivity(unchecked) @usableFromInline package var byteCount = 0
    @exclusivity(unchecked) @usableFromInline var byteCapacity = 0

    @exclusivity(unchecked) private var slab: RowSlab?
    /// The offset of the next row in the slab, and the end of the slab.
    @exclusivity(unchecked) private var next = 0
    @exclusivity(unchecked) private var end = 0
    @exclusivity(unchecked) private var scratch: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var scratchSize: Int
    @exclusivity(unchecked) private var isInScratch = true

    /// The values of the current row that are kept outside it.
    @exclusivity(unchecked) private var held: [HeldBytes] = []

    /// The maximum number of bytes of text and blobs inside a row. An offset has 31 bits, and the entries of values
    /// outside the row need some.
    private let byteLimit: Int

    /// - Parameter byteLimit: tests pass a smaller limit; bytes beyond it are kept outside the row.
    package init(columnCount: Int, byteLimit: Int = Int(Int32.max) - 1 << 21) {
        self.columnCount = columnCount
        self.byteLimit = byteLimit
        nullWords = RowSnapshot.nullWords(columnCount)
        fixedSize = RowHeader.size + (nullWords + columnCount) << 3
        scratchSize = fixedSize + 256
        scratch = .allocate(byteCount: scratchSize, alignment: 8)
        words = (scratch + RowHeader.size).assumingMemoryBound(to: UInt64.self)
        bytes = scratch + fixedSize
        begin()
    }

    deinit { scratch.deallocate() }

    @inlinable package func setNull(at column: Int) {
        words[column >> 6] |= 1 << UInt64(column & 63)
        words[nullWords + column] = 0
    }

    @inlinable package func setInteger(_ value: Int64, at column: Int) {
        set(word: UInt64(bitPattern: value), at: column)
    }

    @inlinable package func setReal(_ value: Double, at column: Int) {
        set(word: value.bitPattern, at: column)
    }

    @inlinable package func setText(_ value: String, at column: Int) {
        var value = value
        value.withUTF8 { setBytes(UnsafeRawBufferPointer($0), at: column) }
    }

    @inlinable package func setBytes(_ source: UnsafeRawBufferPointer, at column: Int) {
        set(word: keep(source), at: column)
    }

    /// Sets the column to NULL, and keeps the stored bytes of a value that could not be decoded.
    package func setUnreadable(_ stored: UnsafeRawBufferPointer, at column: Int) {
        let word = keep(stored)
        setNull(at: column)
        words[nullWords + column] = word
    }

    /// Sets an integer column to NULL, and marks it as not requested from the source; see ``RowView/isUnreadable(_:)``.
    package func setUnasked(at column: Int) {
        setNull(at: column)
        words[nullWords + column] = Self.unasked
    }

    /// The mark of such a column: a word that is not 0 and not the position of bytes.
    private static let unasked: UInt64 = 1 << 32

    /// Sets up to 64 columns, starting at `first`, a multiple of 64. `read` returns the word of each column, or `nil`
    /// for NULL.
    ///
    /// It has the effect of setting the columns one by one, but keeps the NULL bits in a register.
    @inlinable @inline(__always)
    package func fill(_ first: Int, _ read: (Int) -> UInt64?) {
        var nulls = ~UInt64(0)
        for index in 0..<min(columnCount - first, 64) {
            guard let word = read(first + index) else { continue }
            words[nullWords + first + index] = word
            nulls &= ~(1 << UInt64(index))
        }
        words[first >> 6] = nulls
    }

    /// Stores the bytes of a text or blob column, and returns the column's word.
    @inlinable @inline(__always)
    package func keep(_ source: UnsafeRawBufferPointer) -> UInt64 {
        let end = byteCount + source.count
        if end > byteCapacity, !grow(to: end) { return keepBeside(source) }
        if let base = source.baseAddress, source.count > 0 {
            (bytes + byteCount).copyMemory(from: base, byteCount: source.count)
        }
        defer { byteCount = end }
        return UInt64(byteCount) << 32 | UInt64(source.count)
    }

    /// Copies every column of another row of the same layout.
    package func copy(_ row: RowView, kinds: UnsafeBufferPointer<ColumnKind>) {
        let source = row.words
        words.update(from: source, count: nullWords + columnCount)
        var end = 0
        for column in 0..<columnCount where kinds[column] == .text || kinds[column] == .blob {
            let word = words[nullWords + column]
            if word & HeldPlace.mark != 0 { return copyEach(row, kinds: kinds) }
            end = max(end, Int(word >> 32) + Int(word & 0xFFFF_FFFF))
        }
        if end > byteCapacity { makeRoom(for: end) }
        bytes.copyMemory(from: source + nullWords + columnCount, byteCount: end)
        byteCount = end
    }

    /// The number of bytes of the current row, including values that are kept outside it.
    package var wholeByteCount: Int { held.reduce(byteCount) { $0 + $1.data.count } }

    private func copyEach(_ row: RowView, kinds: UnsafeBufferPointer<ColumnKind>) {
        for column in 0..<columnCount { copy(column, kind: kinds[column], from: row) }
    }

    /// Sets a blob column to a value that is kept outside the row.
    package func setHeld(_ bytes: HeldBytes, at column: Int) { set(word: keep(bytes), at: column) }

    private func keep(_ bytes: HeldBytes) -> UInt64 {
        held.append(bytes)
        return withUnsafeBytes(of: HeldPlace(bytes)) { place in
            // Entries are small and few: ``byteLimit`` leaves room for them.
            let end = byteCount + place.count
            if end > byteCapacity { makeRoom(for: end) }
            if let base = place.baseAddress { (self.bytes + byteCount).copyMemory(from: base, byteCount: place.count) }
            defer { byteCount = end }
            return UInt64(byteCount) << 32 | UInt64(place.count) | HeldPlace.mark
        }
    }

    /// Stores a text or blob outside the row, because the row has no room for it.
    @usableFromInline @inline(never)
    func keepBeside(_ source: UnsafeRawBufferPointer) -> UInt64 { keep(HeldBytes(Data(source))) }

    /// Copies a column of another row of the same layout.
    package func copy(_ column: Int, kind: ColumnKind, from row: RowSnapshot) {
        row.withView { copy(column, kind: kind, from: $0) }
    }

    /// Copies a column of another row of the same layout; the caller must hold that row.
    package func copy(_ column: Int, kind: ColumnKind, from row: RowView) {
        if row.isNull(column) {
            if row.word(column) == 0 {
                setNull(at: column)
            } else if kind == .integer {
                setUnasked(at: column)
            } else {
                setUnreadable(row.bytes(column), at: column)
            }
        } else if kind == .integer || kind == .real {
            set(word: row.word(column), at: column)
        } else if let bytes = row.held(column) {
            setHeld(bytes, at: column)
        } else {
            setBytes(row.bytes(column), at: column)
        }
    }

    /// Copies a column of a row of another layout to a column of the same kind.
    package func copy(_ source: Int, of row: RowView, kind: ColumnKind, to column: Int) {
        if row.isNull(source) {
            setNull(at: column)
        } else if kind == .integer || kind == .real {
            set(word: row.word(source), at: column)
        } else if let bytes = row.held(source) {
            setHeld(bytes, at: column)
        } else {
            setBytes(row.bytes(source), at: column)
        }
    }

    /// Returns whether the column of the current row has no value yet.
    package func isNull(_ column: Int) -> Bool { words[column >> 6] & (1 << UInt64(column & 63)) != 0 }

    /// Makes the row and empties the builder.
    package func finish(primaryKey: Int64, version: Int32, entity: Int) -> RowSnapshot {
        let (owner, header) = make(primaryKey, version, entity, holders: 0)
        return RowSnapshot(slab: owner, header: header)
    }

    /// Makes the row and returns a hold on it; see ``RowSnapshot/retainedWord()``.
    package func finishHeld(primaryKey: Int64, version: Int32, entity: Int) -> HeldRow {
        let (owner, header) = make(primaryKey, version, entity, holders: 1)
        _ = Unmanaged.passRetained(owner)
        return HeldRow(header: header)
    }

    @inline(__always)
    private func make(
        _ primaryKey: Int64, _ version: Int32, _ entity: Int, holders: UInt32
    ) -> (RowSlab, UnsafePointer<RowHeader>) {
        let size = (fixedSize + byteCount + 7) & ~7
        let (owner, offset) =
            !held.isEmpty ? movedToItsOwn(size) : isInScratch ? movedFromScratch(size) : (slab.unsafelyUnwrapped, next)
        let header = owner.address(offset).bindMemory(to: RowHeader.self, capacity: 1)
        header.initialize(
            to: RowHeader(
                primaryKey: primaryKey, holders: holders, offset: offset, size: fixedSize + byteCount, version: version,
                entity: entity, columnCount: columnCount))
        if owner === slab { next += size }
        begin()
        return (owner, UnsafePointer(header))
    }

    @inlinable @inline(__always)
    func set(word: UInt64, at column: Int) {
        assert(column >= 0 && column < columnCount, "column out of range")
        words[column >> 6] &= ~(1 << UInt64(column & 63))
        words[nullWords + column] = word
    }

    // MARK: Memory of the current row

    private static var largestKeptScratch: Int { 1 << 16 }

    /// Begins a row in which every column is NULL.
    private func begin() {
        isInScratch = next + fixedSize > end
        let start = isInScratch ? scratch : slab.unsafelyUnwrapped.address(next)
        place(at: start, size: isInScratch ? scratchSize : end - next)
        memset(words + nullWords, 0, columnCount << 3)
        for index in 0..<nullWords { words[index] = ~0 }
        byteCount = 0
    }

    private func place(at start: UnsafeMutableRawPointer, size: Int) {
        words = (start + RowHeader.size).assumingMemoryBound(to: UInt64.self)
        bytes = start + fixedSize
        byteCapacity = size - fixedSize
    }

    /// Copies the row to a slab, and returns the slab and the offset. Each new slab for several rows is twice as large
    /// as the previous one; a large row gets a slab of its own.
    private func movedFromScratch(_ size: Int) -> (RowSlab, Int) {
        let offset = RowSlab.firstOffset
        let isLarge = size > RowSlab.size / 4
        let capacity = isLarge ? size : min(max(size, 2 * (end - offset)), RowSlab.size)
        let made = RowSlab.make(byteCount: capacity)
        (made.address(offset) + RowHeader.size).copyMemory(
            from: scratch + RowHeader.size, byteCount: fixedSize + byteCount - RowHeader.size)
        if !isLarge { (slab, next, end) = (made, offset, offset + capacity) }
        // A builder can exist as long as its store: release memory that a single large value needed.
        if scratchSize > Self.largestKeptScratch {
            scratch.deallocate()
            scratchSize = fixedSize + 256
            scratch = .allocate(byteCount: scratchSize, alignment: 8)
        }
        return (made, offset)
    }

    /// Copies the row to a slab of its own that holds the values outside the row.
    @inline(never)
    private func movedToItsOwn(_ size: Int) -> (RowSlab, Int) {
        let made = RowSlab.make(byteCount: size, holding: held)
        held.removeAll()
        (made.address(RowSlab.firstOffset) + RowHeader.size).copyMemory(
            from: UnsafeRawPointer(words), byteCount: fixedSize + byteCount - RowHeader.size)
        return (made, RowSlab.firstOffset)
    }

    /// Makes room for `needed` bytes; returns false if the row cannot hold them.
    @usableFromInline func grow(to needed: Int) -> Bool {
        guard needed < byteLimit else { return false }
        makeRoom(for: needed)
        return true
    }

    /// Makes room for `needed` bytes in the scratch buffer.
    private func makeRoom(for needed: Int) {
        let start = UnsafeRawPointer(words) - RowHeader.size
        if fixedSize + needed > scratchSize {
            scratchSize = max(fixedSize + needed, scratchSize * 2)
            let larger = UnsafeMutableRawPointer.allocate(byteCount: scratchSize, alignment: 8)
            larger.copyMemory(from: start, byteCount: fixedSize + byteCount)
            scratch.deallocate()
            scratch = larger
        } else {
            scratch.copyMemory(from: start, byteCount: fixedSize + byteCount)
        }
        isInScratch = true
        place(at: scratch, size: scratchSize)
    }
}
