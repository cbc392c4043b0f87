import Foundation

/// Collects the columns of one row after another and makes a ``RowSnapshot`` of each.
///
/// One builder serves a whole result: its buffers are reused. Columns that are not set are NULL.
///
///     let builder = RowBuilder(columnCount: layout.columns.count)
///     builder.setInteger(1, at: 0)
///     builder.setText("Milk", at: 1)
///     let row = builder.finish(primaryKey: 7, version: 1, entity: 3)   // the builder is empty again
@usableFromInline
package final class RowBuilder {
    @usableFromInline let columnCount: Int
    @usableFromInline let nullWords: Int
    /// The bytes of a row's header and words.
    private let fixedSize: Int

    // A builder is used by one thread and calls nobody back: to have every access checked would cost as much as
    // setting a column.

    // The row in the making lies in the slab, where it stays, as long as there is room, else in the scratch.
    @exclusivity(unchecked) @usableFromInline var words: UnsafeMutablePointer<UInt64>
    @exclusivity(unchecked) @usableFromInline var bytes: UnsafeMutableRawPointer
    /// How much text and blobs the row in the making has.
    @exclusivity(unchecked) @usableFromInline package var byteCount = 0
    @exclusivity(unchecked) @usableFromInline var byteCapacity = 0

    @exclusivity(unchecked) private var slab: RowSlab?
    /// Where the next row begins, from the slab's start, and where the slab ends.
    @exclusivity(unchecked) private var next = 0
    @exclusivity(unchecked) private var end = 0
    @exclusivity(unchecked) private var scratch: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var scratchSize: Int
    @exclusivity(unchecked) private var isInScratch = true

    /// The values beside the row in the making.
    @exclusivity(unchecked) private var held: [HeldBytes] = []

    /// The most bytes of text and blobs that a row keeps in itself: an offset has 31 bits, and places of what is beside it need some.
    private let byteLimit: Int

    /// - Parameter byteLimit: less in tests; what is beyond it is kept beside the row.
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

    /// Makes the column NULL, and keeps what the store has for a value that it cannot read.
    package func setUnreadable(_ stored: UnsafeRawBufferPointer, at column: Int) {
        let word = keep(stored)
        setNull(at: column)
        words[nullWords + column] = word
    }

    /// Makes a column of whole numbers NULL, and marks it as one that the source has not been asked for yet; see
    /// ``RowView/isUnreadable(_:)``.
    package func setUnasked(at column: Int) {
        setNull(at: column)
        words[nullWords + column] = Self.unasked
    }

    /// Any word but 0 does; one that is no place of bytes.
    private static let unasked: UInt64 = 1 << 32

    /// Sets up to 64 columns from `first`, a multiple of 64, on: `read` is asked for the word of each, or `nil` for NULL.
    ///
    /// As setting one after another, with the NULL bits kept in a register.
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

    /// Keeps the bytes of a text or blob column; what the column's word is then.
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

    /// Takes every column of another row of the same layout.
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

    /// How many bytes the row in the making has so far, those beside it included.
    package var wholeByteCount: Int { held.reduce(byteCount) { $0 + $1.data.count } }

    private func copyEach(_ row: RowView, kinds: UnsafeBufferPointer<ColumnKind>) {
        for column in 0..<columnCount { copy(column, kind: kinds[column], from: row) }
    }

    /// Has a blob column keep its bytes beside the row.
    package func setHeld(_ bytes: HeldBytes, at column: Int) { set(word: keep(bytes), at: column) }

    private func keep(_ bytes: HeldBytes) -> UInt64 {
        held.append(bytes)
        return withUnsafeBytes(of: HeldPlace(bytes)) { place in
            // Places are few and small: they have room even where texts have none.
            let end = byteCount + place.count
            if end > byteCapacity { makeRoom(for: end) }
            if let base = place.baseAddress { (self.bytes + byteCount).copyMemory(from: base, byteCount: place.count) }
            defer { byteCount = end }
            return UInt64(byteCount) << 32 | UInt64(place.count) | HeldPlace.mark
        }
    }

    /// Keeps a text or blob for which the row has no room beside the row.
    @usableFromInline @inline(never)
    func keepBeside(_ source: UnsafeRawBufferPointer) -> UInt64 { keep(HeldBytes(Data(source))) }

    /// Copies a column of another row of the same layout.
    package func copy(_ column: Int, kind: ColumnKind, from row: RowSnapshot) {
        row.withView { copy(column, kind: kind, from: $0) }
    }

    /// Copies a column of another row of the same layout, which somebody holds.
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

    /// Copies a column of a row of another layout to one of the same kind.
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

    /// Whether the row in the making has no value in the column yet.
    package func isNull(_ column: Int) -> Bool { words[column >> 6] & (1 << UInt64(column & 63)) != 0 }

    /// Makes the row and empties the builder.
    package func finish(primaryKey: Int64, version: Int32, entity: Int) -> RowSnapshot {
        let (owner, header) = make(primaryKey, version, entity, holders: 0)
        return RowSnapshot(slab: owner, header: header)
    }

    /// The row as a word that stands for it and holds it; see ``RowSnapshot/retainedWord()``.
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

    // MARK: Where the row lies

    private static var largestKeptScratch: Int { 1 << 16 }

    /// Begins a row, every column NULL.
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

    /// The slab to which the row was copied, and where: a new one for this row and those to come, each twice as large
    /// as the one before; a large row gets one to itself.
    private func movedFromScratch(_ size: Int) -> (RowSlab, Int) {
        let offset = RowSlab.firstOffset
        let isLarge = size > RowSlab.size / 4
        let capacity = isLarge ? size : min(max(size, 2 * (end - offset)), RowSlab.size)
        let made = RowSlab.make(byteCount: capacity)
        (made.address(offset) + RowHeader.size).copyMemory(
            from: scratch + RowHeader.size, byteCount: fixedSize + byteCount - RowHeader.size)
        if !isLarge { (slab, next, end) = (made, offset, offset + capacity) }
        // A builder may stay as long as its store: what one photograph needed is not kept for good.
        if scratchSize > Self.largestKeptScratch {
            scratch.deallocate()
            scratchSize = fixedSize + 256
            scratch = .allocate(byteCount: scratchSize, alignment: 8)
        }
        return (made, offset)
    }

    /// A slab that holds what is beside the row.
    @inline(never)
    private func movedToItsOwn(_ size: Int) -> (RowSlab, Int) {
        let made = RowSlab.make(byteCount: size, holding: held)
        held.removeAll()
        (made.address(RowSlab.firstOffset) + RowHeader.size).copyMemory(
            from: UnsafeRawPointer(words), byteCount: fixedSize + byteCount - RowHeader.size)
        return (made, RowSlab.firstOffset)
    }

    /// Makes room for that many bytes; false where a row has no room for so many.
    @usableFromInline func grow(to needed: Int) -> Bool {
        guard needed < byteLimit else { return false }
        makeRoom(for: needed)
        return true
    }

    /// Makes room for that many bytes, in the scratch.
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
